"""How scores become trees."""

from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from .beam import decode_beam
from .exact import decode_exact
from .greedy import decode_batch

# Longest sentence, in words, to decode exactly: the n³ steps of longer ones would take
# much of the parsing time.
MAX_EXACT = 128


class Decoder(NamedTuple):
    """How scores become trees.

    decode_from (str): Scores to add up: "log_probabilities", or
        "probabilities" as in the paper.
    decoder (str): "exact" for the best tree of sentences of up to `MAX_EXACT` words,
        others greedily; "greedy" top-down as in the paper; or "beam".
    beam_size (int): Number of trees that the beam keeps.
    """

    decode_from: Literal["log_probabilities", "probabilities"] = "log_probabilities"
    decoder: Literal["exact", "greedy", "beam"] = "exact"
    beam_size: int = 10

    def list_trees(
        self, general: NDArray, singleton: NDArray, lengths: list[int], count: int
    ) -> list[list[NDArray]]:
        """List the best trees of sentences.

        general (NDArray): Log-probability of each word pointing at each other.
            Shape (batch, length, length).
        singleton (NDArray): Log-probability of each word being a part by itself.
            Shape (batch, length).
        lengths (List[int]): Number of words of each sentence.
        count (int): Number of trees at most. For more than one, a beam is used.
        RETURNS (List[List[NDArray]]): For each sentence, the pointings of its trees,
            best first.
        """
        if self.decode_from == "probabilities":
            general, singleton = numpy.exp(general), numpy.exp(singleton)
        if count > 1 or self.decoder == "beam":
            size = count if count > 1 else self.beam_size
            beams = (
                decode_beam(general[i, :length, :length], singleton[i, :length], size)
                for i, length in enumerate(lengths)
            )
            return [[targets for _, targets in beam[:count]] for beam in beams]
        found = self._find_best(general, singleton, lengths)
        return [[targets] for targets in found]

    def _find_best(
        self, general: NDArray, singleton: NDArray, lengths: list[int]
    ) -> list[NDArray]:
        longest = MAX_EXACT if self.decoder == "exact" else 0
        exact = numpy.asarray(lengths) <= longest
        trees: dict[int, NDArray] = {}
        for decode, chosen in ((decode_exact, exact), (decode_batch, ~exact)):
            rows = numpy.flatnonzero(chosen).tolist()
            if rows:
                these = [lengths[i] for i in rows]
                trees.update(zip(rows, decode(general[rows], singleton[rows], these)))
        return [trees[i] for i in range(len(lengths))]
