"""The thinc assembly: tok2vec, sentences, encoder, heads."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import (
    Linear,
    Model,
    NumpyOps,
    Ragged,
    chain,
    noop,
    softmax_activation,
    with_array,
)
from thinc.types import Floats2d, Floats3d, Ints1d

from .fence import TorchOps, wrap_torch
from .network import BiLSTM, LabelFeatures, MixedPrecision, Pointer, SelfAttention

# The words of each sentence as rows of the concatenated Docs, and the row (counted
# within all these words) of the word that each word points at.
Batch = tuple[list[Doc], list[Ints1d], Ints1d]
# Scores of general pointing, singleton pointing, span labels, unary labels, tags, and
# pointing in the left-factored tree.
Scores = tuple[Floats3d, Floats3d, Floats2d, Floats2d, Floats2d | None, Floats3d | None]
Sentences = tuple[Floats2d, list[Ints1d]]


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
    encoder = _build_encoder(lower_encoder, upper_encoder, width, tag_head)
    encoded_width = encoder.get_dim("nO")
    heads = [
        Pointer(encoded_width, head_width, pointing)
        for head_width in (pointing_width, singleton_width, left_width)
        if head_width
    ]
    pointer = Model(
        "pointer", _forward_pointer, layers=[wrap_torch(head) for head in heads]
    )
    features = wrap_torch(LabelFeatures(encoded_width, label_width, labels_from))
    span_labels, unary_labels = Linear(nI=label_width), Linear(nI=label_width)
    labeller = Model(
        "labeller", _forward_labeller, layers=[features, span_labels, unary_labels]
    )
    sentences: Model[Sentences, Ragged] = Model("sentences", _forward_sentences)
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
    )
    for layer in model.walk():
        if type(layer.ops) is NumpyOps:
            layer.ops = TorchOps()
        for shim in layer.shims:
            if isinstance(shim._model, MixedPrecision):
                shim._model.mixed_precision = mixed_precision
    return model


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


def _build_encoder(
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


def _forward_sentences(
    model: Model, inputs: Sentences, is_train: bool
) -> tuple[Ragged, Callable]:
    """Gather rows by sentence."""
    vectors, sentences = inputs
    ops = model.ops
    rows = ops.xp.concatenate(sentences)
    lengths = ops.asarray1i([len(sentence) for sentence in sentences])

    def backprop(d_words: Ragged) -> Floats2d:
        # Each row is a word of one sentence at most, so plain assignment adds up.
        d_vectors = ops.alloc2f(*vectors.shape)
        d_vectors[rows] = d_words.dataXd
        return d_vectors

    return Ragged(vectors[rows], lengths), backprop


def _forward_encoder_layer(
    model: Model[Ragged, Ragged], words: Ragged, is_train: bool
) -> tuple[Ragged, Callable]:
    encoded, backprop_layer = model.layers[0](
        (words.dataXd, words.lengths), is_train=is_train
    )

    def backprop(d_encoded: Ragged) -> Ragged:
        return Ragged(backprop_layer(d_encoded.dataXd), d_encoded.lengths)

    return Ragged(encoded, words.lengths), backprop


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


def _forward_pointer(
    model: Model, words: Ragged, is_train: bool
) -> tuple[tuple[Floats3d, ...], Callable]:
    """Score pointings; those in the left-factored tree in training alone."""
    heads = model.layers if is_train else model.layers[:2]
    inputs = (words.dataXd, words.lengths)
    scores, backprops = zip(*(head(inputs, is_train=is_train) for head in heads))

    def backprop(d_scores: tuple[Floats3d, ...]) -> Ragged:
        d_words = sum(backprop(d_head) for backprop, d_head in zip(backprops, d_scores))
        return Ragged(d_words, words.lengths)

    return scores, backprop


def _forward_labeller(
    model: Model, inputs: tuple[Ragged, Ints1d], is_train: bool
) -> tuple[tuple[Floats2d, Floats2d], Callable]:
    words, targets = inputs
    features, span_labels, unary_labels = model.layers
    (spans, unaries), backprop_features = features(
        (words.dataXd, targets), is_train=is_train
    )
    span_scores, backprop_spans = span_labels(spans, is_train=is_train)
    unary_scores, backprop_unaries = unary_labels(unaries, is_train=is_train)

    def backprop(d_scores: tuple[Floats2d, Floats2d]) -> Ragged:
        d_features = (backprop_spans(d_scores[0]), backprop_unaries(d_scores[1]))
        return Ragged(backprop_features(d_features), words.lengths)

    return (span_scores, unary_scores), backprop


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
