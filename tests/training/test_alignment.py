import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_pointparse.tokens import set_constituents
from spacy_pointparse.training.alignment import align, get_gold

HAWKS = "(S (NP (JJ well-fed) (NNS hawks)) (VP (MD can) (RB not) (VP (VB hunt))) (. .))"
OWLS = "(S (NP (NNS Owls)) (VP (VBP hoot)))"


@pytest.fixture
def predict(vocab):
    """Make a predicted Doc: its sentences start where asked, or nowhere."""

    def make(words, spaces=None, starts=None):
        if starts is not None:
            starts = [i in starts for i in range(len(words))]
        return Doc(vocab, words=words, spaces=spaces, sent_starts=starts)

    return make


def gold(predicted, reference):
    return list(get_gold(Example(predicted, reference)))


def test_alignment_identical_tokens(predict, read_doc):
    reference = read_doc(HAWKS)
    words = ["well-fed", "hawks", "can", "not", "hunt", "."]
    (tree,) = gold(predict(words, starts=[0]), reference)
    assert tree.words == [0, 1, 2, 3, 4, 5]
    assert tree.constituents == [
        (0, 6, "S"),
        (0, 2, "NP"),
        (2, 5, "VP"),
        (4, 5, "VP"),
    ]
    assert tree.tags == ["JJ", "NNS", "MD", "RB", "VB", "."]


def test_alignment_split_token_keeps_the_brackets(predict, read_doc):
    words = ["well", "-", "fed", "hawks", "can", "not", "hunt", "."]
    (tree,) = gold(predict(words, starts=[0]), read_doc(HAWKS))
    assert tree.words == list(range(8))
    assert tree.constituents == [
        (0, 8, "S"),
        (0, 4, "NP"),
        (4, 7, "VP"),
        (6, 7, "VP"),
    ]
    assert tree.tags == ["", "", "", "NNS", "MD", "RB", "VB", "."]


def test_alignment_split_token_widens_a_bracket_over_one_word(predict, read_doc):
    reference = read_doc("(S (NP (NN E-mail)) (VP (VBZ helps)))")
    (tree,) = gold(predict(["E", "-", "mail", "helps"], starts=[0]), reference)
    assert tree.constituents == [(0, 4, "S"), (0, 3, "NP"), (3, 4, "VP")]
    assert tree.tags == ["", "", "", "VBZ"]


def test_alignment_merged_token_inside_a_bracket_keeps_the_tree(predict, read_doc):
    words = ["well-fed", "hawks", "cannot", "hunt", "."]
    (tree,) = gold(predict(words, starts=[0]), read_doc(HAWKS))
    assert tree.constituents == [
        (0, 5, "S"),
        (0, 2, "NP"),
        (2, 4, "VP"),
        (3, 4, "VP"),
    ]
    assert tree.tags == ["JJ", "NNS", "", "VB", "."]


def test_alignment_merged_token_over_a_bracket_makes_a_chain(predict, read_doc):
    reference = read_doc("(S (NP (QP (CD 2) (CD 000)) (NNS elks)) (VP (VBP run)))")
    (tree,) = gold(predict(["2000", "elks", "run"], starts=[0]), reference)
    assert tree.constituents == [
        (0, 3, "S"),
        (0, 2, "NP"),
        (0, 1, "QP"),
        (2, 3, "VP"),
    ]


def test_alignment_bracket_cut_by_a_merged_token_masks_its_sentence_only(
    predict, read_doc
):
    reference = read_doc(HAWKS, OWLS)
    words = ["well-fed", "hawkscan", "not", "hunt", ".", "Owls", "hoot"]
    lost, kept = gold(predict(words, starts=[0, 5]), reference)
    assert lost is None
    assert kept.words == [5, 6]
    assert kept.constituents == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]
    assert kept.tags == ["NNS", "VBP"]


def test_alignment_goes_by_characters_not_by_spacing(predict, read_doc):
    words = ["Owls", "\n\n", "hoot", " "]
    predicted = predict(words, spaces=[False] * 4, starts=[0])
    assert predicted.text != read_doc(OWLS).text
    (tree,) = gold(predicted, read_doc(OWLS))
    assert tree.words == [0, 2]
    assert tree.constituents == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]
    assert tree.tags == ["NNS", "VBP"]


