"""Word vectors from characters."""

from collections.abc import Callable
from typing import cast

import numpy
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Linear, Model, chain
from thinc.types import Floats2d, Ints1d

from ..modules import CharacterLSTM
from ..torch_wrapper import wrap_torch
from ..types import Tok2Vec
from .distinct_words import spread

InT = list[Doc]
OutT = list[Floats2d]


def build_character_lstm(
    width: int, rows: int = 500, character_width: int = 64, max_length: int = 20
) -> Tok2Vec:
    """Build a layer that reads each word with a bidirectional character LSTM (Kitaev
    and Klein, 2018; section 3.1 of the paper). A word that occurs several times in a
    batch is read once.

    width (int): Width of the vectors, both directions together.
    rows (int): Number of character embeddings. A character's row is its code point
        modulo this number.
    character_width (int): Width of the character embeddings.
    max_length (int): Number of characters to read. Of a longer word, the first half of
        this number is read from the start and the other half from the end.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    """
    layer: Model = chain(
        wrap_torch(CharacterLSTM(rows, character_width, width)),
        Linear(nO=width, nI=width),
    )
    return Model(
        "character_lstm",
        forward,
        init=init,
        layers=[layer],
        dims={"nO": width},
        attrs={"rows": rows, "max_length": max_length},
    )


def forward(
    model: Tok2Vec, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    ops = model.ops
    words, indices = _get_distinct_words(docs)
    if not words:
        empty = ops.alloc2f(0, model.get_dim("nO"))
        return spread(model, docs, empty, indices, lambda d_types: None)
    characters, lengths = _read_characters(
        words, model.attrs["rows"], model.attrs["max_length"]
    )
    inputs = (ops.asarray1i(cast(Ints1d, characters)), ops.asarray1i(lengths))
    types, backprop_types = model.layers[0](inputs, is_train=is_train)
    return spread(model, docs, types, indices, backprop_types)


def _get_distinct_words(docs: list[Doc]) -> tuple[list[str], NDArray]:
    """Get the distinct words of Docs, and the index of each token's word."""
    words: dict[str, int] = {}
    indices = []
    for doc in docs:
        strings = doc.vocab.strings
        for key in doc.to_array(ORTH).tolist():
            indices.append(words.setdefault(strings[key], len(words)))
    return list(words), numpy.array(indices, dtype="int32")


def _read_characters(
    words: list[str], rows: int, max_length: int
) -> tuple[NDArray, list[int]]:
    """Get the embedding row of each character, word after word, and the number of
    characters of each word."""
    half = max_length // 2
    words = [
        word if len(word) <= max_length else word[:half] + word[-half:]
        for word in words
    ]
    code_points = "".join(words).encode("utf-32-le")
    characters = numpy.frombuffer(code_points, dtype="uint32") % rows
    return characters.astype("int32"), [len(word) for word in words]


def init(model: Tok2Vec, X: InT | None = None, Y: OutT | None = None) -> None:
    _, project = model.layers[0].layers
    project.initialize()
