import math

import numpy
import pytest
from numpy.testing import assert_allclose
from thinc.api import NumpyOps

from spacy_pointparse.training.loss import compute_loss
from spacy_pointparse.training.targets import Target
from spacy_pointparse.util.arrays import log_softmax

OPS = NumpyOps()


def make_target(*pointings, labels, unaries, tags):
    """The target of a flat sentence."""
    length = len(pointings)
    ids = [numpy.array(column) for column in (pointings, labels, unaries, tags)]
    return Target(numpy.arange(length), [(0, length, "S")], *ids)


TARGETS = [
    make_target(
        *(2, 2, 0),
        labels=[1, 0, 1],
        unaries=[0, -1, 2],
        tags=[0, 1, -1],
    ),
    make_target(0, labels=[-1], unaries=[1], tags=[-1]),
]


def make_scores(seed=0):
    random = numpy.random.default_rng(seed)
    shapes = [(2, 3, 3), (2, 3, 3), (4, 2), (4, 3), (4, 2), (2, 3, 3)]
    return [random.normal(size=shape) for shape in shapes]


PARTIAL = TARGETS[0]._replace(
    allowed=numpy.array([[0, 0, 1], [1, 0, 1], [1, 0, 0]], dtype=bool),
    weights=numpy.array([[1, 0.1, 0], [0.1, 1, 1]]),
)


def test_partial_tree_pays_for_what_it_rules_out():
    even = [0 * scores for scores in make_scores()]
    whole, _ = compute_loss(OPS, TARGETS, even)
    loss, gradients = compute_loss(OPS, [PARTIAL, TARGETS[1]], even)
    # In the left-factored tree nothing is known of its three words.
    # The word in the middle may point at two of three words; where it would by itself,
    # and so do the others, counts a tenth. Of two labels the second counts a tenth and
    # the third nothing, of three labels of words the first a tenth.
    pointing = math.log(3) - math.log(3 / 2) - 0.3 * math.log(3) + 3 * math.log(3)
    saved = pointing + 1.9 * math.log(2) + 0.9 * math.log(3)
    assert whole - loss == pytest.approx(saved)
    allowed = [[1, 1, -2], [-1 / 2, 1, -1 / 2], [-2, 1, 1]]
    alone = [[1, 1, -2], [1, 1, -2], [-2, 1, 1]]
    expected = numpy.array(allowed) / 3 + 0.1 * numpy.array(alone) / 3
    assert_allclose(gradients[0][0], expected)


def test_partial_tree_that_is_held_to_be_impossible_has_a_finite_loss():
    """Its words have a probability of 0, in numbers, of pointing where they may."""
    scores = [0 * head for head in make_scores()]
    scores[0][0] = numpy.where(PARTIAL.allowed, -1e4, 0.0)
    loss, gradients = compute_loss(OPS, [PARTIAL, TARGETS[1]], scores)
    assert 0 < loss < numpy.inf
    assert all(numpy.isfinite(gradient).all() for gradient in gradients)


def test_even_scores_cost_the_logarithm_of_the_number_of_classes():
    loss, _ = compute_loss(OPS, TARGETS, [0 * scores for scores in make_scores()])
    pointings, labels, unaries, tags = 3 * 4, 3, 3, 2
    expected = (pointings + unaries) * math.log(3) + (labels + tags) * math.log(2)
    assert loss == pytest.approx(expected)


@pytest.mark.parametrize("first", [TARGETS[0], PARTIAL])
def test_gradient_is_the_slope_of_the_loss(first):
    targets = [first, TARGETS[1]]
    scores, step = make_scores(), 1e-6
    _, gradients = compute_loss(OPS, targets, scores)
    for head, gradient in zip(scores, gradients, strict=True):
        assert gradient.shape == head.shape
        for index in numpy.ndindex(head.shape):
            kept = head[index]
            losses = []
            for value in (kept + step, kept - step):
                head[index] = value
                losses.append(compute_loss(OPS, targets, scores)[0])
            head[index] = kept
            slope = (losses[0] - losses[1]) / (2 * step)
            assert gradient[index] == pytest.approx(slope, abs=1e-6)


def test_parser_without_tag_head_pays_nothing_for_tags():
    *scores, tags, lefts = make_scores()
    whole, _ = compute_loss(OPS, TARGETS, [*scores, tags, lefts])
    loss, gradients = compute_loss(OPS, TARGETS, [*scores, None, lefts])
    assert gradients[4] is None
    chosen = log_softmax(OPS, tags)[[0, 1], [0, 1]]
    assert whole - loss == pytest.approx(-chosen.sum())


def test_log_softmax_of_large_scores():
    scores = numpy.array([[1000.0, 1000.0, -1e9], [-1000.0, -1000.0, -1e9]])
    expected = math.log(0.5)
    assert_allclose(log_softmax(OPS, scores)[:, :2], [[expected] * 2] * 2)
    assert numpy.isfinite(log_softmax(OPS, scores)).all()
