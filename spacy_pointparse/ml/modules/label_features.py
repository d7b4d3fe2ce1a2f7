"""The features that labels are predicted from."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop

from .mixed_precision import MixedPrecision


class LabelFeatures(MixedPrecision):
    """The features that the labels of spans and of single words are predicted from. The
    paper has a second, linear layer here, which our linear label layer includes.

    input_width (int): Width of the encoded words.
    width (int): Width of the features.
    source (str): What a span's label is predicted from: "ends" for the first and last
        word of the span, "word" for the word that points, as in the paper.
    """

    def __init__(self, input_width: int, width: int, source: Literal["ends", "word"]):
        super().__init__()
        self.source = source
        self.span = nn.Linear(input_width * (2 if source == "ends" else 1), width)
        self.unary = nn.Linear(input_width, width)

    def forward(
        self, words: Tensor, targets: Tensor, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """Compute the features of the span that each word points out, and of the word
        alone.

        words (Tensor): The encoded words. Shape (words, input_width).
        targets (Tensor): The row of the word that each word points at. Shape (words,).
        dropout (float): Dropout rate of the features.
        RETURNS (Tuple[Tensor, Tensor]): The features of spans and of words. Both of
            shape (words, width).
        """
        span = words
        if self.source == "ends":
            rows = torch.arange(len(words), device=words.device)
            first, last = torch.minimum(rows, targets), torch.maximum(rows, targets)
            # (words, 2 * input_width)
            span = torch.cat([words[first], words[last]], dim=1)
        return (
            drop(torch.relu(self.span(span)), dropout, self.training),
            drop(torch.relu(self.unary(words)), dropout, self.training),
        )
