import pytest
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_pointparse.__main__ import app

BASE = """
[paths]
train = null
dev = null
parser = null

[system]
seed = 0

[nlp]
lang = "en"
pipeline = ["sentencizer", "pointing_parser"]

[components]

[components.sentencizer]
factory = "sentencizer"

[components.pointing_parser]
factory = "pointing_parser"
decoder = "greedy"

[components.pointing_parser.model]
@architectures = "spacy-pointparse.PointingParser.v1"
width = 16
lower_encoder = null

[components.pointing_parser.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
width = 16
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 1
subword_features = false
pretrained_vectors = null

[components.pointing_parser.model.upper_encoder]
@architectures = "spacy-pointparse.BiLSTM.v1"
input_width = 16
width = 16

[corpora]

[corpora.train]
@readers = "spacy-pointparse.Corpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy-pointparse.Corpus.v1"
path = ${paths.dev}

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${system.seed}
dropout = 0.3
max_steps = ${training.optimizer.learn_rate.total_steps}

[training.optimizer]
@optimizers = "Adam.v1"

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 10
total_steps = 100
initial_rate = 0.003
"""
PARSER = "[components]\n[components.pointing_parser]\n"
MODEL = f"{PARSER}[components.pointing_parser.model]\n"
EMBEDDINGS = """[components.pointing_parser.model.tok2vec]
@architectures = "spacy-pointparse.HashEmbed.v1"
width = 16
attrs = ["NORM"]
rows = [100]
"""
SOURCE = f"{PARSER}source = ${{paths.parser}}\n"
LEARN_RATE = "training.optimizer.learn_rate"


@pytest.fixture
def merge(tmp_path):
    """Merge the base with variants; words that are no config are arguments."""
    (tmp_path / "base.cfg").write_text(BASE)

    def merge(*words):
        arguments = [str(tmp_path / "base.cfg")]
        for number, word in enumerate(words):
            if word.startswith("["):
                path = tmp_path / f"variant{number}.cfg"
                path.write_text(word)
                word = str(path)
            arguments.append(word)
        output = tmp_path / "merged.cfg"
        result = CliRunner().invoke(app, ["config", *arguments, "-o", str(output)])
        assert not list(tmp_path.glob("*.unfinished"))
        if result.exit_code:
            assert not output.exists()
            return " ".join(result.stderr.split())
        return load_config(output)

    return merge


def test_base_alone_is_filled_in(merge):
    config = merge()
    assert config["nlp"]["tokenizer"] == {"@tokenizers": "spacy.Tokenizer.v1"}
    assert config["training"]["eval_frequency"] == 200
    assert config["training"]["seed"] == "${system.seed}"
    assert [*config][:3] == ["paths", "system", "nlp"]


def test_later_files_override_single_settings(merge):
    config = merge(
        "[training]\ndropout = 0.1\npatience = 5", "[training]\npatience = 7"
    )
    training = config["training"]
    assert (training["dropout"], training["patience"]) == (0.1, 7)
    assert training["max_steps"] == f"${{{LEARN_RATE}.total_steps}}"


def test_another_function_replaces_its_section(merge):
    model = merge(MODEL + EMBEDDINGS)["components"]["pointing_parser"]["model"]
    assert model["tok2vec"] == {
        "@architectures": "spacy-pointparse.HashEmbed.v1",
        "width": 16,
        "attrs": ["NORM"],
        "rows": [100],
        "min_count": 1,
    }
    assert model["upper_encoder"]["width"] == 16


def test_null_drops_a_section(merge):
    changes = f'{MODEL}pointing = "biaffine"\nupper_encoder = null'
    model = merge(changes)["components"]["pointing_parser"]["model"]
    assert model["upper_encoder"] is None


def test_component_with_a_source_replaces_the_earlier_one(merge, trained_path):
    config = merge(SOURCE, "--paths.parser", str(trained_path))
    assert config["components"] == {
        "sentencizer": {**config["components"]["sentencizer"]},
        "pointing_parser": {"source": "${paths.parser}"},
    }


