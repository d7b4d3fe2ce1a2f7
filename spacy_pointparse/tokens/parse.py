"""The parse of a sentence, before it is written to its Doc."""

from typing import NamedTuple

from ..trees.structure import Constituent


class Parse(NamedTuple):
    """The parse of one sentence.

    words (List[int]): Index in the Doc of each word, white space left out.
    constituents (List[Constituent]): Constituents over these words, in pre-order.
    probabilities (List[float]): Probability of each constituent: its pointing's times
        its label's. NaN where nothing was predicted.
    tags (List[str]): Predicted tag of each word; empty without a tag head.
    score (float): Log-probability of all pointings and labels of the tree.
    """

    words: list[int]
    constituents: list[Constituent]
    probabilities: list[float]
    tags: list[str]
    score: float
