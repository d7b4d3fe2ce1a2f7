"""Scores of words pointing at words."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import dropout as drop

from .mixed_precision import MixedPrecision
from .padding import pad

# The score of padding. Unlike minus infinity, it keeps the softmax of a row of nothing
# but padding finite.
MASKED = -1e9


class Pointer(MixedPrecision):
    """Scores of each word pointing at each word of its sentence.

    input_width (int): Width of the encoded words.
    width (int): Width of the queries and keys.
    scorer (str): How to score a pair of words. "gaps": biaffine scores (Dozat and
        Manning, 2017) of the gap before a span and the gap after it (Cross and Huang,
        2016), with other weights for pointing back. "biaffine": biaffine scores of the
        two words. "dot": as in the paper, the dot product of a two-layer projection of
        both words. "query_key": the same with a projection for each side, as in the
        authors' code.
    """

    def __init__(
        self,
        input_width: int,
        width: int,
        scorer: Literal["gaps", "biaffine", "dot", "query_key"],
    ):
        super().__init__()
        two_layers = scorer in ("dot", "query_key")
        self.query = _projection(input_width, width, two_layers)
        if scorer == "dot":
            self.key = self.query
        else:
            self.key = _projection(input_width, width, two_layers)
        self.weight = self.back_weight = None
        if not two_layers:
            # The last row scores a key by itself.
            weight = torch.empty(width + 1, width)
            nn.init.xavier_uniform_(weight)
            self.weight = nn.Parameter(weight)
            if scorer == "gaps":
                self.back_weight = nn.Parameter(weight.clone())
                # Scores a query by itself. A word that points back is a key, and its
                # target the query.
                self.query_weight = nn.Parameter(torch.zeros(width, 1))

    def forward(self, words: Tensor, lengths: Tensor, dropout: float = 0.0) -> Tensor:
        """Score all pairs of words.

        words (Tensor): The encoded words. Shape (words, input_width).
        lengths (Tensor): The number of words of each sentence. Shape (batch,).
        dropout (float): Dropout rate of the queries and keys.
        RETURNS (Tensor): Scores before the softmax, very low where either word is
            padding. Shape (batch, length, length).
        """
        padded, mask = pad(words, lengths)
        firsts = lasts = padded
        if self.back_weight is not None:
            firsts, lasts = find_gaps(padded)
        query = drop(self.query(firsts), dropout, self.training)
        # (batch, length, width) -> (batch, width, length)
        keys = drop(self.key(lasts), dropout, self.training).transpose(1, 2)
        scores = _weigh(query, self.weight) @ keys  # (batch, length, length)
        if self.back_weight is not None:
            back = _weigh(query, self.back_weight) @ keys + query @ self.query_weight
            # (batch, first word, last word) -> (batch, last word, first word)
            scores = scores.triu() + back.transpose(1, 2).tril(-1)
        return scores.masked_fill(~(mask[:, :, None] & mask[:, None, :]), MASKED)


def find_gaps(words: Tensor) -> tuple[Tensor, Tensor]:
    """Find the gaps before and after each word. A gap is what a BiLSTM read up to it
    from both sides: the first half of the word before it and the second half of the
    word after it, with zeros at the ends of the sentence.

    words (Tensor): Words, padded with zeros. Shape (batch, length, width).
    RETURNS (Tuple[Tensor, Tensor]): The gaps before the words, and those after. Both of
        shape (batch, length, width).
    """
    from_left, from_right = words.tensor_split(2, dim=2)
    # (batch, length, width / 2) -> (batch, length + 1, width / 2)
    from_left = functional.pad(from_left, (0, 0, 1, 0))
    from_right = functional.pad(from_right, (0, 0, 0, 1))
    gaps = torch.cat([from_left, from_right], dim=2)
    return gaps[:, :-1], gaps[:, 1:]


def _weigh(query: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply queries with a weight of which the last row is a bias."""
    return query if weight is None else query @ weight[:-1] + weight[-1]


def _projection(input_width: int, width: int, two_layers: bool) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(input_width, width), nn.ReLU()]
    if two_layers:
        layers.append(nn.Linear(width, width))
    return nn.Sequential(*layers)
