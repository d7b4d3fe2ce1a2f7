import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_pointparse.constituents import KEY, set_constituents
from spacy_pointparse.evalb import (
    ERROR,
    SETTINGS,
    SKIPPED,
    VALID,
    constituents_score,
    count_brackets,
    evaluate_files,
    get_setting,
    make_constituents_scorer,
)

REFERENCE = Path(__file__).parents[2] / "shared" / "evalb"
VOCAB = Vocab()

# What it shows, gold, predicted, and by hand, under COLLINS: length, status, matched,
# gold, test, crossing, words, tags.
PAIRS = [
    (
        "PRT counts as ADVP",
        "(TOP (S (NP (DT A) (NN fox)) (VP (VBD ran) (PRT (RP off))) (. .)))",
        "(TOP (S (NP (DT A) (NN fox)) (VP (VBD ran) (ADVP (RB off))) (. .)))",
        (5, VALID, 4, 4, 4, 0, 4, 3),
    ),
    (
        "one bracket crosses",
        "(TOP (NP (NP (JJ old) (NNS boats)) (CC and) (NP (NNS ferries))))",
        "(TOP (NP (JJ old) (NP (NNS boats) (CC and) (NNS ferries))))",
        (4, VALID, 1, 3, 2, 1, 4, 4),
    ),
    (
        "three brackets cross, one of them counted twice",
        "(TOP (X (X (X (X (A a) (B b)) (C c)) (D d)) (E e)))",
        "(TOP (X (A a) (Y (Y (B b) (X (C c) (D d) (E e))))))",
        (5, VALID, 1, 4, 4, 3, 5, 5),
    ),
    (
        "a word differs",
        "(TOP (S (NP (NNS Bees)) (VP (VBP hum)) (. .)))",
        "(TOP (S (NP (NNS Bees)) (VP (VBP buzz)) (. .)))",
        (3, ERROR, 0, 0, 0, 0, 0, 0),
    ),
    (
        "a comma is a word to one side only",
        "(TOP (NP (NNP Oslo) (, ,) (NNP Bergen)))",
        "(TOP (NP (NNP Oslo) (CC ,) (NNP Bergen)))",
        (3, ERROR, 0, 0, 0, 0, 0, 0),
    ),
    (
        "gold is one word longer",
        "(TOP (NP (NNP New) (NNP York)))",
        "(TOP (NP (NNP York)))",
        (2, ERROR, 0, 0, 0, 0, 0, 0),
    ),
    (
        "punctuation only",
        "(TOP (FRAG (: ...) (. .)))",
        "(TOP (FRAG (: ...) (. .)))",
        (2, SKIPPED, 0, 0, 0, 0, 0, 0),
    ),
    (
        "no word left of the predicted tree",
        "(TOP (NP (NN Rain) (. .)))",
        "(TOP (NP (. Rain) (. .)))",
        (2, SKIPPED, 0, 0, 0, 0, 0, 0),
    ),
    (
        "NP over NP counts twice",
        "(TOP (S (NP (NP (NP (NNS Bees)))) (VP (VBP hum))))",
        "(TOP (S (NP (NP (NNS Bees))) (VP (VP (VBP hum)))))",
        (2, VALID, 4, 5, 5, 0, 2, 2),
    ),
    (
        "punctuation may hang anywhere, and a bracket with nothing else does not count",
        "(TOP (S (NP (NN Rain) (, ,)) (VP (VBD fell)) (PRN (: --)) (. .)))",
        "(TOP (S (`` ,) (NP (NN Rain)) (VP (VBD fell) (: --) (. .))))",
        (5, VALID, 3, 3, 3, 0, 2, 2),
    ),
    (
        "other marks are words",
        "(TOP (S (VP (VB Go)) (! !)))",
        "(TOP (S (VP (VB Go) (! !))))",
        (2, VALID, 1, 2, 2, 0, 2, 2),
    ),
    (
        "empties are not even counted, functions and indices are cut off labels",
        "(TOP (S (NP-SBJ=2 (-NONE- *)) (VP-1 (VB Go) (ADVP-LOC (RB home)))))",
        "(TOP (S (VP (VB Go) (ADVP=3 (RB-X home)))))",
        (2, VALID, 3, 3, 3, 0, 2, 1),
    ),
    (
        "brackets as words, and a root without a label",
        "( (PRN (-LRB- -LRB-) (NP (NN fog)) (-RRB- -RRB-)))",
        "(TOP (PRN (-LRB- -LRB-) (NP (NN fog)) (-LRB- -RRB-)))",
        (3, VALID, 2, 2, 2, 0, 3, 2),
    ),
]
FIGURES = ("length", "status", "matched", "gold", "test", "crossing", "words", "tags")
TABLE = """\
2 : Words unmatch (hum|buzz)
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
   1    4    0   33.33  50.00     1      3    2      1      4     4   100.00
   2    3    1    0.00   0.00     0      0    0      0      0     0     0.00
============================================================================
                 33.33  50.00      1     3     2      1      4     4   100.00
=== Summary ===

-- All --
Number of sentence        =      2
Number of Error sentence  =      1
Number of Skip  sentence  =      0
Number of Valid sentence  =      1
Bracketing Recall         =  33.33
Bracketing Precision      =  50.00
Bracketing FMeasure       =  40.00
Complete match            =   0.00
Average crossing          =   1.00
No crossing               =   0.00
2 or less crossing        = 100.00
Tagging accuracy          = 100.00

-- len<=40 --
Number of sentence        =      2
Number of Error sentence  =      1
Number of Skip  sentence  =      0
Number of Valid sentence  =      1
Bracketing Recall         =  33.33
Bracketing Precision      =  50.00
Bracketing FMeasure       =  40.00
Complete match            =   0.00
Average crossing          =   1.00
No crossing               =   0.00
2 or less crossing        = 100.00
Tagging accuracy          = 100.00
"""


