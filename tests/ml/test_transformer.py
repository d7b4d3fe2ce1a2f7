import io
import pickle
from pathlib import Path

import numpy
import pytest
import spacy
import srsly
import torch
from samples import Payload, assert_transformer_learns
from spacy.cli.train import train as spacy_train
from spacy.training import Example
from spacy.util import load_config, registry
from thinc.api import Adam, fix_random_seed

from spacy_pointparse.cli.config import make_config
from spacy_pointparse.ml.layers import sorted_transformer as transformer

pytest.importorskip("spacy_transformers")

WIDTH = 16
MODEL = "components.pointing_parser.model"


@pytest.fixture
def make_nlp(bert, config):
    """Make a pipeline of the tiny BERT and a parser that listens to it."""

    def make(encoders=True, tag_head=True, window=64, stride=48, in_order=True):
        fix_random_seed(0)
        nlp = spacy.blank("en")
        plain = {
            "@architectures": "spacy-transformers.TransformerModel.v3",
            "name": str(bert),
            "get_spans": {
                "@span_getters": "spacy-transformers.strided_spans.v1",
                "window": window,
                "stride": stride,
            },
            "tokenizer_config": {"use_fast": True},
        }
        model = {
            "@architectures": "spacy-pointparse.SortedTransformer.v1",
            "transformer": plain,
        }
        nlp.add_pipe("transformer", config={"model": model if in_order else plain})
        listener = {
            "@architectures": "spacy-transformers.TransformerListener.v1",
            "grad_factor": 1.0,
            "pooling": {"@architectures": "spacy-pointparse.LastPiece.v1"},
            "upstream": "*",
        }
        parser = {**config["model"], "tok2vec": listener, "tag_head": tag_head}
        if not encoders:
            parser.update(lower_encoder=None, upper_encoder=None, pointing="biaffine")
        nlp.add_pipe("pointing_parser", config={"model": parser})
        return nlp

    return make


def train(nlp, examples, steps):
    """Train, and list the losses of the parser step by step."""
    fix_random_seed(0)
    optimizer = Adam(0.005)
    return [
        nlp.update(examples, sgd=optimizer, losses={})["pointing_parser"]
        for _ in range(steps)
    ]


def parse(nlp, lines, make_examples):
    docs = [example.predicted for example in make_examples(nlp, lines)]
    return [doc._.parse_string for doc in nlp.pipe(docs)]


