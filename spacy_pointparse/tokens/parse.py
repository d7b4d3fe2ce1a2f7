"""The parse of a sentence before it is written to its Doc."""

from typing import NamedTuple

from ..trees.structure import Constituent


class Parse(NamedTuple):
    """The parse of one sentence.

    words (List[int]): Index of each word in the Doc, without whitespace tokens.
    constituents (List[Constituent]): Constituents over these words, in pre-order.
    probabilities (List[float]): Probability of each constituent, the product of those
        of its pointing and its label. NaN where nothing was predicted.
    tags (List[str]): Predicted tag of each word. Empty without a tag head.
    score (float): Log-probability of all pointings and labels of the tree.
    """

    words: list[int]
    constituents: list[Constituent]
    probabilities: list[float]
    tags: list[str]
    score: float
