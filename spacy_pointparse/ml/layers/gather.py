"""The rows of each sentence, taken from the rows of whole Docs."""

from collections.abc import Callable

from thinc.api import Model, Ragged
from thinc.types import Floats2d, Ints1d

# The rows of all Docs, and the numbers of those that each sentence takes.
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
    rows = ops.xp.concatenate(sentences)
    lengths = ops.asarray1i([len(sentence) for sentence in sentences])

    def backprop(d_words: OutT) -> Floats2d:
        # No row is in two sentences, so assignment is enough.
        d_vectors = ops.alloc2f(*vectors.shape)
        d_vectors[rows] = d_words.dataXd
        return d_vectors

    return Ragged(vectors[rows], lengths), backprop