@pytest.fixture
def learned(make_nlp, make_examples):
    """The pipeline, trained until it knows the trees by heart."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    losses = train(nlp, examples, 100)
    assert losses[-1] < losses[0] / 50
    return nlp


@pytest.mark.parametrize("tag_head", [True, False])
def test_transformer_without_encoders_is_enough(make_nlp, make_examples, tag_head):
    nlp = make_nlp(encoders=False, tag_head=tag_head)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    train(nlp, examples, 80)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["spans_constituents_f"] == 1.0
    tags = [token.tag_ for token in nlp(make_examples(nlp)[0].predicted)]
    assert tags == (["DT", "NN", "VBZ", "."] if tag_head else [""] * 4)


def test_transformer_learns_from_the_parser(make_nlp, make_examples):
    nlp = make_nlp()
    assert_transformer_learns(nlp, make_examples(nlp))


def test_transformer_pipeline_saves_all_it_knows(
    learned, make_nlp, make_examples, trees, tmp_path
):
    assert parse(learned, trees, make_examples) == trees
    copy = make_nlp().from_bytes(learned.to_bytes())
    assert parse(copy, trees, make_examples) == trees
    learned.to_disk(tmp_path / "model")
    assert parse(spacy.load(tmp_path / "model"), trees, make_examples) == trees


def test_transformer_moves_into_the_parser(learned, make_examples, trees, tmp_path):
    learned.replace_listeners("transformer", "pointing_parser", ["model.tok2vec"])
    learned.remove_pipe("transformer")
    assert parse(learned, trees, make_examples) == trees
    learned.to_disk(tmp_path / "alone")
    alone = spacy.load(tmp_path / "alone")
    assert alone.pipe_names == ["pointing_parser"]
    assert parse(alone, trees, make_examples) == trees


def test_transformer_one_by_one_is_all_at_once(learned, make_examples, trees):
    for size in (1, 3):
        docs = [example.predicted for example in make_examples(learned)]
        parsed = learned.pipe(docs, batch_size=size)
        assert [doc._.parse_string for doc in parsed] == trees


def test_transformer_nothing_to_parse(learned):
    docs = list(learned.pipe(["", "Yes", "\n", ""]))
    assert [doc._.parse_string for doc in docs] == ["", "(UH Yes)", "", ""]


@pytest.mark.parametrize("text", ["Run  Run", "Yes\nRun", " Yes", "\n\nYes \n"])
def test_transformer_takes_white_space(learned, make_examples, text):
    """Its tokens have no word-pieces."""
    learned.add_pipe("sentencizer", first=True)
    doc = learned(text)
    words = [token.text for token in doc if not token.is_space]
    assert [tree.leaves() for tree in doc._.parse_trees] == [words]
    reference = doc.copy()
    losses = learned.update([Example(learned.make_doc(text), reference)], losses={})
    assert losses["pointing_parser"] > 0


def test_transformer_takes_words_that_its_window_has_no_room_for(learned):
    learned.add_pipe("sentencizer", first=True)
    # 30 words of 10 letters, a piece each, for 128 positions.
    [tree] = learned(" ".join(["otterotter"] * 30))._.parse_trees
    assert len(tree.leaves()) == 30


def test_transformer_gives_each_word_its_last_piece_in_any_window(
    make_nlp, make_examples
):
    nlp = make_nlp(window=8, stride=6)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp("She sold the old boat with a red sail and the otter sleeps twice")
    pieces = doc._.trf_data
    states = pieces.model_output.last_hidden_state
    assert len(states) == 2  # words 0 to 8 and 6 to 14
    listener = nlp.get_pipe("pointing_parser").model.get_ref("tok2vec")
    [vectors] = listener.predict([doc])
    for token, vector in zip(doc, vectors, strict=True):
        window = min(token.i // 6, 1)
        letters = sum(len(doc[i]) for i in range(6 * window, token.i + 1))
        # The first piece of a window is [CLS].
        numpy.testing.assert_array_equal(vector, states[window, letters])


@pytest.fixture
def widths(monkeypatch):
    """The numbers of texts, and of their word-pieces, that a transformer reads at a
    time."""
    read, forward = [], transformer.forward_torch

    def spy(model, pieces, is_train):
        read.append(pieces.input_ids.shape)
        return forward(model, pieces, is_train)

    monkeypatch.setattr(transformer, "forward_torch", spy)
    return read


def test_sorted_transformer_reads_texts_of_like_length_together(
    make_nlp, make_examples, monkeypatch, widths
):
    monkeypatch.setattr(transformer, "MAX_PIECES", 12)
    nlp = make_nlp(in_order=False)
    nlp.initialize(lambda: make_examples(nlp))
    plain = nlp.get_pipe("transformer").model
    docs = [nlp.make_doc(text) for text in ("a b c d e f g h", "a", "b c", "d")]
    expected = plain.predict(docs)
    build = registry.architectures.get("spacy-pointparse.SortedTransformer.v1")
    found = build(plain.copy()).predict(docs)
    # Each text has [CLS] and [SEP] around it.
    assert widths == [(3, 4), (1, 10)]
    rows, columns = numpy.nonzero(found.wordpieces.attention_mask)
    numpy.testing.assert_allclose(
        found.model_output.last_hidden_state[rows, columns],
        expected.model_output.last_hidden_state[rows, columns],
        atol=1e-5,
    )


def test_sorted_transformer_learns_as_it_would_have(make_nlp, make_examples, widths):
    losses = []
    for in_order in (True, False):
        nlp = make_nlp(in_order=in_order)
        examples = make_examples(nlp)
        nlp.initialize(lambda nlp=nlp: make_examples(nlp))
        widths.clear()
        losses.append(train(nlp, examples, 3))
        assert len(widths) == 3 * in_order
    assert losses[0] == losses[1]


def test_sorted_transformer_leaves_padding_before_the_text_as_it_is(
    make_nlp, make_examples, monkeypatch, widths
):
    monkeypatch.setattr(transformer, "MAX_PIECES", 1)
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    nlp.get_pipe("transformer").model.tokenizer.padding_side = "left"
    widths.clear()
    nlp.get_pipe("transformer").predict([nlp.make_doc("a b c"), nlp.make_doc("a")])
    assert widths == [(2, 5)]


ONE_RATE = {"training.optimizer.learn_rate.initial_rate": 0.005}
CONFIGS = Path(__file__).parents[2] / "configs"
SMALL = {
    ("transformer",): {**ONE_RATE, f"{MODEL}.upper_encoder.width": 32},
    ("transformer", "paper", "paper_transformer"): {
        **ONE_RATE,
        f"{MODEL}.pointing_width": 32,
        f"{MODEL}.singleton_width": 32,
        f"{MODEL}.encoder.width": 32,
        f"{MODEL}.encoder.key_width": 16,
    },
}


def train_config(folder, names, overrides):
    files = [CONFIGS / f"{name}.cfg" for name in ("base", *names)]
    config = make_config(files, overrides)
    config.to_disk(folder / "config.cfg", interpolate=False)
    spacy_train(folder / "config.cfg", folder / "output")
    return spacy.load(folder / "output" / "model-last")


@pytest.mark.parametrize("names", SMALL)
def test_transformer_config_learns(bert, write, trees, make_examples, tmp_path, names):
    data = str(write(*trees))
    overrides = {
        "paths.train": data,
        "paths.dev": data,
        "paths.transformer": str(bert),
        f"{MODEL}.width": WIDTH,
        "training.max_steps": 100,
        "training.eval_frequency": 50,
        **SMALL[names],
    }
    nlp = train_config(tmp_path, names, overrides)
    assert nlp.pipe_names == ["sentencizer", "transformer", "pointing_parser"]
    assert nlp.meta["performance"]["spans_constituents_f"] > 0.9

    docs = [nlp.make_doc(""), *(eg.predicted for eg in make_examples(nlp))]
    parsed = [doc._.parse_string for doc in nlp.pipe(docs)]
    assert parsed == ["", *parse(nlp, trees, make_examples)]


def test_transformer_config_to_resume_goes_on(
    learned, write, trees, make_examples, tmp_path
):
    data = str(write(*trees))
    overrides = {
        "paths.train": data,
        "paths.dev": data,
        "paths.parser": str(tmp_path / "learned"),
        "training.max_steps": 2,
        "training.eval_frequency": 1,
    }
    learned.to_disk(tmp_path / "learned")
    nlp = train_config(tmp_path, ("transformer", "resume"), overrides)
    # Two steps cannot have taught it the trees: it knew them.
    assert nlp.meta["performance"]["spans_constituents_f"] == 1.0
    assert parse(nlp, trees, make_examples) == trees
    for name in ("transformer", "pointing_parser"):
        before, after = learned.get_pipe(name).model, nlp.get_pipe(name).model
        assert before.to_bytes() != after.to_bytes()


def test_transformer_weights_have_the_names_that_its_config_scales(learned):
    """Else its rate would be that of all, without a word."""
    scales = load_config(CONFIGS / "transformer.cfg")["training"]["optimizer"]["scales"]
    names = {
        pipe: [
            name
            for node in learned.get_pipe(pipe).model.walk()
            for shim in node.shims
            for name, _ in shim._model.named_parameters()
        ]
        for pipe in ("transformer", "pointing_parser")
    }
    for pipe, scaled in (("transformer", True), ("pointing_parser", False)):
        kept = [name for name in names[pipe] if not name.startswith("pooler.")]
        assert kept
        assert all(name.startswith(tuple(scales)) is scaled for name in kept)


def test_malicious_weights_of_a_transformer_do_not_run(
    make_nlp, make_examples, tmp_path
):
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.to_disk(tmp_path / "model")
    file = io.BytesIO()
    torch.save({"weight": Payload(tmp_path / "ran")}, file)
    path = tmp_path / "model" / "transformer" / "model"
    message = srsly.msgpack_loads(path.read_bytes())
    [i] = [i for i, shims in enumerate(message["shims"]) if shims]
    shim = srsly.msgpack_loads(message["shims"][i][0])
    message["shims"][i] = [srsly.msgpack_dumps({**shim, "state": file.getvalue()})]
    path.write_bytes(srsly.msgpack_dumps(message))
    with pytest.raises(pickle.UnpicklingError, match="weights_only"):
        spacy.load(tmp_path / "model")
    assert not (tmp_path / "ran").exists()
    file.seek(0)
    torch.load(file, weights_only=False)  # it would have done it
    assert (tmp_path / "ran").exists()
