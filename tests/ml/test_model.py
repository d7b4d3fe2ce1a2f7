import copy
import io
import re
from itertools import chain, pairwise
from pickle import UnpicklingError

import numpy
import pytest
import srsly
import torch
from numpy.testing import assert_allclose
from samples import Payload
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import SGD, Ragged, fix_random_seed, set_dropout_rate

from spacy_pointparse.ml.models.default import build_pointing_parser
from spacy_pointparse.ml.modules.mixed_precision import has_bfloat16
from spacy_pointparse.ml.torch_wrapper import TorchOps
from spacy_pointparse.pipeline.pointing_parser import DEFAULT_MODEL

SHORT = [["Birds", "sing"], ["Rain"]]
CAT = ["A", "grey", "cat", "sleeps", "under", "the", "table"]
FISH = ["She", "never", "ate", "fish"]
DOCS = [SHORT, [CAT], [FISH]]
COUNTS = (5, 3, 4)  # of span labels, unary labels, tags
ATTENTION = {
    "@architectures": "spacy-pointparse.SelfAttention.v1",
    "input_width": 6,
    "width": 10,
    "depth": 2,
    "heads": 2,
    "key_width": 4,
    "feedforward_width": 12,
}
NO_ENCODERS = {"lower_encoder": None, "upper_encoder": None}
ATTENTIVE = {"lower_encoder": None, "upper_encoder": ATTENTION}
VARIANTS = {
    "default": {},
    "no_tags": {"tag_head": False},
    "no_left": {"left_width": 0},
    "no_encoders": {**NO_ENCODERS, "pointing": "biaffine"},
    "no_upper": {"upper_encoder": None},
    "self_attention": {**ATTENTIVE, "pointing": "biaffine"},
    "deep_upper_only": {"lower_encoder": None, "upper_encoder": (6, 8, 2)},
    "paper_heads": {"tag_head": False, "labels_from": "word", "pointing": "dot"},
    "biaffine": {"pointing": "biaffine"},
    "released_heads": {"labels_from": "word", "pointing": "query_key"},
}
every_variant = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)


def build(config):
    return registry.resolve({"model": config})["model"]


def make_encoder(shape):
    if not isinstance(shape, tuple):
        return shape
    sizes = dict(zip(("input_width", "width", "depth"), shape))
    return {"@architectures": "spacy-pointparse.BiLSTM.v1", **sizes}


def build_tiny(lower_encoder=(6, 8, 1), upper_encoder=(8, 10, 1), **options):
    config = copy.deepcopy(DEFAULT_MODEL)
    config["tok2vec"].update({"width": 8, "attrs": ["NORM"], "rows": [50]})
    config["lower_encoder"] = make_encoder(lower_encoder)
    config["upper_encoder"] = make_encoder(upper_encoder)
    widths = {"width": 6, "pointing_width": 7, "left_width": 5, "label_width": 9}
    return build({**config, **widths, **options})


def make_batch(texts=DOCS):
    """Docs of sentences. The first word of each points at the last, the second at the
    last but one, and so on."""
    docs = [Doc(Vocab(), words=list(chain(*sentences))) for sentences in texts]
    ends = numpy.cumsum([0, *(len(words) for words in chain(*texts))])
    sentences = [numpy.arange(a, b, dtype="i") for a, b in pairwise(ends)]
    return docs, sentences, numpy.concatenate([rows[::-1] for rows in sentences])


def initialize(model):
    Y = [numpy.zeros((1, count), dtype="f") for count in COUNTS]
    return model.initialize(X=make_batch(), Y=(None, None, *Y))


def make_tiny(seed=0, **options):
    fix_random_seed(seed)
    return initialize(build_tiny(**options))


def run_steps(model, batch):
    """Use the model step by step, as the component does to predict."""
    docs, sentences, targets = batch
    embedded = model.attrs["embed"](model, docs)
    encoded, *pointings, tags = model.attrs["point"](model, embedded, sentences)
    labels = model.attrs["label"](model, encoded, targets)
    return (*pointings, *labels, tags, None)


