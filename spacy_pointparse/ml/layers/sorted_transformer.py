"""A transformer that reads texts of like length together."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.layers.pytorchwrapper import forward as forward_torch

from ...util.batching import batch_by_length

# Word-pieces that a CPU reads at a time: more take no less time each.
MAX_PIECES = 512


def build_sorted_transformer(transformer: Model[list[Doc], Any]) -> Model:
    """Let a transformer parse faster on a CPU: it reads texts of like length in
    word-pieces together, so that little of what it reads is padding. There it gives its
    last hidden states and nothing else, such as attentions.

    transformer (Model[List[Doc], FullTransformerBatch]): The transformer, as of
        "spacy-transformers.TransformerModel.v3".
    RETURNS (Model[List[Doc], FullTransformerBatch]): The same model.
    """
    wrapper = transformer.layers[0]
    transformer.layers[0] = Model(
        wrapper.name,
        _forward_sorted,
        attrs=wrapper.attrs,
        shims=wrapper.shims,
        dims={"nI": None, "nO": None},
    )
    transformer.attrs["replace_listener_cfg"] = partial(
        _replace_listener_cfg, transformer.attrs["replace_listener_cfg"]
    )
    return transformer


def _replace_listener_cfg(
    make: Callable, config: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    """Configure a transformer that moves into a component, see
    `Language.replace_listeners`: once it is loaded again, it is as it was."""
    return make(config["transformer"], listener)


def _forward_sorted(model: Model, pieces: Any, is_train: bool) -> tuple[Any, Callable]:
    mask = pieces.attention_mask
    # Some transformers, as XLNet, have padding before the text.
    if is_train or model.ops.device_type != "cpu" or not mask[:, 0].all():
        return forward_torch(model, pieces, is_train)
    joined = None
    lengths = mask.sum(axis=1).astype(int).tolist()
    for rows in batch_by_length(lengths, MAX_PIECES):
        place = rows, slice(max(lengths[row] for row in rows))
        kinds = pieces.token_type_ids
        part = replace(
            pieces,
            input_ids=pieces.input_ids[place],
            attention_mask=mask[place],
            token_type_ids=None if kinds is None else kinds[place],
        )
        outputs, backprop = forward_torch(model, part, False)
        states = outputs.last_hidden_state
        if joined is None:
            joined = states.new_zeros(*mask.shape, states.shape[-1])
        joined[place] = states
    return type(outputs)(last_hidden_state=joined), backprop
