"""Plot the statistics of a treebank."""

from pathlib import Path

from ..evaluation.stats import TreebankStats
from ..util.files import write_whole

SHOWN = 20  # number of labels and chains in a plot, most frequent first


def plot(stats: TreebankStats, path: Path) -> None:
    """Plot lengths, depths, labels and unary chains.

    stats (TreebankStats): The counts.
    path (Path): The file, in a format that matplotlib supports: .png, .svg, .pdf.
    RAISES (ImportError): If matplotlib is not installed.
    RAISES (ValueError): If matplotlib does not support the format.
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
    lengths.set(xlabel="words per sentence", ylabel="sentences")
    depths.bar(stats.depths.keys(), stats.depths.values(), width=1)
    depths.set(xlabel="depth of tree", ylabel="sentences")
    for axes, counts, name in (
        (labels, stats.labels, "brackets"),
        (chains, stats.chains, "unary chains"),
    ):
        most = counts.most_common(SHOWN)[::-1]
        places = range(len(most))
        axes.barh(places, [count for _, count in most])
        # Text between dollar signs, as in "PRP$ WP$", is not a formula.
        axes.set_yticks(places, [label for label, _ in most], parse_math=False)
        axes.set(xlabel=name)
    with write_whole(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:] or "png")