def assert_same(scores, expected, **tolerance):
    for ours, theirs in zip(scores, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            assert_allclose(ours, theirs, **{"rtol": 0, **tolerance})


def is_same(scores, others):
    return all(numpy.array_equal(a, b) for a, b in zip(scores, others, strict=True))


def list_params(model):
    """Name, values (changing them in place changes the model) and gradient of all
    parameters."""
    params = []
    for i, node in enumerate(model.walk()):
        for name in node.param_names:
            grad = node.get_grad(name).copy() if node.has_grad(name) else None
            params.append((f"{i}.{node.name}.{name}", node.get_param(name), grad))
        for shim in node.shims:
            for name, param in shim._model.named_parameters():
                grad = None if param.grad is None else param.grad.numpy().copy()
                params.append((f"{i}.{name}", param.detach().numpy(), grad))
    return params


def mask_padding(scores):
    """Ones, and zeros where a word would point at padding."""
    return tuple(None if s is None else (s > -1e6).astype("f") for s in scores)


def learn(model, batch):
    scores, backprop = model.begin_update(batch)
    backprop(mask_padding(scores))


@every_variant
def test_initialize_infers_sizes(options):
    model = make_tiny(**options)
    scores = model.predict(make_batch())
    tags = None if options.get("tag_head") is False else (14, 4)
    shapes = [None if array is None else array.shape for array in scores]
    assert shapes == [(4, 7, 7), (4, 7, 7), (14, 5), (14, 3), tags, None]
    assert model.get_ref("output_layer").get_dim("nO") == 5


def test_default_model():
    model = build(DEFAULT_MODEL)
    assert model.get_ref("output_layer").has_dim("nO") is None
    *scores, left = initialize(model)(make_batch(), is_train=True)[0]
    shapes = [array.shape for array in scores]
    assert shapes == [(4, 7, 7), (4, 7, 7), (14, 5), (14, 3), (14, 4)]
    assert left is None
    width = DEFAULT_MODEL["upper_encoder"]["width"]
    assert model.get_ref("encoder").get_dim("nO") == width


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"lower_encoder": (5, 8, 1)}, "lower_encoder .* width 5 but gets 6: .* to 6"),
        ({"upper_encoder": (6, 8, 1)}, "upper_encoder .* width 6 but gets 8: .* to 8"),
        ({"lower_encoder": None}, "upper_encoder .* width 8 but gets 6: .* to 6"),
        ({"lower_encoder": (6, 7, 1)}, "must be even, but is 7"),
        ({"upper_encoder": {**ATTENTION, "width": 7}}, "width of .* even, but is 7"),
        ({"upper_encoder": {**ATTENTION, "key_width": 5}}, "key_width .* but is 5"),
    ],
)
def test_widths_that_do_not_fit(options, problem):
    with pytest.raises(ValueError, match=problem):
        build_tiny(**options)


@pytest.mark.parametrize(
    "options, name",
    [
        (NO_ENCODERS, "none"),
        (ATTENTIVE, "self_attention"),
        ({"lower_encoder": ATTENTION, "upper_encoder": None}, "self_attention"),
    ],
)
def test_gaps_need_vectors_read_from_both_sides(options, name):
    message = f'last encoder is: {name}. Set pointing = "biaffine"'
    with pytest.raises(ValueError, match=re.escape(message)):
        build_tiny(**options)
    for pointing in ("biaffine", "dot", "query_key"):
        assert build_tiny(**options, pointing=pointing)


def test_gaps_take_what_an_encoder_above_reads_from_both_sides():
    assert build_tiny(lower_encoder=ATTENTION, upper_encoder=(10, 8, 1))
    other = build(make_encoder((6, 8, 1)))
    other.attrs["two_directions"] = False
    with pytest.raises(ValueError, match="last encoder is: bilstm"):
        build_pointing_parser(build(DEFAULT_MODEL["tok2vec"]), other, width=6)
    other.attrs["two_directions"] = True
    assert build_pointing_parser(build(DEFAULT_MODEL["tok2vec"]), other, width=6)


def test_model_loads_weights_that_were_saved_without_marks():
    """Of an encoder, as pipelines saved by earlier versions are."""
    model = make_tiny()
    plain = copy.deepcopy(model)
    for layer in plain.walk():
        layer.attrs.pop("two_directions", None)
    loaded = build_tiny().from_bytes(plain.to_bytes())
    assert is_same(loaded.predict(make_batch())[:5], model.predict(make_batch())[:5])


