"""The command `join`."""

from pathlib import Path
from typing import Annotated

import spacy
import typer

from ..pipeline.join_parsers import join_parsers
from ..util.files import write_folder
from .options import clear_errors


def join_cli(
    models: Annotated[
        list[str], typer.Argument(help="Names or paths of trained pipelines")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the joined pipeline")
    ],
    name: Annotated[
        str, typer.Option(help="Name of the component in each pipeline")
    ] = "pointing_parser",
) -> None:
    """Join trained parsers, such as those of several seeds, into an ensemble."""
    with clear_errors():
        nlp = join_parsers([spacy.load(model) for model in models], name)
        with write_folder(output) as folder:
            nlp.to_disk(folder)
    typer.echo(f"Joined {len(models)} parsers into {output}")
