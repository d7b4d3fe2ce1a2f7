"""A head that predicts tags and feeds them to the layers above."""

from collections.abc import Callable

from thinc.api import Linear, Model, Ragged, softmax_activation
from thinc.types import Floats2d

InT = Ragged
# The words with their tags embedded in them, and the scores of the tags.
OutT = tuple[Ragged, Floats2d]


def build_tag_head(width: int) -> Model[InT, OutT]:
    """Build a layer that scores the tags of each word and adds the embeddings of the
    tags, weighted by their probabilities, to the word's vector.

    width (int): Width of the word vectors.
    RETURNS (Model[Ragged, Tuple[Ragged, Floats2d]]): The layer. Its number of tags is
        inferred at initialization.
    """
    layers = [Linear(nI=width), softmax_activation(), Linear(nO=width)]
    return Model("tag_head", forward, init=init, layers=layers)


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    tagger, softmax, embed = model.layers
    scores, backprop_tagger = tagger(words.dataXd, is_train=is_train)
    probabilities, backprop_softmax = softmax(scores, is_train=is_train)
    embedded, backprop_embed = embed(probabilities, is_train=is_train)

    def backprop(d_outputs: OutT) -> InT:
        d_tagged, d_scores = d_outputs
        d_words = d_tagged.dataXd
        d_scores = d_scores + backprop_softmax(backprop_embed(d_words))
        return Ragged(d_words + backprop_tagger(d_scores), words.lengths)

    return (Ragged(words.dataXd + embedded, words.lengths), scores), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if Y is not None:
        tagger, _, embed = model.layers
        tagger.initialize(Y=Y[1])
        embed.initialize(X=Y[1])
