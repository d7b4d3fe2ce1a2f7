"""Mixed precision."""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn


class MixedPrecision(nn.Module):
    """A module that takes and returns single precision, and computes in bfloat16 if
    `mixed_precision` is set and the device can."""

    mixed_precision = False

    def __call__(self, words: Tensor, *inputs: Any, **settings: Any) -> Any:
        device = words.device.type
        if not (self.mixed_precision and has_bfloat16(device)):
            return super().__call__(words, *inputs, **settings)
        with torch.autocast(device, dtype=torch.bfloat16):
            outputs = super().__call__(words, *inputs, **settings)
        if isinstance(outputs, tuple):
            return tuple(output.float() for output in outputs)
        return outputs.float()


@cache
def has_bfloat16(device: str) -> bool:
    """Try whether torch computes in bfloat16. It does not run LSTMs on CPUs without
    AVX-512.

    device (str): Type of the device, such as "cpu".
    RETURNS (bool): Whether it does.
    """
    # New weights draw random numbers, which must not change a run's own.
    with torch.random.fork_rng(devices=[]):
        lstm = nn.LSTM(1, 1)
    lstm.to(device)
    try:
        with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
            lstm(torch.zeros(1, 1, 1, device=device))
    except RuntimeError:
        return False
    return True
