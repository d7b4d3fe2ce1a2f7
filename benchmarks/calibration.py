"""Whether en_pointparse_sm's probabilities of constituents are right.

    pip install matplotlib
    python benchmarks/calibration.py corpus/english/test/gum.spacy docs/reliability.svg

Parses gold sentences. For each range of probabilities, prints the number of
constituents, their mean probability and the share of them that is right. Also prints
the expected calibration error (the mean gap between the two, weighted by constituents),
with and without calibration, and draws both as a reliability diagram.
"""

import sys

import numpy
import spacy
from matplotlib import pyplot
from numpy.typing import NDArray

from spacy_pointparse.training.corpus import create_corpus

EDGES = numpy.linspace(0, 1, 11)


def bin_probabilities(
    probabilities: NDArray, right: NDArray
) -> list[tuple[float, int, float, float]]:
    """Get the lower edge, size, mean probability and share of right of each bin."""
    bins = numpy.digitize(probabilities, EDGES[1:-1])
    return [
        (
            float(EDGES[i]),
            int(inside.sum()),
            probabilities[inside].mean(),
            right[inside].mean(),
        )
        for i in range(len(EDGES) - 1)
        if (inside := bins == i).any()
    ]


def measure_error(probabilities: NDArray, right: NDArray) -> float:
    rows = bin_probabilities(probabilities, right)
    return sum(n * abs(held - true) for _, n, held, true in rows) / len(right)


def draw_reliability(
    raw: NDArray, calibrated: NDArray, right: NDArray, path: str
) -> None:
    """Plot the share of right constituents against their mean probability."""
    # Keep text as text, and make the same file each time.
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "reliability"})
    figure, axes = pyplot.subplots(figsize=(4.5, 4.5))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, label="perfect")
    for probabilities, style, label in (
        (raw, "s--", "as predicted"),
        (calibrated, "o-", "calibrated"),
    ):
        rows = bin_probabilities(probabilities, right)
        held, true = zip(*[row[2:] for row in rows])
        axes.plot(held, true, style, label=label)
    axes.set(xlabel="mean probability", ylabel="share that is right")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main(path: str, figure: str) -> None:
    nlp = spacy.load("en_pointparse_sm")
    parser = nlp.get_pipe("pointing_parser")
    raw, right = parser.get_calibration_pairs(create_corpus(path)(nlp))
    calibrated = parser.calibration.apply(raw)
    print("| probability | constituents | mean probability | right |")
    print("|---|---|---|---|")
    for low, count, held, true in bin_probabilities(calibrated, right):
        print(f"| {low:.1f} to {low + 0.1:.1f} | {count} | {held:.3f} | {true:.3f} |")
    draw_reliability(raw, calibrated, right, figure)
    print(f"expected calibration error {measure_error(calibrated, right):.4f}")
    print(f"without calibration {measure_error(raw, right):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
