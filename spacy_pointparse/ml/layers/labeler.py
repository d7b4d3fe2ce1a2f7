"""The label heads."""

from collections.abc import Callable

from thinc.api import Model, Ragged
from thinc.types import Floats2d, Ints1d


def forward_labeler(
    model: Model, inputs: tuple[Ragged, Ints1d], is_train: bool
) -> tuple[tuple[Floats2d, Floats2d], Callable]:
    words, targets = inputs
    features, span_labels, unary_labels = model.layers
    (spans, unaries), backprop_features = features(
        (words.dataXd, targets), is_train=is_train
    )
    span_scores, backprop_spans = span_labels(spans, is_train=is_train)
    unary_scores, backprop_unaries = unary_labels(unaries, is_train=is_train)

    def backprop(d_scores: tuple[Floats2d, Floats2d]) -> Ragged:
        d_features = (backprop_spans(d_scores[0]), backprop_unaries(d_scores[1]))
        return Ragged(backprop_features(d_features), words.lengths)

    return (span_scores, unary_scores), backprop
