"""The factored self-attentive encoder (Kitaev and Klein, 2018)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from torch.nn.functional import scaled_dot_product_attention

from .mixed_precision import MixedPrecision
from .padding import pad


class SelfAttention(MixedPrecision):
    """Layers of self-attention with content and position factored: each has its own
    half of every vector and its own weights, in the attention and in the feed-forward
    layers. Only the attention scores add both up.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing vectors, half content and half position.
    depth (int): Number of layers.
    heads (int): Number of attention heads in each layer.
    key_width (int): Width of the queries, keys and values of each head, both halves
        together.
    feedforward_width (int): Inner width of the feed-forward layers, both halves
        together.
    max_length (int): Number of position embeddings. All words beyond share the last.
    """

    def __init__(
        self,
        input_width: int,
        width: int,
        depth: int,
        heads: int,
        key_width: int,
        feedforward_width: int,
        max_length: int,
    ):
        super().__init__()
        self.input_width, self.width = input_width, width
        self.content = nn.Linear(input_width, width // 2)
        self.positions = nn.Embedding(max_length, width // 2)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            _Layer(width, heads, key_width, feedforward_width) for _ in range(depth)
        )

    def forward(self, words: Tensor, lengths: Tensor, dropout: float = 0.0) -> Tensor:
        """Encode the words of each sentence.

        words (Tensor): The word vectors. Shape (words, input_width).
        lengths (Tensor): The number of words of each sentence. Shape (batch,).
        dropout (float): Dropout rate of the content, the positions, the attention, and
            the inner and outgoing vectors of each layer.
        RETURNS (Tensor): The content half, then the position half. Shape
            (words, width).
        """
        rate = dropout if self.training else 0.0
        content, mask = pad(self.content(words), lengths)
        places = torch.arange(mask.shape[1], device=mask.device)
        positions = self.positions(places.clamp(max=self.positions.num_embeddings - 1))
        # (length, width / 2) -> (batch, length, width / 2)
        positions = positions.expand_as(content)
        encoded = torch.cat([drop(content, rate), drop(positions, rate)], dim=-1)
        encoded = self.norm(encoded)
        for layer in self.layers:
            encoded = layer(encoded, mask, rate)
        return encoded[mask]


class _Layer(nn.Module):
    """Self-attention and a feed-forward layer."""

    def __init__(self, width: int, heads: int, key_width: int, inner_width: int):
        super().__init__()
        self.heads = heads
        self.attend = _FactoredLinear(width, 3 * heads * key_width)
        self.mix = _FactoredLinear(heads * key_width, width)
        self.expand = _FactoredLinear(width, inner_width)
        self.contract = _FactoredLinear(inner_width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, words: Tensor, mask: Tensor, rate: float) -> Tensor:
        attended = self.mix(self._attend(words, mask, rate))
        words = self.norms[0](words + drop(attended, rate))
        inner = drop(torch.relu(self.expand(words)), rate)
        return self.norms[1](words + drop(self.contract(inner), rate))

    def _attend(self, words: Tensor, mask: Tensor, rate: float) -> Tensor:
        batch, length, _ = words.shape
        # Both halves have a part in every head, so a head's score is the sum of a
        # content score and a position score.
        # (batch, length, 2 halves, query/key/value, heads, key_width / 2)
        parts = self.attend(words).view(batch, length, 2, 3, self.heads, -1)
        # (query/key/value, batch, heads, length, key_width)
        query, key, value = parts.permute(3, 0, 4, 1, 2, 5).flatten(-2)
        # (batch, 1, 1, length)
        keys_mask = mask[:, None, None, :]
        # (batch, heads, length, key_width)
        attended = scaled_dot_product_attention(query, key, value, keys_mask, rate)
        # (batch, length, 2 halves, heads, key_width / 2)
        halves = attended.unflatten(-1, (2, -1)).permute(0, 2, 3, 1, 4)
        # (batch, length, heads * key_width)
        return halves.reshape(batch, length, -1)


class _FactoredLinear(nn.Module):
    """Two linear layers side by side, one for each half of the vectors."""

    def __init__(self, input_width: int, width: int):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Linear(input_width // 2, width // 2) for _ in range(2)
        )

    def forward(self, vectors: Tensor) -> Tensor:
        halves = vectors.chunk(2, dim=-1)
        return torch.cat(
            [layer(half) for layer, half in zip(self.layers, halves)], dim=-1
        )
