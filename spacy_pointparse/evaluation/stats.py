"""Describe a treebank: sentences, lengths, depths, labels, unary chains."""

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import groupby

from spacy.tokens import Doc, Span

from ..tokens.constituents import get_constituents
from ..tokens.sentences import get_sentences


@dataclass
class TreebankStats:
    """Counts over the trees of a treebank.

    lengths (Counter[int]): Number of sentences of each length in words, without
        whitespace tokens.
    depths (Counter[int]): Number of sentences of each depth, the maximum number of
        brackets around a word, without its tag.
    labels (Counter[str]): Number of brackets with each label.
    tags (Counter[str]): Number of words with each tag.
    chains (Counter[str]): Number of unary chains with the same labels, which are joined
        by spaces, outermost first.
    """

    lengths: Counter[int] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    chains: Counter[str] = field(default_factory=Counter)

    def add(self, doc: Doc) -> None:
        """Count the trees of a Doc.

        doc (Doc): A parsed Doc.
        RAISES (ValueError): If the Doc has no parse.
        """
        brackets = deque(get_constituents(doc))
        for sentence in get_sentences(doc):
            tags = [token.tag_ for token in sentence if not token.is_space]
            inside = []
            while brackets and brackets[0].start < sentence.end:
                inside.append(brackets.popleft())
            if tags:
                self.lengths[len(tags)] += 1
                self.depths[_get_depth(inside)] += 1
            self.tags.update(tags)
            self.labels.update(bracket.label_ for bracket in inside)
            for _, chain in groupby(inside, key=lambda span: (span.start, span.end)):
                labels = [bracket.label_ for bracket in chain]
                if len(labels) > 1:
                    self.chains[" ".join(labels)] += 1


def _get_depth(brackets: list[Span]) -> int:
    """Get the maximum number of brackets around a word. They must be in pre-order."""
    deepest = 0
    ends: list[int] = []
    for bracket in brackets:
        while ends and ends[-1] <= bracket.start:
            ends.pop()
        ends.append(bracket.end)
        deepest = max(deepest, len(ends))
    return deepest
