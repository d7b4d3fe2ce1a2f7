"""Constituents are found by pattern, label, length and words."""

import builtins
import time
from contextlib import suppress

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree
from samples import BOAT
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.vocab import Vocab

from spacy_pointparse.tokens import (
    PatternError,
    find_constituents,
    make_doc,
    set_constituents,
)
from spacy_pointparse.tokens.search import compile_pattern

RUN = "(S (VP (VB Run)))"


@pytest.fixture
def doc(read_doc):
    return read_doc(BOAT, RUN)


def texts(spans):
    return [span.text for span in spans]


def make_deep_doc(vocab, depth):
    """A tree like a comb: (S (DT a) (S (DT a) ... (NN end)))."""
    tree = Tree("NN", ["end"])
    for _ in range(depth):
        tree = Tree("S", [Tree("DT", ["a"]), tree])
    return make_doc([Tree("TOP", [tree])], vocab)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("NP < PP", ["the old boat with a red sail"]),
        ("NP < (NP $. PP)", ["the old boat with a red sail"]),
        ("NP << boat", ["the old boat with a red sail", "the old boat"]),
        ("NN < /^s/", ["sail"]),
        ('NN . "."', ["sail"]),
        ('S < "."', ["She sold the old boat with a red sail."]),
        ("VP|PP", ["sold the old boat with a red sail", "with a red sail", "Run"]),
        ("NP !< NP !>> PP !< PRP", ["the old boat"]),
        ('i@"pp"', ["with a red sail"]),
        ("@ THING NP; @THING > PP", ["a red sail"]),
        ("CONJP", []),
    ],
)
def test_pattern_finds_constituents(doc, pattern, found):
    assert texts(doc._.constituents_matching(pattern)) == found


def test_what_is_found_are_spans_with_offsets_and_labels(doc):
    [span] = doc._.constituents_matching("PP")
    assert (span.start_char, span.end_char, span.label_) == (22, 37, "PP")
    assert doc.text[22:37] == span.text
    assert span._.parse_string == "(PP (IN with) (NP (DT a) (JJ red) (NN sail)))"
    doc.spans["found"] = SpanGroup(doc, spans=[span])
    assert doc.spans["found"][0].label_ == "PP"


def test_each_range_is_found_once_in_pre_order(doc):
    found = doc._.constituents_matching("*")
    assert [(span.start, span.end) for span in found] == [
        (span.start, span.end) for sent in doc.sents for span in sent._.constituents
    ]
    assert found[-1].label_ == "S"  # of S over VP over VB
    assert [s.label_ for s in doc._.constituents_matching("VB|VP > S|VP")] == ["VP"] * 2


def test_words_are_not_taken_for_nodes_outside_of_all_phrases(doc):
    """To nltk a word has no parent: it would match, and its tag with it."""
    assert "the" not in texts(doc._.constituents_matching("__ !> NP"))


def test_equal_nodes_in_other_places_are_others(read_doc):
    """nltk compares nodes by content where it looks along the edges of a tree."""
    doc = read_doc("(S (NP (NNS Owls)) (VP (VBP see) (NP (NNS Owls))))")
    assert [s.start for s in doc._.constituents_matching("NP >>, S")] == [0]
    assert [s.start for s in doc._.constituents_matching("NP >>' S")] == [2]


def test_filters(doc):
    def find(**filters):
        return texts(doc._.constituents_matching(**filters))

    assert find(labels="PP") == ["with a red sail"]
    assert find(labels=["PRP", "VB"]) == ["She", "Run"]
    assert find(labels="NP", words="boat") == [
        "the old boat with a red sail",
        "the old boat",
    ]
    assert find(labels="NP", words=["boat", "sail"]) == ["the old boat with a red sail"]
    assert find(labels="NP", words="Boat") == []
    assert find(labels="NP", min_length=2, max_length=3) == [
        "the old boat",
        "a red sail",
    ]
    assert find(max_length=0) == []
    assert find(pattern="NP > PP", words="red", max_length=3) == ["a red sail"]
    assert find(pattern="NP > PP", words="red", max_length=2) == []


