import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.vocab import Vocab

from spacy_pointparse.evaluation.evalb import (
    ERROR,
    SKIPPED,
    VALID,
    count_brackets,
)
from spacy_pointparse.evaluation.params import SETTINGS, get_setting
from spacy_pointparse.evaluation.report import evaluate_files
from spacy_pointparse.trees import TreebankError

OURS = Path(__file__).parent / "evalb"
REFERENCE = Path(__file__).parents[3] / "shared" / "evalb"
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
        "brackets as words, and a root without a label, which counts",
        "( (PRN (-LRB- -LRB-) (NP (NN fog)) (-RRB- -RRB-)))",
        "(TOP (PRN (-LRB- -LRB-) (NP (NN fog)) (-LRB- -RRB-)))",
        (3, VALID, 2, 3, 2, 0, 3, 2),
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


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_evalb_equals_the_c_program(setting):
    gold, pred = OURS / f"{setting}.gold.mrg", OURS / f"{setting}.pred.mrg"
    expected = (OURS / f"{setting}.evalb").read_text(encoding="utf8")
    table = evaluate_files(gold, pred, setting).table()
    assert table.split("\n") == expected.split("\n")


@pytest.mark.parametrize("setting", ["collins", "nk", "equal.prm", "unlabeled.prm"])
def test_evalb_compares_lines(setting):
    gold, pred = OURS / "lines.gold.mrg", OURS / "lines.pred.mrg"
    expected = (OURS / f"lines.{Path(setting).stem}.evalb").read_text(encoding="utf8")
    name = str(OURS / setting) if setting.endswith(".prm") else setting
    table = evaluate_files(gold, pred, name).table()
    assert table.split("\n") == expected.split("\n")


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
        "gold": 27,
        "test": 25,
        "crossing": 4,
        "words": 24,
        "tags": 21,
        "recall": pytest.approx(100 * 19 / 27),
        "precision": pytest.approx(100 * 19 / 25),
        "fscore": pytest.approx(100 * 2 * 19 / (27 + 25)),
        "complete": 37.5,
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
        "": (0, 0, 1),
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
    # Not those that both sides delete, nor where a tag is not one of a quote.
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


@pytest.mark.parametrize("failed", ["(())", "()", " ( ( ) ) "])
def test_evalb_parse_that_failed_is_skipped(evaluate, failed):
    tree = "(TOP (NP (NN fog)))"
    rows = evaluate([tree, tree], [failed, tree]).rows
    assert get_figures(rows[0]) == (1, SKIPPED, 0, 0, 0, 0, 0, 0)
    assert get_figures(rows[1]) == (1, VALID, 1, 1, 1, 0, 1, 1)


def test_evalb_reads_compressed_files(tmp_path):
    path = tmp_path / "gold.mrg.gz"
    path.write_bytes(gzip.compress(b"(TOP (NP (NN fog)))\n"))
    assert evaluate_files(path, str(path)).total["fscore"] == 100


def test_evalb_empty_files(evaluate):
    total = evaluate([], []).total
    assert set(total.values()) == {0}


def test_evalb_line_belongs_to_its_line(evaluate):
    gold = [
        f"(TOP (S (NP (NN {a})) (VP (VB {b}))))" for a, b in ["ab", "cd", "ef", "gh"]
    ]
    pred = [gold[0], "", "(TOP (NP (NN e))) (TOP (VP (VB f)))", gold[3]]
    total = evaluate(gold, pred).total
    assert (total["errors"], total["skipped"]) == (0, 1)
    assert round(total["recall"], 2) == 88.89
    assert total["precision"] == 100.0


def test_evalb_counts_a_root_without_a_label(evaluate):
    tree = "(S (NP (NN a)) (VP (VB b)))"
    total = evaluate([f"( {tree} )"], [f"(TOP {tree})"]).total
    assert (total["recall"], total["precision"]) == (75.0, 100.0)


def test_evalb_reads_trees_over_several_lines(evaluate):
    spread = ["", "(TOP (NP", "  (NN fog)))", "", "(TOP", "(NP (NN ice)))", ""]
    lines = ["(TOP (NP (NN fog)))", "", "(TOP (NP (NN ice)))"]
    assert evaluate(spread, lines[::2]).total["fscore"] == 100
    assert evaluate(spread, spread).total["valid"] == 2


def test_evalb_blank_lines_at_the_end_of_one_file(evaluate):
    tree = "(TOP (NP (NN fog)))"
    assert evaluate([tree], [tree, "", ""]).total["sentences"] == 1
    assert evaluate([tree, "", ""], [tree]).total["sentences"] == 1


def test_evalb_names_the_line_of_a_faulty_tree(evaluate):
    tree = "(TOP (NP (NN fog)))"
    for fault in ["(TOP (NP (NN fog mist)))", "fog", ")(", "(TOP (NP (NN fog))"]:
        with pytest.raises(TreebankError, match=r"mrg, line 2: "):
            evaluate([tree, tree], [tree, fault])


def test_evalb_number_of_trees_differs(evaluate):
    tree = "(TOP (NP (NN fog)))"
    with pytest.raises(ValueError, match=r"3 gold trees .* 1\s+predicted"):
        evaluate([tree] * 3, [tree])


def test_evalb_unknown_setting(evaluate):
    match = "'colins'.*collins, nk, spmrl"
    with pytest.raises(ValueError, match=match):
        evaluate([], [], "colins")


@pytest.mark.parametrize(
    "line, message",
    [
        ("EQ_LABEL NP", r"line 2: expected 2 value\(s\) .* not 1"),
        ("DELETE_LABEL", r"line 2: expected 1 value\(s\) .* not 0"),
        ("CUTOFF_LEN forty", "line 2: 'forty' is not a number"),
    ],
)
def test_evalb_faulty_parameter_file(tmp_path, line, message):
    path = tmp_path / "a.prm"
    path.write_text(f"DELETE_LABEL TOP\n{line}\n", encoding="utf8")
    with pytest.raises(ValueError, match=rf"a\.prm, {message}"):
        get_setting(str(path))


def test_evalb_parameter_file_with_unknown_keyword(tmp_path):
    path = tmp_path / "a.prm"
    path.write_text("DELETE_LABEL TOP\nTED 1\n", encoding="utf8")
    with pytest.warns(UserWarning, match=r"a\.prm, line 2: unknown keyword 'TED'"):
        assert get_setting(str(path)).deleted == {"TOP"}
    with pytest.raises(FileNotFoundError, match=r"b\.prm"):
        get_setting(str(tmp_path / "b.prm"))


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
