"""Options and error reporting shared by commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated

import typer


class Broken(str, Enum):
    """What to do with a faulty tree."""

    raise_ = "raise"
    skip = "skip"


BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size", "-b", min=1, help="Texts per batch; the pipeline's by default"
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        help="Field of JSON lines that contains the text ('text' in .jsonl files by "
        "default); makes standard input JSON lines",
        show_default=False,
    ),
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, -1 for the CPU")]
Model = Annotated[str, typer.Argument(help="Name or path of a trained pipeline")]
OnError = Annotated[
    Broken, typer.Option(help="Stop at a faulty tree, or skip it and warn")
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume an interrupted run")]
Texts = Annotated[
    list[str],
    typer.Option("--text", "-t", help="A text to parse; read before any files"),
]


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print an error in the input as one line, and exit with status 1."""
    try:
        yield
    except BrokenPipeError:  # the reader of the output has stopped, as `head` does
        raise
    except (ImportError, OSError, ValueError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(1) from None