def test_torch_multiplies_the_matrices_of_every_layer():
    layers = list(build_tiny().walk())
    assert len(layers) > 10
    assert all(isinstance(layer.ops, TorchOps) for layer in layers)


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
def test_products_of_torch_are_those_of_numpy(trans1, trans2):
    random = numpy.random.default_rng(0)
    x = random.normal(size=(4, 3) if trans1 else (3, 4)).astype("float32")
    y = random.normal(size=(2, 4) if trans2 else (4, 2)).astype("float32")
    expected = (x.T if trans1 else x) @ (y.T if trans2 else y)
    out = numpy.zeros((3, 2), dtype="float32")
    for given in (None, out):
        found = TorchOps().gemm(x, y, out=given, trans1=trans1, trans2=trans2)
        numpy.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found is out


def test_mixed_precision_reaches_encoders_and_heads():
    docs, sentences, targets = make_batch()
    results = []
    for mixed_precision in (False, True):
        fix_random_seed(0)
        model = initialize(build_tiny(mixed_precision=mixed_precision))
        vectors = model.ops.flatten(model.get_ref("tok2vec").predict(docs))
        words = model.get_ref("sentences").predict((vectors, sentences))
        encoded, _ = model.get_ref("encoder").predict(words)
        scores, _ = model((docs, sentences, targets), is_train=True)
        results.append((encoded.data, *scores))
    for single, mixed in zip(*results):
        assert mixed.dtype == numpy.float32
        assert numpy.array_equal(single, mixed) != has_bfloat16("cpu")
        assert_allclose(single, mixed, atol=0.05, rtol=0.05)


@every_variant
def test_same_seed_same_scores(options):
    scores = make_tiny(**options).predict(make_batch())
    assert_same(make_tiny(**options).predict(make_batch()), scores)
    assert not is_same(make_tiny(seed=1, **options).predict(make_batch()), scores)


def test_sentences_gathers_rows_and_scatters_gradients():
    sentences = build_tiny().get_ref("sentences")
    vectors = numpy.array([[1.0], [2.0], [3.0], [4.0]], dtype="f")
    rows = [numpy.array([2, 3]), numpy.array([0])]  # and row 1 is white space
    words, backprop = sentences((vectors, rows), is_train=True)
    assert words.dataXd.tolist() == [[3.0], [4.0], [1.0]]
    assert words.lengths.tolist() == [2, 1]
    d_words = Ragged(words.dataXd * 10, words.lengths)
    assert backprop(d_words).tolist() == [[10.0], [0.0], [30.0], [40.0]]


@every_variant
def test_steps_give_the_scores_of_the_whole_model(options):
    model = make_tiny(**options)
    assert_same(run_steps(model, make_batch()), model.predict(make_batch()), atol=1e-6)


@every_variant
def test_scores_of_a_doc_are_those_of_the_batch(options):
    model = make_tiny(**options)
    general, singleton, *others = run_steps(model, make_batch())
    for i, start, words in ((2, 3, CAT), (3, 10, FISH)):
        alone = run_steps(model, make_batch([[words]]))
        end, ours = start + len(words), slice(len(words))
        expected = [scores[i : i + 1, ours, ours] for scores in (general, singleton)]
        expected += [None if rows is None else rows[start:end] for rows in others]
        assert_same(alone, expected, atol=1e-5)


@every_variant
def test_scores_of_a_sentence_are_those_of_its_doc(options):
    model = make_tiny(**options)
    docs, sentences, targets = make_batch([SHORT])
    general, _, labels, *_ = run_steps(model, (docs, sentences, targets))
    alone = run_steps(model, (docs, sentences[:1], targets[:2]))
    assert_same([alone[0][0], alone[2]], [general[0], labels[:2]], atol=1e-5)
    alone = run_steps(model, (docs, sentences[1:], targets[2:] - 2))
    assert_same([alone[0][0], alone[2]], [general[1, :1, :1], labels[2:]], atol=1e-5)


