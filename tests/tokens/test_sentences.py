import warnings

import pytest
from spacy.tokens import Doc

from spacy_pointparse.tokens import get_sentences
from spacy_pointparse.tokens.segments import Segment, segment_docs
from spacy_pointparse.util import batching
from spacy_pointparse.util.batching import batch_by_length


@pytest.fixture
def make(vocab):
    """Make a Doc of words that are one sentence, or of several that start where said;
    None leaves boundaries unset."""

    def make(words, starts=(0,)):
        if starts is None:
            return Doc(vocab, words=words)
        flags = [i in starts for i in range(len(words))]
        return Doc(vocab, words=words, sent_starts=flags)

    return make


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def cut(doc, max_length):
    """The pieces of a Doc of one long sentence."""
    with pytest.warns(UserWarning, match=f"more than {max_length} words") as caught:
        pieces = segment_docs([doc], max_length)
    assert len(caught) == 1
    return [piece.words for piece in pieces]


def count_batches(lengths, max_words=2000):
    """The lengths in each batch of sentences of these lengths."""
    batches = list(batch_by_length(lengths, max_words))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    return [[lengths[i] for i in batch] for batch in batches]


# --- sentences ---


def test_sentences_are_those_of_the_doc(make):
    words = ["Tea", "\n", "Cups", "fell", ".", "\n"]
    sents = get_sentences(make(words, (0, 2, 5)))
    assert [(sent.start, sent.end) for sent in sents] == [(0, 2), (2, 5), (5, 6)]


def test_sentences_of_a_doc_without_boundaries(make):
    (sent,) = get_sentences(make(["tea", "cup"], None))
    assert (sent.start, sent.end) == (0, 2)


def test_sentences_of_an_empty_doc(vocab):
    assert get_sentences(Doc(vocab)) == []


# --- pieces ---


def test_pieces_say_where_they_come_from(make, vocab, no_warnings):
    docs = [
        make(["\n", "Tea", "\t", "fell", "\n", "Cups", " "], (0, 4, 5)),
        Doc(vocab),
        make(["Yes"], None),
    ]
    # The sentence of nothing but white space has a number, but no piece.
    assert segment_docs(docs, 2) == [
        Segment(0, 0, [1, 3]),
        Segment(0, 2, [5]),
        Segment(2, 0, [0]),
    ]


def test_pieces_of_no_docs(no_warnings):
    assert segment_docs([], 5) == []


def test_pieces_warn_of_docs_without_boundaries(make):
    docs = [make(["tea", "cup"], None), make(["tea", "cup"]), make(["Yes"], None)]
    with pytest.warns(UserWarning, match="without sentence boundaries") as caught:
        pieces = segment_docs(docs, 5)
    assert len(caught) == 1
    assert [piece.words for piece in pieces] == [[0, 1], [0, 1], [0]]


@pytest.mark.parametrize("count", [9, 10])
def test_pieces_up_to_the_limit_are_whole(make, no_warnings, count):
    (piece,) = segment_docs([make(["tea", ","] * 4 + ["tea"] * (count - 8))], 10)
    assert piece == Segment(0, 0, list(range(count)))


def test_pieces_one_word_above_the_limit(make):
    assert cut(make(["tea"] * 11), 10) == [list(range(10)), [10]]


def test_pieces_white_space_does_not_count(make, no_warnings):
    (piece,) = segment_docs([make(["tea", "\n", "\n", "cup"])], 2)
    assert piece.words == [0, 3]


@pytest.mark.parametrize(
    "text, first_length",
    [
        ("a b c d ; e , f g h i", 5),  # a semicolon before a comma
        ("a b c d ; : , f g h i", 5),  # ... and before a colon
        ("a b c d , : , f g h i", 6),  # a colon before a comma
        ("a b c d e — , f g h i", 6),  # ... as is a dash
        ("a b c d e 。 f . g h i", 8),  # a full stop in whatever script
        ("a . c d e , g h i j k", 6),  # no mark in the first half
        ("a b c . e f , h i j k", 7),  # ... of which this is the last word
        ("a b c d . f g h i j k", 5),  # ... while this is the first of the second
        ("a b c d , f , h i j k", 7),  # the last of equal marks
        ("a b c d e f g , i j k", 8),  # the last word that may be
        ("a b c d e f g h , j k", 8),  # the word after it may not
        ("a b c d e f ., h i j k", 8),  # a word that only holds marks is no mark
    ],
)
def test_pieces_end_at_the_strongest_mark(make, text, first_length):
    first, rest = cut(make(text.split()), 8)
    assert first == list(range(first_length))
    assert rest == list(range(first_length, 11))


@pytest.mark.parametrize("max_length", [1, 2, 3, 7, 10])
def test_pieces_hold_every_word_once(make, max_length):
    line = "tea , cup ; pot . lid and — all of it 。 on a tray"
    words = ["\n", *line.split()] * 3
    doc = make(words)
    pieces = cut(doc, max_length)
    found = [i for piece in pieces for i in piece]
    assert found == [i for i, word in enumerate(words) if word != "\n"]
    lengths = [len(piece) for piece in pieces]
    assert max(lengths) <= max_length
    # None but the last is shorter than half of what it may be.
    assert min(lengths[:-1]) > max_length // 2 or max_length == 1


def test_pieces_around_short_sentences(make):
    doc = make(["Yes", *["tea"] * 5, "No"], (0, 1, 6))
    with pytest.warns(UserWarning, match="more than 4 words") as caught:
        pieces = segment_docs([make(["Yes"]), doc], 4)
    assert len(caught) == 1
    assert pieces == [
        Segment(0, 0, [0]),
        Segment(1, 0, [0]),
        Segment(1, 1, [1, 2, 3, 4]),
        Segment(1, 1, [5]),
        Segment(1, 2, [6]),
    ]


# --- batches ---


def test_batches_of_nothing():
    assert count_batches([]) == []


def test_batches_hold_pieces_of_like_length():
    # Three pieces padded to 4 words are 12 words; with a fourth it would be 16.
    assert count_batches([9, 4, 4, 1, 4, 3], 12) == [[1, 3, 4], [4, 4], [9]]


def test_batches_are_bounded_by_pairs(monkeypatch):
    monkeypatch.setattr(batching, "MAX_BATCH_PAIRS", 32)
    assert count_batches([4, 4, 4, 2, 2]) == [[2, 2], [4, 4], [4]]


def test_batches_of_pieces_above_the_bounds_hold_one():
    assert count_batches([7, 2, 6], 5) == [[2], [6], [7]]


def test_batches_keep_the_bounds():
    lengths = [(7 * i) % 101 + 1 for i in range(500)] + [1000, 999, 1500]
    batches = count_batches(lengths)
    for batch in batches:
        words = len(batch) * max(batch)
        assert len(batch) == 1 or words <= 2000
        assert len(batch) == 1 or words * max(batch) <= 1_000_000
    assert batches[-3:] == [[999], [1000], [1500]]
    assert len(batches) < 20
