"""The command `parse`."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..tokens.docbin import collect_docs
from ..util.resume import (
    Progress,
    get_partial,
    load_progress,
    remove_partial,
    skip_texts,
    write_partial,
)
from .environment import spawn_processes, use_gpu
from .inputs import STDIN, Item, find_inputs, parse_items, read_items
from .options import BatchSize, Field, GpuId, Model, Resume, Texts, clear_errors
from .writers import WRITERS, Format, show_error


def parse_cli(
    model: Model,
    inputs: Annotated[
        list[Path], typer.Argument(help="Files and folders; - for standard input")
    ] = [],  # noqa: B006
    texts: Texts = [],  # noqa: B006
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", dir_okay=False, help="File; standard output by default"
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", "-f", help="By default that of the output's suffix, or brackets"
        ),
    ] = None,
    field: Field = None,
    resume: Resume = False,
    batch_size: BatchSize = None,
    n_process: Annotated[
        int,
        typer.Option("--n-process", "-n", min=1, help="Number of processes, on CPUs"),
    ] = 1,
    gpu_id: GpuId = -1,
) -> None:
    """Parse texts into trees.

    A text is a line of a file, a field of a line of a .jsonl file, or a Doc of a .spacy
    file. A text that fails is reported, sets the exit code to 1, and is written as an
    empty line (brackets), an object with an "error" (jsonl), a comment (conll) or an
    empty Doc (spacy).
    """
    form = form or Format.of(output)
    if output is None and (resume or form is Format.spacy):
        raise typer.BadParameter(
            "--resume and --format spacy require a file.", param_hint="--output"
        )
    if gpu_id >= 0 and n_process > 1:
        raise typer.BadParameter(
            "Use one process with a GPU.", param_hint="--n-process"
        )
    with clear_errors(), spawn_processes() if n_process > 1 else nullcontext():
        files = find_inputs(inputs or ([] if texts else [STDIN]))
        use_gpu(gpu_id)
        nlp = spacy.load(model)
        nlp.batch_size = batch_size or nlp.batch_size
        items = read_items(texts, files, field, nlp.vocab)
        progress = Progress({"model": _name(nlp), "format": form.value})
        if output is not None:
            _check_place(output, inputs)
            progress = load_progress(output, progress.settings, resume)
            skip_texts((str(item.text) for item in items), progress, output)
        parsed = parse_items(nlp, items, n_process)
        pieces = _make_pieces(parsed, form, progress, is_shown=output is None)
        if output is None:
            _print(pieces)
        else:
            write_partial(output, pieces, progress, nlp.batch_size)
            _finish(output, form)
        if progress.failed:
            raise ValueError(f"{progress.failed} of {progress.texts} texts failed.")


def _name(nlp: Language) -> str:
    return "{lang}_{name}-{version}".format(**nlp.meta)


def _check_place(output: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if path != STDIN and output.resolve().is_relative_to(path.resolve()):
            raise ValueError(f"The output {output} would be part of the input {path}.")


def _make_pieces(
    parsed: Iterable[tuple[Item, Doc | Exception]],
    form: Format,
    progress: Progress,
    is_shown: bool,
) -> Iterator[bytes]:
    # No progress bar between the lines of the output. None: only on a terminal.
    no_bar = True if is_shown and sys.stdout.isatty() else None
    for item, found in tqdm(
        parsed, unit=" texts", initial=progress.texts, disable=no_bar
    ):
        failed = isinstance(found, Exception)
        if failed:
            tqdm.write(f"{item.place}: {show_error(found)}", file=sys.stderr)
        progress.count(str(item.text), failed)
        # JSON may contain lone surrogates, which are written as escapes again.
        yield WRITERS[form](item, found).encode("utf8", "backslashreplace")


def _print(pieces: Iterable[bytes]) -> None:
    stdout = typer.get_binary_stream("stdout")
    for piece in pieces:
        stdout.write(piece)
        stdout.flush()


def _finish(output: Path, form: Format) -> None:
    if form is Format.spacy:
        collect_docs(output, store_user_data=True)
    else:
        get_partial(output).replace(output.resolve())  # follows a symbolic link
    remove_partial(output)
