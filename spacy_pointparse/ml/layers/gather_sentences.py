"""The rows of each sentence, taken from the rows of whole Docs."""

from collections.abc import Callable
from typing import Any

from thinc.api import Model, Ragged, get_array_module
from thinc.types import Floats2d, Ints1d

# The vectors of all tokens of the Docs, and the rows of each sentence.
InT = tuple[Floats2d, list[Ints1d]]
OutT = Ragged


def gather_sentences() -> Model[InT, OutT]:
    """Build a layer that gathers the rows of each sentence.

    RETURNS (Model[Tuple[Floats2d, List[Ints1d]], Ragged]): The layer: one row a word,
        one length a sentence.
    """
    return Model("sentences", forward)


def forward(
    model: Model[InT, OutT], inputs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    vectors, sentences = inputs
    ops = model.ops
    rows = get_array_module(vectors).concatenate(sentences)
    lengths = ops.asarray1i([len(sentence) for sentence in sentences])

    def backprop(d_words: OutT) -> Floats2d:
        d_vectors: Any = ops.alloc2f(*vectors.shape)
        # No row is in two sentences, so nothing has to be added up.
        d_vectors[rows] = d_words.dataXd
        return d_vectors

    return Ragged(vectors[rows], lengths), backprop
