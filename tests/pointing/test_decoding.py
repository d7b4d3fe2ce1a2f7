from itertools import product

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from samples import assert_is_whole_tree, read_spans

from spacy_pointparse.pointing import (
    decode,
    decode_batch,
    decode_beam,
    decode_exact,
    find_k_best_labels,
    tree_to_pointing,
)
from spacy_pointparse.pointing.greedy import MIN_BATCH_FOR_LEVELS

INF = float("inf")


def decode_one(general, singleton):
    [targets] = decode_exact(general[None], singleton[None], [len(singleton)])
    return targets


def decode_best(general, singleton):
    return decode_beam(general, singleton, 3)[0][1]


every_decoder = pytest.mark.parametrize("decoder", [decode, decode_one, decode_best])


@st.composite
def draw_scores(draw):
    length = draw(st.integers(1, 12))
    # Few values, for many ties, or any.
    finite = st.floats(-1e6, 1e6, width=32)
    values = draw(st.sampled_from([st.sampled_from([-INF, -1.0, 0.0, 1.0]), finite]))
    general = draw(arrays(numpy.float32, (length, length), elements=values))
    singleton = draw(arrays(numpy.float32, length, elements=values))
    return general, singleton


@st.composite
def draw_few(draw):
    """Scores of few words, so that all trees can be listed."""
    length = draw(st.integers(2, 6))
    random = numpy.random.default_rng(draw(st.integers(0, 1000)))
    return random.normal(size=(length, length)), random.normal(size=length)


def list_trees(start, last):
    """All binary trees over a span, each the pointings of all parts of its splits."""
    if start == last:
        return [()]
    return [
        (*left, *right, (split, start), (split + 1, last))
        for split in range(start, last)
        for left in list_trees(start, split)
        for right in list_trees(split + 1, last)
    ]


def rank_trees(general, singleton):
    """Scores and pointings of all trees, best first."""
    ranked = []
    length = len(singleton)
    for parts in list_trees(0, length - 1):
        score = sum(singleton[i] if i == k else general[i, k] for i, k in parts)
        targets = {0: length - 1, length - 1: 0}
        targets.update((i, k) for i, k in parts if i != k)
        ranked.append((score, [targets[i] for i in range(length)]))
    return sorted(ranked, reverse=True)


@pytest.mark.parametrize(
    "general, singleton, expected",
    [
        # Three words, ((0 1) 2). With general[0, 0] in place of singleton[0] the first
        # split would score 10 and win.
        ([[9, 0, 0], [1, 0, 1], [0, 0, 0]], [0, 0, 1], [2, 0, 0]),
        # Three words, (0 (1 2)).
        ([[0, 0, 0], [1, 0, 1], [0, 0, 9]], [1, 0, 0], [2, 2, 0]),
        # Four words, ((0 1) (2 3)): both parts are general, 2 + 2. singleton[1] and
        # singleton[2] play no role.
        (
            [[0, 0, 0, 0], [2, 0, 0, 1], [1, 0, 0, 2], [0, 0, 0, 0]],
            [2, 0, 0, 2],
            [3, 0, 3, 0],
        ),
        # Four words, (0 (1 (2 3))): 4 + 1 beats 2 + 2, then 3 + 1 beats 1 + 2.
        (
            [[0, 0, 0, 0], [2, 0, 0, 1], [1, 1, 0, 2], [0, 0, 0, 9]],
            [4, 3, 0, 2],
            [3, 3, 3, 0],
        ),
        # What counts is how k points at i, not how i points at k.
        ([[0, 9, 9], [1, 0, 0], [9, 9, 0]], [0, 0, 0], [2, 0, 0]),
        # The first of equal splits wins.
        ([[0] * 4] * 4, [0] * 4, [3, 3, 3, 0]),
        ([[-INF] * 4] * 4, [-INF] * 4, [3, 3, 3, 0]),
        ([[0, 0], [0, 0]], [0, 0], [1, 0]),
        ([[5]], [-5], [0]),
    ],
)
def test_decode_literals(general, singleton, expected):
    general, singleton = numpy.array(general, float), numpy.array(singleton, float)
    before = general.copy()
    assert decode(general, singleton).tolist() == expected
    assert_array_equal(general, before)


