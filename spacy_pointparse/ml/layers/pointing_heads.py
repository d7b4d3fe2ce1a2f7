"""The pointing heads."""

from collections.abc import Callable
from typing import Literal

from thinc.api import Model, Ragged
from thinc.types import Floats3d

from ..modules import Pointer
from ..torch_wrapper import wrap_torch

InT = Ragged
# The scores of each head.
OutT = tuple[Floats3d, ...]


def pointing_heads(
    input_width: int,
    width: int,
    singleton_width: int,
    left_width: int,
    scorer: Literal["gaps", "biaffine", "dot", "query_key"],
) -> Model[InT, OutT]:
    """Build a layer that scores each word pointing at each word of its sentence.

    input_width (int): Width of the encoded words.
    width (int): Width of the general head.
    singleton_width (int): Width of the singleton head.
    left_width (int): Width of the head for the left-factored tree, 0 for none. It is
        used in training only.
    scorer (str): How the heads score, see `modules.Pointer`.
    RETURNS (Model[Ragged, Tuple[Floats3d, ...]]): The layer: scores of each head, of
        shape (sentences, length, length).
    """
    widths = [width, singleton_width]
    if left_width:
        widths.append(left_width)
    heads = [wrap_torch(Pointer(input_width, each, scorer)) for each in widths]
    return Model("pointer", forward, layers=heads)


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    heads = model.layers if is_train else model.layers[:2]
    inputs = (words.dataXd, words.lengths)
    scores, backprops = zip(*(head(inputs, is_train=is_train) for head in heads))

    def backprop(d_scores: OutT) -> InT:
        d_words = sum(backprop(d_head) for backprop, d_head in zip(backprops, d_scores))
        return Ragged(d_words, words.lengths)

    return scores, backprop
