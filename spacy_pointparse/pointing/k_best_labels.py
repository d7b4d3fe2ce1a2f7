"""The k best ways to label the spans of a tree."""

from collections.abc import Iterator
from heapq import nsmallest
from operator import itemgetter

import numpy

from .binary_splits import Scores, Targets

# How much another label costs, and where it is: the table, the row and the column.
Change = tuple[float, int, int, int]


def find_k_best_labels(
    tables: list[Scores], size: int, max_loss: float = numpy.inf
) -> list[list[Targets]]:
    """Choose one column in each row of each table, such as a label for each span, in
    the k ways with the highest sums of scores.

    tables (List[NDArray]): The scores, each of shape (rows, columns).
    size (int): The maximum number of ways, k.
    max_loss (float): How much lower than the best sum a sum may be.
    RETURNS (List[List[NDArray]]): The ways, best first: for each table, the column of
        each row. Shape (rows,).
    """
    best = [table.argmax(axis=1) for table in tables]
    if size == 1:
        return [best]
    ways: list[tuple[float, dict[tuple[int, int], int]]] = [(0.0, {})]
    # Cheapest first, each change can join all the ways found before it.
    for loss, place, row, column in nsmallest(
        size, _list_changes(tables, best, max_loss)
    ):
        if len(ways) == size and loss >= ways[-1][0]:
            break
        grown = [
            (total + loss, {**way, (place, row): column})
            for total, way in ways
            if (place, row) not in way and total + loss <= max_loss
        ]
        ways = nsmallest(size, ways + grown, key=itemgetter(0))
    return [_change(best, way) for _, way in ways]


def _list_changes(
    tables: list[Scores], best: list[Targets], max_loss: float
) -> Iterator[Change]:
    for place, (table, chosen) in enumerate(zip(tables, best)):
        losses = table.max(axis=1)[:, None] - table
        for row, column in numpy.argwhere(losses <= max_loss).tolist():
            if column != chosen[row]:
                yield float(losses[row, column]), place, row, column


def _change(best: list[Targets], way: dict[tuple[int, int], int]) -> list[Targets]:
    changed = [chosen.copy() for chosen in best]
    for (place, row), column in way.items():
        changed[place][row] = column
    return changed
