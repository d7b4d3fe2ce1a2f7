"""The labels of gold trees."""

import warnings
from collections.abc import Collection, Iterable

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


def check_label(label: str) -> None:
    """Check the label of one constituent: labels of unary chains are joined by blanks,
    and an empty label means that there is no constituent.

    label (str): The label.
    RAISES (ValueError): If it is empty or holds white space.
    """
    if label.split() != [label]:
        raise ValueError(
            f"A constituent label must not be empty or hold white space: {label!r}."
        )


def read_labels(
    examples: Iterable[Example],
    name: str,
    max_length: int,
    spans_key: str = SPANS_KEY,
    known: Collection[str] = (),
) -> dict[str, list[str]]:
    """Collect the labels of the references, with a warning that counts the sentences
    that teach nothing.

    examples (Iterable[Example]): All training examples.
    name (str): Name of the component, for messages.
    max_length (int): Longest sentence to learn from, in words.
    spans_key (str): The span group that holds the gold trees.
    known (Collection[str]): Labels that were added before. With some, no reference need
        have a parse.
    RETURNS (Dict[str, List[str]]): Sorted labels of spans of several words ("spans"),
        of single words ("unaries"), unary chains folded, and "tags".
    RAISES (ValueError): If no reference has a parse and no label is known, or if a
        label is empty or holds white space.
    """
    spans, unaries, tags = {EMPTY}, {EMPTY}, set()
    annotated, lost, total = False, 0, 0
    for example in examples:
        reference = example.reference
        if spans_key in reference.spans:
            annotated = True
            for label in {span.label_ for span in reference.spans[spans_key]}:
                check_label(label)
        for gold in get_gold(Example(reference, reference), spans_key):
            if gold is not None:
                pointings = tree_to_pointing(gold.constituents, len(gold.words))
                spans.update(pointings.labels)
                unaries.update(pointings.unaries)
                tags.update(gold.tags)
        golds = list(get_gold(example, spans_key))
        total += len(golds)
        lost += sum(gold is None or len(gold.words) > max_length for gold in golds)
    if not annotated and not known:
        raise ValueError(Errors.E143.format(name=name))
    if lost:
        warnings.warn(_TEACHES_NOTHING.format(lost, total, max_length), stacklevel=2)
    return {
        "spans": sorted(spans),
        "unaries": sorted(unaries),
        # Without any tags, a tag head learns to set none.
        "tags": sorted(tags - {""}) or [""],
    }
