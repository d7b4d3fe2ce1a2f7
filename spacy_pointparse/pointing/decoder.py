"""How scores become trees."""

from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from .beam import decode_beam
from .exact import decode_exact
from .greedy import decode, decode_batch
from .k_best import decode_k_best

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
        count (int): Number of trees at most. Several are exactly the best ones where
            the decoder is exact; otherwise those of a beam, and the one tree that is
            found alone.
        RETURNS (List[List[NDArray]]): For each sentence, the pointings of its trees,
            best first.
        """
        if self.decode_from == "probabilities":
            general, singleton = numpy.exp(general), numpy.exp(singleton)
        if count > 1 or self.decoder == "beam":
            trees = []
            for i, length in enumerate(lengths):
                part = general[i, :length, :length], singleton[i, :length]
                trees.append(self._find_several(*part, count))
            return trees
        found = self._find_best(general, singleton, lengths)
        return [[targets] for targets in found]

    def _find_several(
        self, general: NDArray, singleton: NDArray, count: int
    ) -> list[NDArray]:
        """Find the best trees of a sentence, that of one tree alone among them."""
        if self.decoder == "exact" and len(singleton) <= MAX_EXACT:
            return decode_k_best(general, singleton, count)
        if self.decoder == "beam":
            best = decode_beam(general, singleton, self.beam_size)[0][1]
        else:
            best = decode(general, singleton)
        if count == 1:
            return [best]
        beam = [targets for _, targets in decode_beam(general, singleton, count)]
        if any(numpy.array_equal(best, targets) for targets in beam):
            return beam
        return [*beam[: count - 1], best]

    def _find_best(
        self, general: NDArray, singleton: NDArray, lengths: list[int]
    ) -> list[NDArray]:
        longest = MAX_EXACT if self.decoder == "exact" else 0
        exact = numpy.asarray(lengths) <= longest
        trees: dict[int, NDArray] = {}
        for decode_all, chosen in ((decode_exact, exact), (decode_batch, ~exact)):
            rows = numpy.flatnonzero(chosen).tolist()
            if rows:
                these = [lengths[i] for i in rows]
                found = decode_all(general[rows], singleton[rows], these)
                trees.update(zip(rows, found))
        return [trees[i] for i in range(len(lengths))]
