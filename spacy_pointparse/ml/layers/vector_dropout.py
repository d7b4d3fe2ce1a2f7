"""Dropout of whole vectors, for layers that combine several vectors of each token."""

from spacy.tokens import Doc
from thinc.api import Model, get_array_module
from thinc.types import Floats2d

from ..types import Tok2Vec


def get_scales(model: Model, parts: list[Floats2d], is_train: bool) -> list[Floats2d]:
    """Get what to multiply each vector with. At the model's dropout rate a vector gets
    zero; one that is all zeros counts as dropped. The factors of a token's vectors add
    up to their number, unless all are dropped.

    model (Model): A layer with the attribute "dropout_rate".
    parts (List[Floats2d]): The vectors of all tokens, one array for each layer.
    is_train (bool): Whether to drop vectors at all.
    RETURNS (List[Floats2d]): A factor for each vector. Each of shape (tokens, 1).
    """
    ops = model.ops
    xp = get_array_module(parts[0])
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    present = xp.stack([part.any(axis=1) for part in parts], axis=1)  # (tokens, layers)
    kept = present & (ops.get_dropout_mask(present.shape, rate) > 0)
    counts = xp.maximum(kept.sum(axis=1, keepdims=True), 1)  # (tokens, 1)
    scales = ops.asarray2f(kept * (len(parts) / counts), dtype="float32")
    return [scales[:, i : i + 1] for i in range(len(parts))]


def init_layers(
    model: Tok2Vec, X: list[Doc] | None, Y: list[Floats2d] | None
) -> list[int]:
    """Initialize the layers of a model.

    model (Model[List[Doc], List[Floats2d]]): The model.
    X (Optional[List[Doc]]): A sample of its input.
    Y (Optional[List[Floats2d]]): A sample of its output.
    RETURNS (List[int]): The width of each layer, or nothing without Docs.
    """
    for layer in model.layers:
        layer.initialize(X=X, Y=Y)
    if not X:
        return []
    return [layer.predict(X)[0].shape[1] for layer in model.layers]
