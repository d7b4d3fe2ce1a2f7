"""Word vectors read off the characters of each word."""

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM
from .mixed_precision import MixedPrecision


class CharacterLSTM(MixedPrecision):
    """A bidirectional LSTM over the characters of each word, of which the last state
    of each direction is kept.

    rows (int): Number of character embeddings.
    character_width (int): Their width.
    width (int): Width of the word vectors, both directions together.
    """

    def __init__(self, rows: int, character_width: int, width: int):
        super().__init__()
        self.embed = nn.Embedding(rows, character_width)
        self.encode = BiLSTM(character_width, width, depth=1)
        self.middle = width // 2

    def forward(
        self, characters: Tensor, lengths: Tensor, dropout: float = 0.0
    ) -> Tensor:
        """Encode words.

        characters (Tensor): Row of each character, word after word. Shape
            (characters,).
        lengths (Tensor): Characters in each word. Shape (words,).
        dropout (float): Rate at which dimensions of the character embeddings are
            dropped, the same for all characters of a word.
        RETURNS (Tensor): Shape (words, width).
        """
        encoded = self.encode(self.embed(characters), lengths, dropout)
        last = lengths.cumsum(0) - 1
        first = last - lengths + 1
        left, right = encoded[last, : self.middle], encoded[first, self.middle :]
        return torch.cat([left, right], dim=1)
