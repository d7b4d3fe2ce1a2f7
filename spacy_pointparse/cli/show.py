"""The command `show`."""

import sys
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc

from ..tokens.treebank import read_docs
from ..util.files import write_whole
from ..visualization.render import draw
from .inputs import STDIN
from .options import clear_errors


class Style(str, Enum):
    """What an HTML page shows."""

    tree = "tree"
    span = "span"


@clear_errors()
def show_cli(
    source: Annotated[
        Path | None,
        typer.Argument(
            help="A .spacy file, or a file, folder or glob of bracketed trees; - for a "
            "text on standard input"
        ),
    ] = None,
    texts: Annotated[
        list[str], typer.Option("--text", "-t", help="A text to parse and draw instead")
    ] = [],  # noqa: B006
    model: Annotated[
        str, typer.Option("--model", "-m", help="Pipeline to parse texts with")
    ] = "en_pointparse_sm",
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold trees to compare with; errors are marked"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write: .svg, .html or .txt"),
    ] = None,
    style: Annotated[
        Style, typer.Option(help="Draw trees, or spans (in HTML)")
    ] = Style.tree,
    limit: Annotated[
        int, typer.Option(min=0, help="Draw this many trees or Docs, 0 for all")
    ] = 0,
) -> None:
    """Draw trees, in the terminal or in a file."""
    if (source is None) != bool(texts):
        raise typer.BadParameter(
            "Provide either a file or a --text.", param_hint="SOURCE"
        )
    render_style, page = _choose_style(output, style)
    found = islice(_read(source, texts, model), limit or None)
    if output is None and gold is None:
        for doc in found:
            typer.echo(draw(doc, "text") + "\n")
        return
    docs = list(found)
    if not any(len(doc) for doc in docs):
        raise ValueError(f"Nothing to draw in {source or texts}.")
    vocab = spacy.blank("xx").vocab
    golds = list(islice(read_docs(gold, vocab), limit or None)) if gold else None
    picture = draw(docs, render_style, page=page, gold=golds)
    if output is None:
        typer.echo(picture)
    else:
        with write_whole(output) as path:
            path.write_text(picture, encoding="utf8")
        typer.echo(f"Saved to {output}")


def _read(source: Path | None, texts: list[str], model: str) -> Iterator[Doc]:
    if source is None or source == STDIN:
        return spacy.load(model).pipe(texts or [sys.stdin.read()])
    return read_docs(source, spacy.blank("xx").vocab)


def _choose_style(output: Path | None, style: Style) -> tuple[str, bool]:
    """Choose the style of a picture, and whether to make an HTML page, by the suffix of
    the file."""
    suffix = ".txt" if output is None else output.suffix
    if suffix == ".html":
        return style.value, True
    if style is Style.span:
        raise ValueError("Spans are drawn in HTML. Use --output NAME.html.")
    if suffix not in (".svg", ".txt"):
        raise ValueError(f"The output must end in .svg, .html or .txt, not {output}.")
    return "tree" if suffix == ".svg" else "text", False
