"""Inputs that broke other parsers and tree tools, as their public issues tell: 50
cases, each by its kind rather than its string. Those that are not here are tested where
they belong."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy
import pytest
import spacy
from nltk import Tree
from properties import assert_is_parse, no_warnings
from samples import score_by_hand
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.util import is_package
from test_modules import PACKAGES, list_libraries

from spacy_pointparse.trees import flatten_tree, tree_to_string, unescape_word

ENGLISH = "en_pointparse_sm"
needs_english = pytest.mark.skipif(
    not is_package(ENGLISH), reason=f"{ENGLISH} is not installed: see the README"
)
WAYS = [
    pytest.param(
        way, marks=[needs_english] if way[0] == "english" else [], id="-".join(way)
    )
    for way in [
        ("english", "single"),
        ("english", "pipe"),
        ("english", "fork"),
        ("english", "spawn"),
        ("blank", "single"),
        ("blank", "pipe"),
        ("blank", "own tokens"),
    ]
]
every_way = pytest.mark.parametrize("way", WAYS)

# What comes in, by the number of the case: texts, and words that are one sentence.
HUGE = "contact" * 800
INPUTS: dict[int, list[str | tuple[str, ...]]] = {
    1: ["The Solano(r) range is free of it.", "The plan(s) of [1999](b) were f{1}."],
    2: ["Ada paid (twice).", "( ( ( ) ) )"],
    3: [("This", "is", "(not)", "parsable", "!"), ("(", "a)", "[b]", "-LRB-", ".")],
    4: ["This is a t(est)", "(713)853-7041"],
    5: ["They live in London ( Ontario ) ."],
    6: ["I am happy :) and sad :( today", ":-) :\\ ;) =["],
    8: ["Les\n chambres sont nettes \n et sous-repr\u00e9sent\u00e9es (52,9 %)."],
    9: ["It is time.  \n\n  It is late. \n", "word \u00a0 word\t\tword"],
    10: [("I", "am", "little", ".", " ", "What", "?"), ("\n", "We", " ", "left", "\t")],
    11: ["", " ", "\n", "\r\n \u3000"],
    12: ["Gloria", ("Floop",)],
    13: ["Gloria patriit Filio et Spiritui.", "Mail someone@example.org today."],
    14: ["In 1972\uff0c they fell\uff01", "In 1972, they fell!"],
    15: [
        "a soft\u00adhyphen",
        "a \u200b b",
        "\U0001f44b\U0001f3fd yes",
        "\ufe0f",
        "\u0301",
    ],
    16: [f"We left. {HUGE}. She sold the boat.", "We left. It. She sold the boat."],
    17: ["very " * 600 + "good ."],
    18: [" and ".join(["a dog"] * 400)],
    19: [
        "so then she said that we all had to go " * 4
        + "and nobody there knew quite why"
    ],
    20: ["\u6570\u5b57" * 200],
    21: ["The children found a small bird there yesterday. Yes. She sold the boat."],
    31: ["the the of was and ."],
}
ALL = [line for lines in INPUTS.values() for line in lines]

PROCESSES = """
import json
import multiprocessing
import sys
import warnings

import spacy
import torch
from spacy.tokens import Doc, DocBin

if __name__ == "__main__":
    method, model, lines, output = sys.argv[1:]
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    multiprocessing.set_start_method(method)
    nlp = spacy.load(model)
    docs = [
        line if isinstance(line, str)
        else Doc(nlp.vocab, words=line, sent_starts=[i == 0 for i in range(len(line))])
        for line in json.loads(lines)
    ]
    parsed = nlp.pipe(docs, n_process=2, batch_size=8)
    DocBin(docs=parsed).to_disk(output)
