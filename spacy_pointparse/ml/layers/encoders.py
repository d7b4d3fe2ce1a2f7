"""Encoders of sentences, as thinc layers."""

from collections.abc import Callable

from thinc.api import Model, Ragged

from ..modules import BiLSTM, SelfAttention
from ..torch_wrapper import wrap_torch


def build_bilstm_encoder(
    input_width: int, width: int, depth: int = 1
) -> Model[Ragged, Ragged]:
    """Build a bidirectional LSTM encoder of sentences.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing ones, both directions together.
    depth (int): Number of layers.
    RETURNS (Model[Ragged, Ragged]): The encoder: one row a word, one length a
        sentence, `(words, input_width)` to `(words, width)`.
    RAISES (ValueError): If the width is odd.
    """
    if width % 2:
        raise ValueError(f"The width of a BiLSTM must be even, but is {width}.")
    return _wrap_encoder("bilstm", BiLSTM(input_width, width, depth))


def build_self_attentive_encoder(
    input_width: int,
    width: int = 1024,
    depth: int = 8,
    heads: int = 8,
    key_width: int = 64,
    feedforward_width: int = 2048,
    max_length: int = 1000,
) -> Model[Ragged, Ragged]:
    """Build the paper's encoder of sentences: self-attention in which content and
    position are factored, in the attention and in the feed-forward layers (Kitaev and
    Klein, 2018). The defaults are the paper's.

    input_width (int): Width of the incoming word vectors.
    width (int): Width of the outgoing ones, half content and half position.
    depth (int): Number of layers; 2 are enough on top of a transformer.
    heads (int): Attention heads in each layer.
    key_width (int): Width of queries, keys and values of each head.
    feedforward_width (int): Inner width of the feed-forward layers.
    max_length (int): Number of positions that are told apart; words beyond share the
        last one.
    RETURNS (Model[Ragged, Ragged]): The encoder: one row a word, one length a
        sentence, `(words, input_width)` to `(words, width)`.
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
    return _wrap_encoder("self_attention", module)


def _wrap_encoder(name: str, module: BiLSTM | SelfAttention) -> Model[Ragged, Ragged]:
    return Model(
        name,
        _forward_encoder_layer,
        layers=[wrap_torch(module)],
        dims={"nI": module.input_width, "nO": module.width},
    )


def _forward_encoder_layer(
    model: Model[Ragged, Ragged], words: Ragged, is_train: bool
) -> tuple[Ragged, Callable]:
    encoded, backprop_layer = model.layers[0](
        (words.dataXd, words.lengths), is_train=is_train
    )

    def backprop(d_encoded: Ragged) -> Ragged:
        return Ragged(backprop_layer(d_encoded.dataXd), d_encoded.lengths)

    return Ragged(encoded, words.lengths), backprop
