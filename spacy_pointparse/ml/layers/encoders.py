"""Sentence encoders."""

from collections.abc import Callable

from thinc.api import Model, Ragged

from ..modules import BiLSTM, SelfAttention
from ..torch_wrapper import wrap_torch

InT = Ragged
OutT = Ragged
# An attribute of encoders whose vectors are two halves, the first read from the left
# and the second from the right.
TWO_DIRECTIONS = "two_directions"


def build_bilstm_encoder(
    input_width: int, width: int, depth: int = 1
) -> Model[InT, OutT]:
    """Build a sentence encoder of bidirectional LSTM layers.

    input_width (int): Width of the incoming vectors.
    width (int): Width of the outgoing vectors, both directions together.
    depth (int): Number of layers.
    RETURNS (Model[Ragged, Ragged]): The encoder: one row a word and one length a
        sentence, of shape (words, input_width), to shape (words, width).
    RAISES (ValueError): If the width is odd.
    """
    if width % 2:
        raise ValueError(f"The width of a BiLSTM must be even, but is {width}.")
    encoder = _wrap("bilstm", BiLSTM(input_width, width, depth))
    encoder.attrs[TWO_DIRECTIONS] = True
    return encoder


def build_self_attentive_encoder(
    input_width: int,
    width: int = 1024,
    depth: int = 8,
    heads: int = 8,
    key_width: int = 64,
    feedforward_width: int = 2048,
    max_length: int = 1000,
) -> Model[InT, OutT]:
    """Build the paper's sentence encoder: self-attention with content and position
    factored in all attention and feed-forward layers (Kitaev and Klein, 2018). The
    defaults are the paper's.

    input_width (int): Width of the incoming vectors.
    width (int): Width of the outgoing vectors, half content and half position.
    depth (int): Number of layers. Two are enough on top of a transformer.
    heads (int): Number of attention heads in each layer.
    key_width (int): Width of the queries, keys and values of each head.
    feedforward_width (int): Inner width of the feed-forward layers.
    max_length (int): Number of position embeddings. All words beyond share the last.
    RETURNS (Model[Ragged, Ragged]): The encoder: one row a word and one length a
        sentence, of shape (words, input_width), to shape (words, width).
    RAISES (ValueError): If a width that is halved is odd.
    """
    for name, value in (
        ("width", width),
        ("key_width", key_width),
        ("feedforward_width", feedforward_width),
    ):
        if value % 2:
            raise ValueError(
                f"The {name} of a self-attentive encoder must be even, but is {value}."
            )
    module = SelfAttention(
        input_width, width, depth, heads, key_width, feedforward_width, max_length
    )
    return _wrap("self_attention", module)


def _wrap(name: str, module: BiLSTM | SelfAttention) -> Model[InT, OutT]:
    return Model(
        name,
        forward,
        layers=[wrap_torch(module)],
        dims={"nI": module.input_width, "nO": module.width},
    )


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    inputs = (words.dataXd, words.lengths)
    encoded, backprop_layer = model.layers[0](inputs, is_train=is_train)

    def backprop(d_encoded: OutT) -> InT:
        return Ragged(backprop_layer(d_encoded.dataXd), d_encoded.lengths)

    return Ragged(encoded, words.lengths), backprop
