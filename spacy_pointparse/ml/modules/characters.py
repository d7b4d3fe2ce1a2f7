"""Word vectors from characters."""

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM
from .mixed_precision import MixedPrecision


class CharacterLSTM(MixedPrecision):
    """A bidirectional LSTM over the characters of each word. A word's vector is the
    last state of each direction.

    rows (int): Number of character embeddings.
    character_width (int): Width of the character embeddings.
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

        characters (Tensor): The embedding row of each character, word after word.
            Shape (characters,).
        lengths (Tensor): The number of characters of each word. Shape (words,).
        dropout (float): Dropout rate of the character embeddings. All characters of a
            word drop the same dimensions.
        RETURNS (Tensor): The word vectors. Shape (words, width).
        """
        encoded = self.encode(self.embed(characters), lengths, dropout)
        last = lengths.cumsum(0) - 1
        first = last - lengths + 1
        # (characters, width) -> (words, width / 2), twice
        left, right = encoded[last, : self.middle], encoded[first, self.middle :]
        return torch.cat([left, right], dim=1)
