"""What gold trees teach: labels, and targets for each word."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.training import Example

from ..pointing.encoding import Pointings, mask_allowed_targets, tree_to_pointing
from .alignment import Gold, get_gold
from .labels import get_plain_labels

Ids = NDArray[numpy.intp]
# What it counts for that a partial tree shows no constituent: enough to learn that
# there is none at most places, and little against the trees where there is one.
UNSEEN_WEIGHT = 0.1
_UNKNOWN = (
    "The gold trees have the label {!r}, which this parser does not know and does not "
    "learn: train one from the start for that."
)


class Target(NamedTuple):
    """What one sentence of an example teaches.

    words (Ids): Row of each word among the tokens of all predicted Docs.
        Shape (words,).
    pointings (Ids): Word that each word points at; of a partial tree, as if it were
        whole, for the labels that are known. Shape (words,).
    labels (Ids): Index of the label of each span, -1 if unknown. Shape (words,).
    unaries (Ids): Index of the label of each word, -1 if unknown. Shape (words,).
    tags (Ids): Index of the tag of each word, -1 if unknown. Shape (words,).
    lefts (Ids): Word that each word points at in the left-factored tree, -1 in a
        partial one. Shape (words,).
    allowed (Optional[NDArray]): What each word can point at in a partial tree. Shape
        (words, words).
    weights (Optional[NDArray]): What labels and unaries count for in a partial tree.
        Shape (2, words).
    """

    words: Ids
    pointings: Ids
    labels: Ids
    unaries: Ids
    tags: Ids
    lefts: Ids
    allowed: NDArray[numpy.bool_] | None = None
    weights: NDArray[numpy.floating] | None = None


def get_targets(
    examples: Iterable[Example], labels: dict[str, list[str]], max_length: int
) -> list[Target]:
    """Get what the sentences of a batch teach, those left out that teach nothing, with
    a warning of labels that are none of the parser's.

    examples (Iterable[Example]): The batch.
    labels (Dict[str, List[str]]): The labels, as from `read_labels`.
    max_length (int): Longest sentence to learn from, in words.
    RETURNS (List[Target]): The targets, sentence by sentence.
    """
    ids = {
        kind: {label: i for i, label in enumerate(names)}
        for kind, names in labels.items()
    }
    targets = []
    found = set()
    first_row = 0
    for example in examples:
        for gold in get_gold(example):
            if gold is not None and len(gold.words) <= max_length:
                targets.append(_make_target(gold, first_row, ids))
                found |= {label for _, _, label in gold.constituents}
        first_row += len(example.predicted)
    for label in sorted(found - get_plain_labels(labels)):
        warnings.warn(_UNKNOWN.format(label), stacklevel=2)
    return targets


def _make_target(gold: Gold, first_row: int, ids: dict[str, dict[str, int]]) -> Target:
    length = len(gold.words)
    pointings = tree_to_pointing(gold.constituents, length)
    labels = [ids["spans"].get(label, -1) for label in pointings.labels]
    unaries = [ids["unaries"].get(label, -1) for label in pointings.unaries]
    if gold.partial:
        lefts = numpy.full(length, -1)
        allowed = mask_allowed_targets(gold.constituents, length)
        weights = _weigh(gold, pointings)
    else:
        lefts = tree_to_pointing(gold.constituents, length, "left").targets
        allowed = weights = None
    tags = [ids["tags"].get(tag, -1) for tag in gold.tags]
    if length == 1:
        labels = [-1]
    return Target(
        numpy.asarray(gold.words) + first_row,
        pointings.targets,
        numpy.asarray(labels),
        numpy.asarray(unaries),
        numpy.asarray(tags),
        lefts,
        allowed,
        weights,
    )


def _weigh(gold: Gold, pointings: Pointings) -> NDArray[numpy.floating]:
    """Weigh the labels of a partial tree: where it has no constituent, there may be one
    after all."""
    words = len(gold.words)
    labels, unaries = (
        numpy.array([1.0 if label else UNSEEN_WEIGHT for label in names])
        for names in (pointings.labels, pointings.unaries)
    )
    if not any(end - start == words for start, end, _ in gold.constituents):
        labels[[0, -1]] = 0.0  # the root that `tree_to_pointing` puts over all
    return numpy.stack([labels, unaries])
