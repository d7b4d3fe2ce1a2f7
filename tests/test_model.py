import copy
import pickle
from itertools import pairwise

import numpy
import pytest
import srsly
from numpy.testing import assert_allclose, assert_array_equal
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import fix_random_seed, set_dropout_rate

from spacy_pointparse.pointing_parser import DEFAULT_MODEL

SENTENCES = [
    ["Birds", "sing"],
    ["Rain"],
    ["A", "grey", "cat", "sleeps", "under", "the", "table"],
    ["She", "never", "ate", "fish"],
]
COUNTS = (5, 3, 4)  # of span labels, unary labels, tags
BILSTM = "spacy-pointparse.BiLSTM.v1"
NO_ENCODERS = {"lower_encoder": None, "upper_encoder": None}
VARIANTS = {
    "default": {},
    "no_tags": {"tag_head": False},
    "no_encoders": NO_ENCODERS,
    "no_upper": {"upper_encoder": None},
    "no_lower": {"lower_encoder": None, "upper_encoder": (6, 8, 2)},
    "paper": {"tag_head": False, "labels_from": "word", "pointing": "dot"},
}
every_variant = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)


def build(config):
    return registry.resolve({"model": config})["model"]


def make_encoder(shape):
    names = ("input_width", "width", "depth")
    return shape and {"@architectures": BILSTM, **dict(zip(names, shape))}


def build_tiny(lower_encoder=(6, 8, 1), upper_encoder=(8, 10, 1), **options):
    config = copy.deepcopy(DEFAULT_MODEL)
    for part in ("embed", "encode"):
        config["tok2vec"][part]["width"] = 8
    config["tok2vec"]["embed"].update({"attrs": ["NORM"], "rows": [50]})
    config["lower_encoder"] = make_encoder(lower_encoder)
    config["upper_encoder"] = make_encoder(upper_encoder)
    widths = {"width": 6, "pointing_width": 7, "label_width": 9}
    return build({**config, **widths, **options})


def make_batch(sentences=SENTENCES):
    """One Doc of two sentences, and one Doc for each further sentence. All words of a
    sentence point at the first, and that at the last."""
    docs = [sum(sentences[:2], []), *sentences[2:]]
    starts = numpy.cumsum([0, *(len(words) for words in sentences)])
    rows = [numpy.arange(first, end, dtype="i") for first, end in pairwise(starts)]
    targets = [numpy.array([span[-1], *[span[0]] * (len(span) - 1)]) for span in rows]
    vocab = Vocab()
    docs = [Doc(vocab, words=words) for words in docs]
    return docs, rows, numpy.concatenate(targets).astype("i")


def initialize(model, batch=None):
    Y = [numpy.zeros((1, count), dtype="f") for count in COUNTS]
    model.initialize(X=batch or make_batch(), Y=(None, None, *Y))
    return model


def make_tiny(seed=0, **options):
    fix_random_seed(seed)
    return initialize(build_tiny(**options))


def run_steps(model, batch):
    """Use the model by its references, as the component does to predict."""
    docs, sentences, targets = batch
    vectors = model.ops.flatten(model.get_ref("tok2vec").predict(docs))
    words = model.get_ref("sentences").predict((vectors, sentences))
    encoded, tags = model.get_ref("encoder").predict(words)
    pointings = model.get_ref("pointer").predict(encoded)
    labels = model.get_ref("labeller").predict((encoded, targets))
    return (*pointings, *labels, tags)


def assert_same(scores, expected, atol=0.0):
    for ours, theirs in zip(scores, expected, strict=True):
        if theirs is None:
            assert ours is None
        else:
            assert_allclose(ours, theirs, atol=atol, rtol=0)


def is_same(scores, others):
    return all(numpy.array_equal(a, b) for a, b in zip(scores, others))


def list_params(model):
    """Names, values and gradients of all parameters. Changing a value in place changes
    the model."""
    params = []
    for i, node in enumerate(model.walk()):
        for name in node.param_names:
            grad = node.get_grad(name) if node.has_grad(name) else None
            params.append((f"{i}.{node.name}.{name}", node.get_param(name), grad))
        for shim in node.shims:
            for name, param in shim._model.named_parameters():
                grad = None if param.grad is None else param.grad.numpy().copy()
                params.append((f"{i}.{name}", param.detach().numpy(), grad))
    return params


def make_weights(scores):
    """Random weights of scores, 0 where the score of padding is fixed."""
    draw = numpy.random.default_rng(1)
    return tuple(
        None
        if array is None
        else (draw.normal(size=array.shape) * (array > -1e6)).astype("f")
        for array in scores
    )


def sum_weighted(scores, weights):
    pairs = zip(scores, weights)
    return sum(float((a.astype("d") * w).sum()) for a, w in pairs if w is not None)


@every_variant
def test_initialize_infers_sizes_and_scores_have_shapes(options):
    model = make_tiny(**options)
    scores = model.predict(make_batch())
    shapes = [None if array is None else array.shape for array in scores]
    tags = None if options.get("tag_head") is False else (14, 4)
    assert shapes == [(4, 7, 7), (4, 7, 7), (14, 5), (14, 3), tags]
    assert model.get_ref("output_layer").get_dim("nO") == 5


def test_default_model_initializes():
    model = build(DEFAULT_MODEL)
    assert model.get_ref("output_layer").has_dim("nO") is None
    initialize(model)
    scores = model.predict(make_batch())
    shapes = [array.shape for array in scores]
    assert shapes == [(4, 7, 7), (4, 7, 7), (14, 5), (14, 3), (14, 4)]
    assert model.get_ref("encoder").get_dim("nO") == 400


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"lower_encoder": (5, 8, 1)}, "lower_encoder .* width 5 but gets 6: .* to 6"),
        ({"upper_encoder": (6, 8, 1)}, "upper_encoder .* width 6 but gets 8: .* to 8"),
        ({"lower_encoder": None}, "upper_encoder .* width 8 but gets 6: .* to 6"),
        ({"lower_encoder": (6, 7, 1)}, "must be even, but is 7"),
    ],
)
def test_widths_that_do_not_fit_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        build_tiny(**options)


@every_variant
def test_same_seed_same_scores(options):
    batch = make_batch()
    scores = make_tiny(**options).predict(batch)
    assert_same(make_tiny(**options).predict(batch), scores)
    assert not is_same(make_tiny(seed=1, **options).predict(batch), scores)


@every_variant
def test_steps_give_the_scores_of_the_whole_model(options):
    model = make_tiny(**options)
    assert_same(run_steps(model, make_batch()), model.predict(make_batch()), atol=1e-6)


@every_variant
def test_scores_of_a_sentence_are_those_of_the_batch(options):
    model = make_tiny(**options)
    general, singleton, *others = run_steps(model, make_batch())
    start = 3  # the first two sentences share a Doc
    for i, sentence in enumerate(SENTENCES[2:], start=2):
        _, rows, targets = make_batch([[], [], sentence])
        docs = [Doc(Vocab(), words=sentence)]
        alone = run_steps(model, (docs, rows[2:], targets))
        words, end = slice(len(sentence)), start + len(sentence)
        scores = [pointing[i : i + 1, words, words] for pointing in (general, singleton)]
        scores += [None if rows is None else rows[start:end] for rows in others]
        assert_same(alone, scores, atol=1e-5)
        start = end


def test_order_of_sentences_does_not_matter():
    model = make_tiny()
    docs, rows, _ = make_batch()
