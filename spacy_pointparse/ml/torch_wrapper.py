"""The fence between thinc and torch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from thinc.api import (
    ArgsKwargs,
    Model,
    NumpyOps,
    Optimizer,
    PyTorchShim,
    PyTorchWrapper_v2,
    torch2xp,
    xp2torch,
)
from thinc.types import Floats2d, Ints1d

from .modules import matmul


class TorchOps(NumpyOps):
    """Operations on a CPU that leave matrices to torch: numpy and blis have threads of
    their own, which keep the cores busy that torch's wait for."""

    def gemm(
        self,
        x: Floats2d,
        y: Floats2d,
        *,
        out: Floats2d | None = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> Floats2d:
        """Multiply two matrices, each transposed first if asked.

        x (Floats2d): The left one.
        y (Floats2d): The right one.
        out (Optional[Floats2d]): Where to write the product, if not into a new array.
        trans1 (bool): Transpose the left one.
        trans2 (bool): Transpose the right one.
        RETURNS (Floats2d): The product.
        """
        return matmul(x.T if trans1 else x, y.T if trans2 else y, out)


class _Shim(PyTorchShim):
    """Holds a torch module, in constant memory."""

    def finish_update(self, optimizer: Optimizer) -> None:
        super().finish_update(optimizer)
        # thinc leaves each weight as a view of an array that is a view of the weight
        # before, back to the first step.
        for weight in self._model.parameters():
            weight.data = weight.data.clone()

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Use other weights for a while, as averaged ones. thinc looks for them under
        names that its optimizer does not give."""
        names = {name for name, _ in self._model.named_parameters()}
        others = {
            name: xp2torch(params[self.id, name], device=self.device)
            for name in names
            if (self.id, name) in params
        }
        kept = {
            name: weight.clone() for name, weight in self._model.state_dict().items()
        }
        self._model.load_state_dict({**kept, **others})
        try:
            yield
        finally:
            self._model.load_state_dict(kept)


def wrap_torch(module: Any) -> Model:
    """Wrap a torch module that takes `(words, rows, dropout)`, rows being lengths or
    indices. The rate comes with each call: a rate fixed in the module would be out of
    reach of the training config."""
    wrapper = PyTorchWrapper_v2(
        module, convert_inputs=_to_torch, convert_outputs=_from_torch
    )
    wrapper.shims[:] = [_Shim(module)]
    wrapper.attrs["dropout_rate"] = 0.0
    return wrapper


def _to_torch(
    model: Model, inputs: tuple[Floats2d, Ints1d], is_train: bool
) -> tuple[ArgsKwargs, Callable]:
    words, rows = inputs
    learns = is_train and words.dtype.kind == "f"
    tensor = xp2torch(words, requires_grad=learns)
    args = (tensor, xp2torch(rows.astype("int64")))
    dropout = model.attrs["dropout_rate"] if is_train else 0.0

    def get_d_words(d_inputs: ArgsKwargs) -> Floats2d | None:
        return torch2xp(d_inputs.args[0]) if learns else None

    return ArgsKwargs(args=args, kwargs={"dropout": dropout}), get_d_words


def _from_torch(
    model: Model, inputs_and_outputs: tuple[Any, Any], is_train: bool
) -> tuple[Any, Callable]:
    _, outputs = inputs_and_outputs
    several = isinstance(outputs, tuple)
    tensors = outputs if several else (outputs,)
    arrays = tuple(torch2xp(tensor) for tensor in tensors)

    def to_torch_grads(d_arrays: Any) -> ArgsKwargs:
        grads = d_arrays if several else (d_arrays,)
        return ArgsKwargs(
            args=(tensors,), kwargs={"grad_tensors": [xp2torch(grad) for grad in grads]}
        )

    return (arrays if several else arrays[0]), to_torch_grads
