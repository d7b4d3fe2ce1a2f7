"""Words, read character by character."""

from collections.abc import Callable

import numpy
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Linear, Model, chain
from thinc.types import Floats2d, Ints1d

from ..modules import CharacterLSTM
from ..torch_wrapper import wrap_torch
from ..types import Tok2Vec
from .word_types import spread


def build_character_lstm(
    width: int, rows: int = 500, character_width: int = 64, max_length: int = 20
) -> Tok2Vec:
    """Build a layer that reads each word with a bidirectional character LSTM, each
    distinct word of a batch once (Kitaev and Klein, 2018; section 3.1 of the paper).

    width (int): Width of the vectors, both directions together.
    rows (int): Number of character embeddings: a code point has the row that is left
        when it is divided by this.
    character_width (int): Width of the character embeddings.
    max_length (int): Characters read of a word; of a longer one, the first and the
        last half of these.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    """
    layer = chain(
        wrap_torch(CharacterLSTM(rows, character_width, width)),
        Linear(nO=width, nI=width),
    )
    attrs = {"rows": rows, "max_length": max_length}
    return Model(
        "character_lstm",
        _forward_characters,
        init=_init_characters,
        layers=[layer],
        dims={"nO": width},
        attrs=attrs,
    )


def _forward_characters(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    ops = model.ops
    words, places = _count_words(docs)
    if not words:
        empty = ops.alloc2f(0, model.get_dim("nO"))
        return spread(model, docs, empty, places, lambda d_types: None)
    characters, word_lengths = _read_characters(
        words, model.attrs["rows"], model.attrs["max_length"]
    )
    inputs = (ops.asarray1i(characters), ops.asarray1i(word_lengths))
    types, backprop_types = model.layers[0](inputs, is_train=is_train)
    return spread(model, docs, types, places, backprop_types)


def _count_words(docs: list[Doc]) -> tuple[list[str], Ints1d]:
    """The distinct words of Docs, and the place of each token's word among them."""
    words: dict[str, int] = {}
    indices = []
    for doc in docs:
        strings = doc.vocab.strings
        for key in doc.to_array(ORTH).tolist():
            indices.append(words.setdefault(strings[key], len(words)))
    return list(words), numpy.array(indices, dtype="int32")


def _read_characters(
    words: list[str], rows: int, max_length: int
) -> tuple[Ints1d, list[int]]:
    """Rows of the characters of all words, and their number in each."""
    half = max_length // 2
    words = [
        word if len(word) <= max_length else word[:half] + word[-half:]
        for word in words
    ]
    code_points = "".join(words).encode("utf-32-le")
    characters = numpy.frombuffer(code_points, dtype="uint32") % rows
    return characters.astype("int32"), [len(word) for word in words]


def _init_characters(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    model.layers[0].layers[1].initialize()
