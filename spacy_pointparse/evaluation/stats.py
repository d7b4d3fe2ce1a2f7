"""What a treebank is like: sentences, lengths, depth, labels, unary chains."""

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import groupby

from spacy.tokens import Doc, Span

from ..tokens.constituents import get_constituents
from ..tokens.sentences import get_sentences


@dataclass
class TreebankStats:
    """Counts over the trees of a treebank.

    lengths (Counter[int]): Sentences of each length, in words. White space is none.
    depths (Counter[int]): Sentences of each depth: brackets around the deepest word,
        its tag not counted.
    labels (Counter[str]): Brackets of each label.
    tags (Counter[str]): Words of each tag.
    chains (Counter[str]): Unary chains, their labels outermost first.
    """

    lengths: Counter[int] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    chains: Counter[str] = field(default_factory=Counter)

    def add(self, doc: Doc) -> None:
        """Count the trees of a Doc.

        doc (Doc): A Doc with a parse.
        RAISES (ValueError): If it has none.
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
    """How many brackets, which are in pre-order, are around the same word at most."""
    deepest = 0
    ends: list[int] = []
    for bracket in brackets:
        while ends and ends[-1] <= bracket.start:
            ends.pop()
        ends.append(bracket.end)
        deepest = max(deepest, len(ends))
    return deepest
