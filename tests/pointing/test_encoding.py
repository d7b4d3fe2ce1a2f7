from itertools import islice
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from samples import assert_is_whole_tree, read_spans
from strategies import draw_constituents

from spacy_pointparse.pointing import (
    Pointings,
    decode,
    mask_allowed_targets,
    pointing_to_tree,
    tree_to_pointing,
)
from spacy_pointparse.trees import flatten_tree, read_trees

TREEBANKS = Path(__file__).parents[3] / "shared" / "treebanks"

# The paper's Figure 1, "She enjoys playing tennis .", with two brackets over "She"
# to have a chain over a word too.
FIGURE = [
    (0, 5, "S"),
    (0, 1, "S"),
    (0, 1, "NP"),
    (1, 4, "VP"),
    (2, 4, "S"),
    (2, 4, "VP"),
]


def point(constituents, length):
    targets, labels, unaries = tree_to_pointing(constituents, length)
    return targets.tolist(), labels, unaries


def decode_targets(targets):
    """Decode scores that are certain of these targets."""
    length = len(targets)
    general = numpy.zeros((length, length))
    general[numpy.arange(length), targets] = 1.0
    return decode(general, numpy.ones(length))


@pytest.mark.parametrize(
    "constituents, length, targets, labels, unaries",
    [
        # One, two and three words.
        ([], 1, [0], [""], [""]),
        ([(0, 1, "NP")], 1, [0], [""], ["NP"]),
        ([(0, 1, "FRAG"), (0, 1, "NP")], 1, [0], [""], ["FRAG NP"]),
        ([(0, 2, "NP")], 2, [1, 0], ["NP", "NP"], ["", ""]),
        ([(0, 2, "S"), (1, 2, "VP")], 2, [1, 0], ["S", "S"], ["", "VP"]),
        ([(0, 2, "S"), (0, 2, "VP")], 2, [1, 0], ["S VP", "S VP"], ["", ""]),
        ([(0, 3, "NP")], 3, [2, 2, 0], ["NP", "", "NP"], [""] * 3),
        ([(0, 3, "S"), (0, 2, "NP")], 3, [2, 0, 0], ["S", "NP", "S"], [""] * 3),
        ([(0, 3, "S"), (1, 3, "VP")], 3, [2, 2, 0], ["S", "VP", "S"], [""] * 3),
        # The paper's figure, where words are counted from 1.
        (
            FIGURE,
            5,
            [4, 4, 3, 1, 0],
            ["S", "", "S VP", "VP", "S"],
            ["S NP", "", "", "", ""],
        ),
        # Four children: (a (b (c d))).
        ([(0, 4, "NP")], 4, [3, 3, 3, 0], ["NP", "", "", "NP"], [""] * 4),
        # Four children, of two words, one, two and one: ((0 1) (2 ((3 4) 5))).
        (
            [(0, 6, "S"), (0, 2, "NP"), (3, 5, "VP")],
            6,
            [5, 0, 5, 5, 3, 0],
            ["S", "NP", "", "", "VP", "S"],
            [""] * 6,
        ),
        # A root of several children is one more span.
        (
            [(0, 4, "TOP"), (0, 2, "NP"), (2, 4, "VP"), (3, 4, "ADVP")],
            4,
            [3, 0, 3, 0],
            ["TOP", "NP", "VP", "TOP"],
            ["", "", "", "ADVP"],
        ),
        # Labels keep their hyphens and plus signs.
        (
            [(0, 2, "NP-SBJ+X"), (0, 2, "A|B")],
            2,
            [1, 0],
            ["NP-SBJ+X A|B"] * 2,
            ["", ""],
        ),
    ],
)
def test_pointing_of_literals(constituents, length, targets, labels, unaries):
    assert point(constituents, length) == (targets, labels, unaries)
    pointings = Pointings(numpy.asarray(targets), labels, unaries)
    assert pointing_to_tree(pointings) == constituents


@pytest.mark.parametrize("constituents", [[], [(0, 2, "NP")]])
def test_pointing_covers_a_sentence_without_a_root(constituents):
    pointings = tree_to_pointing(constituents, 3)
    assert pointings.labels[0] == "TOP"
    assert pointing_to_tree(pointings) == [(0, 3, "TOP"), *constituents]


def test_empty_root_label_comes_back_as_top():
    pointings = Pointings(numpy.array([2, 0, 0]), ["", "", ""], ["", "NP", ""])
    assert pointing_to_tree(pointings) == [(0, 3, "TOP"), (1, 2, "NP")]


