"""The pointing heads."""

from collections.abc import Callable

from thinc.api import Model, Ragged
from thinc.types import Floats3d


def forward_pointer(
    model: Model, words: Ragged, is_train: bool
) -> tuple[tuple[Floats3d, ...], Callable]:
    """Score pointings; those in the left-factored tree in training alone."""
    heads = model.layers if is_train else model.layers[:2]
    inputs = (words.dataXd, words.lengths)
    scores, backprops = zip(*(head(inputs, is_train=is_train) for head in heads))

    def backprop(d_scores: tuple[Floats3d, ...]) -> Ragged:
        d_words = sum(backprop(d_head) for backprop, d_head in zip(backprops, d_scores))
        return Ragged(d_words, words.lengths)

    return scores, backprop
