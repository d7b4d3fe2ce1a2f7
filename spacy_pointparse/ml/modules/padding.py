"""Words of a batch side by side, or padded to the longest sentence."""

import torch
from torch import Tensor


def pad(words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Lay out the words of a batch one sentence a row.

    words (Tensor): Shape (words, width).
    lengths (Tensor): Words in each sentence. Shape (batch,).
    RETURNS (Tuple[Tensor, Tensor]): The padded words, shape (batch, length, width),
        and a mask that is true at real words, shape (batch, length).
    """
    mask = torch.arange(int(lengths.max()), device=words.device) < lengths[:, None]
    padded = words.new_zeros(*mask.shape, words.shape[-1])
    padded[mask] = words
    return padded, mask
