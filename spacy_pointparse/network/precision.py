"""Modules that compute in single or in mixed precision."""

from typing import Any

import torch
from torch import Tensor, nn


class MixedPrecision(nn.Module):
    """A module that takes and gives single precision, and computes in bfloat16 where
    `mixed_precision` is true."""

    mixed_precision = False

    def __call__(self, words: Tensor, *inputs: Any, **settings: Any) -> Any:
        if not self.mixed_precision:
            return super().__call__(words, *inputs, **settings)
        with torch.autocast(words.device.type, dtype=torch.bfloat16):
            outputs = super().__call__(words, *inputs, **settings)
        if isinstance(outputs, tuple):
            return tuple(output.float() for output in outputs)
        return outputs.float()
