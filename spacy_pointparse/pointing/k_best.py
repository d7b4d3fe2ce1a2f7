"""The k best trees, by lazy enumeration over the chart of the best one (Algorithm 3 of
Huang and Chiang, 2005)."""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy

from .binary_splits import Scores, Targets, point_at_ends
from .exact import Chart, fill_chart


class _Derivation(NamedTuple):
    """A way to derive a span.

    loss (float): How much lower it scores than the best one.
    split (int): How many words after the first one the left part ends.
    left (int): Rank of the left part's derivation.
    right (int): Rank of the right part's derivation.
    """

    loss: float
    split: int
    left: int
    right: int


class _Span:
    """The derivations of a span that are known so far.

    ranked (List[_Derivation]): The best ones, best first.
    candidates (List[_Derivation]): A heap of others, of which the next one is the best.
    """

    def __init__(self, candidates: list[_Derivation]) -> None:
        self.ranked: list[_Derivation] = []
        self.candidates = candidates
        self.seen = {each[1:] for each in candidates}
        heapify(self.candidates)


def decode_k_best(general: Scores, singleton: Scores, size: int) -> list[Targets]:
    """Find the k trees of a sentence with the highest sums of the scores of their
    pointings. The first one is that of `decode_exact`.

    general (NDArray): Score of word i pointing at word k. Shape (length, length).
    singleton (NDArray): Score of word i being a part by itself. Shape (length,).
    size (int): Number of trees, k.
    RETURNS (List[NDArray]): The pointing of each word of each tree, best first; fewer
        than `size` if there are no more. Each of shape (length,).
    """
    chart = fill_chart(general[None], singleton[None])
    search = _Search(chart, len(singleton), size)
    trees: list[Targets] = []
    while len(trees) < size and search.rank(0, len(singleton) - 1, len(trees)):
        trees.append(search.read_tree(len(trees)))
    return trees


class _Search:
    """Ranks the derivations of spans, no more of them than are asked for.

    chart (Chart): The chart of one sentence.
    length (int): Number of words.
    size (int): Number of derivations of a span at most.
    """

    def __init__(self, chart: Chart, length: int, size: int) -> None:
        self.chart = chart
        self.length = length
        self.size = size
        self.spans: dict[tuple[int, int], _Span] = {}

    def rank(self, start: int, last: int, rank: int) -> _Derivation | None:
        """Get a derivation of a span by its rank, None if it has fewer."""
        if start == last:
            return None if rank else _Derivation(0.0, 0, 0, 0)
        span = self.spans.get((start, last))
        if span is None:
            span = self.spans[start, last] = _Span(self._list_splits(start, last))
        while len(span.ranked) <= rank:
            if span.ranked:
                self._add_successors(span, start, last)
            if not span.candidates:
                return None
            span.ranked.append(heappop(span.candidates))
        return span.ranked[rank]

    def _list_splits(self, start: int, last: int) -> list[_Derivation]:
        """List the best splits of a span, both parts derived in the best way."""
        longer = last - start
        lefts, rights, _ = self.chart
        scores = lefts[0, start, :longer] + rights[0, last, -longer:]
        with numpy.errstate(invalid="ignore"):
            losses = scores.max() - scores
        losses[numpy.isnan(losses)] = 0.0  # where all scores are minus infinity
        best = numpy.argsort(losses, kind="stable")[: self.size].tolist()
        return [_Derivation(float(losses[k]), k, 0, 0) for k in best]

    def _add_successors(self, span: _Span, start: int, last: int) -> None:
        """Derive either part of the last ranked derivation in the next best way."""
        loss, split, left, right = span.ranked[-1]
        middle = start + split
        for part, rank, next_one in (
            ((start, middle), left, (split, left + 1, right)),
            ((middle + 1, last), right, (split, left, right + 1)),
        ):
            if next_one in span.seen:
                continue
            before, after = self.rank(*part, rank), self.rank(*part, rank + 1)
            if before is not None and after is not None:
                span.seen.add(next_one)
                more = after.loss - before.loss
                heappush(span.candidates, _Derivation(loss + more, *next_one))

    def read_tree(self, rank: int) -> Targets:
        """Read the pointings of a tree that is ranked."""
        targets = point_at_ends(self.length)
        stack = [(0, self.length - 1, rank)]
        while stack:
            start, last, rank = stack.pop()
            if start == last:
                continue
            _, split, left, right = self.spans[start, last].ranked[rank]
            middle = start + split
            if middle > start:
                targets[middle] = start
                self.rank(start, middle, left)
                stack.append((start, middle, left))
            if middle + 1 < last:
                targets[middle + 1] = last
                self.rank(middle + 1, last, right)
                stack.append((middle + 1, last, right))
        return targets
