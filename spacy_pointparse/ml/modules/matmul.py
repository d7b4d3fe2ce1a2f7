"""Products of matrices that are no tensors."""

from typing import Any

import torch


def matmul(left: Any, right: Any, out: Any = None) -> Any:
    """Multiply two of numpy's matrices on the threads of torch.

    left (Floats2d): Shape (rows, inner).
    right (Floats2d): Shape (inner, columns).
    out (Optional[Floats2d]): Where to write the product, if not into a new array.
    RETURNS (Floats2d): The product. Shape (rows, columns).
    """
    factors = torch.from_numpy(left), torch.from_numpy(right)
    if out is None:
        return torch.matmul(*factors).numpy()
    torch.matmul(*factors, out=torch.from_numpy(out))
    return out
