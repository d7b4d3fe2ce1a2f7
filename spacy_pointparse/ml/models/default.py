"""Our parser."""

from typing import Literal

from spacy.tokens import Doc
from thinc.api import Model, Ragged
from thinc.types import Floats2d

from ..layers.encoders import TWO_DIRECTIONS
from ..layers.label_heads import labeler
from ..layers.pointing_heads import pointing_heads
from ..layers.tagged_encoder import tagged_encoder
from ..types import Batch, Scores
from .network import assemble_parser

_NO_HALVES = (
    'pointing = "gaps" needs vectors of which one half is read from the left and the '
    "other from the right, as a BiLSTM gives, but the last encoder is: {}. Set "
    'pointing = "biaffine", or a BiLSTM as the upper_encoder.'
)


def build_pointing_parser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    lower_encoder: Model[Ragged, Ragged] | None = None,
    upper_encoder: Model[Ragged, Ragged] | None = None,
    width: int = 128,
    tag_head: bool = True,
    pointing: Literal["gaps", "biaffine", "dot", "query_key"] = "gaps",
    pointing_width: int = 250,
    singleton_width: int = 64,
    left_width: int = 0,
    labels_from: Literal["ends", "word"] = "ends",
    label_width: int = 250,
    mixed_precision: bool = False,
) -> Model[Batch, Scores]:
    """Build a pointing parser that goes beyond the paper: a tag head between two
    encoders, biaffine pointing, and labels read from both ends of a span. The paper's
    own is "spacy-pointparse.PaperParser.v1".

    tok2vec (Model[List[Doc], List[Floats2d]]): Embeds the tokens of whole Docs: a layer
        of this package or of spaCy, a listener, "spacy-pointparse.Sum.v1" or
        "spacy-pointparse.Concat.v1" of several.
    lower_encoder (Optional[Model[Ragged, Ragged]]): Encodes sentences below the tag
        head: "spacy-pointparse.BiLSTM.v1", "spacy-pointparse.SelfAttention.v1", or
        None for none.
    upper_encoder (Optional[Model[Ragged, Ragged]]): The same above the tag head.
    width (int): Width of the word vectors that are encoded.
    tag_head (bool): Predict a part-of-speech tag for each word and feed it to the upper
        encoder.
    pointing (str): "gaps" scores the gaps before and after a span, with separate
        weights for pointing back; it needs vectors of which one half is read from the
        left and the other from the right, so the last encoder must be a BiLSTM, or have
        `attrs["two_directions"]` set to True. "biaffine" scores a span's first and last
        words, and takes any vectors. The paper's "dot" and "query_key" are accepted for
        pipelines saved by version 0.1.
    pointing_width (int): Width of the general pointing head.
    singleton_width (int): Width of the singleton pointing head. All its targets are on
        the diagonal, so it needs less.
    left_width (int): Width of a further pointing head, 0 for none. It points in the
        left-factored tree, where the others do in the right-factored one, and is used
        in training only, for what it teaches the encoder.
    labels_from (str): "ends" reads a label from both ends of its span. The paper's
        "word" is accepted for pipelines saved by version 0.1.
    label_width (int): Width of the label heads.
    mixed_precision (bool): Compute encoders and heads in bfloat16, which is faster on
        CPUs that have it (not timed on GPUs); on others it changes nothing.
    RETURNS (Model[Batch, Scores]): The model.
    RAISES (ValueError): If the widths of the encoders do not fit, or if their vectors
        do not fit the pointing.
    """
    last = upper_encoder if upper_encoder is not None else lower_encoder
    if pointing == "gaps" and not (last and last.attrs.get(TWO_DIRECTIONS)):
        raise ValueError(_NO_HALVES.format("none" if last is None else last.name))
    encoder = tagged_encoder(lower_encoder, upper_encoder, width, tag_head)
    encoded_width = encoder.get_dim("nO")
    return assemble_parser(
        tok2vec,
        encoder,
        pointing_heads(
            encoded_width, pointing_width, singleton_width, left_width, pointing
        ),
        labeler(encoded_width, label_width, labels_from),
        mixed_precision=mixed_precision,
    )
