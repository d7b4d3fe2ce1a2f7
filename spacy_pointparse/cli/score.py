"""The command `score`."""

from pathlib import Path
from typing import Annotated

import typer

from ..evaluation.report import evaluate_files
from .options import clear_errors


def score_cli(
    gold: Annotated[Path, typer.Argument(help="File of gold trees")],
    predicted: Annotated[Path, typer.Argument(help="File of predicted trees")],
    setting: Annotated[
        str,
        typer.Option(help="collins, nk, spmrl or a parameter file of EVALB (.prm)"),
    ] = "collins",
) -> None:
    """Compare bracketed trees by the rules of EVALB, and print its table."""
    with clear_errors():
        report = evaluate_files(gold, predicted, setting)
    typer.echo(report.table(), nl=False)