@pytest.fixture
def evaluate(tmp_path):
    def evaluate(gold, pred, setting="collins"):
        (tmp_path / "gold.mrg").write_text("\n".join(gold), encoding="utf8")
        (tmp_path / "pred.mrg").write_text("\n".join(pred), encoding="utf8")
        return evaluate_files(tmp_path / "gold.mrg", tmp_path / "pred.mrg", setting)

    return evaluate


def get_figures(row):
    return tuple(getattr(row, name) for name in FIGURES)


@pytest.mark.skipif(not REFERENCE.exists(), reason="no reference scores here")
@pytest.mark.parametrize("setting", ["COLLINS", "nk", "spmrl"])
@pytest.mark.parametrize("name", ["en", "wsj", "id", "err"])
def test_evalb_equals_reference(name, setting):
    gold, pred = REFERENCE / f"{name}.gold.mrg", REFERENCE / f"{name}.pred.mrg"
    expected = (REFERENCE / f"{name}.{setting}.evalb").read_text(encoding="utf8")
    table = evaluate_files(gold, pred, setting.lower()).table()
    assert table.split("\n") == expected.split("\n")


@pytest.mark.parametrize("about,gold,pred,figures", PAIRS, ids=[p[0] for p in PAIRS])
def test_evalb_hand_counted(evaluate, about, gold, pred, figures):
    assert [get_figures(row) for row in evaluate([gold], [pred]).rows] == [figures]


def test_evalb_messages(evaluate):
    _, golds, preds, _ = zip(*PAIRS)
    rows = evaluate(golds, preds).rows
    assert [(i, row.message) for i, row in enumerate(rows, 1) if row.message] == [
        (4, "Words unmatch (hum|buzz)"),
        (5, "Length unmatch (2|3)"),
        (6, "Length unmatch (2|1)"),
    ]


