"""The parser on a transformer of spacy-curated-transformers."""

from pathlib import Path

import pytest
import spacy
from samples import assert_transformer_learns
from spacy.cli.train import train as spacy_train
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_pointparse.cli.config import make_config

curated = pytest.importorskip("spacy_curated_transformers.pipeline.transformer")

CONFIGS = Path(__file__).parents[2] / "configs"
SMALL = {
    "hidden_width": 16,
    "intermediate_width": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "max_position_embeddings": 128,
}
PARSER = "components.pointing_parser.model"


@pytest.fixture(autouse=True)
def any_numpy(monkeypatch):
    """spacy-curated-transformers 0.3.1 makes a float of an array of one number, which
    numpy 2.4 refuses. Without this, it cannot be trained there."""
    monkeypatch.setattr(curated, "float", lambda array: array.item(), raising=False)


def count_pieces(bert):
    return len((bert / "vocab.txt").read_text(encoding="utf8").splitlines())


@pytest.fixture
def make_nlp(bert, config):
    """Make a pipeline of a tiny random transformer and a parser that listens to it."""

    def make():
        fix_random_seed(0)
        nlp = spacy.blank("en")
        model = {
            **SMALL,
            "@architectures": "spacy-curated-transformers.BertTransformer.v1",
            "vocab_size": count_pieces(bert),
            "attention_probs_dropout_prob": 0.0,
            "hidden_dropout_prob": 0.0,
            "piece_encoder": {
                "@architectures": "spacy-curated-transformers.BertWordpieceEncoder.v1"
            },
            "with_spans": {
                "@architectures": "spacy-curated-transformers.WithStridedSpans.v1",
                "window": 64,
                "stride": 48,
            },
        }
        nlp.add_pipe("curated_transformer", "transformer", config={"model": model})
        listener = {
            "@architectures": (
                "spacy-curated-transformers.LastTransformerLayerListener.v1"
            ),
            "width": SMALL["hidden_width"],
            "pooling": {"@architectures": "spacy-pointparse.LastPiece.v1"},
        }
        parser = {**config["model"], "tok2vec": listener}
        nlp.add_pipe("pointing_parser", config={"model": parser})
        loader = {
            "@model_loaders": "spacy-curated-transformers.WordpieceLoader.v1",
            "path": str(bert / "vocab.txt"),
            "lowercase": True,
        }
        nlp.config["initialize"]["components"] = {
            "transformer": {"piecer_loader": loader}
        }
        return nlp

    return make


@pytest.fixture
def learned(make_nlp, make_examples):
    """The pipeline, trained until it knows the trees by heart."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.005)
    for _ in range(100):
        nlp.update(examples, sgd=optimizer)
    return nlp


def parse(nlp, trees, make_examples):
    docs = [example.predicted for example in make_examples(nlp, trees)]
    return [doc._.parse_string for doc in nlp.pipe(docs)]


def test_curated_transformer_learns_from_the_parser(make_nlp, make_examples):
    nlp = make_nlp()
    assert_transformer_learns(nlp, make_examples(nlp))


def test_curated_transformer_saves_and_moves_into_the_parser(
    learned, make_nlp, make_examples, trees, tmp_path
):
    assert parse(learned, trees, make_examples) == trees
    learned.to_disk(tmp_path / "whole")
    assert parse(spacy.load(tmp_path / "whole"), trees, make_examples) == trees

    learned.replace_listeners("transformer", "pointing_parser", ["model.tok2vec"])
    learned.remove_pipe("transformer")
    learned.to_disk(tmp_path / "alone")
    alone = spacy.load(tmp_path / "alone")
    assert alone.pipe_names == ["pointing_parser"]
    assert parse(alone, trees, make_examples) == trees


def test_curated_transformer_takes_nothing_and_white_space(learned):
    docs = learned.pipe(["", "Yes", "\n", ""])
    assert [doc._.parse_string for doc in docs] == ["", "(UH Yes)", "", ""]
    learned.add_pipe("sentencizer", first=True)
    for text in ("Run  Run", "Yes\nRun", "\n\nYes \n"):
        doc = learned(text)
        words = [token.text for token in doc if not token.is_space]
        assert [tree.leaves() for tree in doc._.parse_trees] == [words]
        losses = learned.update([Example(learned.make_doc(text), doc.copy())])
        assert losses["pointing_parser"] > 0


def test_curated_transformer_config_learns(bert, write, trees, tmp_path):
    data = str(write(*trees))
    overrides = {
        **{f"components.transformer.model.{key}": SMALL[key] for key in SMALL},
        "components.transformer.model.vocab_size": count_pieces(bert),
        "paths.train": data,
        "paths.dev": data,
        "paths.transformer": str(bert),
        f"{PARSER}.width": SMALL["hidden_width"],
        f"{PARSER}.upper_encoder.width": 32,
        "training.optimizer.learn_rate.initial_rate": 0.005,
        "training.max_steps": 100,
        "training.eval_frequency": 50,
    }
    names = ("base", "transformer", "curated_transformer")
    config = make_config([CONFIGS / f"{name}.cfg" for name in names], overrides)
    config.to_disk(tmp_path / "config.cfg", interpolate=False)
    spacy_train(tmp_path / "config.cfg", tmp_path / "output")
    nlp = spacy.load(tmp_path / "output" / "model-last")
    assert nlp.pipe_names == ["sentencizer", "transformer", "pointing_parser"]
    assert nlp.meta["performance"]["spans_constituents_f"] > 0.9
    [names] = [
        [name for name, _ in shim._model.named_parameters()]
        for node in nlp.get_pipe("transformer").model.walk()
        for shim in node.shims
    ]
    scaled = tuple(nlp.config["training"]["optimizer"]["scales"])
    assert all(name.startswith(scaled) for name in names)
