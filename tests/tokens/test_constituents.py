import pickle
import subprocess
import sys
from itertools import pairwise

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.tokens.underscore import Underscore

from spacy_pointparse import NonConstituentException, install_extensions
from spacy_pointparse.tokens import SPANS_KEY, get_constituents, set_constituents
from spacy_pointparse.trees import escape_word

# White space at the start, inside and at the end of a sentence, and as a sentence of
# its own; brackets and a space inside words; unary chains; a root of several heads.
WORDS = ["\n", "(Old)", "New York", "plums", "\t", "rot", "[!]", "\n\n", "Run"]
WORDS += ["\n", "Plums", "!"]
SPACES = [word in ("(Old)", "New York", "rot") for word in WORDS]
TAGS = ["_SP", "JJ", "NNP", "NNS", "_SP", "VBP", ".", "_SP", "VB", "_SP", "NNS", ""]
STARTS = [0, 8, 9, 10]
BRACKETS = [
    (1, 7, "S"),
    (1, 4, "NP"),
    (5, 6, "VP"),
    (8, 9, "S"),
    (8, 9, "VP"),
    (10, 12, "TOP"),
    (10, 11, "NP"),
    (10, 11, "NP"),
]
PLUMS = r"(NP (JJ -LRB-Old-RRB-) (NNP New\u0020York) (NNS plums))"
SENTENCES = [
    f"(S {PLUMS} (VP (VBP rot)) (. -LSB-!-RSB-))",
    "(S (VP (VB Run)))",
    "",
    "(TOP (NP (NP (NNS Plums))) (UNK !))",
]


@pytest.fixture
def doc(vocab):
    starts = [i in STARTS for i in range(len(WORDS))]
    doc = Doc(vocab, words=WORDS, spaces=SPACES, tags=TAGS, sent_starts=starts)
    set_constituents(doc, BRACKETS)
    return doc


def ranges(spans):
    return [(span.start, span.end) for span in spans]


def list_labels(spans):
    return [span.label_ for span in spans]


def brackets(doc):
    return [(span.start, span.end, span.label_) for span in doc.spans[SPANS_KEY]]


# --- the store ---


def test_constituents_group_order(vocab):
    doc = Doc(vocab, words=["a", "b", "c"])
    set_constituents(
        doc, [(2, 3, "X"), (0, 1, "Y"), (0, 3, "S"), (2, 3, "Z"), (0, 2, "NP")]
    )
    assert brackets(doc) == [
        (0, 3, "S"),
        (0, 2, "NP"),
        (0, 1, "Y"),
        (2, 3, "X"),
        (2, 3, "Z"),
    ]
    assert brackets(doc) == [(s.start, s.end, s.label_) for s in get_constituents(doc)]


def test_constituents_set_replaces_what_was_there(doc):
    set_constituents(doc, [(5, 6, "ADVP")])
    assert brackets(doc) == [(5, 6, "ADVP")]
    set_constituents(doc, [])
    assert brackets(doc) == []
    assert doc[5]._.labels == ()


# --- getters on the Doc ---


def test_constituents_doc_string_has_a_line_for_each_sentence_with_words(doc):
    assert doc._.parse_string.split("\n") == [line for line in SENTENCES if line]


def test_constituents_doc_trees(doc):
    trees = doc._.parse_trees
    assert [tree.label() for tree in trees] == ["S", "S", "TOP"]
    assert trees[0].leaves() == ["(Old)", "New York", "plums", "rot", "[!]"]
    assert trees[1] == nltk.Tree("S", [nltk.Tree("VP", [nltk.Tree("VB", ["Run"])])])


def test_constituents_empty_doc(vocab):
    doc = Doc(vocab)
    set_constituents(doc, [])
    assert doc._.parse_string == ""
    assert doc._.parse_trees == []


def test_constituents_doc_of_white_space_only(vocab):
    doc = Doc(vocab, words=[" ", "\n\n"], sent_starts=[True, True])
    set_constituents(doc, [])
    assert doc._.parse_string == ""
    assert doc._.parse_trees == []


def test_constituents_doc_without_sentences_is_one_sentence(vocab):
    doc = Doc(vocab, words=["a", "b", "\n"], tags=["X", "Y", ""])
    set_constituents(doc, [(0, 2, "NP")])
    assert doc._.parse_string == "(NP (X a) (Y b))"
    assert doc[0]._.parent.text == "a b"


