"""Layers that embed the tokens of Docs."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.attrs import NORM, ORTH
from spacy.ml.featureextractor import forward as extract_features
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import (
    HashEmbed,
    Linear,
    Model,
    chain,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ints1d, Ints2d

from .combination import Table, Tok2Vec, build_table_sum
from .fence import wrap_torch
from .network import CharacterLSTM

_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WIDE = re.compile("[\uff01-\uff5e]")


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


def build_hash_embed(
    width: int, attrs: list[str], rows: list[int], min_count: int = 1
) -> Tok2Vec:
    """Build a layer that embeds attributes of tokens, such as the words and tags of the
    paper, each in a table of hashed rows, and sums them. In training each of a token's
    attributes is dropped as a whole, by itself, and what is left of the token is scaled
    up, so that none leans on another (Dozat and Manning, 2017). A value that was never
    seen in training counts as dropped: its rows are those of other values. Full-width
    characters count as the ASCII ones that they are wide forms of: a comma as a comma.

    width (int): Width of the vectors.
    attrs (List[str]): The attributes, as "NORM" or "TAG".
    rows (List[int]): Number of rows for each; a value has four of them.
    min_count (int): A value that the first training data have less often counts as
        never seen.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): If there are not as many numbers of rows as attributes.
    """
    if len(attrs) != len(rows):
        raise ValueError(
            f"Attributes {attrs} need a number of rows each, but rows are {rows}."
        )
    tables = [
        _know(HashEmbed(nO=width, nV=size, column=i, seed=i))
        for i, size in enumerate(rows)
    ]
    embed = build_table_sum(*tables) if len(tables) > 1 else tables[0]
    extract = Model("extract_features", _forward_features, attrs={"columns": attrs})
    layer = chain(extract, list2ragged(), with_array(embed), ragged2list())
    layer.attrs["min_count"] = min_count
    return layer


def find_rare(model: Model, docs: Iterable[Doc]) -> None:
    """Let the layers of a model that leave rare values out find out what is rare.

    model (Model): The model, initialised.
    docs (Iterable[Doc]): The Docs that are to train it.
    """
    layers = [node for node in model.walk() if node.attrs.get("min_count", 1) > 1]
    if not layers:
        return
    counts: list[list[Counter[int]]] = [
        [Counter() for _ in layer.layers[0].attrs["columns"]] for layer in layers
    ]
    for doc in docs:
        for layer, columns in zip(layers, counts):
            [features] = layer.layers[0].predict([doc])
            for column, values in zip(columns, layer.ops.to_numpy(features).T):
                column.update(values.tolist())
    for layer, columns in zip(layers, counts):
        tables = [node for node in layer.walk() if node.name == "known"]
        for table, column in zip(tables, columns):
            least = layer.attrs["min_count"]
            rare = sorted(value for value, count in column.items() if count < least)
            table.attrs["rare"] = numpy.array(rare, dtype="uint64")


def build_static_vectors(width: int) -> Tok2Vec:
    """Build a layer that looks words up among pretrained vectors, which do not learn,
    and projects them to a width, which learns. A word without a vector has that of its
    norm (the lower-cased word, as a rule), or zeros.

    The vectors are those of the vocab (`initialize.vectors` of spaCy's config) when the
    layer is initialised. It keeps them itself, each number as one byte: where
    `spacy.StaticVectors.v2` looks into the vocab, this one goes with its component
    into pipelines of other vectors or none.

    width (int): Width of the projected vectors.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer.
    RAISES (ValueError): When initialised, if the vocab has no vectors or these are
        made of subwords (floret).
    """
    return Model(
        "static_vectors",
        _forward_static,
        init=_init_static,
        layers=[Linear(nO=width)],
        dims={"nO": width},
        attrs={"keys": None, "table": None, "scale": None},
    )


def _forward_features(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable]:
    columns = model.attrs["columns"]
    narrow = [_narrow(doc, columns) if _WIDE.search(doc.text) else doc for doc in docs]
    return extract_features(model, narrow, is_train)


def _narrow(doc: Doc, columns: list[str]) -> Doc:
    """Copy a Doc, as far as its columns go, with ASCII characters for wide ones."""
    words = [token.text.translate(_NARROW) for token in doc]
    copy = Doc(doc.vocab, words=words).from_array(columns, doc.to_array(columns))
    for token, twin in zip(doc, copy):
        twin.norm_ = token.norm_.translate(_NARROW)
    return copy


def _know(table: Table) -> Table:
    """Let a table embed what it has learnt, and nothing else once it has, nor what is
    rare. What was trained before tables kept count has seen who knows what, and goes on
    as it is."""
    return Model(
        "known",
        _forward_known,
        init=_init_known,
        layers=table.layers,
        dims={"nO": table.get_dim("nO")},
        attrs={"seen": None, "rare": numpy.zeros(0, dtype="uint64")},
    )


def _forward_known(
    model: Table, features: Ints2d, is_train: bool
) -> tuple[Floats2d, Callable]:
    column, table = model.layers
    keys, backprop_column = column(features, is_train=is_train)
    vectors, backprop_table = table(keys, is_train=is_train)
    known = _find_known(model, model.ops.to_numpy(keys), is_train)
    left_out = model.ops.xp.asarray(numpy.flatnonzero(~known))
    vectors[left_out] = 0

    def backprop(d_vectors: Floats2d) -> Ints2d:
        if len(left_out):
            d_vectors = d_vectors.copy()
            d_vectors[left_out] = 0
        return backprop_column(backprop_table(d_vectors))

    return vectors, backprop


def _find_known(model: Table, values: Ints1d, is_train: bool) -> NDArray:
    """Say which values a table embeds. In training it learns all that are not rare."""
    seen = model.attrs["seen"]
    if seen is None or (not is_train and not len(seen)):
        return numpy.ones(len(values), "bool")
    _, known = _look_up(values, seen)
    if is_train and not known.all():
        _, rare = _look_up(values, model.attrs["rare"])
        new = values[~known & ~rare]
        if len(new):
            model.attrs["seen"] = numpy.union1d(seen, new)
        known = ~rare
    return known


def _look_up(values: Ints1d, ordered: Ints1d) -> tuple[Ints1d, NDArray]:
    """Find values among others, which are in order.

    RETURNS (Tuple[Ints1d, NDArray]): The place of each, and whether it is there.
    """
    if not len(ordered):
        return numpy.zeros(len(values), dtype="int64"), numpy.zeros(len(values), "bool")
    places = numpy.searchsorted(ordered, values) % len(ordered)
    return places, ordered[places] == values


def _init_known(
    model: Table, X: Ints2d | None = None, Y: Floats2d | None = None
) -> None:
    model.attrs["seen"] = model.attrs["rare"] = numpy.zeros(0, dtype="uint64")
    _, table = model.layers
    table.initialize()


def _forward_characters(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    ops = model.ops
    words, places = _count_words(docs)
    if not words:
        empty = ops.alloc2f(0, model.get_dim("nO"))
        return _spread(model, docs, empty, places, lambda d_types: None)
    characters, word_lengths = _read_characters(
        words, model.attrs["rows"], model.attrs["max_length"]
    )
    inputs = (ops.asarray1i(characters), ops.asarray1i(word_lengths))
    types, backprop_types = model.layers[0](inputs, is_train=is_train)
    return _spread(model, docs, types, places, backprop_types)


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


def _forward_static(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    empty = numpy.zeros(0, dtype="int64")
    rows = numpy.concatenate([empty, *(_find_rows(model, doc) for doc in docs)])
    distinct, places = numpy.unique(rows, return_inverse=True)
    table = model.ops.asarray2f(model.attrs["table"][distinct], dtype="float32")
    table *= model.ops.asarray2f(model.attrs["scale"][distinct])
    types, backprop_types = model.layers[0](table, is_train=is_train)
    return _spread(model, docs, types, places, backprop_types)


def _spread(
    model: Tok2Vec,
    docs: list[Doc],
    types: Floats2d,
    places: Ints1d,
    backprop_types: Callable,
) -> tuple[list[Floats2d], Callable]:
    """Give each token the vector of its word, and each word the gradient of all its
    tokens."""
    ops = model.ops
    lengths = ops.asarray1i([len(doc) for doc in docs])
    rows = ops.asarray1i(places)

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        if len(types):
            d_types = ops.alloc2f(*types.shape)
            ops.scatter_add(d_types, rows, ops.flatten(d_vectors))
            backprop_types(d_types)
        return docs

    return ops.unflatten(types[rows], lengths), backprop


def _find_rows(model: Tok2Vec, doc: Doc) -> Ints1d:
    """The row of each token's vector in the table, whose last row is zeros."""
    keys = model.attrs["keys"]
    rows = numpy.full(len(doc), len(keys))
    for words in doc.to_array([NORM, ORTH]).T:
        places, found = _look_up(words, keys)
        rows = numpy.where(found, places, rows)
    return rows


def _init_static(
    model: Tok2Vec, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    if X:
        vectors = X[0].vocab.vectors
        if vectors.mode != "default" or not vectors.n_keys:
            raise ValueError(
                "The layer spacy-pointparse.StaticVectors.v1 found no word vectors in "
                "the vocab to take: name a pipeline that has a vector for each word "
                "in `initialize.vectors` (not floret)."
            )
        model.attrs.update(_quantise(vectors))
    model.layers[0].set_dim("nI", model.attrs["table"].shape[1])
    model.layers[0].initialize()


def _quantise(vectors: Vectors) -> dict[str, Any]:
    """The keys of vectors in order; their vectors as bytes, above a row of zeros; and
    what a step of these bytes is worth in each row."""
    keys = numpy.array(sorted(vectors), dtype="uint64")
    table = vectors.data[vectors.find(keys=keys)]
    table = numpy.vstack([table, numpy.zeros_like(table[:1])])
    scale = abs(table).max(axis=1, keepdims=True) / 127
    scale[scale == 0] = 1.0
    steps = numpy.rint(table / scale).astype("int8")
    return {"keys": keys, "table": steps, "scale": scale.astype("float32")}
