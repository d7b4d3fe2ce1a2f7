"""Sentence encoders: each word vector learns of the words around it."""

from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from .padding import pad


class BiLSTM(nn.Module):
    """A stack of bidirectional LSTM layers over sentences.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing ones, both directions together.
    depth (int): Number of layers.
    """

    def __init__(self, input_width: int, width: int, depth: int):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(
                input_width if layer == 0 else width,
                width // 2,
                batch_first=True,
                bidirectional=True,
            )
            for layer in range(depth)
        )

    def forward(self, words: Tensor, lengths: Tensor, dropout: float = 0.0) -> Tensor:
        """Encode the words of each sentence. Sentences are packed: padding would
        reach the words through the backward direction.

        words (Tensor): Shape (words, input_width).
        lengths (Tensor): Words in each sentence. Shape (batch,).
        dropout (float): Rate at which inputs of each layer are dropped.
        RETURNS (Tensor): Shape (words, width).
        """
        padded, mask = pad(words, lengths)
        packed = pack_padded_sequence(
            padded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        for layer in self.layers:
            data = drop(packed.data, dropout, self.training)
            packed, _ = layer(PackedSequence(data, *packed[1:]))
        encoded, _ = pad_packed_sequence(packed, batch_first=True)
        return encoded[mask]