def test_constituents_partial_sentences_are_read_under_one_root(vocab):
    starts = [True, False, False, True, False, False]
    doc = Doc(vocab, words=["a", "b", "c", "d", "e", "\n"], sent_starts=starts)
    set_constituents(doc, [(1, 3, "NP")])
    with pytest.raises(NonConstituentException):
        _ = doc._.parse_string
    doc.spans[SPANS_KEY].attrs["partial"] = True
    root = "(TOP (UNK a) (NP (UNK b) (UNK c)))"
    assert doc._.parse_string == f"{root}\n(TOP (UNK d) (UNK e))"
    first, _ = doc.sents
    assert first._.labels == ()
    assert ranges(first._.children) == [(0, 1), (1, 3)]
    assert (1, 3) in ranges(first._.constituents)
    assert doc[1:3]._.parent is None
    with pytest.raises(NonConstituentException):
        _ = doc[0:2]._.parse_string


# --- getters on the Span ---


def test_constituents_span_string(doc):
    assert [sent._.parse_string for sent in doc.sents] == SENTENCES
    assert doc[1:4]._.parse_string == PLUMS
    assert doc[5:6]._.parse_string == "(VP (VBP rot))"
    assert doc[3:4]._.parse_string == "(NNS plums)"
    assert doc[10:11]._.parse_string == "(NP (NP (NNS Plums)))"


def test_constituents_span_string_reads_back_to_the_same_leaves(doc):
    leaves = nltk.Tree.fromstring(doc[0:8]._.parse_string).leaves()
    assert leaves == ["-LRB-Old-RRB-", r"New\u0020York", "plums", "rot", "-LSB-!-RSB-"]


def test_constituents_span_tree(doc):
    tree = doc[1:4]._.parse_tree
    assert tree == nltk.Tree(
        "NP",
        [
            nltk.Tree("JJ", ["(Old)"]),
            nltk.Tree("NNP", ["New York"]),
            nltk.Tree("NNS", ["plums"]),
        ],
    )
    assert doc[6:7]._.parse_tree == nltk.Tree(".", ["[!]"])


def test_constituents_span_labels(doc):
    expected = [("S",), ("S", "VP"), (), ("TOP",)]
    assert [sent._.labels for sent in doc.sents] == expected
    assert doc[1:4]._.labels == ("NP",)
    assert doc[10:11]._.labels == ("NP", "NP")
    assert doc[3:4]._.labels == ()


def test_constituents_span_constituents_in_preorder_each_range_once(doc):
    inside = [ranges(sent._.constituents) for sent in doc.sents]
    words = [(1, 2), (2, 3), (3, 4)]
    assert inside == [
        [(1, 7), (1, 4), *words, (5, 6), (6, 7)],
        [(8, 9)],
        [],
        [(10, 12), (10, 11), (11, 12)],
    ]
    assert ranges(doc[1:4]._.constituents) == [(1, 4), *words]


def test_constituents_span_children_each_range_once(doc):
    below = [ranges(sent._.children) for sent in doc.sents]
    assert below == [
        [(1, 4), (5, 6), (6, 7)],
        [],
        [],
        [(10, 11), (11, 12)],
    ]
    assert ranges(doc[1:4]._.children) == [(1, 2), (2, 3), (3, 4)]


def test_constituents_span_children_skip_grandchildren(read_doc):
    doc = read_doc("(S (A (B (X a) (X b)) (X c)) (D (X d) (E (X e) (X f))))")
    assert ranges(doc[0:6]._.children) == [(0, 3), (3, 6)]
    assert ranges(doc[0:3]._.children) == [(0, 2), (2, 3)]
    assert ranges(doc[3:6]._.children) == [(3, 4), (4, 6)]


def test_constituents_span_parent_skips_the_chain(doc):
    assert ranges([doc[3:4]._.parent]) == [(1, 4)]
    assert ranges([doc[1:4]._.parent]) == [(1, 7)]
    assert ranges([doc[5:6]._.parent]) == [(1, 7)]
    assert ranges([doc[10:11]._.parent]) == [(10, 12)]


def test_constituents_parent_is_none_at_every_root(doc):
    assert [sent._.parent for sent in doc.sents] == [None, None, None, None]
    assert doc[8]._.parent is None


