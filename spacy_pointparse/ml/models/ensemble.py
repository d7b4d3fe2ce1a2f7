"""Several parsers as one: each learns by itself, and they decide together."""

from collections.abc import Callable, Iterable
from functools import reduce
from math import log
from typing import Any, NoReturn

from spacy.tokens import Doc
from thinc.api import Model, Ops, Ragged
from thinc.types import Floats2d, Floats3d, FloatsXd, Ints1d

from ...util.arrays import log_softmax
from ..layers.hash_embed import find_rare_values
from ..types import Batch, Scores

Parser = Model[Batch, Scores]
_MANY_SHAPES = (
    "The members of an ensemble must be one or more, and of one shape: give all the "
    "same widths and either all or none a tag head."
)


def build_ensemble(*members: Parser) -> Parser:
    """Build a model of several that differ in their first weights alone. In training
    each learns as if it were by itself: the scores of all members lie one below the
    other. In parsing, the tree is found by the mean of their probabilities, from which
    what one of them alone has wrong fades (Kuncoro et al., 2016).

    *members (Model[Batch, Scores]): Models as of
        "spacy-pointparse.PointingParser.v1", all of one shape.
    RETURNS (Model[Batch, Scores]): The model, with the same references.
    RAISES (ValueError): If there is no member, or some have tag heads or widths that
        others have not; of word vectors when they are used first.
    """
    encoders = [member.get_ref("encoder") for member in members]
    shapes = {(len(encoder.layers), encoder.get_dim("nO")) for encoder in encoders}
    if len(shapes) != 1:
        raise ValueError(_MANY_SHAPES)
    first = members[0]
    kept = ("sentences", "output_layer", "unary_layer")
    refs = {name: first.get_ref(name) for name in kept}
    for name, forward in (
        ("tok2vec", _forward_tok2vec),
        ("encoder", _forward_encoder),
        ("pointer", _forward_pointer),
        ("labeller", _forward_labeller),
    ):
        layers = [member.get_ref(name) for member in members]
        refs[name] = Model(f"ensemble_{name}", forward, layers=layers)
    parts = [refs[name] for name in ("tok2vec", "encoder", "pointer", "labeller")]
    return Model(
        "ensemble",
        _forward,
        init=_init,
        layers=[*members, *parts],
        refs=refs,
        attrs={"members": len(members), "observe": find_rare_values},
        ops=first.ops,
    )


def _forward(
    model: Parser, batch: Batch, is_train: bool
) -> tuple[Scores, Callable[[Scores], Any]]:
    members = model.layers[: model.attrs["members"]]
    results = [member(batch, is_train=is_train) for member in members]
    scores, backprops = zip(*results)
    xp = model.ops.xp
    joined = tuple(
        None if heads[0] is None else xp.concatenate(heads) for heads in zip(*scores)
    )

    def backprop(d_scores: Scores) -> Any:
        parts = [
            [None] * len(members) if head is None else xp.split(head, len(members))
            for head in d_scores
        ]
        return [back(tuple(heads)) for back, heads in zip(backprops, zip(*parts))]

    return joined, backprop


def _init(model: Parser, X: Batch | None = None, Y: Scores | None = None) -> None:
    for member in model.layers[: model.attrs["members"]]:
        member.initialize(X=X, Y=Y)


def _forward_tok2vec(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    vectors = [layer.predict(docs) for layer in model.layers]
    if len({part.shape[1] for parts in vectors for part in parts}) > 1:
        raise ValueError(_MANY_SHAPES)
    return [model.ops.xp.hstack(parts) for parts in zip(*vectors)], _refuse


def _forward_encoder(
    model: Model, words: Ragged, is_train: bool
) -> tuple[tuple[Ragged, Floats2d | None], Callable]:
    pairs = zip(model.layers, _cut(model, words))
    encoded, tags = zip(*(layer.predict(part) for layer, part in pairs))
    joined = model.ops.xp.hstack([part.dataXd for part in encoded])
    scores = None if tags[0] is None else _average(model.ops, tags)
    return (Ragged(joined, words.lengths), scores), _refuse


def _forward_pointer(
    model: Model, words: Ragged, is_train: bool
) -> tuple[tuple[Floats3d, ...], Callable]:
    pairs = zip(model.layers, _cut(model, words))
    heads = zip(*(layer.predict(part) for layer, part in pairs))
    return tuple(_average(model.ops, scores) for scores in heads), _refuse


def _forward_labeller(
    model: Model, inputs: tuple[Ragged, Ints1d], is_train: bool
) -> tuple[tuple[Floats2d, ...], Callable]:
    words, targets = inputs
    pairs = zip(model.layers, _cut(model, words))
    heads = zip(*(layer.predict((part, targets)) for layer, part in pairs))
    return tuple(_average(model.ops, scores) for scores in heads), _refuse


def _cut(model: Model, words: Ragged) -> list[Ragged]:
    """Give each member its columns of what all have made of the words."""
    parts = model.ops.xp.split(words.dataXd, len(model.layers), axis=1)
    return [Ragged(model.ops.xp.ascontiguousarray(p), words.lengths) for p in parts]


def _average(ops: Ops, scores: Iterable[FloatsXd]) -> FloatsXd:
    """The logarithms of the mean of probabilities, given the scores of each member."""
    logs = [log_softmax(ops, each) for each in scores]
    return reduce(ops.xp.logaddexp, logs) - log(len(logs))


def _refuse(*_: Any) -> NoReturn:
    raise ValueError("The parts of an ensemble do not learn: train it as a whole.")