@every_variant
def test_gradient_is_the_slope_of_the_scores(options, monkeypatch):
    """Of a random sum of the scores, along random directions, by parameter."""
    # Without kinks, so that slopes are exact.
    monkeypatch.setattr(torch.nn, "ReLU", torch.nn.Tanh)
    monkeypatch.setattr(torch, "relu", torch.tanh)
    draw = numpy.random.default_rng(0)
    model, batch = make_tiny(**options), make_batch()
    for _, values, _ in list_params(model):
        values += draw.normal(size=values.shape, scale=0.1).astype("f")
    scores, backprop = model.begin_update(batch)
    weights = [
        None if mask is None else mask * draw.normal(size=mask.shape).astype("f")
        for mask in mask_padding(scores)
    ]

    def get_sum():
        pairs = zip(model(batch, is_train=True)[0], weights)
        return sum((s.astype("d") * w).sum() for s, w in pairs if w is not None)

    backprop(weights)
    for name, values, gradient in list_params(model):
        before, norm = values.copy(), float(numpy.linalg.norm(gradient))
        assert norm > 0, name
        for _ in range(4):
            step = draw.normal(size=values.shape).astype("f")
            step *= 5e-3 / numpy.linalg.norm(step)
            values[:] = before + step
            rise = get_sum()
            values[:] = before - step
            rise = (rise - get_sum()) / 2
            values[:] = before
            expected = float((gradient * step).sum())
            assert rise == pytest.approx(expected, rel=0, abs=2.5e-5 * norm), name


@every_variant
def test_gradients_add_up(options):
    together, apart = make_tiny(**options), make_tiny(**options)
    learn(together, make_batch())
    learn(apart, make_batch(DOCS[:2]))
    learn(apart, make_batch(DOCS[2:]))
    for ours, theirs in zip(list_params(apart), list_params(together), strict=True):
        assert_allclose(ours[2], theirs[2], rtol=1e-3, atol=1e-4, err_msg=ours[0])


def test_every_parameter_is_learnt_and_its_gradient_cleared():
    model = make_tiny()
    learn(model, make_batch())
    before = [values.copy() for _, values, _ in list_params(model)]
    model.finish_update(SGD(0.1))
    for old, (name, values, gradient) in zip(before, list_params(model), strict=True):
        assert not numpy.array_equal(values, old), name
        assert not gradient.any(), name


@pytest.mark.parametrize("name", ["encoder", "pointer", "labeler"])
def test_dropout_reaches_torch(name):
    """Nothing but torch drops in these layers: the thinc layers between are linear."""
    model = make_tiny()
    docs, sentences, targets = make_batch()
    vectors = model.ops.flatten(model.get_ref("tok2vec").predict(docs))
    words = model.get_ref("sentences").predict((vectors, sentences))
    encoded, _ = model.get_ref("encoder").predict(words)
    inputs = {"encoder": words, "pointer": encoded, "labeler": (encoded, targets)}
    layer, X = model.get_ref(name), inputs[name]

    def list_outputs(is_train):
        first, second, *_ = layer(X, is_train=is_train)[0]
        return [first.dataXd if name == "encoder" else first, second]

    plain = list_outputs(False)
    assert_same(list_outputs(True), plain, atol=1e-6)
    set_dropout_rate(model, 0.5)
    assert_same(list_outputs(False), plain)
    for dropped, kept in zip(list_outputs(True), plain):
        assert not numpy.allclose(dropped, kept, atol=1e-3)
    set_dropout_rate(model, 0.0)
    assert_same(list_outputs(True), plain, atol=1e-6)


@every_variant
def test_scores_survive_bytes(options):
    model = make_tiny(**options)
    fix_random_seed(1)
    loaded = build_tiny(**options).from_bytes(model.to_bytes())
    assert_same(loaded.predict(make_batch()), model.predict(make_batch()))


@pytest.mark.parametrize("zipped", [True, False])
def test_pickled_objects_are_not_loaded(tmp_path, zipped):
    file = io.BytesIO()
    evil = {"weight": Payload(tmp_path / "run")}
    torch.save(evil, file, _use_new_zipfile_serialization=zipped)
    message = srsly.msgpack_loads(make_tiny().to_bytes())
    shims = [i for i, shims in enumerate(message["shims"]) if shims]
    assert len(shims) == 6
    for i in shims:
        state = {"config": {}, "state": file.getvalue()}
        message["shims"][i] = [srsly.msgpack_dumps(state)]
    with pytest.raises(UnpicklingError, match="weights_only"):
        build_tiny().from_bytes(srsly.msgpack_dumps(message))
    assert not (tmp_path / "run").exists()
    file.seek(0)
    torch.load(file, weights_only=False)  # it would have done it
    assert (tmp_path / "run").exists()