def test_constituents_parent_looks_over_elder_siblings(read_doc):
    doc = read_doc("(S (X a) (A (X b) (B (X c) (X d))) (C (X e) (X f)) (X g))")
    assert ranges([doc[6]._.parent]) == [(0, 7)]
    assert ranges([doc[4:6]._.parent]) == [(0, 7)]
    assert ranges([doc[2:4]._.parent]) == [(1, 4)]


def test_constituents_spans_keep_character_offsets(vocab):
    doc = Doc(vocab, words=["t(est)", "x", "ok"], spaces=[True, False, False])
    set_constituents(doc, [(0, 3, "S"), (1, 3, "NP")])
    (_, noun_phrase) = doc[0:3]._.children
    assert (noun_phrase.start_char, noun_phrase.end_char) == (7, 10)
    assert doc.text[7:10] == noun_phrase.text == "xok"


def test_constituents_spans_carry_the_label_of_their_outermost_bracket(doc):
    labels = [list_labels(sent._.constituents) for sent in doc.sents]
    assert labels == [
        ["S", "NP", "", "", "", "VP", ""],
        ["S"],  # over VP
        [],
        ["TOP", "NP", ""],
    ]
    assert list_labels(doc[1:7]._.children) == ["NP", "VP", ""]
    assert list_labels(doc[10:12]._.children) == ["NP", ""]
    assert doc[10:11]._.parent.label_ == "TOP"
    assert doc[2]._.parent.label_ == "NP"
    for sent in doc.sents:
        for span in sent._.constituents:
            assert span.label_ == (*span._.labels, "")[0]


def test_constituents_parent_under_a_chain_is_labeled_from_outside(read_doc):
    doc = read_doc("(S (VP (VB Run) (RB away)))")
    assert doc[0]._.parent.label_ == doc[1]._.parent.label_ == "S"


def test_constituents_labels_of_a_partial_parse(vocab):
    doc = Doc(vocab, words=["a", "b", "c"], sent_starts=[True, False, False])
    set_constituents(doc, [(1, 3, "NP")])
    doc.spans[SPANS_KEY].attrs["partial"] = True
    assert list_labels(doc[0:3]._.constituents) == ["", "NP", "", ""]
    assert list_labels(doc[0:3]._.children) == ["", "NP"]


def test_constituents_spans_are_copies(doc):
    parse = doc._.parse_string
    for span in [*doc[1:7]._.constituents, *doc[1:7]._.children, doc[1]._.parent]:
        span.label_ = "CHANGED"
    assert doc._.parse_string == parse


# --- getters on the Token ---


def test_constituents_token_labels(doc):
    labels = [doc[i]._.labels for i in (3, 5, 8, 10, 11)]
    assert labels == [(), ("VP",), ("S", "VP"), ("NP", "NP"), ()]


def test_constituents_token_string(doc):
    strings = [doc[i]._.parse_string for i in (1, 5, 8, 11)]
    expected = ["(JJ -LRB-Old-RRB-)", "(VP (VBP rot))", "(S (VP (VB Run)))", "(UNK !)"]
    assert strings == expected


def test_constituents_token_parent(doc):
    parents = [doc[i]._.parent for i in (1, 5, 10, 11)]
    assert ranges(parents) == [(1, 4), (1, 7), (10, 12), (10, 12)]
    assert doc[8]._.parent is None


@pytest.mark.parametrize("i", [0, 4, 7, 9])
def test_constituents_white_space_is_in_no_tree(doc, i):
    assert doc[i]._.labels == ()
    assert doc[i]._.parse_string == ""
    assert doc[i]._.parent is None
    assert list(doc[i : i + 1]._.constituents) == []
    assert list(doc[i : i + 1]._.children) == []


@pytest.mark.parametrize("start, end", [(0, 4), (1, 5), (0, 5)])
def test_constituents_white_space_at_the_ends_is_trimmed(doc, start, end):
    span = doc[start:end]
    assert span._.labels == ("NP",)
    assert span._.parse_string == PLUMS
    assert ranges([span._.parent]) == [(1, 7)]
    assert ranges(span._.children) == [(1, 2), (2, 3), (3, 4)]


# --- what is not there ---


