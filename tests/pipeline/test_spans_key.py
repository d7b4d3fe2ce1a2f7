"""Several parsers in one pipeline, each with a span group of its own."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_pointparse.tokens import SPANS_KEY, NonConstituentException, set_constituents

OTHER = "second"


@pytest.fixture
def two_parsers(trained_path):
    """A pipeline with two parsers, of which the second one writes to its own group."""
    nlp = spacy.load(trained_path)
    config = {"components.pointing_parser.spans_key": OTHER}
    other = spacy.load(trained_path, config=config)
    nlp.add_pipe("pointing_parser", name=OTHER, source=other)
    return nlp


def test_parsers_write_to_their_own_groups(two_parsers, make_examples, tmp_path):
    two_parsers.to_disk(tmp_path)
    for nlp in (two_parsers, spacy.load(tmp_path)):
        doc = nlp(make_examples(nlp)[0].predicted)
        first, second = doc.spans[SPANS_KEY], doc.spans[OTHER]
        assert len(second) == len(first) > 1
        assert [(s.start, s.end, s.label_) for s in second] == [
            (s.start, s.end, s.label_) for s in first
        ]
        assert second.attrs["scores"].tolist() == first.attrs["scores"].tolist()


def test_config_sets_the_group(trained_path, make_nlp):
    assert make_nlp().get_pipe("pointing_parser").spans_key == SPANS_KEY
    assert make_nlp(spans_key=OTHER).get_pipe("pointing_parser").spans_key == OTHER


@pytest.fixture
def two_parses(read_doc):
    """A Doc with one tree in the default group and another in the second one."""
    doc = read_doc("(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)))")
    set_constituents(doc, [(0, 3, "X"), (1, 3, "Y")], spans_key=OTHER)
    return doc


def test_methods_read_any_group(two_parses):
    doc = two_parses
    assert doc._.parse_string == "(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)))"
    other = "(X (DT The) (Y (NN otter) (VBZ sleeps)))"
    assert doc._.get_parse_string(OTHER) == other
    assert doc._.get_parse_string(spans_key=OTHER) == other
    assert doc._.get_parse_string() == doc._.parse_string
    assert [tree.label() for tree in doc._.get_parse_trees(OTHER)] == ["X"]
    span = doc[1:3]
    assert span._.get_labels(OTHER) == ("Y",)
    assert span._.get_parse_string(OTHER) == "(Y (NN otter) (VBZ sleeps))"
    assert span._.get_parse_tree(OTHER).leaves() == ["otter", "sleeps"]
    assert span._.get_parent(OTHER).text == doc.text.strip()
    assert [part.text for part in span._.get_children(OTHER)] == ["otter", "sleeps"]
    inside = [part.text for part in doc[:]._.get_constituents(OTHER)]
    assert inside == ["The otter sleeps", "The", "otter sleeps", "otter", "sleeps"]
    assert span._.get_probability(OTHER) is None
    assert doc[2]._.get_labels(OTHER) == ()
    assert doc[2]._.get_parent(OTHER).text == "otter sleeps"
    assert doc[2]._.get_parse_string(OTHER) == "(VBZ sleeps)"
    with pytest.raises(NonConstituentException):
        span._.labels  # noqa: B018
    with pytest.raises(ValueError, match="'third'"):
        doc._.get_parse_string("third")


def test_parser_learns_from_its_own_group_and_is_scored_by_it(make_nlp, read_doc):
    nlp = make_nlp(spans_key=OTHER)
    reference = read_doc("(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)))")
    reference = Doc(nlp.vocab).from_bytes(reference.to_bytes())
    set_constituents(reference, [(0, 3, "X"), (1, 3, "Y")], spans_key=OTHER)
    words = [token.text for token in reference]
    predicted = Doc(nlp.vocab, words=words, sent_starts=[True, False, False])
    example = Example(predicted, reference)
    optimizer = nlp.initialize(lambda: [example])
    parser = nlp.get_pipe("pointing_parser")
    assert parser.labels == ("X", "Y")
    optimizer.learn_rate = 0.01
    for _ in range(50):
        parser.update([example], sgd=optimizer)
    doc = parser(predicted.copy())
    assert SPANS_KEY not in doc.spans
    assert [(s.start, s.end, s.label_) for s in doc.spans[OTHER]] == [
        (0, 3, "X"),
        (1, 3, "Y"),
    ]
    scores = parser.score([Example(doc, reference)])
    assert scores["spans_second_f"] == 1.0
    assert scores["second_complete"] == 1.0
    assert "spans_constituents_f" not in scores
