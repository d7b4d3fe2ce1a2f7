"""A bidirectional LSTM over sentences."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop

from .mixed_precision import MixedPrecision
from .padding import pad


class BiLSTM(MixedPrecision):
    """A stack of bidirectional LSTM layers.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing vectors, both directions together.
    depth (int): Number of layers.
    """

    def __init__(self, input_width: int, width: int, depth: int):
        super().__init__()
        self.input_width, self.width = input_width, width
        widths = [input_width, *[width] * (depth - 1)]
        self.forwards = nn.ModuleList(_lstm(each, width // 2) for each in widths)
        self.backwards = nn.ModuleList(_lstm(each, width // 2) for each in widths)

    def forward(self, words: Tensor, lengths: Tensor, dropout: float = 0.0) -> Tensor:
        """Encode the words of each sentence.

        The backward LSTM reads each sentence reversed in place, so that for both
        directions the padding comes after the words and never reaches them. On a CPU
        this trains faster than packed sequences.

        words (Tensor): The word vectors. Shape (words, input_width).
        lengths (Tensor): The number of words of each sentence. Shape (batch,).
        dropout (float): Dropout rate of the inputs of each layer. All words of a
            sentence drop the same dimensions (Gal and Ghahramani, 2016).
        RETURNS (Tensor): The encoded words. Shape (words, width).
        """
        encoded, mask = pad(words, lengths)
        reversal = _get_reversal(lengths, mask)
        for forwards, backwards in zip(self.forwards, self.backwards):
            if self.training:
                # (batch, 1, width), the same for all words of a sentence
                encoded = encoded * drop(torch.ones_like(encoded[:, :1]), dropout)
            left, _ = forwards(encoded)
            right, _ = backwards(_reorder(encoded, reversal))
            encoded = torch.cat([left, _reorder(right, reversal)], dim=-1)
        return encoded[mask]


def _lstm(input_width: int, width: int) -> nn.LSTM:
    return nn.LSTM(input_width, width, batch_first=True)


def _get_reversal(lengths: Tensor, mask: Tensor) -> Tensor:
    """Get the rows of a padded batch in an order that reverses the words of each
    sentence and leaves the padding in place. Shape (batch * length,)."""
    places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    places = torch.where(mask, lengths[:, None] - 1 - places, places)
    firsts = torch.arange(0, mask.numel(), mask.shape[1], device=mask.device)
    # (batch, length) -> (batch * length,)
    return (firsts[:, None] + places).flatten()


def _reorder(vectors: Tensor, rows: Tensor) -> Tensor:
    # (batch, length, width) -> (batch * length, width) -> (batch, length, width)
    return vectors.flatten(0, 1).index_select(0, rows).view_as(vectors)