def test_evalb_summary(evaluate):
    _, golds, preds, _ = zip(*PAIRS)
    report = evaluate(golds, preds)
    assert report.total == {
        "sentences": 13,
        "errors": 3,
        "skipped": 2,
        "valid": 8,
        "matched": 19,
        "gold": 26,
        "test": 25,
        "crossing": 4,
        "words": 24,
        "tags": 21,
        "recall": pytest.approx(100 * 19 / 26),
        "precision": pytest.approx(100 * 19 / 25),
        "fscore": pytest.approx(100 * 2 * 19 / (26 + 25)),
        "complete": 50.0,
        "average_crossing": 0.5,
        "no_crossing": 75.0,
        "few_crossing": 87.5,
        "tag_accuracy": pytest.approx(100 * 21 / 24),
    }
    assert report.short == report.total


def test_evalb_two_crossing(evaluate):
    gold = "(TOP (X (X (X (A a) (B b)) (C c)) (D d)))"
    pred = "(TOP (X (A a) (X (B b) (X (C c) (D d)))))"
    total = evaluate([gold], [pred]).total
    assert (total["average_crossing"], total["few_crossing"]) == (2.0, 100.0)


def test_evalb_per_type(evaluate):
    _, golds, preds, _ = zip(*PAIRS)
    per_type = evaluate(golds, preds).per_type
    counts = {label: (s.tp, s.fp, s.fn) for label, s in per_type.items()}
    assert counts == {
        "ADVP": (2, 0, 0),
        "NP": (6, 1, 3),
        "PRN": (1, 0, 0),
        "S": (5, 0, 0),
        "VP": (4, 2, 1),
        "X": (1, 1, 3),
        "Y": (0, 2, 0),
    }
    assert list(counts) == sorted(counts)


def test_evalb_table(evaluate):
    _, golds, preds, _ = zip(PAIRS[1], PAIRS[3], strict=True)
    assert evaluate(golds, preds).table() == TABLE


def test_evalb_cutoff(evaluate):
    fits = f"(TOP (NP {'(NN fog) ' * 39}(. .)))"
    too_long = f"(TOP (NP {'(NN fog) ' * 40}(. .)))"
    with_empty = f"(TOP (NP (-NONE- *) {'(NN fog) ' * 39}(. .)))"
    trees = [fits, too_long, with_empty]
    report = evaluate(trees, trees)
    assert [row.length for row in report.rows] == [40, 41, 40]
    assert (report.total["valid"], report.short["valid"]) == (3, 2)
    assert evaluate(trees, trees, "spmrl").short["valid"] == 3


def test_evalb_nk_restores_quotes(evaluate):
    gold = ["(TOP (NP (NP (NNS bees) (POS ')) (NN den)))"]
    pred = ["(TOP (NP (NNS bees) ('' ') (NN den)))"]
    assert evaluate(gold, pred).rows[0].message == "Length unmatch (3|2)"
    figures = get_figures(evaluate(gold, pred, "nk").rows[0])
    assert figures == (3, VALID, 1, 2, 1, 0, 3, 2)
    # Not those that both sides delete, nor where a tag is none of a quote.
    gold = ["(TOP (NP (NNS bees) (POS ') (`` `) (NN den)))"]
    pred = ["(TOP (NP (NNS bees) ('' ') ('' `) (NN den)))"]
    assert evaluate(gold, pred, "nk").rows[0].words == 3
    gold = ["(TOP (NP (NNS bees) (JJ ') (`` `) (NN den)))"]
    assert evaluate(gold, pred, "nk").rows[0].status == ERROR


def test_evalb_nk_deletes_more(evaluate):
    gold, pred = ["(S1 (S (VP (VB Go)) (! !)))"], ["(S (VP (VB Go) (! !)))"]
    assert get_figures(evaluate(gold, pred).rows[0]) == (2, VALID, 1, 3, 2, 0, 2, 2)
    figures = get_figures(evaluate(gold, pred, "nk").rows[0])
    assert figures == (2, VALID, 2, 2, 2, 0, 1, 1)


