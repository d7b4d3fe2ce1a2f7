from math import comb

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from samples import assert_is_whole_tree
from test_decoding import draw_few, draw_scores, rank_trees

from spacy_pointparse.pointing import Decoder, decode_exact, decode_k_best, decoder


def score(targets, general):
    """The sum of the scores of all pointings but those of the two ends."""
    words = numpy.arange(len(targets))
    return general[words, targets][1:-1].sum()


@given(draw_few(), st.sampled_from([1, 2, 7, 1000]))
def test_k_best_trees_are_the_first_of_all_trees(scores, size):
    ranked, found = rank_trees(*scores), decode_k_best(*scores, size)
    length = len(scores[1])
    trees = comb(2 * length - 2, length - 1) // length  # Catalan's number
    assert len(found) == min(size, trees)
    for (_, expected), targets in zip(ranked, found):
        assert targets.tolist() == list(expected)


@given(draw_scores(), st.integers(1, 30))
def test_k_best_trees_are_distinct_trees_from_the_exact_one_on(scores, size):
    general, singleton = scores
    found = decode_k_best(general, singleton, size)
    [best] = decode_exact(general[None], singleton[None], [len(singleton)])
    assert found[0].tolist() == best.tolist()
    assert len({tuple(targets) for targets in found}) == len(found)
    for targets in found:
        assert_is_whole_tree(targets)


@pytest.mark.parametrize("length", [40, 128])
def test_k_best_trees_of_long_sentences_never_get_better(length):
    random = numpy.random.default_rng(0)
    general = random.normal(size=(length, length)).astype("float32")
    singleton = random.normal(size=length).astype("float32")
    scores = [score(each, general) for each in decode_k_best(general, singleton, 100)]
    assert len(scores) == 100
    assert_allclose(scores, sorted(scores, reverse=True), rtol=1e-5)
    assert scores[0] > scores[-1]


@pytest.mark.parametrize("name", ["exact", "greedy", "beam"])
@pytest.mark.parametrize("longest", [0, 128])
@given(draw_scores(), st.integers(2, 6))
def test_parse_is_among_several_trees(monkeypatch_longest, name, longest, scores, size):
    general, singleton = (each[None] for each in scores)
    monkeypatch_longest(longest)
    decoding = Decoder(decoder=name, beam_size=3)
    lengths = [len(scores[1])]
    [[parse]] = decoding.list_trees(general, singleton, lengths, 1)
    [several] = decoding.list_trees(general, singleton, lengths, size)
    assert parse.tolist() in [targets.tolist() for targets in several]
    assert len(several) <= size


@pytest.fixture(scope="module")
def monkeypatch_longest():
    """Set the length up to which sentences are decoded exactly."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda longest: patch.setattr(decoder, "MAX_EXACT", longest)
