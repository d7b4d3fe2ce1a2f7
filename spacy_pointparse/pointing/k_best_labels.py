"""The best ways to label the spans of a tree."""

from heapq import nsmallest
from operator import itemgetter

import numpy

from .binary_splits import Scores, Targets


def find_k_best_labels(
    tables: list[Scores], size: int, most: float = numpy.inf
) -> list[list[Targets]]:
    """Choose a column in each row of tables, such as a label for each span, in the ways
    that have the highest sums of scores.

    tables (List[NDArray]): The scores, each of shape (rows, columns).
    size (int): Number of ways at most.
    most (float): How much lower than the best a sum may be.
    RETURNS (List[List[NDArray]]): The ways, best first: of each table the column of
        each row. Shape (rows,).
    """
    best = [table.argmax(axis=1) for table in tables]
    if size == 1:
        return [best]
    # What other columns cost, cheapest first. Each joins the ways found before it.
    changes = nsmallest(
        size,
        (
            (loss, place, row, column)
            for place, (table, chosen) in enumerate(zip(tables, best))
            for row, losses in enumerate((table.max(axis=1)[:, None] - table).tolist())
            for column, loss in enumerate(losses)
            if column != chosen[row] and loss <= most
        ),
    )
    ways: list[tuple[float, dict[tuple[int, int], int]]] = [(0.0, {})]
    for loss, place, row, column in changes:
        if len(ways) == size and loss >= ways[-1][0]:
            break
        grown = [
            (total + loss, {**way, (place, row): column})
            for total, way in ways
            if (place, row) not in way and total + loss <= most
        ]
        ways = nsmallest(size, ways + grown, key=itemgetter(0))
    return [_change(best, way) for _, way in ways]


def _change(best: list[Targets], way: dict[tuple[int, int], int]) -> list[Targets]:
    changed = [chosen.copy() for chosen in best]
    for (place, row), column in way.items():
        changed[place][row] = column
    return changed
