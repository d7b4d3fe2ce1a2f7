import json
from pathlib import Path

import numpy
import pytest
import spacy
from samples import BOAT, run_page
from spacy.matcher import Matcher
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.util import is_package

from spacy_pointparse import NonConstituentException
from spacy_pointparse.tokens import (
    SPANS_KEY,
    from_json,
    set_constituents,
    to_discbracket,
    to_json,
    to_penn,
)
from spacy_pointparse.trees import read_trees, tree_to_string

PAGE = Path(__file__).parents[2] / "docs" / "export.md"
RUN = "(S (VP (VB Run)) (-LRB- -LRB-) (ADVP (RB a=b)) (-RRB- -RRB-))"


@pytest.fixture
def doc(read_doc):
    return read_doc(BOAT, RUN)


def brackets(doc):
    return [(span.text, span.label_) for span in doc.spans[SPANS_KEY]]


# --- strings ---


def test_export_penn(doc):
    assert to_penn(doc) == (
        "(S\n"
        "  (NP (PRP She))\n"
        "  (VP\n"
        "    (VBD sold)\n"
        "    (NP\n"
        "      (NP (DT the) (JJ old) (NN boat))\n"
        "      (PP (IN with) (NP (DT a) (JJ red) (NN sail)))))\n"
        "  (. .))\n"
        "(S (VP (VB Run)) (-LRB- -LRB-) (ADVP (RB a=b)) (-RRB- -RRB-))"
    )
    assert to_penn(doc[2:5]) == "(NP (DT the) (JJ old) (NN boat))"


