from itertools import islice
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.cli.debug_config import debug_config
from spacy.cli.debug_data import debug_data
from spacy.cli.init_config import fill_config
from spacy.cli.train import train as spacy_train
from spacy.util import load_config, load_model_from_config, registry

from spacy_pointparse.cli.config import make_config
from spacy_pointparse.pipeline.pointing_parser import DEFAULT_MODEL
from spacy_pointparse.training.callbacks import create_weight_rounder

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"
TOY = ROOT / "assets" / "toy"
# What the base is merged with, by the name of the whole.
WHOLE = {
    "base": [],
    "gpu": ["gpu"],
    "large": ["large"],
    "gold_tags": ["gold_tags"],
    "vectors": ["vectors"],
}
PAPER = {
    "paper": ["paper"],
    "paper_lstm": ["paper", "paper_lstm"],
    "paper_transformer": ["transformer", "paper", "paper_transformer"],
}
TRANSFORMERS = {  # trained in tests of their own
    "transformer": ["transformer"],
    "curated_transformer": ["transformer", "curated_transformer"],
}
SOURCED = {"senter": ["senter"], "resume": ["resume"]}
MERGED = {**WHOLE, **PAPER, **TRANSFORMERS, **SOURCED}
MODEL = "components.pointing_parser.model"
ENCODERS = {
    "paper": {
        "@architectures": "spacy-pointparse.SelfAttention.v1",
        "depth": 8,
        "heads": 8,
        "key_width": 64,
        "feedforward_width": 2048,
    },
    "paper_lstm": {"@architectures": "spacy-pointparse.BiLSTM.v1"},
}
ENCODERS["paper_transformer"] = {**ENCODERS["paper"], "depth": 2}
# The paper's model, as small as a test needs it.
SMALL = {
    f"{MODEL}.width": 32,
    f"{MODEL}.pointing_width": 32,
    f"{MODEL}.singleton_width": 32,
    f"{MODEL}.encoder.width": 32,
    f"{MODEL}.encoder.depth": 1,
    "training.optimizer.learn_rate.initial_rate": 0.01,
    "training.optimizer.learn_rate.warmup_steps": 2,
}


def read_config(name, interpolate=False, **overrides):
    paths = [CONFIGS / f"{each}.cfg" for each in ["base", *MERGED[name]]]
    config = make_config(paths, overrides)
    return config.interpolate() if interpolate else config


@pytest.fixture
def run_train(write, trees, tmp_path):
    """Train with a config, for two steps as a rule."""

    def run_train(name, paths=None, steps=2, **overrides):
        data = str(write(*trees))
        output = tmp_path / "output"
        overrides = {
            "paths.train": data,
            "paths.dev": data,
            **{f"paths.{name}": str(path) for name, path in (paths or {}).items()},
            "training.max_steps": steps,
            "training.eval_frequency": steps // 2,
            **overrides,
        }
        config = read_config(name, **overrides)
        config.to_disk(tmp_path / "config.cfg", interpolate=False)
        spacy_train(tmp_path / "config.cfg", output)
        return spacy.load(output / "model-last")

    return run_train


def test_configs_are_all_tested():
    names = {name for names in MERGED.values() for name in ["base", *names]}
    assert names == {path.stem for path in CONFIGS.glob("*.cfg")}


@pytest.fixture
def sources(trained_path):
    return {name: {"paths.parser": str(trained_path)} for name in SOURCED}


DATA = {f"paths.{split}": str(TOY / f"{split}.mrg") for split in ("train", "dev")}


@pytest.mark.parametrize("name", MERGED)
def test_merged_config_fits_the_commands_of_spacy(name, sources, tmp_path, capsys):
    if "transformer" in MERGED[name]:
        pytest.importorskip("spacy_transformers")
    if name == "curated_transformer":
        pytest.importorskip("spacy_curated_transformers")
    path = tmp_path / "config.cfg"
    read_config(name, **DATA, **sources.get(name, {})).to_disk(path, interpolate=False)
    fill_config(tmp_path / "filled.cfg", path)
    filled, config = (
        load_config(each, interpolate=False) for each in (tmp_path / "filled.cfg", path)
    )
    assert filled == config
    debug_config(path)
    assert "Config is valid" in capsys.readouterr().out


