"""Calibrate probabilities: of constituents given 0.8, four in five should be right."""

from collections import Counter
from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.training import Example

from ..tokens.constituents import SPANS_KEY
from ..tokens.parse import Parse
from ..training.alignment import get_gold

# Keeps log-odds finite, and Newton's method solvable.
MIN_PROBABILITY = 1e-6
STEPS = 50  # of Newton's method


class Calibration(NamedTuple):
    """A linear map of log-odds (Platt, 1999).

    slope (float): The factor applied to log-odds.
    intercept (float): The constant added to them.
    """

    slope: float = 1.0
    intercept: float = 0.0

    def apply(self, probabilities: NDArray) -> NDArray:
        """Calibrate probabilities.

        probabilities (NDArray): The probabilities of a model. Shape (...).
        RETURNS (NDArray): The calibrated probabilities. Shape (...).
        """
        return _sigmoid(self.slope * _log_odds(probabilities) + self.intercept)


def fit(probabilities: NDArray, right: NDArray) -> Calibration:
    """Fit a calibration to outcomes by maximum likelihood, with Newton's method. The
    outcomes are smoothed (Platt, 1999), so that a small sample does not lead to
    probabilities of 0 or 1.

    probabilities (NDArray): The probabilities of a model. Shape (n,).
    right (NDArray): Whether each prediction was right, 0 or 1. Shape (n,).
    RETURNS (Calibration): The calibration.
    RAISES (ValueError): If all predictions are right, or all are wrong.
    """
    right = numpy.asarray(right, dtype=bool)
    rights, wrongs = right.sum(), (~right).sum()
    if not rights or not wrongs:
        raise ValueError(
            "Calibration needs some right and some wrong predictions. Use more data, "
            "which the parser was not trained on."
        )
    inputs = numpy.stack(
        [_log_odds(probabilities), numpy.ones(len(probabilities))], axis=1
    )
    truths = numpy.where(right, (rights + 1) / (rights + 2), 1 / (wrongs + 2))
    weights = numpy.array(Calibration())
    for _ in range(STEPS):
        expected = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (expected - truths)
        # Singular if all probabilities are equal.
        curvature = (inputs.T * (expected * (1 - expected))) @ inputs
        step = numpy.linalg.solve(curvature + MIN_PROBABILITY * numpy.eye(2), gradient)
        weights -= step / max(1.0, float(numpy.abs(step).max()))
    return Calibration(*weights.tolist())


def get_calibration_pairs(
    example: Example, parses: list[Parse], spans_key: str = SPANS_KEY
) -> Iterator[tuple[float, bool]]:
    """Pair the probability of each predicted constituent with whether it is right.
    Skips sentences whose gold tree is missing, partial or not aligned with the
    predicted tokens.

    example (Example): The gold trees.
    parses (List[Parse]): The parse of each sentence of the predicted Doc.
    spans_key (str): The span group that holds the gold trees.
    YIELDS (Tuple[float, bool]): The probability, and whether the gold tree contains
        the constituent.
    """
    golds = {}
    for gold in get_gold(example, spans_key):
        if gold is not None and not gold.partial:
            golds[gold.words[0]] = gold
    for parse in parses:
        gold = golds.get(parse.words[0])
        if gold is None or gold.words != parse.words:
            continue
        left = Counter(gold.constituents)
        for bracket, probability in zip(parse.constituents, parse.probabilities):
            if not isnan(probability):
                yield probability, left[bracket] > 0
            left[bracket] -= 1


def _log_odds(probabilities: NDArray) -> NDArray:
    clipped = numpy.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return numpy.log(clipped) - numpy.log1p(-clipped)


def _sigmoid(scores: NDArray) -> NDArray:
    return 1 / (1 + numpy.exp(-scores))