@pytest.mark.parametrize("start, end", [(2, 4), (3, 6), (1, 6), (0, 12), (8, 12)])
def test_constituents_other_ranges_raise(doc, start, end):
    span = doc[start:end]
    for name in ("labels", "parse_string", "parse_tree", "parent"):
        with pytest.raises(NonConstituentException, match="not a constituent"):
            getattr(span._, name)
    for name in ("constituents", "children"):
        with pytest.raises(NonConstituentException, match="not a constituent"):
            list(getattr(span._, name))


@pytest.mark.parametrize(
    "starts", [[1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0]]
)
def test_constituents_sentences_set_after_the_parse_raise_and_say_so(vocab, starts):
    words = ["a", "b", "c", "d", "e", "f"]
    doc = Doc(vocab, words=words, sent_starts=[True, False, False] * 2)
    set_constituents(doc, [(0, 3, "S"), (3, 6, "S")])
    assert len(doc._.parse_trees) == 2
    for token, is_start in zip(doc, starts):
        token.is_sent_start = bool(is_start)
    with pytest.raises(NonConstituentException, match="boundaries have changed"):
        _ = doc._.parse_string
    with pytest.raises(NonConstituentException, match="boundaries have changed"):
        _ = [sent._.labels for sent in doc.sents]
    with pytest.raises(NonConstituentException, match="Span is not a constituent"):
        _ = doc[1:3]._.labels


def test_constituents_range_that_crosses_one_of_the_same_length_raises(read_doc):
    doc = read_doc("(S (X a) (A (X b) (X c)))")
    assert doc[1:3]._.labels == ("A",)
    with pytest.raises(NonConstituentException):
        _ = doc[0:2]._.labels


def test_constituents_exception_names_the_range(doc):
    with pytest.raises(NonConstituentException) as error:
        _ = doc[2:4]._.labels
    assert "'New York plums' (tokens 2 to 4)" in str(error.value)
    assert "sent._.constituents" in str(error.value)


def test_constituents_unparsed_doc_raises_and_says_what_to_do(vocab):
    doc = Doc(vocab, words=["a", "b"])
    views = [
        lambda: doc._.parse_string,
        lambda: doc._.parse_trees,
        lambda: doc[0:2]._.labels,
        lambda: doc[0:2]._.parent,
        lambda: list(doc[0:2]._.children),
        lambda: doc[0]._.parse_string,
        lambda: get_constituents(doc),
    ]
    for view in views:
        with pytest.raises(ValueError, match='Add the component "pointing_parser"'):
            view()
    with pytest.raises(ValueError, match="no constituency parse"):
        _ = Doc(vocab)._.parse_string


def test_constituents_view_of_an_unparsed_doc_is_no_nonconstituent(vocab):
    with pytest.raises(ValueError) as error:
        _ = Doc(vocab, words=["a", "b"])[0:2]._.labels
    assert not isinstance(error.value, NonConstituentException)


# --- survival ---


def pass_docbin(doc, path):
    data = DocBin(docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(doc.vocab))


def pass_bytes(doc, path):
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def pass_disk(doc, path):
    doc.to_disk(path / "doc")
    return Doc(doc.vocab).from_disk(path / "doc")


def pass_copy(doc, path):
    return doc.copy()


def pass_from_docs(doc, path):
    return Doc.from_docs([doc])


def pass_pickle(doc, path):
    return pickle.loads(pickle.dumps(doc))


def pass_json(doc, path):
    return Doc(doc.vocab).from_json(doc.to_json())


@pytest.mark.parametrize(
    "send",
    [
        pass_docbin,
        pass_bytes,
        pass_disk,
        pass_copy,
        pass_from_docs,
        pass_pickle,
        pass_json,
    ],
)
def test_constituents_survive(doc, tmp_path, send):
    copy = send(doc, tmp_path)
    assert copy is not doc
    assert brackets(copy) == BRACKETS
    assert copy._.parse_string == doc._.parse_string
    assert copy[10]._.labels == ("NP", "NP")


def test_constituents_from_docs_joins_the_trees(doc, read_doc):
    other = read_doc("(S (NP (NNS Owls)) (VP (VBP hoot)))")
    both = Doc.from_docs([doc, other])
    assert both._.parse_string == f"{doc._.parse_string}\n{other._.parse_string}"


def test_constituents_copy_is_independent(doc):
    copy = doc.copy()
    set_constituents(copy, [])
    assert brackets(doc) == BRACKETS


# --- leaf i is word i ---


