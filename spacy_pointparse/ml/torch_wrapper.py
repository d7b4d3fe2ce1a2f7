"""Torch modules in thinc models, and all that this needs of thinc's private API.

thinc keeps the module of a shim in `_model` and has no public name for it.
"""

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
from thinc.types import Floats2d

from .modules import matmul


class TorchOps(NumpyOps):
    """Operations on a CPU that multiply matrices with torch. numpy and blis have thread
    pools of their own, which compete with torch's for the cores."""

    def gemm(
        self,
        x: Floats2d,
        y: Floats2d,
        *,
        out: Floats2d | None = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> Floats2d:
        """Multiply two matrices.

        x (Floats2d): The left matrix.
        y (Floats2d): The right matrix.
        out (Optional[Floats2d]): An array for the product; a new one if None.
        trans1 (bool): Transpose the left matrix first.
        trans2 (bool): Transpose the right matrix first.
        RETURNS (Floats2d): The product.
        """
        return matmul(x.T if trans1 else x, y.T if trans2 else y, out)


class _Shim(PyTorchShim):
    """A shim with constant memory use and working parameter averages."""

    def finish_update(self, optimizer: Optimizer) -> None:
        super().finish_update(optimizer)
        # thinc makes each weight a view of an array that is a view of the previous
        # weight, and so on back to the first update. A copy breaks the chain.
        for weight in self._model.parameters():
            weight.data = weight.data.clone()

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Use other weights, such as averages, within a context. thinc's own method
        looks for keys that its optimizer never writes."""
        others = {
            name: xp2torch(params[self.id, name], device=self.device)
            for name, _ in self._model.named_parameters()
            if (self.id, name) in params
        }
        saved = {
            name: weight.clone() for name, weight in self._model.state_dict().items()
        }
        self._model.load_state_dict({**saved, **others})
        try:
            yield
        finally:
            self._model.load_state_dict(saved)


def wrap_torch(module: Any) -> Model:
    """Wrap a torch module as a thinc layer. Its dropout rate is the layer's attribute
    "dropout_rate", which spaCy sets from the training config, and is passed to the
    module at each call.

    module (torch.nn.Module): A module that takes `(vectors, rows, dropout)`, where rows
        are lengths or indices.
    RETURNS (Model[Tuple[Floats2d, Ints1d], Any]): The layer: vectors and rows to what
        the module returns, as arrays.
    """
    wrapper: Model = PyTorchWrapper_v2(
        module, convert_inputs=_to_torch, convert_outputs=_from_torch
    )
    wrapper.shims[:] = [_Shim(module)]
    wrapper.attrs["dropout_rate"] = 0.0
    return wrapper


def get_torch_modules(model: Model) -> Iterator[Any]:
    """Get the torch modules of a model.

    model (Model): The model.
    YIELDS (torch.nn.Module): The module of each wrapper in it.
    """
    for layer in model.walk():
        for shim in layer.shims:
            if isinstance(shim, PyTorchShim):
                yield shim._model


def _to_torch(
    model: Model, inputs: tuple[Any, Any], is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Any]]:
    vectors, rows = inputs
    # Integers, such as characters, have no gradient.
    has_gradient = is_train and vectors.dtype.kind == "f"
    dropout = model.attrs["dropout_rate"] if is_train else 0.0
    args = (
        xp2torch(vectors, requires_grad=has_gradient),
        xp2torch(rows.astype("int64")),
    )

    def get_d_vectors(d_inputs: ArgsKwargs) -> Any:
        return torch2xp(d_inputs.args[0]) if has_gradient else None

    return ArgsKwargs(args=args, kwargs={"dropout": dropout}), get_d_vectors


def _from_torch(
    model: Model, inputs_and_outputs: tuple[Any, Any], is_train: bool
) -> tuple[Any, Callable[[Any], ArgsKwargs]]:
    _, outputs = inputs_and_outputs
    is_tuple = isinstance(outputs, tuple)
    tensors = outputs if is_tuple else (outputs,)
    arrays = tuple(torch2xp(tensor) for tensor in tensors)

    def to_torch_gradients(d_arrays: Any) -> ArgsKwargs:
        gradients = [xp2torch(d) for d in (d_arrays if is_tuple else (d_arrays,))]
        return ArgsKwargs(args=(tensors,), kwargs={"grad_tensors": gradients})

    return (arrays if is_tuple else arrays[0]), to_torch_gradients
