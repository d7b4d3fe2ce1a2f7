import re
import warnings

import numpy
import pytest
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_pointparse.training.labels import read_labels
from spacy_pointparse.training.targets import get_targets
from spacy_pointparse.util.arrays import offset_rows

TEA = "(S (NP (DT the) (NN tea)) (VP (VBZ is) (ADJP (JJ hot))) (. .))"
YES = "(TOP (INTJ (UH yes)))"
RUN = "(S (VP (VB run)))"
LABELS = {
    "spans": ["", "NP", "S", "VP"],
    "unaries": ["", "ADJP", "INTJ"],
    "tags": [".", "DT", "JJ", "NN", "UH", "VBZ"],
}


@pytest.fixture
def make(make_examples, vocab):
    """Make an example of each tree."""

    class Pipeline:
        pass

    pipeline = Pipeline()
    pipeline.vocab = vocab

    def make(*lines):
        return make_examples(pipeline, lines)

    return make


@pytest.fixture
def lost(read_doc, vocab):
    """An example of two words whose brackets do not fit: it teaches nothing."""
    reference = read_doc("(S (NP (NN tea)) (VP (VBZ is) (ADJP (JJ hot))))")
    predicted = Doc(vocab, words=["teais", "hot"], sent_starts=[True, False])
    return Example(predicted, reference)


def as_lists(target):
    arrays = target._asdict()
    del arrays["constituents"]
    assert arrays.pop("allowed") is arrays.pop("weights") is None
    arrays["lefts"] = target.point_in_left_tree()
    return {name: array.tolist() for name, array in arrays.items()}


# --- targets ---


def test_targets_by_hand(make):
    # "tea is hot ." is no constituent: binary, S is over "the tea" and an empty span
    # over the rest, and that is over VP and the full stop.
    (target,) = get_targets(make(TEA), LABELS, 1000)
    assert as_lists(target) == {
        "words": [0, 1, 2, 3, 4],
        "pointings": [4, 0, 4, 2, 0],
        "labels": [2, 1, 0, 3, 2],
        "unaries": [0, 0, 0, 1, 0],
        "tags": [1, 3, 5, 2, 0],
        # Left-factored, S is over an empty span and the full stop.
        "lefts": [4, 0, 3, 0, 0],
    }


def test_targets_of_one_word_have_no_span(make):
    (target,) = get_targets(make(YES), LABELS, 1000)
    assert as_lists(target) == {
        "words": [0],
        "pointings": [0],
        "labels": [-1],
        "unaries": [2],
        "tags": [4],
        "lefts": [0],
    }


def test_targets_of_a_partial_tree_by_hand(make):
    """Of the tree only "the tea" and the phrase over "hot" are known."""
    (example,) = make("(TOP (NP (DT the) (NN tea)) (VBZ is) (ADJP (JJ hot)) (. .))")
    group = example.reference.spans["constituents"]
    kept = [span for span in group if span.label_ != "TOP"]
    example.reference.spans["constituents"] = kept
    example.reference.spans["constituents"].attrs["partial"] = True
    (target,) = get_targets([example], LABELS, 1000)
    # "tea" points back over "the" or further; no span parts the two.
    assert target.allowed.astype(int).tolist() == [
        [0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 0, 0, 0],
    ]
    assert target.pointings[1] == 0
    assert target.point_in_left_tree().tolist() == [-1] * 5
    assert target.labels[1] == LABELS["spans"].index("NP")
    assert target.unaries.tolist() == [0, 0, 0, 1, 0]
    # Nobody knows what the root is; that other words have nothing over them is likely.
    assert target.weights.tolist() == [[0, 1, 0.1, 0.1, 0], [0.1, 0.1, 0.1, 1, 0.1]]
    assert target.tags.tolist() == [1, 3, 5, 2, 0]


def test_targets_of_a_partial_tree_with_its_root(make):
    (example,) = make("(S (NP (DT the) (NN tea)) (VBZ is) (JJ hot) (. .))")
    example.reference.spans["constituents"].attrs["partial"] = True
    (target,) = get_targets([example], LABELS, 1000)
    assert target.labels.tolist() == [2, 1, 0, 0, 2]
    assert target.weights[0].tolist() == [1, 1, 0.1, 0.1, 1]


def test_targets_that_are_unknown(make):
    few = {"spans": ["", "S"], "unaries": [""], "tags": ["NN"]}
    with pytest.warns(match="does not know") as warned:
        (target,) = get_targets(make(TEA), few, 1000)
    labels = [re.search("label '(.*)'", str(each.message))[1] for each in warned]
    assert labels == ["ADJP", "NP", "VP"]
    assert target.pointings.tolist() == [4, 0, 4, 2, 0]
    assert target.labels.tolist() == [1, -1, 0, -1, 1]
    assert target.unaries.tolist() == [0, 0, 0, -1, 0]
    assert target.tags.tolist() == [-1, 0, -1, -1, -1]