def test_evalb_spmrl(evaluate):
    gold = "(VROOT (S (NP (NN##num=sg## fog)) (PRT-X (PTK weg)) (. .)))"
    pred = "(ROOT (S (NP (NN fog)) (ADVP (PTK weg)) (, .)))"
    rows = evaluate([gold], [pred], "spmrl").rows
    assert [get_figures(row) for row in rows] == [(3, VALID, 2, 3, 3, 0, 3, 2)]


def test_evalb_spmrl_keeps_bracket_tags(evaluate):
    gold, pred = "(TOP (X (-LRB- -LRB-)))", "(TOP (X (-RRB- -LRB-)))"
    assert evaluate([gold], [pred], "spmrl").rows[0].tags == 0


def test_evalb_spmrl_length_is_no_error(evaluate):
    golds = ["(TOP (NP (NNP Oslo) (. .)))", "(TOP (NP (NN fog)))"]
    preds = ["(TOP (NP (NNP Oslo)))", "(TOP (NP (NN mist)))"]
    rows = evaluate(golds, preds, "spmrl").rows
    assert [row.message for row in rows] == [
        "Length unmatch (2|1)",
        "Words unmatch (fog|mist)",
    ]
    assert get_figures(rows[0]) == (2, VALID, 0, 0, 0, 0, 0, 0)
    assert get_figures(rows[1]) == (1, ERROR, 0, 0, 0, 0, 0, 0)


def test_evalb_empty_files(evaluate):
    total = evaluate([], []).total
    assert set(total.values()) == {0}


def test_evalb_number_of_trees_differs(evaluate):
    tree = "(TOP (NP (NN fog)))"
    with pytest.raises(ValueError, match=r"3 gold trees .* 1\s+predicted"):
        evaluate([tree] * 3, [tree])


def test_evalb_unknown_setting(evaluate):
    match = "'colins'.*collins, nk, spmrl"
    with pytest.raises(ValueError, match=match):
        evaluate([], [], "colins")
    with pytest.raises(ValueError, match=match):
        make_constituents_scorer("colins")


def grow(rng, start, end):
    """Make random nested brackets over words: chains, flat nodes, punctuation."""
    brackets = [(start, end, rng.choice(["NP", "ADVP", "PRT", "TOP", "X"]))]
    if end - start > 1:
        n_cuts = rng.randint(1, min(3, end - start - 1))
        cuts = sorted(rng.sample(range(start + 1, end), n_cuts))
        for i, j in zip([start, *cuts], [*cuts, end]):
            if rng.random() < 0.7:
                brackets += grow(rng, i, j)
    elif rng.random() < 0.3:
        brackets += grow(rng, start, end)
    return brackets


def make_parses(seed):
    """Two random parses of the same words with the same tags."""
    rng = random.Random(seed)
    n = rng.randint(1, 9)
    tags = rng.choices(["NN", "VB", ",", ".", "?", "-NONE-"], k=n)
    words = [f"w{i}" for i in range(n)]
    return [(words, tags, grow(rng, 0, n)) for _ in range(2)]


seeds = st.integers(min_value=0, max_value=2**32)


@given(seed=seeds, setting=st.sampled_from(sorted(SETTINGS)))
@settings(deadline=None)
def test_evalb_itself_is_perfect(seed, setting):
    gold, _ = make_parses(seed)
    row = count_brackets(gold, gold, get_setting(setting))
    left = [t for t in gold[1] if t not in get_setting(setting).deleted]
    assert row.status == (VALID if left else SKIPPED)
    assert row.matched == row.gold == row.test
    assert (row.words, row.tags, row.crossing) == (len(left), len(left), 0)


@given(seed=seeds)
@settings(deadline=None)
def test_evalb_crossing_equals_definition(seed):
    gold, pred = make_parses(seed)
    gold, pred = (
        (words, ["NN"] * len(words), spans) for words, _, spans in (gold, pred)
    )
    expected = [
        any(a < c < b < d or c < a < d < b for c, d, y in gold[2] if y != "TOP")
        for a, b, x in pred[2]
        if x != "TOP"
    ]
    assert count_brackets(gold, pred, get_setting("collins")).crossing == sum(expected)


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
    assert KEY not in unparsed.spans
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
