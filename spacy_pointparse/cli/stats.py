"""The command `stats`."""

import warnings
from pathlib import Path
from statistics import fmean, median
from typing import Annotated

import typer
from wasabi import table

from ..evaluation.stats import TreebankStats
from ..visualization.plot_stats import plot
from .inputs import read_treebank
from .options import Broken, OnError, clear_errors


def stats_cli(
    data: Annotated[
        list[Path],
        typer.Argument(
            help=".spacy files and bracketed trees: files, folders or globs"
        ),
    ],
    top: Annotated[
        int,
        typer.Option(help="Number of labels and chains to show, most frequent first"),
    ] = 20,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", help="File for a plot, such as a .png or .svg"),
    ] = None,
    on_error: OnError = Broken.raise_,
) -> None:
    """Count sentences, words, labels and unary chains of a treebank.

    The depth of a tree is the maximum number of brackets around a word, not counting
    its tag.
    """
    stats = TreebankStats()
    skipped: list[str] = []
    with clear_errors():
        for path in data:
            for place, doc in read_treebank(path, on_error.value):
                try:
                    stats.add(doc)
                except ValueError as error:
                    skipped.append(f"{place}: {error}")
                    if on_error is not Broken.skip:
                        raise ValueError(skipped[0]) from None
        if skipped:
            warnings.warn(
                f"skipped {len(skipped)} Doc(s). First error: {skipped[0]}",
                stacklevel=1,
            )
        if not stats.lengths:
            raise ValueError(f"No sentences in {', '.join(map(str, data))}.")
        _print(stats, top)
        if plot_path is not None:
            plot(stats, plot_path)


def _print(stats: TreebankStats, top: int) -> None:
    totals = {
        "sentences": stats.lengths.total(),
        "words": stats.tags.total(),
        "brackets": stats.labels.total(),
        "unary chains": stats.chains.total(),
    }
    typer.echo(table(totals, aligns=("l", "r")), nl=False)
    measures = [
        (name, f"{fmean(each):.1f}", f"{median(each):g}", max(each))
        for name, each in (
            ("words", list(stats.lengths.elements())),
            ("depth", list(stats.depths.elements())),
        )
    ]
    _print_table(("per sentence", "mean", "median", "max"), measures)
    for name, counts in (
        ("label", stats.labels),
        ("tag", stats.tags),
        ("unary chain", stats.chains),
    ):
        rows = counts.most_common(top)
        others = counts.total() - sum(count for _, count in rows)
        if others:
            rows.append((f"({len(counts) - len(rows)} others)", others))
        shares = [(*row, f"{100 * row[1] / counts.total():.1f}") for row in rows]
        _print_table((name, "count", "%"), shares)


def _print_table(header: tuple[str, ...], rows: list[tuple]) -> None:
    aligns = ("l", *"r" * (len(header) - 1))
    typer.echo(table(rows, header, divider=True, aligns=aligns), nl=False)
