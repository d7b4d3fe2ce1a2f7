"""A transformer that reads texts of similar length together."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.layers.pytorchwrapper import forward as forward_torch

from ...util.batching import batch_by_length

# Word-pieces that a CPU reads at a time. Larger batches are not faster.
MAX_PIECES = 512


def build_sorted_transformer(transformer: Model[list[Doc], Any]) -> Model:
    """Make a transformer faster on a CPU: it reads texts with a similar number of
    word-pieces together, so that there is little padding. On a CPU it then predicts its
    last hidden states and nothing else, such as attentions.

    transformer (Model[List[Doc], FullTransformerBatch]): A transformer of
        "spacy-transformers.TransformerModel.v3".
    RETURNS (Model[List[Doc], FullTransformerBatch]): The same model, changed in place.
    """
    wrapper = transformer.layers[0]
    transformer.layers[0] = Model(
        wrapper.name,
        forward,
        attrs=wrapper.attrs,
        shims=wrapper.shims,
        dims={"nI": None, "nO": None},
    )
    transformer.attrs["replace_listener_cfg"] = partial(
        _replace_listener_cfg, transformer.attrs["replace_listener_cfg"]
    )
    return transformer


def _replace_listener_cfg(
    make_config: Callable, config: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    """Make the config of a transformer that `Language.replace_listeners` moves into a
    component. Loaded from that config, the transformer is the plain one again."""
    return make_config(config["transformer"], listener)


def forward(model: Model, pieces: Any, is_train: bool) -> tuple[Any, Callable]:
    mask = pieces.attention_mask  # (texts, length)
    # Some transformers, such as XLNet, put the padding before the text.
    padded_left = not mask[:, 0].all()
    if is_train or model.ops.device_type != "cpu" or padded_left:
        return forward_torch(model, pieces, is_train)
    lengths = mask.sum(axis=1).astype(int).tolist()
    states = None
    for rows in batch_by_length(lengths, MAX_PIECES):
        part = rows, slice(max(lengths[row] for row in rows))
        outputs, backprop = forward_torch(model, _select(pieces, part), False)
        part_states = outputs.last_hidden_state
        if states is None:
            # (texts, length, width)
            states = part_states.new_zeros(*mask.shape, part_states.shape[-1])
        states[part] = part_states
    return type(outputs)(last_hidden_state=states), backprop


def _select(pieces: Any, part: tuple[list[int], slice]) -> Any:
    """Select texts, and their word-pieces up to a length."""
    types = pieces.token_type_ids
    return replace(
        pieces,
        input_ids=pieces.input_ids[part],
        attention_mask=pieces.attention_mask[part],
        token_type_ids=None if types is None else types[part],
    )
