"""A sentence encoder with a tag head between its lower and its upper part."""

from collections.abc import Callable

from thinc.api import Linear, Model, Ragged, chain, noop, softmax_activation, with_array
from thinc.types import Floats2d


def build_encoder(
    lower: Model[Ragged, Ragged] | None,
    upper: Model[Ragged, Ragged] | None,
    width: int,
    tag_head: bool,
) -> Model[Ragged, tuple[Ragged, Floats2d | None]]:
    """Stack projection, lower encoder, tag head and upper encoder, checking widths."""
    # The projection and the label layers stand between torch and what is inferred
    # from the data: torch modules are whole from the start, so thinc saves them.
    project = with_array(Linear(nO=width))
    middle_width = _output_width("lower_encoder", lower, width)
    output_width = _output_width("upper_encoder", upper, middle_width)
    below = chain(project, lower if lower is not None else noop())
    above = upper if upper is not None else noop()
    layers = [below, above]
    if tag_head:
        layers.append(_build_tag_head(middle_width))
    return Model("encoder", _forward_encoder, layers=layers, dims={"nO": output_width})


def _output_width(name: str, encoder: Model[Ragged, Ragged] | None, width: int) -> int:
    if encoder is None:
        return width
    if encoder.get_dim("nI") != width:
        raise ValueError(
            f"The {name} takes vectors of width {encoder.get_dim('nI')} but gets "
            f"{width}: set its input_width to {width}."
        )
    return encoder.get_dim("nO")


def _build_tag_head(width: int) -> Model[Floats2d, tuple[Floats2d, Floats2d]]:
    """Predict tags, and add their embedding, weighted by probability, to the words."""
    layers = [Linear(nI=width), softmax_activation(), Linear(nO=width)]
    return Model("tag_head", _forward_tag_head, layers=layers)


def _forward_encoder(
    model: Model, words: Ragged, is_train: bool
) -> tuple[tuple[Ragged, Floats2d | None], Callable]:
    below, above, *tag_head = model.layers
    tags, backprop_tags = None, None
    hidden, backprop_below = below(words, is_train=is_train)
    if tag_head:
        (tagged, tags), backprop_tags = tag_head[0](hidden.dataXd, is_train=is_train)
        hidden = Ragged(tagged, words.lengths)
    encoded, backprop_above = above(hidden, is_train=is_train)

    def backprop(d_outputs: tuple[Ragged, Floats2d | None]) -> Ragged:
        d_encoded, d_tags = d_outputs
        d_hidden = backprop_above(d_encoded)
        if backprop_tags is not None:
            d_hidden = Ragged(backprop_tags((d_hidden.dataXd, d_tags)), words.lengths)
        return backprop_below(d_hidden)

    return (encoded, tags), backprop


def _forward_tag_head(
    model: Model, words: Floats2d, is_train: bool
) -> tuple[tuple[Floats2d, Floats2d], Callable]:
    tagger, softmax, embed = model.layers
    scores, backprop_tagger = tagger(words, is_train=is_train)
    probabilities, backprop_softmax = softmax(scores, is_train=is_train)
    embedded, backprop_embed = embed(probabilities, is_train=is_train)

    def backprop(d_outputs: tuple[Floats2d, Floats2d]) -> Floats2d:
        d_words, d_scores = d_outputs
        d_scores = d_scores + backprop_softmax(backprop_embed(d_words))
        return d_words + backprop_tagger(d_scores)

    return (words + embedded, scores), backprop
