"""The heads that label spans and single words."""

from collections.abc import Callable
from typing import Literal

from thinc.api import Linear, Model, Ragged
from thinc.types import Floats2d, Ints1d

from ..modules import LabelFeatures
from ..torch_wrapper import wrap_torch

# The encoded words, and the row of the word that each of them points at.
InT = tuple[Ragged, Ints1d]
# The scores of span labels and of unary labels.
OutT = tuple[Floats2d, Floats2d]


def labeler(
    input_width: int, width: int, source: Literal["ends", "word"]
) -> Model[InT, OutT]:
    """Build a layer that scores labels for the span that each word points out, and for
    the word alone.

    input_width (int): Width of the encoded words.
    width (int): Width of the label features.
    source (str): What a span's label is read from, see `modules.LabelFeatures`.
    RETURNS (Model[Tuple[Ragged, Ints1d], Tuple[Floats2d, Floats2d]]): The layer. Its
        numbers of labels are inferred at initialization.
    """
    features = wrap_torch(LabelFeatures(input_width, width, source))
    layers = [features, Linear(nI=width), Linear(nI=width)]
    return Model("labeler", forward, init=init, layers=layers)


def forward(
    model: Model[InT, OutT], inputs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Ragged]]:
    words, targets = inputs
    features, span_labels, unary_labels = model.layers
    (spans, unaries), backprop_features = features(
        (words.dataXd, targets), is_train=is_train
    )
    span_scores, backprop_spans = span_labels(spans, is_train=is_train)
    unary_scores, backprop_unaries = unary_labels(unaries, is_train=is_train)

    def backprop(d_scores: OutT) -> Ragged:
        d_features = (backprop_spans(d_scores[0]), backprop_unaries(d_scores[1]))
        return Ragged(backprop_features(d_features), words.lengths)

    return (span_scores, unary_scores), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if Y is not None:
        for layer, scores in zip(model.layers[1:], Y):
            layer.initialize(Y=scores)
