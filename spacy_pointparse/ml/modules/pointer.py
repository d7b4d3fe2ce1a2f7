"""Scores of words pointing at words."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import dropout as drop

from .mixed_precision import MixedPrecision
from .padding import pad

# Stands for minus infinity at padded words: a row of nothing else stays finite.
MASKED = -1e9


class Pointer(MixedPrecision):
    """Scores of each word pointing at each other word of its sentence.

    input_width (int): Width of the encoded words.
    width (int): Width of the query and of the key of a word.
    scorer (str): "gaps", biaffine scores (Dozat and Manning, 2017) of the gap before a
        span and the one behind it (Cross and Huang, 2016), with other weights for
        pointing back; "biaffine", of the two words; "dot", the paper's equation for the
        pointing score: the dot product of one two-layer projection of both words; or
        "query_key", the same with a projection for each side, as in the code its
        authors released.
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
            # The last row scores a key whatever the query is.
            self.weight = nn.Parameter(torch.empty(width + 1, width))
            nn.init.xavier_uniform_(self.weight)
        if scorer == "gaps":
            self.back_weight = nn.Parameter(self.weight.detach().clone())
            # Scores a query whatever the key is: words that point back are keys.
            self.query_weight = nn.Parameter(torch.zeros(width, 1))

    def forward(self, words: Tensor, lengths: Tensor, dropout: float = 0.0) -> Tensor:
        """Score all pairs of words.

        words (Tensor): Shape (words, input_width).
        lengths (Tensor): Words in each sentence. Shape (batch,).
        dropout (float): Rate at which the queries and keys are dropped.
        RETURNS (Tensor): Unnormalised scores, very low where either word is padding.
            Shape (batch, length, length).
        """
        padded, mask = pad(words, lengths)
        firsts = lasts = padded
        if self.back_weight is not None:
            firsts, lasts = find_gaps(padded)
        query = drop(self.query(firsts), dropout, self.training)
        keys = drop(self.key(lasts), dropout, self.training).transpose(1, 2)
        scores = _weigh(query, self.weight) @ keys
        if self.back_weight is not None:
            back = _weigh(query, self.back_weight) @ keys + query @ self.query_weight
            scores = scores.triu() + back.transpose(1, 2).tril(-1)
        return scores.masked_fill(~(mask[:, :, None] & mask[:, None, :]), MASKED)


def find_gaps(words: Tensor) -> tuple[Tensor, Tensor]:
    """Find the gaps before and behind each word. A gap is what a BiLSTM has read from
    the left up to it and from the right down to it: the first half of the word before
    and the second half of the word behind, or zeros at an end of the sentence.

    words (Tensor): Words with zeros for padding. Shape (batch, length, width).
    RETURNS (Tuple[Tensor, Tensor]): The gap before each word and the one behind it,
        both of shape (batch, length, width).
    """
    from_left, from_right = words.tensor_split(2, dim=2)
    from_left = functional.pad(from_left, (0, 0, 1, 0))
    from_right = functional.pad(from_right, (0, 0, 0, 1))
    gaps = torch.cat([from_left, from_right], dim=2)
    return gaps[:, :-1], gaps[:, 1:]


def _weigh(query: Tensor, weight: Tensor | None) -> Tensor:
    return query if weight is None else query @ weight[:-1] + weight[-1]


def _projection(input_width: int, width: int, two_layers: bool) -> nn.Sequential:
    layers = [nn.Linear(input_width, width), nn.ReLU()]
    if two_layers:
        layers.append(nn.Linear(width, width))
    return nn.Sequential(*layers)