def test_greedy_decoding_can_miss_the_best_tree():
    """Its first split scores 5 but leaves nothing; the others score 4 and 4."""
    general, singleton = numpy.zeros((4, 4)), numpy.zeros(4)
    general[1, 3], general[2, 0], general[1, 2] = 5, 4, 4
    assert decode(general, singleton).tolist() == [3, 3, 3, 0]
    assert decode_one(general, singleton).tolist() == [3, 2, 0, 0]
    (first, targets), (second, _) = decode_beam(general, singleton, 2)
    assert (first, second) == (8, 5)
    assert targets.tolist() == [3, 2, 0, 0]


@every_decoder
@given(draw_scores())
def test_decoding_always_makes_a_whole_tree(decoder, scores):
    targets = decoder(*scores)
    assert_is_whole_tree(targets)
    assert targets[-1] == 0
    length = len(targets)
    brackets = [(first, last + 1, "X") for first, last in read_spans(targets)]
    brackets.sort(key=lambda bracket: (bracket[0], -bracket[1]))
    assert_array_equal(tree_to_pointing(brackets, length).targets, targets)


@st.composite
def draw_batch(draw):
    """Padded scores of sentences, more and fewer than are split level by level."""
    lengths = draw(
        st.lists(st.integers(1, 12), min_size=1, max_size=2 * MIN_BATCH_FOR_LEVELS)
    )
    shape = (len(lengths), max(lengths), max(lengths))
    random = numpy.random.default_rng(draw(st.integers(0, 1000)))
    # Few values, for many ties and deep trees, or any.
    levels = draw(st.sampled_from([2, 5, 1000]))
    general = random.integers(levels, size=shape).astype("f")
    return general, random.integers(levels, size=shape[:2]).astype("f"), lengths


@pytest.mark.parametrize(
    "decode_all, decoder", [(decode_batch, decode), (decode_exact, decode_one)]
)
@given(draw_batch())
def test_a_batch_has_the_trees_of_its_sentences(decode_all, decoder, batch):
    general, singleton, lengths = batch
    trees = decode_all(*batch)
    assert len(trees) == len(lengths)
    for i, length in enumerate(lengths):
        alone = decoder(general[i, :length, :length], singleton[i, :length])
        assert_array_equal(trees[i], alone)


@given(draw_few())
def test_exact_decoding_finds_the_best_of_all_trees(scores):
    (_, best), *_ = rank_trees(*scores)
    assert decode_one(*scores).tolist() == best


@given(draw_few())
def test_a_wide_beam_ranks_all_trees(scores):
    ranked, found = rank_trees(*scores), decode_beam(*scores, 100)
    assert [score for score, _ in found] == pytest.approx([s for s, _ in ranked])
    assert [targets.tolist() for _, targets in found] == [t for _, t in ranked]


@given(draw_few(), st.integers(1, 5))
def test_a_narrow_beam_gives_different_trees_best_first(scores, size):
    expected = {tuple(targets): score for score, targets in rank_trees(*scores)}
    found = decode_beam(*scores, size)
    assert len({tuple(targets) for _, targets in found}) == min(size, len(expected))
    for score, targets in found:
        assert score == pytest.approx(expected[tuple(targets)])
    assert [score for score, _ in found] == sorted((s for s, _ in found), reverse=True)


@given(draw_few())
def test_a_beam_of_one_is_greedy(scores):
    [(_, targets)] = decode_beam(*scores, 1)
    assert_array_equal(targets, decode(*scores))


# --- labels ---


@st.composite
def draw_tables(draw):
    shapes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=2))
    values = st.sampled_from([-4.0, -2.0, -1.0, -0.5, 0.0])
    return [
        draw(arrays(numpy.float32, (rows, columns), elements=values))
        for rows, columns in shapes
    ]


def sum_scores(tables, way):
    return sum(
        table[numpy.arange(len(table)), chosen].sum()
        for table, chosen in zip(tables, way)
    )


@given(draw_tables(), st.integers(1, 9))
def test_columns_are_those_with_the_highest_sums(tables, size):
    columns = [range(table.shape[1]) for table in tables for _ in table]
    lengths = numpy.cumsum([len(table) for table in tables])[:-1]
    every = [
        numpy.split(numpy.array(way, dtype=int), lengths) for way in product(*columns)
    ]
    best = sorted((sum_scores(tables, way) for way in every), reverse=True)
    found = find_k_best_labels(tables, size)
    assert [sum_scores(tables, way) for way in found] == best[:size]
    kept = {tuple(numpy.concatenate([*way, []]).tolist()) for way in found}
    assert len(kept) == len(found)
    close = [total for total in best[:size] if best[0] - total <= 2]
    found = find_k_best_labels(tables, size, 2.0)
    assert [sum_scores(tables, way) for way in found] == (
        close if size > 1 else best[:1]
    )
