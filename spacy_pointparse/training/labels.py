"""The labels of gold trees."""

import warnings
from collections.abc import Iterable

from spacy.errors import Errors
from spacy.training import Example

from ..pointing.encoding import EMPTY, JOINER, tree_to_pointing
from ..tokens.constituents import SPANS_KEY
from .alignment import get_gold

_TEACHES_NOTHING = (
    "{} of {} sentences teach nothing: a bracket of the gold tree does not fit the "
    "predicted tokens or sentences, or the sentence has more than {} words (see the "
    "setting max_length)."
)


def get_plain_labels(labels: dict[str, list[str]]) -> set[str]:
    """Get the labels of constituents, without those that only binarization uses.

    labels (Dict[str, List[str]]): The labels, as from `read_labels`.
    RETURNS (Set[str]): The labels, unary chains taken apart.
    """
    folded = labels["spans"] + labels["unaries"]
    return {label for chain in folded for label in chain.split(JOINER)} - {EMPTY}


def read_labels(
    examples: Iterable[Example],
    name: str,
    max_length: int,
    spans_key: str = SPANS_KEY,
) -> dict[str, list[str]]:
    """Collect the labels of the references, with a warning that counts the sentences
    that teach nothing.

    examples (Iterable[Example]): All training examples.
    name (str): Name of the component, for messages.
    max_length (int): Longest sentence to learn from, in words.
    spans_key (str): The span group that holds the gold trees.
    RETURNS (Dict[str, List[str]]): Sorted labels of spans of several words ("spans"),
        of single words ("unaries"), unary chains folded, and "tags".
    RAISES (ValueError): If no reference has a parse.
    """
    spans, unaries, tags = {EMPTY}, {EMPTY}, set()
    annotated, lost, total = False, 0, 0
    for example in examples:
        reference = example.reference
        annotated = annotated or spans_key in reference.spans
        for gold in get_gold(Example(reference, reference), spans_key):
            if gold is not None:
                pointings = tree_to_pointing(gold.constituents, len(gold.words))
                spans.update(pointings.labels)
                unaries.update(pointings.unaries)
                tags.update(gold.tags)
        golds = list(get_gold(example, spans_key))
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