@pytest.mark.parametrize(
    "constituents, label, problem",
    [
        ([(0, 4, "S"), (0, 3, "NP"), (2, 4, "VP")], "NP", "crosses"),
        ([(0, 4, "S"), (0, 2, "NP"), (1, 3, "VP")], "NP", "crosses"),
        ([(0, 4, "S"), (2, 5, "VP")], "VP", "not inside"),
        ([(-1, 2, "NP")], "NP", "not inside"),
        ([(0, 4, "S"), (2, 2, "NP")], "NP", "not inside"),
        ([(0, 4, "S"), (3, 2, "NP")], "NP", "not inside"),
        ([(0, 4, "S"), (4, 5, "ADVP")], "ADVP", "not inside"),
    ],
)
def test_pointing_refuses_what_is_no_tree(constituents, label, problem):
    with pytest.raises(ValueError, match=rf"^Constituent '{label}' .* {problem} "):
        tree_to_pointing(constituents, 4)


@given(draw_constituents())
def test_words_point_at_the_other_end_of_their_largest_span(tree):
    targets = tree_to_pointing(*tree).targets
    assert_is_whole_tree(targets)
    spans = read_spans(targets)
    for i, p in enumerate(targets.tolist()):
        widths = [last - first for first, last in spans if i in (first, last)]
        assert abs(p - i) == max(widths, default=0)


def test_pointing_in_the_left_factored_tree():
    # Four children, of two words, one, two and one: ((((0 1) 2) (3 4)) 5).
    constituents = [(0, 6, "S"), (0, 2, "NP"), (3, 5, "VP")]
    targets, labels, unaries = tree_to_pointing(constituents, 6, "left")
    assert targets.tolist() == [5, 0, 0, 4, 0, 0]
    assert labels == ["S", "NP", "", "VP", "", "S"]
    assert pointing_to_tree(Pointings(targets, labels, unaries)) == constituents


@given(draw_constituents())
def test_left_factored_is_right_factored_in_the_mirror(tree):
    constituents, length = tree
    mirrored = [(length - end, length - start, x) for start, end, x in constituents]
    mirrored.sort(key=lambda bracket: (bracket[0], -bracket[1]))
    left, right = (
        tree_to_pointing(constituents, length, "left"),
        tree_to_pointing(mirrored, length),
    )
    assert_array_equal(left.targets, length - 1 - right.targets[::-1])
    assert left.labels == right.labels[::-1]
    assert left.unaries == right.unaries[::-1]


@given(draw_constituents(), st.randoms(use_true_random=False))
def test_what_known_brackets_allow_holds_the_truth(tree, random):
    constituents, length = tree
    targets = tree_to_pointing(constituents, length).targets
    known = [bracket for bracket in constituents if random.random() < 0.5]
    allowed = mask_allowed_targets(known, length)
    assert allowed[numpy.arange(length), targets].all()
    assert (mask_allowed_targets([], length) | ~allowed).all()


def test_what_no_brackets_allow():
    assert mask_allowed_targets([], 4).astype(int).tolist() == [
        [0, 0, 0, 1],
        [1, 0, 1, 1],
        [1, 1, 0, 1],
        [1, 0, 0, 0],
    ]
    assert mask_allowed_targets([], 1).tolist() == [[True]]


def test_what_nested_brackets_allow():
    """Words 1 to 3 and 2 to 3: the latter ends where the former does, so that it is a
    right part, pointed out by word 2 alone."""
    assert mask_allowed_targets([(1, 4, "A"), (2, 4, "B")], 5).astype(int).tolist() == [
        [0, 0, 0, 0, 1],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 1, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize("side", ["right", "left"])
def test_pointing_of_a_deep_tree(side):
    length = 2000
    ends = {"right": [(i, length) for i in range(length - 1)]}
    ends["left"] = [(0, length - i) for i in range(length - 1)]
    constituents = [(start, end, f"X{start + end}") for start, end in ends[side]]
    pointings = tree_to_pointing(constituents, length)
    assert pointing_to_tree(pointings) == constituents
    assert_array_equal(decode_targets(pointings.targets), pointings.targets)


@pytest.mark.parametrize(
    "folder", sorted(path.parent.name for path in TREEBANKS.glob("*/dev.mrg"))
)
def test_pointing_round_trip_of_treebanks(folder):
    trees = list(islice(read_trees(TREEBANKS / folder / "dev.mrg"), 100))
    assert trees
    for tree in trees:
        words, _, constituents = flatten_tree(tree)
        pointings = tree_to_pointing(constituents, len(words))
        assert pointing_to_tree(pointings) == constituents
        assert_array_equal(decode_targets(pointings.targets), pointings.targets)
