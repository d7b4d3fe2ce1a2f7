"""The command `search`."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Doc, Span

from ..tokens.getters import get_span_string
from ..tokens.search import PatternError, compile_pattern, find_constituents
from ..tokens.sentences import get_sentences
from .environment import use_gpu
from .inputs import STDIN, find_inputs, parse_items, read_items, read_treebank
from .options import BatchSize, Broken, Field, GpuId, OnError, Texts, clear_errors
from .writers import show_error


def search_cli(
    pattern: Annotated[
        str, typer.Argument(help='tgrep pattern: "NP < PP"; "*" for all')
    ],
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Parsed .spacy files and bracketed trees: files, folders or globs; "
            "with --model, texts as for `parse`"
        ),
    ] = [],  # noqa: B006
    labels: Annotated[
        list[str], typer.Option("--label", help="Match any of these labels")
    ] = [],  # noqa: B006
    words: Annotated[
        list[str], typer.Option("--word", help="Contain all of these words")
    ] = [],  # noqa: B006
    min_length: Annotated[int, typer.Option(help="Minimum number of words")] = 1,
    max_length: Annotated[
        int | None, typer.Option(help="Maximum number of words")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Pipeline to parse the inputs with"),
    ] = None,
    texts: Texts = [],  # noqa: B006
    field: Field = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    on_error: OnError = Broken.raise_,
) -> None:
    """Find constituents by pattern.

    Prints a line for each constituent, with tab-separated columns: file and number of
    the line, Doc or tree; number of the sentence in it; offset of the first character;
    offset after the last character; text; brackets.
    """
    if not model and (texts or not inputs):
        raise typer.BadParameter("Provide trees or a --model.", param_hint="INPUTS")
    failed = 0
    with clear_errors():
        compile_pattern(pattern)
        query = {
            "pattern": pattern,
            "labels": labels,
            "words": words,
            "min_length": min_length,
            "max_length": max_length,
        }
        if model:
            use_gpu(gpu_id)
            docs = _parse(model, inputs, texts, field, batch_size)
        else:
            docs = chain.from_iterable(
                read_treebank(path, on_error.value) for path in inputs
            )
        for place, doc in docs:
            found = _search(doc, query)
            if isinstance(found, Exception):
                failed += 1
                typer.echo(f"{place}: {show_error(found)}", err=True)
            elif found:
                _print(place, found)
        if failed:
            raise ValueError(f"{failed} text(s) failed.")


def _parse(
    model: str,
    inputs: list[Path],
    texts: list[str],
    field: str | None,
    batch_size: int | None,
) -> Iterator[tuple[str, Doc | Exception]]:
    files = find_inputs(inputs or ([] if texts else [STDIN]))
    nlp = spacy.load(model)
    nlp.batch_size = batch_size or nlp.batch_size
    items = read_items(texts, files, field, nlp.vocab)
    for item, parsed in parse_items(nlp, items):
        yield item.place, parsed


def _search(doc: Doc | Exception, query: dict[str, Any]) -> list[Span] | Exception:
    if isinstance(doc, Exception):
        return doc
    try:
        return find_constituents(doc, **query)
    except PatternError:
        raise
    except ValueError as error:
        return error


def _print(place: str, found: list[Span]) -> None:
    starts = [sent.start for sent in get_sentences(found[0].doc)]
    for span in found:
        sentence = bisect_right(starts, span.start)
        text = " ".join(span.text.split())
        columns = (place, sentence, span.start_char, span.end_char, text)
        typer.echo("\t".join(map(str, (*columns, get_span_string(span)))))