def test_filter_and_pattern_speak_of_the_same_node(doc):
    """S and VP are both over Run, but no S is in one."""
    assert doc._.constituents_matching("* > S", labels="S") == []
    assert texts(doc._.constituents_matching("* > S", labels="VP", words="Run")) == [
        "Run"
    ]


def test_of_a_constituent_its_own_tree_is_searched(doc):
    boat = doc[2:9]
    assert texts(boat._.constituents_matching("NP")) == [
        "the old boat with a red sail",
        "the old boat",
        "a red sail",
    ]
    assert texts(boat._.constituents_matching("NP !> __")) == [boat.text]
    assert boat._.constituents_matching("NP > VP") == []
    with pytest.raises(ValueError, match="not a constituent: 'sold the'"):
        doc[1:3]._.constituents_matching("NP")


def test_white_space_is_in_no_tree(vocab):
    words = [" ", "Old", " ", "\n", "owls", "hoot", "\n"]
    doc = Doc(vocab, words=words, tags=["_SP", "JJ", "_SP", "_SP", "NNS", "VBP", "_SP"])
    set_constituents(doc, [(1, 6, "S"), (1, 5, "NP")])
    found = doc._.constituents_matching("NP", min_length=2, max_length=2)
    assert [(span.start, span.end) for span in found] == [(1, 5)]
    assert [s.text for s in doc._.constituents_matching("*", max_length=1)] == [
        "Old",
        "owls",
        "hoot",
    ]
    blank = Doc(vocab, words=["\n"])
    set_constituents(blank, [])
    assert blank._.constituents_matching("*") == []
    assert blank[:]._.constituents_matching("*") == []


@pytest.mark.parametrize("word", ["(", ")", "[", '"', "'", "/", "\\", "*", "|", "a b"])
def test_brackets_quotes_and_signs_as_words(vocab, word):
    doc = Doc(vocab, words=["Owls", word, "hoot"], tags=["NNS", "SYM", "VBP"])
    set_constituents(doc, [(0, 3, "S"), (1, 2, "X")])
    quoted = word.replace("\\", "\\\\").replace('"', '\\"')
    [found] = doc._.constituents_matching(f'X << "{quoted}"')
    assert (found.start, found.end) == (1, 2)
    assert doc._.constituents_matching('X << "other"') == []
    assert [s.start for s in doc._.constituents_matching(words=word, labels="X")] == [1]


@pytest.mark.parametrize("label", ["-LRB-", "NP-SBJ", "(", '"', "''", "``", "$", "A B"])
def test_brackets_quotes_and_signs_as_labels(vocab, label):
    doc = Doc(vocab, words=["Owls", "hoot"], tags=["NNS", label])
    set_constituents(doc, [(0, 2, label)])
    quoted = label.replace('"', '\\"')
    found = doc._.constituents_matching(f'"{quoted}"')
    assert [(s.start, s.end, s.label_) for s in found] == [(0, 2, label), (1, 2, label)]
    assert texts(doc._.constituents_matching(labels=label)) == texts(found)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("NP <", "unexpected '<' at character 4"),
        ("S < NP VP", "unexpected 'VP' at character 8"),
        ("NP)", r"unexpected '\)' at character 3"),
        ("", "it is incomplete"),
        ("NP < /x", "a quote or a slash is not closed"),
        ('NP < "x', "a quote or a slash is not closed"),
        ("NP <<< PP", 'cannot interpret tgrep operator "<<<"'),
        ("/(/", r"regex/ node literal '\(': missing \) at position 1"),
        ("(" * 60, "nesting depth"),
        ("NP < @x", "macro x not defined"),
        ("NP < =n", "node_label =n not bound"),
        ("NP=n < PP", "does not support named nodes"),
    ],
)
def test_faulty_pattern_is_shown_with_its_place(doc, pattern, place):
    with pytest.raises(ValueError, match=place) as info:
        doc._.constituents_matching(pattern)
    assert str(info.value).startswith(f"The pattern {pattern!r} is faulty: ")
    assert "nltk.tgrep" in str(info.value)