"""


def make_doc(nlp: Language, line: str | tuple[str, ...], **annotation: list) -> Doc:
    """A Doc of a text, or of words that are one sentence."""
    if isinstance(line, str):
        return nlp.make_doc(line)
    starts = [i == 0 for i in range(len(line))]
    return Doc(nlp.vocab, words=list(line), sent_starts=starts, **annotation)


def run_processes(method: str, model: str, folder: Path) -> list[Doc]:
    """Parse all inputs with two processes; the Docs come through a file."""
    script = folder / f"{method}.py"
    script.write_text(PROCESSES, encoding="utf8")
    output = folder / f"{method}.spacy"
    run = subprocess.run(
        [sys.executable, script, method, model, json.dumps(ALL), output],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return list(DocBin().from_disk(output).get_docs(spacy.blank("en").vocab))


@pytest.fixture(scope="module")
def load(splitting: Language) -> Callable[[str], Language]:
    @cache
    def load(name: str) -> Language:
        return spacy.load(ENGLISH) if name == "english" else splitting

    return load


@pytest.fixture(scope="module")
def parse(
    load: Callable, bare: Callable, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict]:
    """Parse all inputs in one of the ways, once."""

    @cache
    def parse(name: str, way: str) -> dict[str | tuple[str, ...], Doc]:
        nlp = load(name)
        docs = [make_doc(nlp, line) for line in ALL]
        with no_warnings():
            if way == "single":
                docs = [nlp(doc) for doc in docs]
            elif way == "pipe":
                docs = list(nlp.pipe(docs, batch_size=8))
            elif way == "own tokens":
                cut = [bare(nlp.get_pipe("sentencizer")(doc)) for doc in docs]
                docs = [nlp.get_pipe("pointing_parser")(doc) for doc in cut]
            else:
                docs = run_processes(way, ENGLISH, tmp_path_factory.mktemp(way))
        return dict(zip(ALL, docs, strict=True))

    return parse


@pytest.mark.parametrize("number", INPUTS)
@every_way
def test_cases_give_whole_trees_whichever_way_they_come(parse, way, number):
    docs, singles = parse(*way), parse(way[0], "single")
    for line in INPUTS[number]:
        doc = docs[line]
        if isinstance(line, str):
            assert doc.text == line
        else:
            assert tuple(token.text for token in doc) == line
        assert_is_parse(doc)
        # Trees of one phrase said 400 times score alike, but for rounding.
        assert number == 18 or doc._.parse_string == singles[line]._.parse_string


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
@every_way
def test_case_6_brackets_are_escaped_in_strings_alone(parse, way, number):
    for line in INPUTS[number]:
        doc = parse(*way)[line]
        strings = doc._.parse_string.split("\n")
        read = [Tree.fromstring(string) for string in strings]
        assert [tree_to_string(tree) for tree in read] == strings
        leaves = [leaf for tree in read for leaf in tree.leaves()]
        assert not set("()[]{}") & set("".join(leaves))
        # Of what came in escaped nobody knows it afterwards.
        words = [token.text.replace("-LRB-", "(") for token in doc]
        assert [unescape_word(leaf) for leaf in leaves] == words


@pytest.mark.parametrize("number", [1, 3, 4, 5, 8, 9, 10, 15])
@every_way
def test_cases_7_23_constituents_are_spans_of_the_text(parse, way, number):
    for line in INPUTS[number]:
        doc = parse(*way)[line]
        for sent in doc.sents:
            words = [token for token in sent if not token.is_space]
            found = list(sent._.constituents)
            assert all(isinstance(span, Span) for span in found)
            for span in found:
                assert doc.text[span.start_char : span.end_char] == span.text
            if words:
                assert found[0].start_char == words[0].idx
                assert found[0].end_char == words[-1].idx + len(words[-1])


@pytest.mark.parametrize("number", [8, 9, 10, 11])
@every_way
def test_cases_8_9_11_each_sentence_can_be_viewed(parse, way, number):
    for line in INPUTS[number]:
        doc = parse(*way)[line]
        strings = [sent._.parse_string for sent in doc.sents]
        assert "\n".join(filter(None, strings)) == doc._.parse_string
        assert [bool(sent._.labels) for sent in doc.sents if len(sent) > 2] == [
            bool(string) for sent, string in zip(doc.sents, strings) if len(sent) > 2
        ]
        if number == 11:
            assert list(doc.spans["constituents"]) == []


@every_way
def test_case_10_blank_token_is_in_no_tree_and_counted(parse, way):
    doc = parse(*way)[INPUTS[10][0]]
    [tree] = doc._.parse_trees
    assert tree.leaves() == ["I", "am", "little", ".", "What", "?"]
    ends = [(span.start, span.end) for span in doc[0:7]._.constituents]
    assert (0, 7) in ends and (4, 5) not in ends and (5, 6) in ends


@pytest.mark.parametrize("name", [way.values[0][0] for way in WAYS[:5:4]])
def test_case_12_unseen_tag_is_kept(load, name):
    parser = load(name).get_pipe("pointing_parser")
    doc = parser(make_doc(load(name), ("Gloria",), tags=["XYZ"]))
    assert "(XYZ Gloria)" in doc._.parse_string


@pytest.mark.parametrize("way", WAYS[:4])
def test_case_14_full_width_comma_is_a_comma(parse, way):
    wide, plain = (parse(*way)[line] for line in INPUTS[14])
    assert "\uff0c" in wide.text
    string = wide._.parse_string.replace("\uff0c", ",").replace("\uff01", "!")
    assert string == plain._.parse_string


@every_way
def test_case_16_huge_word_leaves_other_sentences_alone(parse, way):
    huge, short = (parse(*way)[line]._.parse_string for line in INPUTS[16])
    assert huge.split("\n")[-1] == short.split("\n")[-1]


@every_way
def test_case_19_many_words_are_one_tree(parse, way):
    [line] = INPUTS[19]
    [tree] = parse(*way)[line]._.parse_trees
    assert len(flatten_tree(tree)[0]) == 46


@every_way
def test_case_21_trees_come_in_the_order_of_their_sentences(parse, way):
    [line] = INPUTS[21]
    trees = parse(*way)[line]._.parse_trees
    assert [len(tree.leaves()) for tree in trees] == [9, 2, 5]
    assert [tree.leaves()[0] for tree in trees] == ["The", "Yes", "She"]


@every_way
def test_case_29_every_word_has_a_tag_without_a_tagger(parse, way):
    docs = parse(*way).values()
    assert all(token.tag_ for doc in docs for token in doc if not token.is_space)


def test_case_34_process_that_only_reads_docs_knows_the_extensions(
    parse, tmp_path, splitting
):
    [line] = INPUTS[21]
    doc = parse("blank", "single")[line]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "docs.spacy")
    code = (
        "import sys, spacy_pointparse\n"
        "spacy_pointparse.install_extensions()\n"
        "from spacy.tokens import DocBin\n"
        "from spacy.vocab import Vocab\n"
        "[doc] = DocBin().from_disk(sys.argv[1]).get_docs(Vocab())\n"
        "print(doc._.parse_string)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "docs.spacy"],
        capture_output=True,
        text=True,
    )
    assert run.stdout == f"{doc._.parse_string}\n", run.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_case_35_no_package_relies_on_a_tokenizer(package):
    others = {"transformers", "tokenizers", "sentencepiece", "spacy_transformers"}
    assert not list_libraries(package) & others


@needs_english
def test_case_36_trained_pipeline_is_a_package_that_needs_no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    nlp = spacy.load(ENGLISH)
    assert nlp.meta["version"] == version(ENGLISH)
    assert nlp("She sold the boat.")._.parse_string.startswith("(S (NP (PRP She))")


def test_case_37_parser_learns_from_trees_of_one_word(make_nlp, make_examples, train):
    lines = ["(TOP (PU \uff09))", "(UH Yes)", "(S (VP (VB Run)))", "(NP (NN tea))"]
    nlp = make_nlp()
    train(nlp, make_examples(nlp, lines))
    docs = nlp.pipe(example.predicted for example in make_examples(nlp, lines))
    expected = ["(PU \uff09)", *lines[1:]]
    assert [doc._.parse_string for doc in docs] == expected


def test_case_42_unseen_labels_are_scored(trained, make_examples):
    lines = ["(ZP*OC (QP (A Run)) (C off))", "(NP (NNS Plums) (. !))"]
    scores = trained.evaluate(make_examples(trained, lines))
    assert scores["spans_constituents_per_type"]["ZP*OC"] == {"p": 0, "r": 0, "f": 0}
    assert 0 <= scores["spans_constituents_f"] < 1


@pytest.mark.parametrize("preferred", [0, 1])
def test_case_50_both_readings_are_among_the_best(preferred):
    """Where the scores of two readings are close, the search finds both, the preferred
    one first."""
    words = ["We", "watched", "a", "man", "with", "a", "telescope"]
    targets = [6, 6, 6, 2, 6, 6, 0]  # "a man with a telescope" is a phrase
    general = numpy.full((7, 7), 0.01)
    general[numpy.arange(7), targets] = 0.94
    # "a" may as well point at "man", and "man" at "watched".
    weights = [0.5, 0.45] if preferred == 0 else [0.45, 0.5]
    general[2, [6, 3]] = general[3, [2, 1]] = weights
    nlp = score_by_hand(general, [0.5] * 7)
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * 6])
    [ranked] = nlp.get_pipe("pointing_parser").find_best(doc, 2)
    phrases = [
        {" ".join(node.leaves()) for node in tree.subtrees()} for _, tree in ranked
    ]
    readings = ["a man with a telescope", "watched a man"]
    assert readings[preferred] in phrases[0]
    assert readings[1 - preferred] in phrases[1]
    assert all("with a telescope" in found for found in phrases)
    assert nlp(doc)._.parse_trees == [ranked[0][1]]