@st.composite
def nested(draw, start, end):
    """Random brackets over words start to end, nested and in pre-order."""
    labels = draw(st.lists(st.sampled_from(["A", "B", "C"]), max_size=2))
    below = []
    if end - start > 1:
        cuts = draw(st.sets(st.integers(start + 1, end - 1), min_size=1, max_size=3))
        bounds = [start, *sorted(cuts), end]
        for first, last in pairwise(bounds):
            below += draw(nested(first, last))
        labels = labels or ["TOP"]
    return [(start, end, label) for label in labels] + below


TEXT = st.text(min_size=1, max_size=4) | st.sampled_from(
    ["(", "a)", "\n", " ", "x y", "\u00a0", "[b]", "\\"]
)


@given(st.data(), st.lists(TEXT, min_size=1, max_size=9))
def test_constituents_leaf_i_is_word_i(vocab, data, texts):
    doc = Doc(vocab, words=texts, sent_starts=[True, *[False] * (len(texts) - 1)])
    words = [token.i for token in doc if not token.is_space]
    tree = data.draw(nested(0, len(words))) if words else []
    set_constituents(doc, [(words[s], words[e - 1] + 1, lb) for s, e, lb in tree])
    trees = doc._.parse_trees
    assert len(trees) == bool(words)
    leaves = [leaf for tree in trees for leaf in tree.leaves()]
    assert leaves == [doc[i].text for i in words]
    printed = [nltk.Tree.fromstring(line) for line in doc._.parse_string.splitlines()]
    printed_leaves = [leaf for tree in printed for leaf in tree.leaves()]
    assert printed_leaves == [escape_word(leaf) for leaf in leaves]
    assert [doc[i : i + 1]._.parse_tree.leaves() for i in words] == [
        [w] for w in leaves
    ]


# --- the extensions ---


def test_constituents_install_is_idempotent(doc):
    before = {cls: cls.get_extension("parse_string") for cls in (Doc, Span, Token)}
    install_extensions()
    install_extensions()
    after = {cls: cls.get_extension("parse_string") for cls in (Doc, Span, Token)}
    assert after == before
    assert doc[8]._.labels == ("S", "VP")


def test_constituents_extensions_come_with_the_package():
    for name in ("parse_string", "parse_trees"):
        assert Doc.has_extension(name)
    for name in ("labels", "constituents", "parent", "children", "parse_tree"):
        assert Span.has_extension(name)
    for name in ("labels", "parse_string", "parent"):
        assert Token.has_extension(name)
    assert not Token.has_extension("children")


def test_constituents_getters_pickle(doc):
    state = Underscore.get_state()
    assert pickle.loads(pickle.dumps(state)) == state


def test_constituents_a_later_package_gets_its_own_error():
    with pytest.raises(ValueError, match="E090"):
        Span.set_extension("labels", getter=len)


COEXISTENCE = """
import pickle
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

def their_labels(span):
    return ("THEIRS", len(span))

def their_token_labels(token):
    return ("THEIR TOKEN",)

Span.set_extension("labels", getter=their_labels)
Token.set_extension("labels", getter=their_token_labels)
from spacy_pointparse import install_extensions
from spacy_pointparse.tokens.constituents import set_constituents

vocab = Vocab()
ours = Doc(vocab, words=["a", "b"])
set_constituents(ours, [(0, 2, "NP"), (1, 2, "X")])
theirs = Doc(vocab, words=["c", "d"])

def check():
    assert ours[0:2]._.labels == ("NP",)
    assert ours[1]._.labels == ("X",)
    assert theirs[0:2]._.labels == ("THEIRS", 2)
    assert theirs[1]._.labels == ("THEIR TOKEN",)
    assert ours[0:2]._.parse_string == "(NP (UNK a) (X (UNK b)))"

install_extensions()
check()
getter = Span.get_extension("labels")[2]
install_extensions()
assert Span.get_extension("labels")[2] is getter
check()
twin = pickle.loads(pickle.dumps(getter))
assert twin(ours[0:2]) == ("NP",) and twin(theirs[0:2]) == ("THEIRS", 2)
Span.set_extension("labels", getter=twin, force=True)
install_extensions()
assert Span.get_extension("labels")[2] is twin
check()
print("both answer")
"""


def test_constituents_coexist_with_a_package_that_was_there_before():
    run = subprocess.run(
        [sys.executable, "-c", COEXISTENCE], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == "both answer\n"
