"""Rows of Docs gathered by sentence."""

from collections.abc import Callable

from thinc.api import Model, Ragged
from thinc.types import Floats2d

from ..types import Sentences


def forward_gather(
    model: Model, inputs: Sentences, is_train: bool
) -> tuple[Ragged, Callable]:
    """Gather rows by sentence."""
    vectors, sentences = inputs
    ops = model.ops
    rows = ops.xp.concatenate(sentences)
    lengths = ops.asarray1i([len(sentence) for sentence in sentences])

    def backprop(d_words: Ragged) -> Floats2d:
        # Each row is a word of one sentence at most, so plain assignment adds up.
        d_vectors = ops.alloc2f(*vectors.shape)
        d_vectors[rows] = d_words.dataXd
        return d_vectors

    return Ragged(vectors[rows], lengths), backprop