def test_base_fits_the_commands_of_spacy_as_it_is(tmp_path, capsys):
    path = CONFIGS / "base.cfg"
    fill_config(tmp_path / "filled.cfg", path)
    assert load_config(tmp_path / "filled.cfg") == load_config(path)
    debug_config(path, overrides=DATA)
    assert "Config is valid" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["base", "senter"])
def test_debug_data_reads_the_trees(name, sources, write, trees, tmp_path, capsys):
    data = str(write(*trees * 50))  # it wants a hundred documents
    settings = {"paths.train": data, "paths.dev": data, **sources.get(name, {})}
    settings["corpora.train.sentences_per_doc"] = 1
    path = tmp_path / "config.cfg"
    read_config(name, **settings).to_disk(path, interpolate=False)
    debug_data(path, silent=False)
    assert f"{50 * len(trees)} training docs" in capsys.readouterr().out


def test_saved_pipeline_goes_on_without_an_optimizer(run_train, make_examples):
    nlp = run_train("base", steps=2)
    assert nlp.config.interpolate()["training"]["max_steps"] == 2
    assert nlp.create_optimizer() is not nlp.resume_training()
    examples = make_examples(nlp)
    assert nlp.update(examples)["pointing_parser"] > 0
    nlp.initialize(lambda: examples)


@pytest.mark.parametrize("name", ["base", "paper"])
def test_config_takes_the_tokenizer_of_the_language(name):
    nlp = load_model_from_config(read_config(name, **{"nlp.lang": "zh"}))
    chinese = spacy.blank("zh")
    assert type(nlp.tokenizer) is type(chinese.tokenizer)
    text = "我喜欢小猫。"
    assert [token.text for token in nlp.make_doc(text)] == list(text)


@pytest.mark.parametrize("name", WHOLE)
def test_config_builds_a_pipeline(name):
    nlp = load_model_from_config(read_config(name))
    assert nlp.pipe_names == ["sentencizer", "pointing_parser"]
    parser = nlp.get_pipe("pointing_parser")
    encoder = parser.model.get_ref("encoder")
    # Given tags it has no tag head.
    assert len(encoder.layers) == (2 if name == "gold_tags" else 3)
    assert (parser.max_length, parser.overwrite_tags) == (1000, False)


def test_base_config_holds_the_defaults():
    parser = read_config("base")["components"]["pointing_parser"]
    assert parser["model"] == DEFAULT_MODEL


def test_config_of_the_gpu_differs_in_batches_only():
    base, gpu = read_config("base"), read_config("gpu")
    assert gpu["system"].pop("gpu_allocator") == "pytorch"
    assert base["system"].pop("gpu_allocator") is None
    for config in (base, gpu):
        del config["nlp"]["batch_size"]
        del config["training"]["batcher"]["size"]
    assert base == gpu


def test_config_of_vectors_differs_in_its_embeddings_and_learns_two_trees():
    base, vectors = (
        read_config(name)["components"]["pointing_parser"]["model"]
        for name in ("base", "vectors")
    )
    assert vectors.pop("tok2vec")["*"]["hashed"] == base.pop("tok2vec")
    assert (vectors.pop("left_width"), base.pop("left_width")) == (250, 0)
    assert vectors == base


def test_parser_takes_its_vectors_into_a_pipeline_without(
    run_train, trees, make_examples, tmp_path
):
    source = spacy.blank("en")
    words = sorted({token.text for eg in make_examples(source) for token in eg.x})
    for number, word in enumerate(words[::2]):
        source.vocab.set_vector(word, numpy.eye(4, dtype="f")[number % 4])
    source.to_disk(tmp_path / "vectors")
    trained = run_train("vectors", {"vectors": tmp_path / "vectors"})
    assert not trained.vocab.vectors.n_keys

    other = spacy.blank("en")
    other.add_pipe("pointing_parser", source=trained)
    other.to_disk(tmp_path / "other")
    reloaded = spacy.load(tmp_path / "other")
    expected, found = (embed(nlp, make_examples(nlp)) for nlp in (trained, reloaded))
    numpy.testing.assert_array_equal(found, expected)
    [layer] = [
        node
        for node in reloaded.get_pipe("pointing_parser").model.walk()
        if node.name == "static_vectors"
    ]
    assert sorted(layer.attrs["keys"]) == sorted(
        source.vocab.strings[word] for word in words[::2]
    )


def embed(nlp, examples):
    tok2vec = nlp.get_pipe("pointing_parser").model.get_ref("tok2vec")
    return numpy.vstack(tok2vec.predict([example.predicted for example in examples]))


