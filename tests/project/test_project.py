import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.tokens import DocBin
from weasel.cli.run import project_run

from spacy_pointparse.trees import read_trees

ROOT = Path(__file__).parents[2]
TOY = ROOT / "assets" / "toy"
STEPS = {"vars.max_steps": 3, "vars.eval_frequency": 3}
COUNTS = {"train": 209, "dev": 22, "test": 22}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which a parser was trained for three steps."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(ROOT / "configs", folder / "configs")
    shutil.copytree(TOY, folder / "assets" / "toy")
    for command in ("convert", "train", "evaluate"):
        run(folder, command)
    return folder


def run(folder, command, **settings):
    """Run a command of the project as `spacy project run` does."""
    project_run(folder, command, overrides={**STEPS, **settings})


def read_docs(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


@pytest.mark.parametrize("split, count", COUNTS.items())
def test_toy_treebank_is_whole(split, count):
    assert len(list(read_trees(TOY / f"{split}.mrg", on_error="raise"))) == count


def test_toy_treebank_has_no_sentence_twice():
    sentences = [
        " ".join(tree.leaves())
        for split in COUNTS
        for tree in read_trees(TOY / f"{split}.mrg")
    ]
    assert len(set(sentences)) == len(sentences) == 253


@pytest.mark.parametrize("split, count", COUNTS.items())
def test_project_converts_every_tree(project, split, count):
    docs = read_docs(project / "corpus" / f"{split}.spacy")
    assert len(docs) == count
    trees = list(read_trees(TOY / f"{split}.mrg"))
    assert [len(doc) for doc in docs] == [len(tree.leaves()) for tree in trees]
    labels = [doc._.parse_trees[0].label() for doc in docs]
    assert labels.count("S") > count / 2


def test_project_trains_with_its_settings(project):
    nlp = spacy.load(project / "training" / "model-best")
    assert nlp.pipe_names == ["sentencizer", "pointing_parser"]
    training = nlp.config.interpolate()["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (3, 3)
    assert nlp.config["paths"]["train"] == "corpus/train.spacy"
    doc = nlp("The dog sleeps. A cat sat on the chair.")
    assert [len(tree.leaves()) for tree in doc._.parse_trees] == [4, 7]


def read_scores(project):
    return json.loads((project / "metrics" / "test.json").read_text())


def test_project_evaluates_on_the_test_trees(project):
    scores = read_scores(project)
    assert scores.keys() >= {
        "spans_constituents_f",
        "spans_constituents_p",
        "spans_constituents_r",
        "spans_constituents_per_type",
        "constituents_complete",
        "constituents_crossing",
        "constituents_rejected",
        "constituents_tag_acc",
        "sents_f",
        "speed",
    }
    assert scores["sents_f"] == 1.0
    # In three steps it cannot have learned the tags.
    assert scores["constituents_tag_acc"] < 0.9
    assert scores["spans_constituents_f"] < 0.9


def test_project_evaluates_with_gold_tags_where_asked(project):
    before = read_scores(project)
    run(project, "evaluate", **{"vars.tags": "gold-tags"})
    scores = read_scores(project)
    assert before["constituents_tag_acc"] < scores["constituents_tag_acc"] == 1.0
    # With the right tags, EVALB finds the same words in both trees.
    assert scores["constituents_rejected"] == 0


def test_project_makes_no_other_files(project):
    folders = {path.name for path in project.iterdir()}
    assert folders == {
        "project.yml",
        "project.lock",
        "configs",
        "assets",
        "corpus",
        "training",
        "metrics",
        "packages",
    }
    assert list((project / "packages").iterdir()) == []
    assert sorted(path.name for path in (project / "corpus").iterdir()) == [
        "dev.spacy",
        "test.spacy",
        "train.spacy",
    ]
    assert sorted(path.name for path in (project / "training").iterdir()) == [
        "config.cfg",
        "model-best",
        "model-last",
    ]


def test_project_hands_options_on(tmp_path):
    """As docs/training.md tells to write them, with a blank in front."""
    shutil.copy(ROOT / "project.yml", tmp_path)
    shutil.copytree(TOY, tmp_path / "assets" / "toy")
    command = [sys.executable, "-m", "spacy", "project", "run", "convert", tmp_path]
    options = ["--vars.convert_options", " --limit 5 --relabel NP=PHRASE"]
    subprocess.run([*command, *options], check=True)
    for split in COUNTS:
        docs = read_docs(tmp_path / "corpus" / f"{split}.spacy")
        labels = {span.label_ for doc in docs for span in doc.spans["constituents"]}
        assert len(docs) == 5
        assert "PHRASE" in labels and "NP" not in labels


def test_vectors_are_those_of_whole_words(tmp_path):
    """Three of its eight pieces are words, in a plane: two dimensions hold them all."""
    save_file = pytest.importorskip("safetensors.numpy").save_file
    pieces = ["[PAD]", "[CLS]", "##ing", "owl", "an", "\u732b", "[unused1]", "wing"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf8")
    embeddings = numpy.random.default_rng(0).normal(size=(8, 6)).astype("f")
    save_file(
        {"embeddings.word_embeddings.weight": embeddings},
        tmp_path / "model.safetensors",
    )
    script = ROOT / "assets" / "minilm_vectors.py"
    output = tmp_path / "vectors.txt"
    subprocess.run([sys.executable, script, tmp_path, "2", output], check=True)
    header, *lines = output.read_text(encoding="utf8").splitlines()
    assert header == "3 2"
    assert [line.split()[0] for line in lines] == ["owl", "an", "wing"]
    vectors = numpy.array([line.split()[1:] for line in lines], dtype="f")
    assert vectors.std() == pytest.approx(1, abs=1e-3)
    ratios = [
        numpy.linalg.norm(vectors[a] - vectors[b])
        / numpy.linalg.norm(embeddings[[3, 4, 7]][a] - embeddings[[3, 4, 7]][b])
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-3)
