"""What commands share: options, and how they say what is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated

import typer


class Broken(str, Enum):
    """What to do with a broken tree."""

    raise_ = "raise"
    skip = "skip"


BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size", "-b", min=1, help="Texts parsed together; else the pipeline's"
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        help="Field of the JSON lines that holds the text: 'text' in .jsonl files; if "
        "given, standard input is JSON lines, too",
        show_default=False,
    ),
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, -1 for the CPU")]
Model = Annotated[str, typer.Argument(help="Name or path of a trained pipeline")]
OnError = Annotated[
    Broken, typer.Option(help="Stop at a broken tree, or skip it and warn")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where a stopped run has come to")
]
Texts = Annotated[
    list[str], typer.Option("--text", "-t", help="A text, read before all files")
]


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print what is wrong with the input in one line, and exit with status 1."""
    try:
        yield
    except BrokenPipeError:  # whoever reads the output has had enough
        raise
    except (ImportError, OSError, ValueError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(1) from None
