"""Targets: what the gold tree of a sentence teaches each of its words."""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.training import Example

from ..pointing.encoding import Pointings, mask_allowed_targets, tree_to_pointing
from ..tokens.constituents import SPANS_KEY
from ..trees.structure import Constituent
from .alignment import Gold, get_gold
from .labels import check_label, get_plain_labels

Ids = NDArray[numpy.intp]
# Weight of "no constituent here" in a partial tree: enough to learn that most places
# have none, and little against the trees that have one.
UNSEEN_WEIGHT = 0.1
_UNKNOWN_LABEL = (
    "The gold trees have the label {!r}, which this parser does not know and cannot "
    "learn any more: train a new parser to include it."
)


class Target(NamedTuple):
    """What one sentence of an example teaches.

    words (Ids): Row of each word among the tokens of all predicted Docs.
        Shape (words,).
    constituents (List[Constituent]): The gold tree over these words, in pre-order.
    pointings (Ids): The word that each word points at. A partial tree is read as if it
        were whole, to find the spans of the known labels. Shape (words,).
    labels (Ids): Index of the label of each span, -1 if unknown. Shape (words,).
    unaries (Ids): Index of the label of each word, -1 if unknown. Shape (words,).
    tags (Ids): Index of the tag of each word, -1 if unknown. Shape (words,).
    allowed (Optional[NDArray]): Of a partial tree, what each word may point at. Shape
        (words, words).
    weights (Optional[NDArray]): Of a partial tree, the weights of labels and unaries.
        Shape (2, words).
    """

    words: Ids
    constituents: list[Constituent]
    pointings: Ids
    labels: Ids
    unaries: Ids
    tags: Ids
    allowed: NDArray[numpy.bool_] | None = None
    weights: NDArray[numpy.floating] | None = None

    def point_in_left_tree(self) -> Ids:
        """Get the word that each word points at in the left-factored tree, -1 in a
        partial one. Shape (words,)."""
        length = len(self.words)
        if self.allowed is not None:
            return numpy.full(length, -1)
        return tree_to_pointing(self.constituents, length, "left").targets


def get_targets(
    examples: Iterable[Example],
    labels: dict[str, list[str]],
    max_length: int,
    spans_key: str = SPANS_KEY,
) -> list[Target]:
    """Get the targets of a batch. Sentences that teach nothing are left out; a label
    that the parser does not know brings a warning.

    examples (Iterable[Example]): The batch.
    labels (Dict[str, List[str]]): The labels, as from `read_labels`.
    max_length (int): Longest sentence to learn from, in words.
    spans_key (str): The span group that holds the gold trees.
    RETURNS (List[Target]): The targets, sentence by sentence.
    RAISES (ValueError): If a label is empty or holds white space.
    """
    ids = {}
    for kind, names in labels.items():
        ids[kind] = {label: i for i, label in enumerate(names)}
    targets = []
    found = set()
    first_row = 0
    for example in examples:
        for gold in get_gold(example, spans_key):
            if gold is not None and len(gold.words) <= max_length:
                targets.append(_make_target(gold, first_row, ids))
                found |= {label for _, _, label in gold.constituents}
        first_row += len(example.predicted)
    for label in sorted(found - get_plain_labels(labels)):
        check_label(label)
        warnings.warn(_UNKNOWN_LABEL.format(label), stacklevel=2)
    return targets


def _make_target(gold: Gold, first_row: int, ids: dict[str, dict[str, int]]) -> Target:
    length = len(gold.words)
    pointings = tree_to_pointing(gold.constituents, length)
    labels = [ids["spans"].get(label, -1) for label in pointings.labels]
    unaries = [ids["unaries"].get(label, -1) for label in pointings.unaries]
    tags = [ids["tags"].get(tag, -1) for tag in gold.tags]
    if length == 1:  # a single word has no span to label
        labels = [-1]
    allowed = weights = None
    if gold.partial:
        allowed = mask_allowed_targets(gold.constituents, length)
        weights = _weigh_partial_tree(gold, pointings)
    return Target(
        numpy.asarray(gold.words) + first_row,
        gold.constituents,
        pointings.targets,
        numpy.asarray(labels),
        numpy.asarray(unaries),
        numpy.asarray(tags),
        allowed,
        weights,
    )


def _weigh_partial_tree(gold: Gold, pointings: Pointings) -> NDArray[numpy.floating]:
    """Weigh the labels of a partial tree: where it has no constituent, there may be one
    after all. Shape (2, words)."""
    length = len(gold.words)
    labels, unaries = (
        numpy.array([1.0 if label else UNSEEN_WEIGHT for label in names])
        for names in (pointings.labels, pointings.unaries)
    )
    if not any(end - start == length for start, end, _ in gold.constituents):
        labels[[0, -1]] = 0.0  # the root, which nobody annotated
    return numpy.stack([labels, unaries])
