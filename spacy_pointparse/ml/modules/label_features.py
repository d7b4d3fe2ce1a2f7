"""What labels are read off."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop

from .mixed_precision import MixedPrecision


class LabelFeatures(MixedPrecision):
    """Features from which the labels of spans and of single words are read off. The
    paper's second layer of these is linear: here it is one with that of the labels.

    input_width (int): Width of the encoded words.
    width (int): Width of the features.
    source (str): "ends" to see both ends of a span, "word" to see only the word
        that points, as in the paper.
    """

    def __init__(self, input_width: int, width: int, source: Literal["ends", "word"]):
        super().__init__()
        self.source = source
        self.span = nn.Linear(input_width * (2 if source == "ends" else 1), width)
        self.unary = nn.Linear(input_width, width)

    def forward(
        self, words: Tensor, targets: Tensor, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """Compute the features of the span that each word points out, and of the
        word alone.

        words (Tensor): Shape (words, input_width).
        targets (Tensor): Row of the word that each word points at. Shape (words,).
        dropout (float): Rate at which features are dropped.
        RETURNS (Tuple[Tensor, Tensor]): Both of shape (words, width).
        """
        span = words
        if self.source == "ends":
            rows = torch.arange(len(words), device=words.device)
            first, last = torch.minimum(rows, targets), torch.maximum(rows, targets)
            span = torch.cat([words[first], words[last]], dim=1)
        return (
            drop(torch.relu(self.span(span)), dropout, self.training),
            drop(torch.relu(self.unary(words)), dropout, self.training),
        )