def test_export_penn_reads_back(read_doc, trees, tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text(to_penn(read_doc(*trees)), encoding="utf8")
    read = [tree if len(tree) > 1 else tree[0] for tree in read_trees(path)]
    assert [tree_to_string(tree) for tree in read] == trees


def test_export_penn_escapes_words_and_labels(vocab):
    doc = Doc(vocab, words=["(a b)", "c\\"], tags=["X Y", ")"])
    set_constituents(doc, [(0, 2, "N(P")])
    assert to_penn(doc) == doc._.parse_string


def test_export_discbracket(doc):
    assert to_discbracket(doc) == (
        "(S (NP (PRP 0=She)) (VP (VBD 1=sold) (NP (NP (DT 2=the) (JJ 3=old) (NN 4=boat"
        ")) (PP (IN 5=with) (NP (DT 6=a) (JJ 7=red) (NN 8=sail))))) (. 9=.))\n"
        "(S (VP (VB 0=Run)) (-LRB- 1=-LRB-) (ADVP (RB 2=a=b)) (-RRB- 3=-RRB-))"
    )
    assert to_discbracket(doc[2:5]) == "(NP (DT 0=the) (JJ 1=old) (NN 2=boat))"


def test_export_discbracket_of_a_deep_tree(vocab):
    doc = Doc(vocab, words=["w"] * 2000)
    set_constituents(doc, [(i, 2000, "NP") for i in range(1999)])
    assert "(UNK 1999=w)" in to_discbracket(doc)


@pytest.mark.parametrize("write", [to_penn, to_discbracket, to_json])
def test_export_of_a_doc_without_a_parse(write, vocab):
    with pytest.raises(ValueError, match="no constituency parse"):
        write(Doc(vocab, words=["a"]))


@pytest.mark.parametrize("write", [to_penn, to_discbracket])
def test_export_of_an_empty_doc(write, vocab):
    doc = Doc(vocab)
    set_constituents(doc, [])
    assert write(doc) == ""


# --- JSON ---


def pass_json(doc):
    """As a reader elsewhere gets it: not a number is no JSON."""
    return json.loads(json.dumps(to_json(doc), allow_nan=False))


def test_export_json_keeps_probabilities_that_spacy_leaves_out(doc):
    scores = numpy.linspace(0, 1, len(doc.spans[SPANS_KEY]))
    scores[3] = numpy.nan
    set_constituents(
        doc, [(s.start, s.end, s.label_) for s in doc.spans[SPANS_KEY]], scores
    )
    back = from_json(pass_json(doc), doc.vocab)
    assert back[2:9]._.probability is None
    assert doc[5:9]._.probability == back[5:9]._.probability > 0
    kept, given = (one.spans[SPANS_KEY].attrs["scores"] for one in (back, doc))
    assert kept.dtype == given.dtype
    numpy.testing.assert_array_equal(kept, given)
    assert (
        "scores" not in Doc(doc.vocab).from_json(doc.to_json()).spans[SPANS_KEY].attrs
    )


def test_export_json_of_a_group_that_was_changed_has_no_probabilities(doc):
    count = len(doc.spans[SPANS_KEY])
    spans = [(s.start, s.end, s.label_) for s in doc.spans[SPANS_KEY]]
    set_constituents(doc, spans, numpy.linspace(0, 1, count))
    del doc.spans[SPANS_KEY][1]
    assert len(doc.spans[SPANS_KEY].attrs["scores"]) == count
    assert to_json(doc)["probabilities"] == []


def test_export_json_keeps_that_a_parse_is_partial(doc):
    doc.spans[SPANS_KEY].attrs["partial"] = True
    assert from_json(pass_json(doc), doc.vocab).spans[SPANS_KEY].attrs == {
        "partial": True
    }
    assert not Doc(doc.vocab).from_json(doc.to_json()).spans[SPANS_KEY].attrs


def test_export_json_is_what_spacy_reads(doc):
    back = Doc(doc.vocab).from_json(pass_json(doc), validate=True)
    assert back._.parse_string == doc._.parse_string
    assert from_json(pass_json(doc), doc.vocab).spans[SPANS_KEY].attrs == {}


def test_export_json_has_character_offsets(doc):
    data = pass_json(doc)
    spans = data["spans"][SPANS_KEY]
    texts = [data["text"][span["start"] : span["end"]] for span in spans]
    assert [(text, span["label"]) for text, span in zip(texts, spans)] == brackets(doc)


def test_export_json_keeps_an_empty_parse(vocab):
    doc = Doc(vocab, words=["Yes"], tags=["UH"])
    set_constituents(doc, [])
    assert from_json(pass_json(doc), vocab)._.parse_string == "(UH Yes)"


# --- spans of constituents among other spans ---


def test_constituents_make_a_span_group(doc):
    nouns = [span for span in doc.spans[SPANS_KEY] if span.label_ == "NP"]
    doc.spans["nouns"] = SpanGroup(doc, name="nouns", spans=nouns)
    (back,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(doc.vocab)
    assert [span.text for span in back.spans["nouns"]] == [
        "She",
        "the old boat with a red sail",
        "the old boat",
        "a red sail",
    ]
    assert [span._.labels for span in back.spans["nouns"]] == [("NP",)] * 4


def test_constituents_of_matches(doc):
    matcher = Matcher(doc.vocab)
    matcher.add("NOUN", [[{"TAG": "DT"}, {"TAG": "JJ"}, {"TAG": "NN"}]])
    matches = matcher(doc, as_spans=True)
    assert [(m.text, m.label_, m._.labels) for m in matches] == [
        ("the old boat", "NOUN", ("NP",)),
        ("a red sail", "NOUN", ("NP",)),
    ]
    assert matches[1]._.parent._.labels == ("PP",)
    matcher.add("NOUN", [[{"TAG": "JJ"}, {"TAG": "NN"}]])
    with pytest.raises(NonConstituentException):
        _ = min(matcher(doc, as_spans=True), key=len)._.labels


def test_matcher_looks_inside_a_constituent(doc):
    matcher = Matcher(doc.vocab)
    matcher.add("ADJECTIVE", [[{"TAG": "JJ"}]])
    (phrase,) = [span for span in doc.spans[SPANS_KEY] if span.label_ == "PP"]
    assert [match.text for match in matcher(phrase, as_spans=True)] == ["red"]


# --- merging ---


def merge(doc, *spans):
    with doc.retokenize() as retokenizer:
        for span in spans:
            retokenizer.merge(span)


def test_merging_leaves_a_parse_that_cannot_be_read(doc):
    boat = doc[2:5]
    assert boat._.labels == ("NP",)
    merge(doc, boat)
    assert doc[2].text == "the old boat"
    with pytest.raises(IndexError, match="E035"):
        _ = doc._.parse_string
    with pytest.raises(IndexError, match="E035"):
        doc.to_bytes()


def test_splitting_leaves_a_parse_beside_its_words(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[4], ["bo", "at"], heads=[(doc[4], 0), (doc[4], 0)])
    assert ("the old bo", "NP") in brackets(doc)
    assert ("the old boat", "NP") not in brackets(doc)


def test_parser_after_merging_fits(trained, read_doc, bare):
    doc = bare(read_doc(BOAT, vocab=trained.vocab))
    merge(doc, doc[2:5])
    parsed = trained.get_pipe("pointing_parser")(doc)
    assert parsed._.parse_trees[0].leaves()[2] == "the old boat"


def test_to_json_of_spaces_that_spacy_cannot_read(vocab):
    """What docs/export.md says of spaCy: drop it there when this fails."""
    doc = Doc(vocab, words=["a", "\n", "b"])
    set_constituents(doc, [(0, 3, "NP")])
    with pytest.raises(AssertionError):
        from_json(to_json(doc), vocab)
    tokenized = spacy.blank("en")("a \n b")
    set_constituents(tokenized, [(0, 3, "NP")])
    assert from_json(to_json(tokenized), vocab)._.parse_string == "(NP (UNK a) (UNK b))"


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_page_on_export():
    run_page(PAGE)
