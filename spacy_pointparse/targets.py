"""What gold trees teach: labels, and targets for each word."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.errors import Errors
from spacy.training import Example

from .alignment import Gold, get_gold
from .constituents import KEY
from .pointing import EMPTY, JOINER, Pointings, encode, find_allowed

Ids = NDArray[numpy.intp]
# What it counts for that a partial tree shows no constituent: enough to learn that
# there is none at most places, and little against the trees where there is one.
UNSEEN_WEIGHT = 0.1

_TEACHES_NOTHING = (
    "{} of {} sentences teach nothing: a bracket of the gold tree does not fit the "
    "predicted tokens or sentences, or the sentence has more than {} words (see the "
    "setting max_length)."
)
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


def get_plain_labels(labels: dict[str, list[str]]) -> set[str]:
    """Get the labels of constituents, without those that only binarisation uses.

    labels (Dict[str, List[str]]): The labels, as from `read_labels`.
    RETURNS (Set[str]): The labels, unary chains taken apart.
    """
    folded = labels["spans"] + labels["unaries"]
    return {label for chain in folded for label in chain.split(JOINER)} - {EMPTY}


def read_labels(
    examples: Iterable[Example], name: str, max_length: int
) -> dict[str, list[str]]:
    """Collect the labels of the references, with a warning that counts the sentences
    that teach nothing.

    examples (Iterable[Example]): All training examples.
    name (str): Name of the component, for messages.
    max_length (int): Longest sentence to learn from, in words.
    RETURNS (Dict[str, List[str]]): Sorted labels of spans of several words ("spans"),
        of single words ("unaries"), unary chains folded, and "tags".
    RAISES (ValueError): If no reference has a parse.
    """
    spans, unaries, tags = {EMPTY}, {EMPTY}, set()
    annotated, lost, total = False, 0, 0
    for example in examples:
        reference = example.reference
        annotated = annotated or KEY in reference.spans
        for gold in get_gold(Example(reference, reference)):
            if gold is not None:
                pointings = encode(gold.constituents, len(gold.words))
                spans.update(pointings.labels)
                unaries.update(pointings.unaries)
                tags.update(gold.tags)
        golds = list(get_gold(example))
        total += len(golds)
        lost += sum(gold is None or len(gold.words) > max_length for gold in golds)
    if not annotated:
        raise ValueError(Errors.E143.format(name=name))
    if lost:
        warnings.warn(_TEACHES_NOTHING.format(lost, total, max_length), stacklevel=2)
    return {
        "spans": sorted(spans),
        "unaries": sorted(unaries),
        # Without any tags, a tag head learns to set none.
        "tags": sorted(tags - {""}) or [""],
    }


def count_rows(targets: list[Ids]) -> Ids:
    """Join the targets of several sentences, counted on as rows of one array.

    targets (List[Ids]): Word that each word of a sentence points at.
    RETURNS (Ids): Row that each word of all sentences points at. Shape (words,).
    """
    starts = numpy.cumsum([0, *(len(target) for target in targets)])
    return numpy.concatenate([t + start for t, start in zip(targets, starts)])


def _make_target(gold: Gold, first_row: int, ids: dict[str, dict[str, int]]) -> Target:
    length = len(gold.words)
    pointings = encode(gold.constituents, length)
    labels = [ids["spans"].get(label, -1) for label in pointings.labels]
    unaries = [ids["unaries"].get(label, -1) for label in pointings.unaries]
    if gold.partial:
        lefts = numpy.full(length, -1)
        allowed = find_allowed(gold.constituents, length)
        weights = _weigh(gold, pointings)
    else:
        lefts = encode(gold.constituents, length, "left").targets
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
        labels[[0, -1]] = 0.0  # the root that `encode` puts over all
    return numpy.stack([labels, unaries])
