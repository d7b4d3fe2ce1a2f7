"""The self-attentive encoder of Kitaev and Klein (2018), content and position apart."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from torch.nn.functional import scaled_dot_product_attention

from .mixed_precision import MixedPrecision
from .padding import pad


class SelfAttention(MixedPrecision):
    """Layers of self-attention in which content and position are factored: each has
    its own half of every vector and its own weights, in the attention and in the
    feed-forward layers; both add to one attention score.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing ones, half content and half position.
    depth (int): Number of layers.
    heads (int): Attention heads in each layer.
    key_width (int): Width of queries, keys and values of each head, both halves
        together.
    feedforward_width (int): Inner width of the feed-forward layers, both halves
        together.
    max_length (int): Number of positions that are told apart; words beyond share the
        last one.
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

        words (Tensor): Shape (words, input_width).
        lengths (Tensor): Words in each sentence. Shape (batch,).
        dropout (float): Rate at which inputs, attention, inner and outgoing vectors
            of each layer are dropped.
        RETURNS (Tensor): Content, then position. Shape (words, width).
        """
        rate = dropout if self.training else 0.0
        content, mask = pad(self.content(words), lengths)
        places = torch.arange(mask.shape[1], device=mask.device)
        positions = self.positions(places.clamp(max=self.positions.num_embeddings - 1))
        positions = positions.expand_as(content)
        encoded = torch.cat([drop(content, rate), drop(positions, rate)], dim=-1)
        encoded = self.norm(encoded)
        for layer in self.layers:
            encoded = layer(encoded, mask, rate)
        return encoded[mask]


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int, key_width: int, inner_width: int):
        super().__init__()
        self.heads = heads
        # For each head a query, a key and a value.
        self.attend = _Halves(width, 3 * heads * key_width)
        self.mix = _Halves(heads * key_width, width)
        self.expand = _Halves(width, inner_width)
        self.contract = _Halves(inner_width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, words: Tensor, mask: Tensor, rate: float) -> Tensor:
        attended = self.mix(self._attend(words, mask, rate))
        words = self.norms[0](words + drop(attended, rate))
        inner = drop(torch.relu(self.expand(words)), rate)
        return self.norms[1](words + drop(self.contract(inner), rate))

    def _attend(self, words: Tensor, mask: Tensor, rate: float) -> Tensor:
        batch, length, _ = words.shape
        # Each half has its part of every head, so that a head's score is the sum of
        # the scores of content and of position.
        parts = self.attend(words).view(batch, length, 2, 3, self.heads, -1)
        query, key, value = parts.permute(3, 0, 4, 1, 2, 5).flatten(-2)
        seen = mask[:, None, None, :]
        attended = scaled_dot_product_attention(query, key, value, seen, rate)
        halves = attended.unflatten(-1, (2, -1)).permute(0, 2, 3, 1, 4)
        return halves.reshape(batch, length, -1)


class _Halves(nn.Module):
    """Two linear layers side by side, for content and for position."""

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
