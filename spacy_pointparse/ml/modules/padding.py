"""Padding."""

import torch
from torch import Tensor


def pad(words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Pad the sentences of a batch with zeros to the length of the longest.

    words (Tensor): The words of all sentences. Shape (words, width).
    lengths (Tensor): The number of words of each sentence. Shape (batch,).
    RETURNS (Tuple[Tensor, Tensor]): The padded sentences, of shape (batch, length,
        width), and a mask that is true at words, of shape (batch, length).
    """
    mask = torch.arange(int(lengths.max()), device=words.device) < lengths[:, None]
    padded = words.new_zeros(*mask.shape, words.shape[-1])
    padded[mask] = words
    return padded, mask
