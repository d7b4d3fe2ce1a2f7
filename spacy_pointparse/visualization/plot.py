"""Plots of a treebank's statistics."""

from pathlib import Path

from ..evaluation.stats import TreebankStats
from ..util.files import write_whole

SHOWN = 20  # of the most frequent labels in a plot


def plot(stats: TreebankStats, path: Path) -> None:
    """Draw lengths, depths, labels and unary chains.

    stats (TreebankStats): The counts.
    path (Path): The file, of any format that matplotlib writes: .png, .svg, .pdf.
    RAISES (ImportError): If matplotlib is not installed.
    RAISES (ValueError): If it knows no such format.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            'A plot needs matplotlib: pip install "spacy-pointparse[plot]".'
        ) from None
    figure = Figure(figsize=(11, 8), layout="constrained")
    (lengths, depths), (labels, chains) = figure.subplots(2, 2)
    lengths.bar(stats.lengths.keys(), stats.lengths.values(), width=1)
    lengths.set(xlabel="words of a sentence", ylabel="sentences")
    depths.bar(stats.depths.keys(), stats.depths.values(), width=1)
    depths.set(xlabel="depth of a tree", ylabel="sentences")
    for axes, counts, name in (
        (labels, stats.labels, "brackets"),
        (chains, stats.chains, "unary chains"),
    ):
        most = counts.most_common(SHOWN)[::-1]
        places = range(len(most))
        axes.barh(places, [count for _, count in most])
        # What is between two dollar signs, as in "PRP$ WP$", is no formula.
        axes.set_yticks(places, [label for label, _ in most], parse_math=False)
        axes.set(xlabel=name)
    with write_whole(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:] or "png")
