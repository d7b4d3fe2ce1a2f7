"""The command `score`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..evaluation.report import evaluate_files
from .options import clear_errors


class SettingName(str, Enum):
    """A set of EVALB parameters."""

    collins = "collins"
    nk = "nk"
    spmrl = "spmrl"


def score_cli(
    gold: Annotated[Path, typer.Argument(help="File of gold trees")],
    predicted: Annotated[Path, typer.Argument(help="File of predicted trees")],
    setting: Annotated[
        SettingName, typer.Option(help="EVALB parameters")
    ] = SettingName.collins,
) -> None:
    """Compare bracketed trees by the rules of EVALB, and print its table."""
    with clear_errors():
        report = evaluate_files(gold, predicted, setting.value)
    typer.echo(report.table(), nl=False)
