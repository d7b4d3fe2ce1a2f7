import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from test_evalb import make_parses, seeds

from spacy_pointparse.evaluation.evalb import VALID, count_brackets
from spacy_pointparse.evaluation.params import SETTINGS, get_setting
from spacy_pointparse.evaluation.scorer import (
    constituents_score,
    find_errors,
    make_constituents_scorer,
)
from spacy_pointparse.tokens import SPANS_KEY, set_constituents

VOCAB = Vocab()


def make_doc(words, tags, constituents, **kwargs):
    doc = Doc(VOCAB, words=words, tags=tags, **kwargs)
    if constituents is not None:
        set_constituents(doc, constituents)
    return doc


def score(gold, pred, **kwargs):
    return constituents_score([Example(pred, gold)], **kwargs)


@given(seed=seeds, setting=st.sampled_from(sorted(SETTINGS)))
@settings(deadline=None)
def test_scorer_agrees_with_sentence_counts(seed, setting):
    gold, pred = make_parses(seed)
    row = count_brackets(gold, pred, get_setting(setting))
    scores = score(make_doc(*gold), make_doc(*pred), setting=setting)
    assert scores["spans_constituents_p"] == pytest.approx(
        row.matched / (row.test or 1)
    )
    assert scores["spans_constituents_r"] == pytest.approx(
        row.matched / (row.gold or 1)
    )
    assert (scores["constituents_crossing"] or 0) == row.crossing
    assert scores["constituents_rejected"] == 0
    if row.status == VALID:
        assert scores["constituents_complete"] == (row.matched == row.gold == row.test)


WORDS = ["Bees", ",", "they", "hum", "."]
TAGS = ["NNS", ",", "PRP", "VBP", "."]
GOLD = [(0, 5, "S"), (0, 1, "NP"), (2, 3, "NP"), (3, 4, "VP")]


def test_scorer_identical():
    scores = score(make_doc(WORDS, TAGS, GOLD), make_doc(WORDS, TAGS, GOLD))
    perfect = {"p": 1.0, "r": 1.0, "f": 1.0}
    assert scores == {
        "spans_constituents_p": 1.0,
        "spans_constituents_r": 1.0,
        "spans_constituents_f": 1.0,
        "spans_constituents_per_type": {"NP": perfect, "S": perfect, "VP": perfect},
        "constituents_complete": 1.0,
        "constituents_crossing": 0.0,
        "constituents_tag_acc": 1.0,
        "constituents_rejected": 0,
    }


