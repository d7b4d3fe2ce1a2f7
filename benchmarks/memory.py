"""How much memory sentences of any length take, and how they are parsed.

    python benchmarks/memory.py

Parses a Doc of sentences of given lengths with en_pointparse_sm, one thread, each Doc
in a new process. Prints the peak memory of the whole process, including Python,
libraries and the pipeline (see the first row, without a sentence), the longest piece
that was parsed at once, the number of warnings, and whether each sentence became one
tree over all its words.
"""

import time
import warnings
from itertools import cycle, islice
from multiprocessing import get_context
from typing import NamedTuple

import spacy
import torch
from peers.common import read_memory
from spacy.tokens import Doc

from spacy_pointparse.trees import flatten_tree

TEXT = "the old boat that she sold with a red sail , and the two otters ; they swim ,"
# The sentences of a Doc: their number, and their length.
CASES = [
    *([(1, length)] for length in (0, 1, 10, 100, 500, 999, 1000, 1001, 2000, 5000)),
    *([(1, length)] for length in (10_000, 20_000)),
    [(255, 20)],
    [(255, 20), (1, 1000)],
    [(255, 20), (1, 20_000)],
]


class Row(NamedTuple):
    """The result for a Doc.

    longest (int): Length of the longest piece.
    warnings (int): Number of warnings.
    whole (bool): Whether each sentence is a tree over all its words.
    seconds (float): Processor time, without loading.
    memory (int): Peak memory of the process, in MiB.
    """

    longest: int
    warnings: int
    whole: bool
    seconds: float
    memory: int


def measure(case: list[tuple[int, int]]) -> Row:
    torch.set_num_threads(1)
    nlp = spacy.load("en_pointparse_sm")
    lengths = [length for count, length in case for _ in range(count)]
    words = list(islice(cycle(TEXT.split()), sum(lengths)))
    starts = [start for n in lengths for start in [True] * (n > 0) + [False] * (n - 1)]
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp.get_pipe("pointing_parser")(doc)
    trees = doc._.parse_trees
    pieces = [
        len(flatten_tree(child)[0])
        for tree in trees
        for child in (tree if tree.label() == "TOP" else [tree])
    ]
    return Row(
        max(pieces, default=0),
        len(caught),
        [len(flatten_tree(tree)[0]) for tree in trees] == [n for n in lengths if n],
        time.process_time() - start,
        read_memory("VmHWM"),
    )


def main() -> None:
    print("| sentences × words | longest piece | warnings | whole | seconds | MiB |")
    print("|---|---|---|---|---|---|")
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for case, row in zip(CASES, pool.imap(measure, CASES)):
            name = " + ".join(f"{count} × {length:,}" for count, length in case)
            whole = "yes" if row.whole else "NO"
            cells = (name, row.longest, row.warnings, whole, f"{row.seconds:.1f}")
            print(f"| {' | '.join(map(str, cells))} | {row.memory} |", flush=True)


if __name__ == "__main__":
    main()