@pytest.mark.parametrize("name", ["paper", "paper_lstm"])
def test_config_of_the_paper_learns(run_train, name):
    nlp = run_train(name, steps=60, **SMALL)
    assert nlp.meta["performance"]["spans_constituents_f"] > 0.9


@pytest.mark.parametrize("name", PAPER)
def test_config_of_the_paper_follows_it(name):
    config = read_config(name, interpolate=True)
    parser = config["components"]["pointing_parser"]
    assert (parser["decode_from"], parser["decoder"]) == ("probabilities", "greedy")
    model = parser["model"]
    widths = [model[f"{head}_width"] for head in ("pointing", "singleton", "label")]
    assert widths == [1024, 1024, 250]
    assert model["pointing"] == "query_key"
    assert model["@architectures"] == "spacy-pointparse.PaperParser.v1"
    encoder = dict(model["encoder"])
    assert encoder == {**encoder, **ENCODERS[name]}
    embeddings = model["tok2vec"]["*"]
    # Apart, so that nothing is dropped as a whole.
    assert embeddings["words"]["attrs"] == ["NORM"]
    assert embeddings["tags"]["attrs"] == ["TAG"]
    if name != "paper_transformer":
        assert embeddings["subwords"]["character_width"] == 64
    assert {
        embedding.get("width", model["width"]) for embedding in embeddings.values()
    } == {model["width"]}
    training = config["training"]
    adam = training["optimizer"]
    assert [adam[key] for key in ("beta1", "beta2", "eps")] == [0.9, 0.98, 1e-9]
    chosen_by = {key for key, weight in training["score_weights"].items() if weight}
    assert chosen_by == {"spans_constituents_f"}
    assert all(config["corpora"][split]["gold_tags"] for split in ("train", "dev"))
    transformer = name == "paper_transformer"
    assert training["batcher"]["size"] == (16 if transformer else 100)
    schedule = registry.resolve({"rate": training["optimizer"]["learn_rate"]})["rate"]
    rates = list(islice(schedule, 20001))
    base = 0.00005 if transformer else 0.0008
    expected = [0, base / 2, base, base]
    assert [rates[step] for step in (0, 50, 100, 20000)] == pytest.approx(
        expected, rel=1e-3
    )


def test_config_of_gold_tags_reads_them():
    config = read_config("gold_tags")
    assert [config["corpora"][name]["gold_tags"] for name in ("train", "dev")] == [
        True,
        True,
    ]
    model = config["components"]["pointing_parser"]["model"]
    assert model["tag_head"] is False
    assert model["tok2vec"]["*"]["tags"]["attrs"] == ["TAG"]


def test_config_of_the_senter_rounds_the_parser_and_does_no_more(
    trained, trained_path, run_train, trees, make_examples
):
    nlp = run_train("senter", {"parser": trained_path})
    assert nlp.pipe_names == ["senter", "pointing_parser"]
    round_weights = create_weight_rounder()
    before = round_weights(trained).get_pipe("pointing_parser").model.to_bytes()
    assert nlp.get_pipe("pointing_parser").model.to_bytes() == before
    docs = [example.predicted for example in make_examples(nlp)]
    assert [doc._.parse_string for doc in nlp.pipe(docs)] == trees

    text = "The otter sleeps. Run Yes"
    assert not trained.make_doc(text).has_annotation("SENT_START")
    doc = nlp(text)
    assert [token.is_sent_start for token in doc].count(None) == 0
    assert doc[0].is_sent_start is True
    scores = nlp.meta["performance"]
    assert {"sents_f", "spans_constituents_f"} <= scores.keys()


def test_config_to_resume_goes_on_from_the_parser(
    trained, trained_path, run_train, trees, make_examples
):
    nlp = run_train("resume", {"parser": trained_path})
    assert nlp.pipe_names == ["sentencizer", "pointing_parser"]
    parser = nlp.get_pipe("pointing_parser")
    before = trained.get_pipe("pointing_parser")
    assert parser.label_data == before.label_data
    assert parser.model.to_bytes() != before.model.to_bytes()
    # Two steps cannot have taught it the trees: it knew them.
    assert nlp.meta["performance"]["spans_constituents_f"] == 1.0
    docs = [example.predicted for example in make_examples(nlp)]
    assert [doc._.parse_string for doc in nlp.pipe(docs)] == trees