def test_scorer_hand_counted():
    pred = [(0, 4, "S"), (0, 2, "NP"), (0, 3, "X"), (2, 4, "VP"), (0, 5, "TOP")]
    tags = ["NN", ",", "PRP", "VBP", "."]
    scores = score(make_doc(WORDS, TAGS, GOLD), make_doc(WORDS, tags, pred))
    # Right: S and the first NP, without their punctuation.
    assert scores["spans_constituents_p"] == pytest.approx(2 / 4)
    assert scores["spans_constituents_r"] == pytest.approx(2 / 4)
    assert scores["spans_constituents_f"] == pytest.approx(2 / 4)
    per_type = scores["spans_constituents_per_type"]
    assert list(per_type) == ["NP", "S", "VP", "X"]
    assert per_type["NP"] == pytest.approx({"p": 1.0, "r": 0.5, "f": 2 / 3})
    assert per_type["VP"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert scores["constituents_complete"] == 0.0
    assert scores["constituents_crossing"] == 0.0
    assert scores["constituents_tag_acc"] == pytest.approx(2 / 3)
    assert scores["constituents_rejected"] == 0


def test_scorer_crossing_is_averaged_over_sentences():
    sents = [True, False, False, True]
    gold = make_doc(list("abcd"), ["NN"] * 4, [(0, 2, "NP")], sent_starts=sents)
    pred = make_doc(list("abcd"), ["NN"] * 4, [(1, 3, "NP"), (2, 4, "X")])
    assert score(gold, pred)["constituents_crossing"] == 0.5


def test_scorer_counts_duplicates():
    gold = make_doc(["Bees"], ["NNS"], [(0, 1, "NP")] * 3)
    pred = make_doc(["Bees"], ["NNS"], [(0, 1, "NP")] * 2)
    scores = score(gold, pred)
    assert scores["spans_constituents_p"] == 1.0
    assert scores["spans_constituents_r"] == pytest.approx(2 / 3)
    assert scores["constituents_complete"] == 0.0


def test_scorer_setting():
    gold = make_doc(["ran", "off"], ["VBD", "RP"], [(1, 2, "PRT")])
    pred = make_doc(["ran", "off"], ["VBD", "RP"], [(1, 2, "ADVP")])
    collins = score(gold, pred)
    assert collins["spans_constituents_f"] == 1.0
    assert list(collins["spans_constituents_per_type"]) == ["ADVP"]
    assert score(gold, pred, setting="spmrl")["spans_constituents_f"] == 0.0


def test_scorer_cuts_functions_off_labels_as_evalb_does():
    words, tags = ["Otter", "fangen", "Fische"], ["NN-SB", "VV", "NN-OA"]
    gold = make_doc(words, tags, [(0, 3, "S"), (0, 1, "NP-SB"), (2, 3, "NP-OA")])
    tags = ["NN-OA", "VV", "NN#x"]
    pred = make_doc(words, tags, [(0, 3, "S"), (0, 1, "NP-OA"), (2, 3, "NP#x")])
    scores = score(gold, pred, setting="spmrl")
    assert scores["spans_constituents_f"] == 1.0
    assert scores["constituents_tag_acc"] == 1.0
    assert list(scores["spans_constituents_per_type"]) == ["NP", "S"]
    assert find_errors(Example(pred, gold), setting="spmrl") == ([], [])


def test_scorer_takes_a_parameter_file(tmp_path):
    path = tmp_path / "own.prm"
    path.write_text("DELETE_LABEL X\nEQ_LABEL NP VP\n", encoding="utf8")
    gold = make_doc(["a"], ["NN"], [(0, 1, "X"), (0, 1, "NP")])
    pred = make_doc(["a"], ["NN"], [(0, 1, "VP")])
    assert make_constituents_scorer(str(path))([Example(pred, gold)]) == score(
        gold, pred, setting=str(path)
    )
    assert score(gold, pred, setting=str(path))["spans_constituents_f"] == 1.0


def test_scorer_gold_tags_decide():
    # Predicted as a word, the comma would make another NP, and EVALB would give up.
    gold = make_doc(WORDS, TAGS, GOLD)
    pred = make_doc(WORDS, ["NNS", "CC", "PRP", "VBP", "."], [*GOLD, (0, 2, "NP")])
    scores = score(gold, pred)
    assert scores["spans_constituents_r"] == 1.0
    assert scores["spans_constituents_p"] == pytest.approx(4 / 5)
    assert scores["constituents_tag_acc"] == 1.0
    assert scores["constituents_rejected"] == 1


def test_scorer_rejected_is_counted_by_sentence():
    words, tags = WORDS * 3, TAGS * 3
    starts = [True, False, False, False, False] * 3
    gold = make_doc(words, tags, [], sent_starts=starts)
    tags = ["NNS", ",", "PRP", ".", ".", *TAGS, "NNS", "CC", "PRP", "VBP", "."]
    assert score(gold, make_doc(words, tags, []))["constituents_rejected"] == 2


def test_scorer_other_tokens_and_spaces():
    gold = make_doc(
        ["well", "-", "fed", "bees", "."],
        ["RB", "HYPH", "JJ", "NNS", "."],
        [(0, 5, "NP"), (0, 3, "ADJP"), (3, 4, "NP")],
        spaces=[False, False, True, False, False],
    )
    pred = make_doc(
        ["\n", "well-fed", "be", "es", " ", "."],
        ["_SP", "JJ", "NNS", "NN", "_SP", "."],
        [(1, 6, "NP"), (0, 2, "ADJP"), (2, 3, "NP")],
        spaces=[False, True, False, False, False, True],
    )
    scores = score(gold, pred)
    assert scores["spans_constituents_p"] == pytest.approx(2 / 3)
    assert scores["spans_constituents_r"] == pytest.approx(2 / 3)
    assert scores["constituents_tag_acc"] is None  # no token in common but the stop
    assert scores["constituents_rejected"] == 1


def test_scorer_other_tokens_perfect():
    gold = make_doc(["can", "not", "fly"], ["MD", "RB", "VB"], [(0, 3, "VP")])
    pred = make_doc(["cannot", "fly"], ["MD", "VB"], [(0, 2, "VP")])
    scores = score(gold, pred)
    assert scores["spans_constituents_f"] == 1.0
    assert scores["constituents_complete"] == 1.0
    assert scores["constituents_tag_acc"] == 1.0


def test_scorer_ignores_white_space_tokens():
    tags = ["_SP", "NN", "_SP", "."]
    gold = make_doc(["\n", "fog", "\n", "."], tags, [(1, 4, "NP")])
    tags = ["NN", "NN", "_SP", ".", "NN"]
    pred = make_doc(["fog", "\n\n", " ", ".", "\n"], tags, [(0, 5, "NP")])
    scores = score(gold, pred)
    assert scores["spans_constituents_f"] == 1.0
    assert scores["constituents_tag_acc"] == 1.0
    assert scores["constituents_rejected"] == 0


def test_scorer_other_sentences():
    words, tags = [*WORDS, *WORDS], [*TAGS, *TAGS]
    both = [*GOLD, *((start + 5, end + 5, label) for start, end, label in GOLD)]
    starts = [True, False, False, False, False] * 2
    gold = make_doc(words, tags, both, sent_starts=starts)
    joined = make_doc(
        words, tags, [*both, (0, 10, "S")], sent_starts=[True] + [False] * 9
    )
    scores = score(gold, joined)
    assert scores["spans_constituents_p"] == pytest.approx(8 / 9)
    assert scores["spans_constituents_r"] == 1.0
    assert scores["constituents_complete"] == 0.5  # only the second sentence
    missing = make_doc(words, tags, both[:-1])
    assert score(gold, missing)["constituents_complete"] == 0.5
    assert score(make_doc(words, tags, both), missing)["constituents_complete"] == 0.0


def test_scorer_sentence_of_punctuation_does_not_count():
    words, tags, starts = [".", "fog", "."], [".", "NN", "."], [True, True, False]
    gold = make_doc(words, tags, [(1, 2, "NP")], sent_starts=starts)
    assert score(gold, make_doc(words, tags, []))["constituents_complete"] == 0.0
    assert score(gold, gold)["constituents_complete"] == 1.0


def test_scorer_without_gold_is_none():
    parsed, unparsed = make_doc(WORDS, TAGS, GOLD), make_doc(WORDS, TAGS, None)
    scores = score(unparsed, parsed)
    assert set(scores) == set(score(parsed, parsed))
    assert set(scores.values()) == {None}
    assert constituents_score([]) == scores


def test_scorer_leaves_out_references_without_gold():
    parsed, unparsed = make_doc(WORDS, TAGS, GOLD), make_doc(WORDS, TAGS, None)
    examples = [Example(parsed, parsed), Example(parsed, unparsed)]
    assert constituents_score(examples) == score(parsed, parsed)


def test_scorer_without_prediction_is_zero():
    parsed, unparsed = make_doc(WORDS, TAGS, GOLD), make_doc(WORDS, TAGS, None)
    scores = score(parsed, unparsed)
    assert SPANS_KEY not in unparsed.spans
    assert scores["spans_constituents_f"] == 0.0
    assert scores["constituents_complete"] == 0.0
    assert scores["spans_constituents_per_type"]["NP"]["r"] == 0.0


def test_scorer_without_gold_tags():
    gold = make_doc(WORDS, None, GOLD)
    scores = score(gold, make_doc(WORDS, TAGS, GOLD))
    assert scores["spans_constituents_f"] == 1.0
    assert scores["constituents_tag_acc"] is None
    assert scores["constituents_rejected"] is None


@pytest.mark.parametrize("words", [[], [" ", "\n"]])
def test_scorer_nothing_to_parse(words):
    doc = make_doc(words, None, [])
    scores = score(doc, doc)
    assert scores["spans_constituents_f"] == 0.0
    assert scores["constituents_complete"] is None


def test_scorer_adds_up_examples():
    one = Example(make_doc(["a"], ["NN"], [(0, 1, "NP")]), make_doc(["a"], ["NN"], []))
    doc = make_doc(["b"], ["NN"], [(0, 1, "NP")] * 3)
    scores = constituents_score(iter([one, Example(doc, doc)]))
    assert scores["spans_constituents_p"] == pytest.approx(3 / 4)
    assert scores["spans_constituents_r"] == 1.0
    assert scores["constituents_complete"] == 0.5


def test_scorer_texts_differ():
    gold, pred = make_doc(["fog"], None, []), make_doc(["mist"], None, [])
    with pytest.raises(ValueError, match=r"E949.*mist.*fog"):
        score(gold, pred)


def test_scorer_pickles():
    scorer = pickle.loads(pickle.dumps(make_constituents_scorer("spmrl")))
    gold = make_doc(["ran", "off"], ["VBD", "RP"], [(1, 2, "PRT"), (0, 2, "VP")])
    pred = make_doc(["ran", "off"], ["VBD", "RP"], [(1, 2, "ADVP"), (0, 2, "VP")])
    # The pipe hands over its labels and its own configuration.
    scores = scorer([Example(pred, gold)], labels=("VP",), overwrite_tags=False)
    assert scores["spans_constituents_f"] == pytest.approx(0.5)


def test_scorer_unknown_setting():
    with pytest.raises(ValueError, match=r"'colins'.*collins, nk, spmrl"):
        make_constituents_scorer("colins")


@given(seed=seeds, setting=st.sampled_from(sorted(SETTINGS)))
@settings(deadline=None)
def test_errors_are_what_the_score_counts(seed, setting):
    gold, pred = make_parses(seed)
    row = count_brackets(gold, pred, get_setting(setting))
    example = Example(make_doc(*pred), make_doc(*gold))
    wrong, missing = find_errors(example, setting=setting)
    assert len(wrong) == row.test - row.matched
    assert len(missing) == row.gold - row.matched


def list_errors(gold, pred, **kwargs):
    """The brackets that are wrong, and those that are missed."""
    wrong, missing = find_errors(Example(pred, gold), **kwargs)
    spans = (
        [pred.spans[SPANS_KEY][i] for i in wrong],
        [gold.spans[SPANS_KEY][i] for i in missing],
    )
    return tuple([(s.start, s.end, s.label_) for s in side] for side in spans)


def test_errors_are_numbers_in_the_span_groups():
    pred = make_doc(WORDS, TAGS, [(0, 5, "S"), (0, 2, "NP"), (2, 4, "VP")])
    gold = make_doc(WORDS, TAGS, GOLD)
    # The comma after the noun phrase does not count.
    assert list_errors(gold, pred) == ([(2, 4, "VP")], [(2, 3, "NP"), (3, 4, "VP")])


def test_errors_of_a_chain_are_what_is_too_much():
    once = make_doc(["Bees", "hum"], ["NNS", "VBP"], [(0, 1, "NP")])
    twice = make_doc(["Bees", "hum"], ["NNS", "VBP"], [(0, 1, "NP"), (0, 1, "NP")])
    assert find_errors(Example(twice, once)) == ([1], [])
    assert find_errors(Example(once, twice)) == ([], [1])


def test_errors_go_by_the_setting():
    gold = make_doc(["Give", "up"], ["VB", "RP"], [(0, 2, "VP"), (1, 2, "PRT")])
    pred = make_doc(["Give", "up"], ["VB", "RP"], [(0, 2, "VP"), (1, 2, "ADVP")])
    assert find_errors(Example(pred, gold)) == ([], [])
    assert find_errors(Example(pred, gold), setting="spmrl") == ([1], [1])


def test_errors_on_other_tokens():
    gold = make_doc(["can", "not"], ["MD", "RB"], [(0, 2, "S"), (0, 1, "VP")])
    pred = make_doc(["cannot"], ["MD"], [(0, 1, "S")])
    assert list_errors(gold, pred) == ([], [(0, 1, "VP")])


def test_errors_of_differing_texts():
    with pytest.raises(ValueError, match="E949"):
        find_errors(Example(make_doc(["a"], ["X"], []), make_doc(["b"], ["X"], [])))
