"""The command `convert`."""

import re
import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..training.convert import convert_treebank
from ..trees.cleaning import SEPARATORS
from .options import Broken, OnError, Resume, clear_errors

RENAME = re.compile(r"[^=()\s]+=[^=()\s]+")


def convert_cli(
    inputs: Annotated[
        list[Path], typer.Argument(help="Files, folders or globs of bracketed trees")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The .spacy file to write")
    ],
    split: Annotated[
        str,
        typer.Option(help="Part to convert: train, dev, test or the name of a list"),
    ] = "",
    limit: Annotated[
        int, typer.Option(min=0, help="Sample this many sentences, 0 for all")
    ] = 0,
    relabel: Annotated[
        list[str], typer.Option(help="Rename a label, such as NML=NP")
    ] = [],  # noqa: B006
    unwrap: Annotated[
        list[str], typer.Option(help="Remove this label from above whole sentences")
    ] = [],  # noqa: B006
    sentences_per_doc: Annotated[
        int, typer.Option(min=1, help="Sentences per Doc")
    ] = 1,
    partial: Annotated[bool, typer.Option(help="The trees may lack brackets")] = False,
    separators: Annotated[
        str, typer.Option(help="Characters that separate function tags from labels")
    ] = SEPARATORS,
    keep_functions: Annotated[bool, typer.Option(help="Keep function tags")] = False,
    bare_empties: Annotated[
        bool, typer.Option(help="Empty elements are leaves like *T* without a tag")
    ] = False,
    drop: Annotated[
        list[str], typer.Option(help="Remove nodes of this label with their words")
    ] = [],  # noqa: B006
    lemmas: Annotated[
        bool, typer.Option(help="Leaves are word-lemma: keep the word")
    ] = False,
    on_error: OnError = Broken.raise_,
    resume: Resume = False,
) -> None:
    """Convert bracketed trees to a .spacy file for training and evaluation."""
    with clear_errors():
        count = convert_treebank(
            inputs,
            output,
            split=split,
            limit=limit,
            relabel=_parse_renames(relabel),
            unwrap=unwrap,
            sentences_per_doc=sentences_per_doc,
            partial=partial,
            resume=resume,
            separators=separators,
            keep_functions=keep_functions,
            bare_empties=bare_empties,
            drop=drop,
            lemmas=lemmas,
            on_error=on_error.value,
        )
    if not count:
        warnings.warn("there are no trees in the input", stacklevel=1)
    typer.echo(f"{count} sentences in {output}")


def _parse_renames(renames: list[str]) -> dict[str, str]:
    wrong = [rename for rename in renames if not RENAME.fullmatch(rename)]
    if wrong:
        raise ValueError(f"--relabel takes OLD=NEW, not {wrong[0]!r}.")
    pairs = [rename.split("=") for rename in renames]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"--relabel gives a label two names: {' '.join(renames)}.")
    return dict(pairs)
