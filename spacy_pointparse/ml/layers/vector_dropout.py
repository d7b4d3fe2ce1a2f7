"""What layers that join vectors share."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..types import Tok2Vec


def get_shares(model: Model, parts: list[Floats2d], is_train: bool) -> Floats2d:
    """What each vector of each token is multiplied with, zero if it is dropped: a
    token's add up to the number of layers, unless all are dropped."""
    ops = model.ops
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    present = ops.xp.stack([part.any(axis=1) for part in parts], axis=1)
    kept = present & (ops.get_dropout_mask(present.shape, rate) > 0)
    left = ops.xp.maximum(kept.sum(axis=1, keepdims=True), 1)
    return ops.asarray2f(kept * (len(parts) / left), dtype="float32")


def init_layers(
    model: Tok2Vec, X: list[Doc] | None, Y: list[Floats2d] | None
) -> list[int]:
    """Initialise each layer. RETURNS (List[int]): Their widths, if there are Docs."""
    for layer in model.layers:
        layer.initialize(X=X, Y=Y)
    return [layer.predict(X)[0].shape[1] for layer in model.layers] if X else []