def test_alignment_white_space_at_the_start(predict, read_doc):
    (tree,) = gold(predict(["\n", "Owls", "hoot"], starts=[0]), read_doc(OWLS))
    assert tree.words == [1, 2]
    assert tree.tags == ["NNS", "VBP"]


def test_alignment_goes_over_differing_case(predict, read_doc):
    (tree,) = gold(predict(["OWLS", "hoot"], starts=[0]), read_doc(OWLS))
    assert tree.constituents == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]


@pytest.mark.parametrize("words", [["Owls", "hooted"], ["Owls"], ["Jays", "hoot"]])
def test_alignment_differing_text_teaches_nothing(predict, read_doc, words):
    example = Example(predict(words, starts=[0]), read_doc(OWLS))
    assert align(example) is None
    assert list(get_gold(example)) == [None]


def test_alignment_predicted_sentences_that_cut_a_bracket(predict, read_doc):
    reference = read_doc(HAWKS, OWLS)
    words = ["well-fed", "hawks", "can", "not", "hunt", ".", "Owls", "hoot"]
    first, second, third = gold(predict(words, starts=[0, 2, 6]), reference)
    assert first is None
    assert second is None
    assert third.words == [6, 7]


def test_alignment_predicted_sentence_over_two_references_is_kept(predict, read_doc):
    words = ["Owls", "hoot", "Jays"]
    (tree,) = gold(predict(words, starts=[0]), read_doc(OWLS, "(NP (NNS Jays))"))
    assert tree.constituents == [
        (0, 2, "S"),
        (0, 1, "NP"),
        (1, 2, "VP"),
        (2, 3, "NP"),
    ]


def test_alignment_sentences_of_the_reference_where_none_are_predicted(
    predict, read_doc
):
    reference = read_doc(OWLS, "(S (NP (PRP It)) (VP (VBZ 's) (ADJP (JJ late))))")
    first, second = gold(predict(["\n", "Owls", "hoot", "It's", "late"]), reference)
    assert first.words == [1, 2]
    assert second is None
    first, second = gold(predict(["Owls", "ho", "ot", "It", "'s", "late"]), reference)
    assert (first.words, second.words) == ([0, 1, 2], [3, 4, 5])
    assert second.constituents == [
        (0, 3, "S"),
        (0, 1, "NP"),
        (1, 3, "VP"),
        (2, 3, "ADJP"),
    ]


def test_alignment_whole_doc_where_no_side_has_sentences(predict, vocab):
    reference = Doc(vocab, words=["a", "b", "c"])
    set_constituents(reference, [(1, 3, "NP")])
    (tree,) = gold(predict(["a", "b", "c"]), reference)
    assert tree.words == [0, 1, 2]
    assert tree.constituents == [(1, 3, "NP")]
    assert tree.tags == ["", "", ""]


def test_alignment_keeps_chains_in_order(predict, read_doc):
    (tree,) = gold(predict(["Run"], starts=[0]), read_doc("(S (VP (X (VB Run))))"))
    assert tree.constituents == [(0, 1, "S"), (0, 1, "VP"), (0, 1, "X")]


def test_alignment_bracket_over_white_space_is_left_out(vocab):
    words = ["Owls", " ", "hoot", "\n"]
    reference = Doc(vocab, words=words, sent_starts=[True, False, False, False])
    set_constituents(reference, [(0, 4, "S"), (1, 2, "X"), (2, 4, "VP"), (3, 4, "Y")])
    (tree,) = gold(reference.copy(), reference)
    assert tree.words == [0, 2]
    assert tree.constituents == [(0, 2, "S"), (1, 2, "VP")]


def test_alignment_sentence_of_white_space_takes_no_word(predict, vocab):
    words = ["Run", "!", "\n"]
    reference = Doc(vocab, words=words, sent_starts=[True, False, True])
    set_constituents(reference, [(0, 2, "S")])
    (tree,) = gold(predict(["Run", "!"]), reference)
    assert tree.constituents == [(0, 2, "S")]


def test_alignment_nothing_annotated_or_nothing_predicted(predict, read_doc, vocab):
    assert gold(predict(["Owls"], starts=[0]), Doc(vocab, words=["Owls"])) == []
    assert gold(Doc(vocab), read_doc(OWLS)) == []
    assert gold(Doc(vocab), Doc(vocab)) == []
    blank = Doc(vocab, words=["\n"])
    set_constituents(blank, [])
    assert gold(predict([" ", "\n"]), blank) == []