@given(st.text("NP<>$.,!|&()[]/\"'@=:;*i% #\\1x", max_size=12))
def test_any_pattern_finds_or_says_what_is_wrong(pattern):
    doc = make_doc([Tree.fromstring(f"(TOP {BOAT})")], Vocab())
    ranges = {(span.start, span.end) for span in find_constituents(doc)}
    try:
        found = find_constituents(doc, pattern)
    except ValueError as error:
        assert repr(pattern) in str(error)
    else:
        assert {(span.start, span.end) for span in found} <= ranges


@pytest.mark.parametrize(
    "pattern",
    [
        "eval('1')",
        "NP < __import__('os')",
        "NP < \"exec('1')\"",
        "NP < /(?{eval(1)})/",
        "@ X /eval('1')/; @X",
        "NP < i@eval(1)",
        "N(1, 2)",
    ],
)
def test_pattern_runs_no_code(doc, pattern, monkeypatch):
    compile_pattern("NP")  # imports what it needs

    def refuse(*_, **__):
        pytest.fail("code was run")

    with monkeypatch.context() as patch, suppress(PatternError):
        for name in ("eval", "exec", "compile"):
            patch.setattr(builtins, name, refuse)
        doc._.constituents_matching(pattern)


def test_regular_expression_that_takes_too_long_is_stopped(vocab, monkeypatch):
    monkeypatch.setattr("nltk.redos.DEFAULT_TIMEOUT", 0.05)
    doc = make_doc([Tree("TOP", [Tree("NN", ["a" * 60 + "!"])])], vocab)
    with pytest.raises(ValueError, match=r"The pattern .* is faulty"):
        doc._.constituents_matching("NN < /^(a|a)*$/")


def test_doc_without_a_parse(vocab):
    with pytest.raises(ValueError, match="no constituency parse"):
        Doc(vocab, words=["Yes"])._.constituents_matching("NP")


def test_tree_of_any_depth_is_searched(vocab):
    doc = make_deep_doc(vocab, 3000)
    assert texts(doc._.constituents_matching("NN")) == ["end"]
    assert texts(doc._.constituents_matching("S < NN")) == ["a end"]
    assert texts(doc._.constituents_matching("DT $ NN")) == ["a"]
    assert len(doc._.constituents_matching("NN >> S")) == 1
    found = doc._.constituents_matching(labels="S", words=["end"], min_length=2999)
    assert [len(span) for span in found] == [3001, 3000, 2999]


def test_tree_too_deep_for_nltk_is_named(vocab):
    doc = make_deep_doc(vocab, 3000)
    with pytest.raises(ValueError, match=r"tree of 'a a .* too deep for the pattern"):
        doc._.constituents_matching("NN , DT")


def test_time_grows_with_the_length_and_no_faster(vocab):
    def measure(depth):
        doc = make_deep_doc(vocab, depth)
        times = []
        for _ in range(3):
            start = time.process_time()
            doc._.constituents_matching("S < NN", words=["a", "end"])
            times.append(time.process_time() - start)
        return min(times)

    # Eight times as long: 64 times as much time if it grew with the square.
    assert measure(4000) < 24 * measure(500)


def test_pattern_is_read_once(doc):
    assert compile_pattern("NP << sail") is compile_pattern("NP << sail")


def test_docs_from_disk_are_searched(doc, tmp_path):
    DocBin(docs=[doc]).to_disk(tmp_path / "docs.spacy")
    [copy] = (
        DocBin().from_disk(tmp_path / "docs.spacy").get_docs(spacy.blank("en").vocab)
    )
    assert texts(copy._.constituents_matching("NP < PP")) == [
        "the old boat with a red sail"
    ]
