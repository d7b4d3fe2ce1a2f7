"""Matrix products of arrays."""

from typing import Any

import torch


def matmul(left: Any, right: Any, out: Any = None) -> Any:
    """Multiply two of numpy's matrices with torch, on torch's threads.

    left (Floats2d): The left matrix. Shape (rows, inner).
    right (Floats2d): The right matrix. Shape (inner, columns).
    out (Optional[Floats2d]): An array for the product; a new one if None.
    RETURNS (Floats2d): The product. Shape (rows, columns).
    """
    factors = torch.from_numpy(left), torch.from_numpy(right)
    if out is None:
        return torch.matmul(*factors).numpy()
    torch.matmul(*factors, out=torch.from_numpy(out))
    return out
