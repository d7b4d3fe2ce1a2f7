"""The parser as one component among others, and with the tools of spaCy around it."""

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest
import spacy
from samples import run_page
from spacy.cli.init_config import fill_config, init_config
from spacy.cli.package import package
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.util import is_package

import spacy_pointparse

PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"
TEXT = "The otter sleeps. Run"
PARSES = ["(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)) (. .))", "(S (VP (VB Run)))"]


@Language.component("test_lines", assigns=["token.is_sent_start"])
def split_lines(doc: Doc) -> Doc:
    """Start a sentence after each full stop."""
    for token in doc:
        token.is_sent_start = token.i == 0 or doc[token.i - 1].text == "."
    return doc


@Language.component("test_nouns", requires=["doc._.parse_string"])
def find_nouns(doc: Doc) -> Doc:
    """Keep the noun phrases of the parse."""
    nouns = doc._.constituents_matching("NP")
    doc.spans["nouns"] = SpanGroup(doc, name="nouns", spans=nouns)
    return doc


@pytest.fixture
def chain(trained_path):
    """The tiny parser between two components of a user."""
    nlp = spacy.blank("en")
    nlp.add_pipe("test_lines")
    nlp.add_pipe("pointing_parser", source=spacy.load(trained_path))
    nlp.add_pipe("test_nouns")
    return nlp


# --- pipelines ---


def test_plugin_among_components_of_a_user(chain, tmp_path):
    chain.to_disk(tmp_path / "chain")
    for nlp in (chain, spacy.load(tmp_path / "chain")):
        for doc, number in nlp.pipe([(TEXT, 1), ("Yes", 2)], as_tuples=True):
            parses = PARSES if number == 1 else ["(UH Yes)"]
            nouns = ["The otter"] if number == 1 else []
            assert doc._.parse_string.splitlines() == parses
            assert [span.text for span in doc.spans["nouns"]] == nouns


def test_plugin_is_analyzed_with_what_needs_it(chain):
    assert not any(chain.analyze_pipes()["problems"].values())
    chain.remove_pipe("pointing_parser")
    problems = chain.analyze_pipes()["problems"]
    assert problems == {"test_lines": [], "test_nouns": ["doc._.parse_string"]}


def test_plugin_is_switched_off_and_on(chain, trained_path):
    with chain.select_pipes(disable=["pointing_parser", "test_nouns"]):
        assert chain.pipe_names == ["test_lines"]
        assert "constituents" not in chain(TEXT).spans
    assert chain(TEXT)._.parse_string.splitlines() == PARSES
    with chain.select_pipes(enable=["test_lines", "pointing_parser"]):
        doc = chain(TEXT)
        assert doc._.parse_string.splitlines() == PARSES
        assert "nouns" not in doc.spans

    disabled = spacy.load(trained_path, disable=["pointing_parser"])
    assert "constituents" not in disabled("Yes").spans
    disabled.enable_pipe("pointing_parser")
    assert disabled("Yes")._.parse_string == "(UH Yes)"
    assert spacy.load(trained_path, exclude=["pointing_parser"]).pipe_names == []


def test_plugin_leaves_the_english_pipeline_as_it_is(small_english, trained_path):
    nlp = spacy.load(small_english)

    def read(doc):
        words = [(t.tag_, t.pos_, t.lemma_, t.dep_, t.head.i) for t in doc]
        return words, [(ent.text, ent.label_) for ent in doc.ents]

    text = "Ada moved to Paris in May. She paid twice."
    before = read(nlp(text))
    assert before[1]
    nlp.add_pipe("pointing_parser", source=spacy.load(trained_path))
    doc = nlp(text)
    assert read(doc) == before
    assert [len(tree.leaves()) for tree in doc._.parse_trees] == [7, 4]


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_page_on_pipelines(small_english):
    run_page(PAGE)


# --- commands ---


def test_plugin_config_of_spacy_trains(read_doc, trees, tmp_path):
    pipeline = ["sentencizer", "pointing_parser"]
    init_config(lang="en", pipeline=pipeline, silent=True).to_disk(tmp_path / "own.cfg")
    fill_config(tmp_path / "filled.cfg", tmp_path / "own.cfg")
    fill_config(tmp_path / "again.cfg", tmp_path / "filled.cfg")
    filled = (tmp_path / "filled.cfg").read_bytes()
    assert (tmp_path / "again.cfg").read_bytes() == filled
    docs = DocBin(docs=[read_doc(tree) for tree in trees])
    docs.to_disk(tmp_path / "trees.spacy")
    data = str(tmp_path / "trees.spacy")
    overrides = {"paths.train": data, "paths.dev": data}
    overrides |= {"training.max_steps": 8, "training.eval_frequency": 4}
    spacy_train(tmp_path / "filled.cfg", tmp_path / "output", overrides=overrides)
    nlp = spacy.load(tmp_path / "output" / "model-last")
    assert nlp.pipe_names == pipeline
    assert nlp.meta["performance"]["spans_constituents_f"] > 0
    [tree] = nlp("The otter sleeps.")._.parse_trees
    assert len(tree.leaves()) == 4


def test_plugin_is_packaged(trained_path, tmp_path, monkeypatch):
    package(
        trained_path,
        tmp_path,
        name="otters",
        version="1.2.3",
        create_sdist=False,
        create_wheel=False,
        silent=True,
    )
    folder = tmp_path / "en_otters-1.2.3"
    # As its setup.py does; to run that may take a download.
    shutil.copy(folder / "meta.json", folder / "en_otters")
    monkeypatch.syspath_prepend(folder)
    module = importlib.import_module("en_otters")
    monkeypatch.delitem(sys.modules, "en_otters")
    assert module.__version__ == "1.2.3"
    assert module.load()("Yes")._.parse_string == "(UH Yes)"
    [requirement] = json.loads((folder / "meta.json").read_text())["requirements"]
    assert requirement.startswith(f"spacy-pointparse>={spacy_pointparse.__version__}")
