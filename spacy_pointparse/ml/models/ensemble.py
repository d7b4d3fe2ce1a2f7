"""Several parsers as one: each learns on its own, and they decide together."""

from collections.abc import Callable, Iterable
from functools import reduce
from math import log
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, Ops
from thinc.types import FloatsXd, Ints1d

from ...util.arrays import log_softmax
from ..layers.hash_embed import find_rare_values
from ..types import Batch, Scores

Parser = Model[Batch, Scores]
_MEMBERS_DIFFER = (
    "An ensemble needs one member or more, and either all or none of them with a tag "
    "head and a head for the left-factored tree."
)


def build_ensemble(*members: Parser) -> Parser:
    """Build a model of several that were trained from different first weights. Parsing
    averages their probabilities, which averages out individual errors (Kuncoro et al.,
    2016). In training each member learns as if it were alone: the scores of all members
    are stacked.

    *members (Model[Batch, Scores]): Models as of
        "spacy-pointparse.PointingParser.v1", of any widths.
    RETURNS (Model[Batch, Scores]): The model.
    RAISES (ValueError): If there is no member, or if some have heads that others lack.
    """
    heads = set()
    for member in members:
        encoder, pointer = member.get_ref("encoder"), member.get_ref("pointer")
        heads.add((len(encoder.layers), len(pointer.layers)))
    if len(heads) != 1:
        raise ValueError(_MEMBERS_DIFFER)
    first = members[0]
    return Model(
        "ensemble",
        _forward,
        init=_init,
        layers=list(members),
        refs={name: first.get_ref(name) for name in ("output_layer", "unary_layer")},
        attrs={
            "observe": find_rare_values,
            "embed": _embed,
            "point": _point,
            "label": _label,
        },
        ops=first.ops,
    )


def _forward(
    model: Parser, batch: Batch, is_train: bool
) -> tuple[Scores, Callable[[Scores], Any]]:
    results = [member(batch, is_train=is_train) for member in model.layers]
    scores, backprops = zip(*results)
    xp: Any = model.ops.xp
    stacked: list[Any] = []
    for heads in zip(*scores):
        # (batch, ...) of each member -> (members * batch, ...)
        stacked.append(None if heads[0] is None else xp.concatenate(heads))

    def backprop(d_scores: Scores) -> Any:
        count = len(model.layers)
        parts = []
        for head in d_scores:
            parts.append([None] * count if head is None else xp.split(head, count))
        return [back(tuple(heads)) for back, heads in zip(backprops, zip(*parts))]

    general, singleton, spans, unaries, tags, lefts = stacked
    return (general, singleton, spans, unaries, tags, lefts), backprop


def _init(model: Parser, X: Batch | None = None, Y: Scores | None = None) -> None:
    for member in model.layers:
        member.initialize(X=X, Y=Y)


def _embed(model: Parser, docs: list[Doc]) -> list[Any]:
    """Embed the tokens of Docs, for each member."""
    return [member.attrs["embed"](member, docs) for member in model.layers]


def _point(
    model: Parser, embedded: list[Any], rows: list[Ints1d]
) -> tuple[list[Any], FloatsXd, FloatsXd, FloatsXd | None]:
    """Score pointings and tags: the log of the members' mean probabilities."""
    scored = []
    for member, vectors in zip(model.layers, embedded):
        scored.append(member.attrs["point"](member, vectors, rows))
    encoded, general, singleton, tags = zip(*scored)
    return (
        list(encoded),
        _average(model.ops, general),
        _average(model.ops, singleton),
        None if tags[0] is None else _average(model.ops, tags),
    )


def _label(
    model: Parser, encoded: list[Any], targets: Ints1d
) -> tuple[FloatsXd, FloatsXd]:
    """Score labels: the log of the members' mean probabilities."""
    scored = []
    for member, words in zip(model.layers, encoded):
        scored.append(member.attrs["label"](member, words, targets))
    spans, unaries = zip(*scored)
    return _average(model.ops, spans), _average(model.ops, unaries)


def _average(ops: Ops, scores: Iterable[FloatsXd]) -> FloatsXd:
    """Get the log of the mean of several models' probabilities, given their scores."""
    xp: Any = ops.xp
    logs = [log_softmax(ops, each) for each in scores]
    return reduce(xp.logaddexp, logs) - log(len(logs))
