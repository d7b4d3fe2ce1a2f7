"""The thinc assembly: tok2vec, sentences, encoder, heads."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model, NumpyOps, Ragged
from thinc.types import Floats2d, Floats3d, Ints1d

from ..layers.gather import gather_sentences
from ..layers.hash_embed import find_rare_values
from ..layers.labeler import labeler
from ..layers.pointing_heads import pointing_heads
from ..layers.tagged_encoder import tagged_encoder
from ..modules import MixedPrecision
from ..torch_wrapper import TorchOps
from ..types import Batch, Scores


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
    """Build the model of "Efficient Constituency Parsing by Pointing" (Nguyen et al.,
    ACL 2020): a sentence encoder and four heads that share nothing else.

    The model is used in steps, by its references, since labels are scored for chosen
    spans only: "tok2vec", "sentences" (cuts the rows of Docs by sentence), "encoder",
    "pointer", then "labeller" for the spans that the pointings stand for. Called
    whole, as in training, it takes the pointings too.

    tok2vec (Model[List[Doc], List[Floats2d]]): Embeds the tokens of whole Docs: a layer
        of this package or of spaCy, a listener, "spacy-pointparse.Sum.v1" or
        "spacy-pointparse.Concat.v1" of several.
    lower_encoder (Optional[Model[Ragged, Ragged]]): Encodes sentences, below the tag
        head: "spacy-pointparse.BiLSTM.v1", "spacy-pointparse.SelfAttention.v1", or
        nothing if None.
    upper_encoder (Optional[Model[Ragged, Ragged]]): The same above the tag head.
    width (int): Width to which word vectors are brought before they are encoded.
    tag_head (bool): Predict a part-of-speech tag for each word and feed it to the
        upper encoder.
    pointing (str): "gaps", biaffine between the gaps before and behind a span, with
        other weights for pointing back, for encoders whose vectors are half read from
        the left and half from the right, as those of BiLSTMs; "biaffine", between its
        first and last words; "dot" as in the paper, one projection of both words; or
        "query_key" as in its authors' code, one for each.
    pointing_width (int): Width of the general pointing head.
    singleton_width (int): Width of the singleton pointing head. Its targets are all on
        the diagonal, so it has less to tell.
    left_width (int): Width of a further pointing head, 0 for none. It learns to point
        in the left-factored tree, where the others do in the right-factored one, and
        is used in training alone, for what it teaches the encoder.
    labels_from (str): "ends" to read a label off both ends of its span, or "word" to
        read it off the word that points, as in the paper.
    label_width (int): Width of the label heads.
    mixed_precision (bool): Compute encoders and heads in bfloat16, which takes less
        time on CPUs that have it (not timed on GPUs); on others it changes nothing.
    RETURNS (Model[Batch, Scores]): The model.
    RAISES (ValueError): If the widths of the encoders do not fit.
    """
    sentences = gather_sentences()
    encoder = tagged_encoder(lower_encoder, upper_encoder, width, tag_head)
    encoded_width = encoder.get_dim("nO")
    pointer = pointing_heads(
        encoded_width, pointing_width, singleton_width, left_width, pointing
    )
    labels = labeler(encoded_width, label_width, labels_from)
    _, span_labels, unary_labels = labels.layers
    model: Model[Batch, Scores] = Model(
        "pointing_parser",
        _forward,
        init=_init,
        layers=[tok2vec, sentences, encoder, pointer, labels],
        refs={
            "tok2vec": tok2vec,
            "sentences": sentences,
            "encoder": encoder,
            "pointer": pointer,
            "labeller": labels,
            "output_layer": span_labels,
            "unary_layer": unary_labels,
        },
        attrs={
            "observe": find_rare_values,
            "embed": _embed,
            "point": _point,
            "label": _label,
        },
    )
    for layer in model.walk():
        if type(layer.ops) is NumpyOps:
            layer.ops = TorchOps()
        for shim in layer.shims:
            if isinstance(shim._model, MixedPrecision):
                shim._model.mixed_precision = mixed_precision
    return model


def _forward(
    model: Model[Batch, Scores], batch: Batch, is_train: bool
) -> tuple[Scores, Callable]:
    docs, sentences, targets = batch
    tok2vec, gather, encoder, pointer, label = model.layers
    vectors, backprop_tok2vec = tok2vec(docs, is_train=is_train)
    flat = model.ops.flatten(vectors)
    lengths = model.ops.asarray1i([len(rows) for rows in vectors])
    words, backprop_gather = gather((flat, sentences), is_train=is_train)
    (encoded, tags), backprop_encoder = encoder(words, is_train=is_train)
    (general, singleton, *left), backprop_pointer = pointer(encoded, is_train=is_train)
    labels, backprop_labels = label((encoded, targets), is_train=is_train)

    def backprop(d_scores: Scores) -> Any:
        d_encoded = backprop_labels(d_scores[2:4])
        d_encoded.data += backprop_pointer((*d_scores[:2], d_scores[5])).data
        d_words = backprop_encoder((d_encoded, d_scores[4]))
        d_flat = backprop_gather(d_words)
        return backprop_tok2vec(model.ops.unflatten(d_flat, lengths))

    return (general, singleton, *labels, tags, left[0] if left else None), backprop


def _embed(model: Model[Batch, Scores], docs: list[Doc]) -> Floats2d:
    """Embed the tokens of Docs. Shape (tokens, width)."""
    return model.ops.flatten(model.get_ref("tok2vec").predict(docs))


def _point(
    model: Model[Batch, Scores], embedded: Floats2d, rows: list[Ints1d]
) -> tuple[Ragged, Floats3d, Floats3d, Floats2d | None]:
    """Encode sentences, given the rows of their words, and score pointings and tags."""
    words = model.get_ref("sentences").predict((embedded, rows))
    encoded, tags = model.get_ref("encoder").predict(words)
    general, singleton = model.get_ref("pointer").predict(encoded)
    return encoded, general, singleton, tags


def _label(
    model: Model[Batch, Scores], encoded: Ragged, targets: Ints1d
) -> tuple[Floats2d, Floats2d]:
    """Score the labels of the span that each word points out, and of each word."""
    return model.get_ref("labeller").predict((encoded, targets))


def _init(
    model: Model[Batch, Scores], X: Batch | None = None, Y: Scores | None = None
) -> None:
    """Initialise all layers, with as many labels and tags as Y has columns."""
    if X is None or Y is None:
        return
    docs, sentences, _ = X
    tok2vec, gather, encoder, _, label = model.layers
    tok2vec.initialize(X=docs)
    words = gather.predict((model.ops.flatten(tok2vec.predict(docs)), sentences))
    # The encoder infers only the number of tags from its output.
    encoder.initialize(X=words, Y=(words, Y[4]))
    label.initialize(Y=(Y[2], Y[3]))