def test_component_outside_the_pipeline_is_left_out(merge):
    config = merge('[nlp]\npipeline = ["pointing_parser"]')
    assert [*config["components"]] == ["pointing_parser"]


def test_variant_is_found_beside_the_base_by_its_name(merge, tmp_path):
    (tmp_path / "small.cfg").write_text("[training]\ndropout = 0.2")
    assert merge("small")["training"]["dropout"] == 0.2


@pytest.mark.parametrize("words", [["{}", "7"], ["{}=7"]])
def test_override_of_a_variable_sets_what_it_refers_to(merge, words):
    config = merge(*(word.format("--training.max_steps") for word in words))
    assert config["training"]["max_steps"] == f"${{{LEARN_RATE}.total_steps}}"
    assert config.interpolate()["training"]["max_steps"] == 7
    schedule = config["training"]["optimizer"]["learn_rate"]
    assert schedule["total_steps"] == 7


def test_override_of_a_variable_and_of_what_it_refers_to(merge):
    words = ["--training.max_steps", "7", f"--{LEARN_RATE}.total_steps", "9"]
    training = merge(*words)["training"]
    assert training["max_steps"] == 7
    assert training["optimizer"]["learn_rate"]["total_steps"] == 9


def test_language_brings_its_tokenizer(merge):
    config = merge("--nlp.lang", "zh", "--paths.train", "zh train")
    assert config["nlp"]["tokenizer"]["@tokenizers"] == "spacy.zh.ChineseTokenizer"
    assert config["paths"]["train"] == "zh train"


@pytest.mark.parametrize(
    "words, message",
    [
        (["[training]\ndropuot = 1"], "variant0.cfg: [training] dropuot: no such"),
        (["[training]\ndropout = 'x'"], "variant0.cfg: [training] dropout: Input"),
        (["[nlp]\nbatchsize = 1"], "variant0.cfg: [nlp] batchsize: no such setting"),
        (
            [f"{MODEL}width = 16", f"{MODEL}heads = 3"],
            "variant1.cfg: [components.pointing_parser.model] heads: unexpected",
        ),
        (
            ["[corpora]\n[corpora.dev]\ngold_tags = 3"],
            "variant0.cfg: [corpora.dev] gold_tags: at root: 3 is not <class 'bool'>",
        ),
        (
            ["[training]\n[training.optimizer]\nbeta3 = 0.9"],
            "variant0.cfg: [training.optimizer] beta3: unexpected argument",
        ),
        (["[a.b]\nc = 1"], "variant0.cfg: Error parsing config section"),
        (["[training]\ndropout"], "variant0.cfg: Config validation error"),
        (["[nlp]\n[nlp]"], "variant0.cfg: While reading from"),
        (["[training]\nseed = ${system.sed}"], "sed"),
        ([SOURCE], "[components.pointing_parser] source: ${paths.parser} is not set."),
        (
            [SOURCE, f"{PARSER}beam_size = 3", "--paths.parser", "trained"],
            "put the file with the source last",
        ),
        ([f"{MODEL}width = 7"], "variant0.cfg: The upper_encoder takes"),
        (["--training.dropuot", "1"], "command line: [training] dropuot: no such"),
        (["--trainig.dropout", "1"], "command line: [trainig] dropout: not a section"),
        (["--dropout", "1"], "No such option: --dropout"),
        (["--training.dropout"], "--training.dropout needs a value"),
        (["nothing"], "nothing.cfg"),
    ],
)
def test_error_names_the_file_and_the_setting(merge, words, message):
    assert message in merge(*words)


def test_settings_without_a_base(tmp_path):
    arguments = [
        "config",
        "--training.dropout",
        "1",
        "-o",
        str(tmp_path / "merged.cfg"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Name the base config first." in result.stderr
