"""What all our models share: a tok2vec, an encoder, pointing heads and label heads."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, NumpyOps, Ragged
from thinc.types import Floats2d, Floats3d, Ints1d

from ..layers.gather_sentences import gather_sentences
from ..layers.hash_embed import find_rare_values
from ..modules import MixedPrecision
from ..torch_wrapper import TorchOps, get_torch_modules
from ..types import Batch, Scores


def assemble_parser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    encoder: Model[Ragged, tuple[Ragged, Floats2d | None]],
    pointer: Model[Ragged, tuple[Floats3d, ...]],
    labeler: Model[tuple[Ragged, Ints1d], tuple[Floats2d, Floats2d]],
    *,
    mixed_precision: bool,
) -> Model[Batch, Scores]:
    """Put the parts of a pointing parser together.

    Called whole, as in training, the model takes gold pointings and scores the labels
    of the spans that they point out. Parsing goes step by step, since spans are known
    only once pointings are decoded. The steps are functions among the model's
    attributes, which an ensemble gives as well:

    - `embed(model, docs)` embeds the tokens of Docs;
    - `point(model, embedded, rows)`, given the rows of each sentence's words, returns
      the encoded words, and the scores of general pointing, singleton pointing and tags
      (or None);
    - `label(model, encoded, targets)`, given the row that each word points at, returns
      the scores of span labels and unary labels;
    - `observe(model, docs)` is called at initialization with all training Docs.

    tok2vec (Model[List[Doc], List[Floats2d]]): Embeds the tokens of whole Docs.
    encoder (Model[Ragged, Tuple[Ragged, Optional[Floats2d]]]): Encodes sentences, and
        scores tags if it has a tag head.
    pointer (Model[Ragged, Tuple[Floats3d, ...]]): Scores pointings.
    labeler (Model[Tuple[Ragged, Ints1d], Tuple[Floats2d, Floats2d]]): Scores labels.
    mixed_precision (bool): Compute encoder and heads in bfloat16 where the device can.
    RETURNS (Model[Batch, Scores]): The model.
    """
    sentences = gather_sentences()
    _, span_labels, unary_labels = labeler.layers
    model: Model[Batch, Scores] = Model(
        "pointing_parser",
        _forward,
        init=_init,
        layers=[tok2vec, sentences, encoder, pointer, labeler],
        refs={
            "tok2vec": tok2vec,
            "sentences": sentences,
            "encoder": encoder,
            "pointer": pointer,
            "labeler": labeler,
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
    for module in get_torch_modules(model):
        if isinstance(module, MixedPrecision):
            module.mixed_precision = mixed_precision
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
    return model.get_ref("labeler").predict((encoded, targets))


def _init(
    model: Model[Batch, Scores], X: Batch | None = None, Y: Scores | None = None
) -> None:
    """Initialize all layers, with as many labels and tags as Y has columns."""
    if X is None or Y is None:
        return
    docs, sentences, _ = X
    tok2vec, gather, encoder, _, label = model.layers
    tok2vec.initialize(X=docs)
    words = gather.predict((model.ops.flatten(tok2vec.predict(docs)), sentences))
    # The order in which layers draw their weights: with another one, seeds would give
    # other parsers than those of the figures in the documentation.
    encoder.initialize(X=words)
    label.initialize(Y=(Y[2], Y[3]))
    if Y[4] is not None:
        encoder.initialize(Y=(words, Y[4]))