def test_targets_of_a_word_without_a_tag(make):
    (example,) = make(YES)
    example.reference[0].tag_ = ""
    (target,) = get_targets([example], LABELS, 1000)
    assert target.tags.tolist() == [-1]


def test_targets_count_rows_of_all_predicted_tokens(read_doc, vocab, lost):
    reference = read_doc(YES, TEA)
    words = ["\n", "yes", " ", "the", "tea", "is", "hot", "."]
    starts = [i in (0, 3) for i in range(8)]
    spaced = Example(Doc(vocab, words=words, sent_starts=starts), reference)
    targets = get_targets([spaced, lost, spaced], LABELS, 1000)
    assert [target.words.tolist() for target in targets] == [
        [1],
        [3, 4, 5, 6, 7],
        # 8 tokens of the first example and 2 of the lost one come before.
        [11],
        [13, 14, 15, 16, 17],
    ]


@pytest.mark.parametrize("max_length, lengths", [(5, [5, 1]), (4, [1]), (1, [1])])
def test_targets_leave_long_sentences_out(make, max_length, lengths):
    targets = get_targets(make(TEA, YES), LABELS, max_length)
    assert [len(target.words) for target in targets] == lengths
    assert targets[-1].words.tolist() == [5]


def test_targets_of_nothing(vocab):
    bare = Doc(vocab, words=["tea"])
    assert get_targets([], LABELS, 1000) == []
    assert get_targets([Example(bare, bare)], LABELS, 1000) == []


# --- labels ---


def test_labels_are_sorted(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = read_labels(make(RUN, TEA, YES), "parser", 5)
    assert labels == {
        "spans": ["", "NP", "S", "VP"],
        "unaries": ["", "ADJP", "INTJ", "S VP"],
        "tags": [".", "DT", "JJ", "NN", "UH", "VB", "VBZ"],
    }


def test_labels_without_tags(make):
    (example,) = make(RUN)
    example.reference[0].tag_ = ""
    assert read_labels([example], "parser", 1000)["tags"] == [""]
    # An empty tag among others is none to learn.
    assert read_labels([example, *make(YES)], "parser", 1000)["tags"] == ["UH"]


def test_labels_count_what_teaches_nothing(make, lost):
    examples = [*make(TEA, YES, RUN), lost]
    with pytest.warns(UserWarning) as caught:
        labels = read_labels(examples, "parser", 4)
    (warning,) = caught
    message = str(warning.message)
    assert message.startswith("2 of 4 sentences teach nothing: ")
    assert "more than 4 words" in message
    # Their labels are known all the same.
    assert labels["spans"] == ["", "NP", "S", "VP"]
    assert labels["unaries"] == ["", "ADJP", "INTJ", "NP", "S VP"]


def test_labels_need_a_parse(vocab):
    bare = Doc(vocab, words=["tea"])
    with pytest.raises(ValueError, match=r"E143.*'brackets'"):
        read_labels([Example(bare, bare)], "brackets", 1000)
    labels = read_labels([Example(bare, bare)], "brackets", 1000, known=["S"])
    assert labels == {"spans": [""], "unaries": [""], "tags": [""]}


@pytest.mark.parametrize("label", ["", "A B"])
def test_labels_are_refused_though_the_tree_does_not_fit(make, label):
    (example,) = make(TEA)
    reference = example.reference
    reference.spans["constituents"] = [Span(reference, 0, 5, label)]
    reference[2].is_sent_start = True
    with pytest.raises(ValueError, match=f"white space: {label!r}"):
        read_labels([example], "parser", 1000)


def test_targets_of_labels_that_are_no_label(make):
    """Labels of a chain are joined by a blank: this is no chain."""
    (example,) = make("(S (A (X a) (X b)) (X c))")
    reference = example.reference
    spans = [Span(reference, 0, 3, "S"), Span(reference, 0, 2, "A B")]
    reference.spans["constituents"] = spans
    labels = {"spans": ["", "A B", "S"], "unaries": [""], "tags": ["X"]}
    with pytest.raises(ValueError, match="'A B'"):
        get_targets([example], labels, 1000)


# --- rows ---


def test_rows_are_counted_on():
    targets = [numpy.array([1, 0]), numpy.array([0]), numpy.array([2, 0, 0])]
    assert offset_rows(targets).tolist() == [1, 0, 2, 5, 3, 3]
