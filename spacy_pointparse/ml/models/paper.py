"""The paper's parser."""

from typing import Literal

from spacy.tokens import Doc
from thinc.api import Model, Ragged
from thinc.types import Floats2d

from ..layers.label_heads import labeler
from ..layers.pointing_heads import pointing_heads
from ..layers.tagged_encoder import tagged_encoder
from ..types import Batch, Scores
from .network import assemble_parser


def build_paper_parser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    encoder: Model[Ragged, Ragged],
    width: int = 512,
    pointing: Literal["dot", "query_key"] = "dot",
    pointing_width: int = 1024,
    singleton_width: int = 1024,
    label_width: int = 250,
    mixed_precision: bool = False,
) -> Model[Batch, Scores]:
    """Build the model of "Efficient Constituency Parsing by Pointing" (Nguyen et al.,
    ACL 2020, section 3): an encoder and four heads that share nothing else. Tags are
    input, as of a tok2vec that embeds TAG, and a label is read from the word that
    points. The paper decodes greedily from probabilities: set `decoder = "greedy"` and
    `decode_from = "probabilities"` on the component.

    tok2vec (Model[List[Doc], List[Floats2d]]): Embeds the tokens of whole Docs. The
        paper sums words, tags and characters, or takes BERT's last word-piece.
    encoder (Model[Ragged, Ragged]): Encodes sentences:
        "spacy-pointparse.SelfAttention.v1", or "spacy-pointparse.BiLSTM.v1" for the
        paper's comparison.
    width (int): Width of the word vectors that are encoded.
    pointing (str): "dot" as printed, the dot product of one two-layer projection of
        both words; or "query_key" as in the authors' code, a projection for each side.
    pointing_width (int): Width of the general pointing head.
    singleton_width (int): Width of the singleton pointing head.
    label_width (int): Width of the label heads.
    mixed_precision (bool): Compute encoder and heads in bfloat16 where the device can.
    RETURNS (Model[Batch, Scores]): The model.
    RAISES (ValueError): If the width of the encoder does not fit.
    """
    upper = tagged_encoder(None, encoder, width, tag_head=False)
    encoded_width = upper.get_dim("nO")
    return assemble_parser(
        tok2vec,
        upper,
        pointing_heads(encoded_width, pointing_width, singleton_width, 0, pointing),
        labeler(encoded_width, label_width, "word"),
        mixed_precision=mixed_precision,
    )
