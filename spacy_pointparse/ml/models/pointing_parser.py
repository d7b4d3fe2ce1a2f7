"""The thinc assembly: tok2vec, sentences, encoder, heads."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Linear, Model, NumpyOps, Ragged
from thinc.types import Floats2d

from ..layers.gather import forward_gather
from ..layers.hash_embed import find_rare_values
from ..layers.labeler import forward_labeler
from ..layers.pointing_heads import forward_pointer
from ..layers.tagged_encoder import build_encoder
from ..modules import LabelFeatures, MixedPrecision, Pointer
from ..torch_wrapper import TorchOps, wrap_torch
from ..types import Batch, Scores, Sentences


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
    encoder = build_encoder(lower_encoder, upper_encoder, width, tag_head)
    encoded_width = encoder.get_dim("nO")
    heads = [
        Pointer(encoded_width, head_width, pointing)
        for head_width in (pointing_width, singleton_width, left_width)
        if head_width
    ]
    pointer = Model(
        "pointer", forward_pointer, layers=[wrap_torch(head) for head in heads]
    )
    features = wrap_torch(LabelFeatures(encoded_width, label_width, labels_from))
    span_labels, unary_labels = Linear(nI=label_width), Linear(nI=label_width)
    labeller = Model(
        "labeller", forward_labeler, layers=[features, span_labels, unary_labels]
    )
    sentences: Model[Sentences, Ragged] = Model("sentences", forward_gather)
    model: Model[Batch, Scores] = Model(
        "pointing_parser",
        _forward,
        init=_init,
        layers=[tok2vec, sentences, encoder, pointer, labeller],
        refs={
            "tok2vec": tok2vec,
            "sentences": sentences,
            "encoder": encoder,
            "pointer": pointer,
            "labeller": labeller,
            "output_layer": span_labels,
            "unary_layer": unary_labels,
        },
        attrs={"observe": find_rare_values},
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
    tok2vec, gather, encoder, pointer, labeller = model.layers
    vectors, backprop_tok2vec = tok2vec(docs, is_train=is_train)
    flat = model.ops.flatten(vectors)
    lengths = model.ops.asarray1i([len(rows) for rows in vectors])
    words, backprop_gather = gather((flat, sentences), is_train=is_train)
    (encoded, tags), backprop_encoder = encoder(words, is_train=is_train)
    (general, singleton, *left), backprop_pointer = pointer(encoded, is_train=is_train)
    labels, backprop_labeller = labeller((encoded, targets), is_train=is_train)

    def backprop(d_scores: Scores) -> Any:
        d_encoded = backprop_labeller(d_scores[2:4])
        d_encoded.data += backprop_pointer((*d_scores[:2], d_scores[5])).data
        d_words = backprop_encoder((d_encoded, d_scores[4]))
        d_flat = backprop_gather(d_words)
        return backprop_tok2vec(model.ops.unflatten(d_flat, lengths))

    return (general, singleton, *labels, tags, left[0] if left else None), backprop


def _init(
    model: Model[Batch, Scores], X: Batch | None = None, Y: Scores | None = None
) -> None:
    """Initialise all layers, with as many labels and tags as Y has columns."""
    if X is None or Y is None:
        return
    docs, sentences, _ = X
    tok2vec, gather, encoder, _, labeller = model.layers
    tok2vec.initialize(X=docs)
    words = gather.predict((model.ops.flatten(tok2vec.predict(docs)), sentences))
    below, _, *tag_head = encoder.layers
    below.initialize(X=words)
    for layer, scores in zip(labeller.layers[1:], Y[2:4]):
        layer.initialize(Y=scores)
    for head in tag_head:
        tagger, _, embed = head.layers
        tagger.initialize(Y=Y[4])
        embed.initialize(X=Y[4])
