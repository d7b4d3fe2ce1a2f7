"""A sentence encoder in two parts, with a tag head between them."""

from collections.abc import Callable

from thinc.api import Linear, Model, Ragged, chain, noop, with_array
from thinc.types import Floats2d

from .tag_head import build_tag_head

InT = Ragged
# The encoded words and, with a tag head, the scores of their tags.
OutT = tuple[Ragged, Floats2d | None]
Encoder = Model[Ragged, Ragged]


def tagged_encoder(
    lower: Encoder | None, upper: Encoder | None, width: int, tag_head: bool
) -> Model[InT, OutT]:
    """Build a layer that projects word vectors to a width and encodes them: the lower
    encoder, the tag head, the upper encoder.

    lower (Optional[Model[Ragged, Ragged]]): The encoder below the tag head.
    upper (Optional[Model[Ragged, Ragged]]): The encoder above it.
    width (int): Width of the projected vectors.
    tag_head (bool): Whether there is a tag head.
    RETURNS (Model[Ragged, Tuple[Ragged, Optional[Floats2d]]]): The layer. Its input
        width and its number of tags are inferred at initialization.
    RAISES (ValueError): If an encoder takes another width than it gets.
    """
    # Torch modules have all their weights from the start, so that they load without
    # shape inference. This projection is a thinc layer: its input width is inferred.
    project: Model[Ragged, Ragged] = with_array(Linear(nO=width))
    middle_width = _get_output_width("lower_encoder", lower, width)
    output_width = _get_output_width("upper_encoder", upper, middle_width)
    below: Encoder = chain(project, lower if lower is not None else noop())
    above = upper if upper is not None else noop()
    layers: list[Model] = [below, above]
    if tag_head:
        layers.append(build_tag_head(middle_width))
    return Model(
        "encoder", forward, init=init, layers=layers, dims={"nO": output_width}
    )


def _get_output_width(name: str, encoder: Encoder | None, width: int) -> int:
    if encoder is None:
        return width
    if encoder.get_dim("nI") != width:
        raise ValueError(
            f"The {name} takes vectors of width {encoder.get_dim('nI')} but gets "
            f"{width}: set its input_width to {width}."
        )
    return encoder.get_dim("nO")


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    below, above, *tag_head = model.layers
    tags, backprop_tags = None, None
    hidden, backprop_below = below(words, is_train=is_train)
    if tag_head:
        (hidden, tags), backprop_tags = tag_head[0](hidden, is_train=is_train)
    encoded, backprop_above = above(hidden, is_train=is_train)

    def backprop(d_outputs: OutT) -> InT:
        d_encoded, d_tags = d_outputs
        d_hidden = backprop_above(d_encoded)
        if backprop_tags is not None:
            d_hidden = backprop_tags((d_hidden, d_tags))
        return backprop_below(d_hidden)

    return (encoded, tags), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    below, _, *tag_head = model.layers
    if X is not None:
        below.initialize(X=X)
    if Y is not None:
        for head in tag_head:
            head.initialize(Y=Y)
