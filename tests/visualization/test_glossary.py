from pathlib import Path

import pytest
import spacy
from spacy.util import is_package

import spacy_pointparse
from spacy_pointparse.trees import flatten_tree, read_trees
from spacy_pointparse.visualization.glossary import GLOSSARY, explain

TOY = Path(__file__).parents[2] / "assets" / "toy"


def test_glossary_is_at_hand():
    assert spacy_pointparse.explain("NP") == "noun phrase"
    assert explain("WHNP") == "noun phrase with a wh-word, as in 'which road'"


def test_glossary_prefers_constituents_to_what_else_has_the_name():
    """To spaCy these are a conjunction and a Chinese tag."""
    for label in ("SBAR", "CS"):
        assert "clause" in explain(label)
        assert "clause" not in spacy.explain(label)


@pytest.mark.parametrize("term", ["VBZ", "nsubj", "-LRB-"])
def test_glossary_leaves_other_terms_to_spacy(term):
    assert explain(term) == spacy.explain(term) is not None


@pytest.mark.parametrize(
    "tag, meaning",
    [
        ("-LSB-", "left square bracket"),
        ("-RSB-", "right square bracket"),
        ("-LCB-", "left curly bracket"),
        ("-RCB-", "right curly bracket"),
        ("CODE", "markup"),
        ("SU", "slash unit"),
    ],
)
def test_glossary_explains_tags_that_spacy_does_not(tag, meaning):
    assert meaning in explain(tag)


def test_glossary_takes_labels_of_the_user(monkeypatch):
    monkeypatch.setitem(GLOSSARY, "IP-MAT", "main clause")
    monkeypatch.setitem(GLOSSARY, "VBZ", "a verb of mine")
    assert spacy_pointparse.explain("IP-MAT") == "main clause"
    assert explain("VBZ") == "a verb of mine"


def test_glossary_of_an_unknown_label():
    with pytest.warns(UserWarning, match="W118"):
        assert explain("no such label") is None


def test_glossary_explains_all_labels_of_the_toy_treebank():
    labels = {
        label for tree in read_trees(TOY) for _, _, label in flatten_tree(tree)[2]
    }
    assert len(labels) > 5
    assert labels <= GLOSSARY.keys()


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_glossary_explains_all_labels_of_the_shipped_pipeline():
    nlp = spacy.load("en_pointparse_sm")
    parser = nlp.get_pipe("pointing_parser")
    assert set(parser.labels) <= GLOSSARY.keys()
    assert all(map(explain, parser.label_data["tags"]))
