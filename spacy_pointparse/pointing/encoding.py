"""Constituents to pointings (the paper's Algorithm 1) and back.

Words are counted from 0. Spans of the binary tree include their last word, as in the
paper; constituents are `(start, end, label)` without it.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from ..trees.structure import ROOT, Constituent

# A span that exists only because the tree was made binary: the paper's ∅.
EMPTY = ""
# Joins the labels of a unary chain, outermost first. Labels of bracketed treebanks do
# not contain white space, but some contain hyphens and plus signs.
JOINER = " "


class Pointings(NamedTuple):
    """A sentence as pointings, one entry a word (the paper's P(T), equation 2).

    targets (NDArray): Word that each word points at, i -> p_i. Shape (length,).
    labels (List[str]): Folded label of the span between the word and its target.
    unaries (List[str]): Folded label over the word alone, EMPTY where there is none.
    """

    targets: NDArray[numpy.intp]
    labels: list[str]
    unaries: list[str]


def tree_to_pointing(
    constituents: Sequence[Constituent],
    length: int,
    factored: Literal["right", "left"] = "right",
) -> Pointings:
    """Turn a constituency tree into pointings: every word points at the other end
    of the largest span of the binary tree that starts or ends at it.

    The spans are visited from the root down, so the first one to touch a word is
    its largest: the same pointings as the climb from each leaf of the paper's
    Algorithm 1, in one pass.

    constituents (Sequence[Constituent]): Constituents in pre-order.
    length (int): Number of words in the sentence.
    factored (str): How nodes with many children are made binary: "right" puts all but
        the first child under a new node, "left" all but the last, and so on.
    RETURNS (Pointings): The targets and labels.
    RAISES (ValueError): If two constituents cross or one leaves the sentence.
    """
    chains = _fold_chains(constituents)
    unaries = [chains.pop((i, i + 1), EMPTY) for i in range(length)]
    if length > 1:
        chains.setdefault((0, length), ROOT)
    targets = numpy.full(length, -1, dtype=numpy.intp)
    labels = [EMPTY] * length
    for start, end, label in _binarize(chains, length, factored):
        for word, other in ((start, end - 1), (end - 1, start)):
            if targets[word] == -1:
                targets[word] = other
                labels[word] = label
    if length == 1:
        targets[0] = 0
    return Pointings(targets, labels, unaries)


def mask_allowed_targets(constituents: Sequence[Constituent], length: int) -> NDArray:
    """Mask what each word may point at in any tree that contains the known
    constituents: the span it points out crosses none of them, and contains the largest
    one that starts or ends at the word.

    constituents (Sequence[Constituent]): The known constituents, nested.
    length (int): Number of words in the sentence.
    RETURNS (NDArray): True where word i can point at word k. Shape (length, length).
    """
    words = numpy.arange(length)
    first = numpy.minimum(words[:, None], words)
    last = numpy.maximum(words[:, None], words)
    allowed = first < last if length > 1 else numpy.ones((1, 1), dtype=bool)
    for start, end in {(0, length), *(bracket[:2] for bracket in constituents)}:
        if end - start == 1:
            continue
        within, around = (
            (first >= start) & (last < end),
            (first <= start) & (last >= end - 1),
        )
        allowed &= within | around | (last < start) | (first >= end)
        allowed[[start, end - 1]] &= around[[start, end - 1]]
    return allowed


def pointing_to_tree(pointings: Pointings) -> list[Constituent]:
    """Turn pointings into the constituents of the tree (the inverse H' of the
    paper's appendix): folded chains unfold, empty labels vanish. The span of a whole
    sentence of several words is always a constituent.

    pointings (Pointings): Pointings that form a tree, as from `decode`.
    RETURNS (List[Constituent]): Constituents in pre-order.
    """
    return [span[:3] for span in pointing_to_spans(pointings)]


def pointing_to_spans(pointings: Pointings) -> list[tuple[int, int, str, int]]:
    """Turn pointings into constituents, as `pointing_to_tree` does, each with its
    source.

    pointings (Pointings): Pointings that form a tree.
    RETURNS (List[Tuple[int, int, str, int]]): Constituents in pre-order. The source of
        one over several words is the word that points its span out; of one over a
        single word, the length of the sentence plus that word.
    """
    targets, labels, unaries = pointings
    length = len(unaries)
    spans = [(i, i + 1, label, length + i) for i, label in enumerate(unaries) if label]
    for word, other in enumerate(targets.tolist()[:-1]):
        start, end = min(word, other), max(word, other) + 1
        label = labels[word]
        if end - start == length and not label:
            label = ROOT
        if label:
            spans.append((start, end, label, word))
    spans.sort(key=_preorder)
    return [
        (start, end, label, source)
        for start, end, chain, source in spans
        for label in chain.split(JOINER)
    ]


def _preorder(span: tuple[int, int, str, int]) -> tuple[int, int]:
    return span[0], -span[1]


def _fold_chains(constituents: Sequence[Constituent]) -> dict[tuple[int, int], str]:
    """Join the labels over the same words, outermost first."""
    chains: dict[tuple[int, int], str] = {}
    for start, end, label in constituents:
        above = chains.get((start, end))
        chains[start, end] = label if above is None else above + JOINER + label
    return chains


def _binarize(
    chains: dict[tuple[int, int], str], length: int, factored: str
) -> list[tuple[int, int, str]]:
    """Make the tree binary by adding spans with the empty label.

    RETURNS (List[Tuple[int, int, str]]): Spans of two or more words, in pre-order.
    """
    spans: list[tuple[int, int, str]] = []
    # Where the largest node seen so far that starts at a word ends. Nodes come in
    # reversed pre-order, so this steps from child to child.
    ends = list(range(1, length + 1))
    for start, end in sorted(chains, key=lambda span: (-span[0], span[1])):
        if not 0 <= start < end <= length:
            raise ValueError(
                f"Constituent {chains[start, end]!r} over words {start} to {end} is "
                f"not inside its sentence of {length} words."
            )
        children = []
        child = start
        while child < end:
            children.append(child)
            child = ends[child]
        if child != end:
            raise ValueError(
                f"Constituent {chains[start, end]!r} over words {start} to {end} "
                f"crosses another one: constituents of a tree must be nested."
            )
        ends[start] = end
        if factored == "right":
            spans.extend((child, end, EMPTY) for child in reversed(children[1:-1]))
        else:
            spans.extend((start, child, EMPTY) for child in children[2:])
        spans.append((start, end, chains[start, end]))
    return spans[::-1]
