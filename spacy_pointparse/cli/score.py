"""The command `score`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..evaluation.report import evaluate_files
from .options import clear_errors


class SettingName(str, Enum):
    """A parameter file of EVALB."""

    collins = "collins"
    nk = "nk"
    spmrl = "spmrl"


def score_cli(
    gold: Annotated[Path, typer.Argument(help="Gold trees, one a line")],
    predicted: Annotated[Path, typer.Argument(help="Predicted trees, one a line")],
    setting: Annotated[
        SettingName, typer.Option(help="Parameter file of EVALB")
    ] = SettingName.collins,
) -> None:
    """Compare bracketed trees by the rules of EVALB and print its table."""
    with clear_errors():
        report = evaluate_files(gold, predicted, setting.value)
    typer.echo(report.table(), nl=False)
