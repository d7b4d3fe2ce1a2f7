import gzip
import lzma
import re
import shutil
import tracemalloc
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree

from spacy_pointparse.trees import (
    TreebankError,
    build_tree,
    clean_tree,
    escape_word,
    flatten_tree,
    line_chunks,
    parse_trees,
    read_trees,
    reader,
    tree_to_string,
    unescape_word,
)

SHARED = Path(__file__).parents[3] / "shared" / "treebanks"
BARE = {"bare_empties": True}
OPTIONS = {
    "de_squoia": {},
    "en_craft": {},
    "en_genia": {},
    "en_gum": {},
    "en_masc": {},
    "en_wsj_nltk_sample": {},
    "es_squoia": {},
    "fo_farpahc": BARE,
    "fr_mcvf_late_1400_1740": BARE,
    "grc_macula": {},
    "he_bhsa_biblical": {},
    "id_icon": {},
    "is_greynir_gold": {},
    "is_icepahc_2019": BARE,
    "ja_keyaki_open": {"separators": "-=;", **BARE},
    "yi_ppchy_modern": {},
    "zh_sinica_nltk": {},
}

GOOD = "(S (NP (PRP We)) (VP (VBP sing)))"
ALSO = "(NP (NN Rain))"
FLUSH_LEFT = "(S\n(NP (PRP We))\n(VP (VBP sing)))"
SEVERAL_LINES = "(ROOT\n  (S\n    (NP (PRP We))\n    (VP (VBP sing))))\n"


def read(text, **options):
    return [tree_to_string(tree) for tree in parse_trees(text, "toy", **options)]


def clean(text, **options):
    cleaned = (clean_tree(tree, **options) for tree in parse_trees(text))
    return [None if tree is None else tree_to_string(tree) for tree in cleaned]


def read_skipping(text):
    """The trees that are left, and how many the warning says were skipped."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(text, on_error="skip")
    counts = [re.search(r"skipped (\d+)", str(w.message)) for w in caught]
    assert len(counts) <= 1
    return found, sum(int(count[1]) for count in counts)


# Reading


def set_max_size(monkeypatch, size):
    for module in (line_chunks, reader):
        monkeypatch.setattr(module, "MAX_SIZE", size)


@pytest.mark.parametrize(
    "text, expected",
    [
        (GOOD, [GOOD]),
        (f"{GOOD}\n\n{ALSO}\n", [GOOD, ALSO]),
        (f"{GOOD} {ALSO}", [GOOD, ALSO]),
        (f"\ufeff{GOOD}\r\n{ALSO}\r\n", [GOOD, ALSO]),
        (SEVERAL_LINES * 2, [f"(ROOT {GOOD})"] * 2),
        (f"( {GOOD} )", [f"( {GOOD})"]),
        (f"({GOOD})", [f"( {GOOD})"]),
        (f"(\n  {ALSO}\n)\n(\n  {GOOD}\n)", [f"( {ALSO})", f"( {GOOD})"]),
        ("( S ( NP\t(PRP We) )(VP (VBP sing) ) )", [GOOD]),
        (f"{FLUSH_LEFT}\n{FLUSH_LEFT}\n", [GOOD] * 2),
        ("(S (NP (PRP We))\n(VP (VBP sing)))\n" * 2, [GOOD] * 2),
        (f"  {GOOD}\n    {ALSO}\n  {GOOD}", [GOOD, ALSO, GOOD]),
        ("(NP (NN a\u00a0b) (NN c\u3000d))", ["(NP (NN a\\u00a0b) (NN c\\u3000d))"]),
        ("(NP (SYM *) (CD 0) (NN 1=a))", ["(NP (SYM *) (CD 0) (NN 1=a))"]),
        (f"(NP (NN {'1' * 5000}=a))", [f"(NP (NN {'1' * 5000}=a))"]),
        ("(TOP (PU \uff09))", ["(TOP (PU \uff09))"]),
        ("", []),
    ],
)
def test_trees_parse(text, expected):
    assert read(text) == expected


def test_trees_parse_streams():
    def lines():
        yield from [GOOD, ALSO]
        raise RuntimeError("read too far")

    assert tree_to_string(next(parse_trees(lines()))) == GOOD


FAULTS = [
    (GOOD[:-1], "1 bracket(s) still open"),
    ("(S (NP (PRP We)", "2 bracket(s) still open"),
    ("(S (NP", "2 bracket(s) still open"),
    ("(", "1 bracket(s) still open"),
    (f"){GOOD}", "')' is outside"),
    (")", "')' is outside"),
    (f"{GOOD})", "')' is outside"),
    ("(S (NP (PRP We))) (VP (VBP sing)))", "')' is outside"),
    ("We sing", "'We' is outside"),
    (f"{GOOD} aloud", "'aloud' is outside"),
    ("#BOS 1", "'#BOS' is outside"),
    ("(NP (NNS cats) (HYPH ) (CC and))", "(HYPH) contains neither a word nor a node"),
    ("(S (NP (PRP (Dia))))", "(Dia) contains neither a word nor a node"),
    ("()", "() contains neither a word nor a node"),
    ("(NP (DT the) rain)", "(NP ...) has both a word, 'rain', and a node"),
    ("(NP the (NN rain))", "(NP ...) has both a word, 'the', and a node"),
    ("(NP (NNP New York))", "(NNP New York) has more than one word"),
    ("(NP (NN caf\udce9))", "byte 0xe9 is not UTF-8"),
    ("(NP (NN a\0b))", "byte 0x00 is not UTF-8"),
    ("(S (VP (VB 0=Sing) (RP 2=up)) (NP 1=it))", "discontinuous"),
]


@pytest.mark.parametrize("bad, message", FAULTS)
def test_trees_fault_raises(bad, message):
    found = parse_trees([GOOD, bad, ALSO], "toy.mrg")
    assert tree_to_string(next(found)) == GOOD
    with pytest.raises(TreebankError) as error:
        next(found)
    assert str(error.value).startswith("toy.mrg, line 2: ")
    assert message in str(error.value)
    assert 'on_error="skip"' in str(error.value)


@pytest.mark.parametrize("bad, message", FAULTS)
@pytest.mark.parametrize("before, after", [(GOOD, ALSO), (ALSO, GOOD)])
def test_trees_fault_costs_its_line(bad, message, before, after):
    lines = [before, bad, after, before, bad, before, after]
    expected = [before, after, before, before, after]
    assert read_skipping("\n".join(lines)) == (expected, 2)


@pytest.mark.parametrize("root", ["%s", "( %s)", "(TOP %s)"])
def test_trees_fault_every_other_line(root):
    good = root % GOOD
    lines = [good[:-1], good, f"{good})", good] * 3
    assert read_skipping("\n".join(lines)) == ([good] * 6, 6)


@pytest.mark.parametrize(
    "bad",
    [
        SEVERAL_LINES.replace("))))", ")))"),
        SEVERAL_LINES.replace("(PRP We))", "(PRP We)"),
        SEVERAL_LINES.replace("))))", ")))))"),
        SEVERAL_LINES.replace("(PRP We))", "(PRP We))))"),
        SEVERAL_LINES.replace("(PRP We)", "(PRP )"),
        SEVERAL_LINES.replace("sing", "sing loud"),
        "(ROOT\n  (S\n",
    ],
)
def test_trees_fault_costs_its_tree(bad):
    text = f"{SEVERAL_LINES}\n{bad}\n{SEVERAL_LINES}"
    assert read_skipping(text) == ([f"(ROOT {GOOD})"] * 2, 1)


@pytest.mark.parametrize(
    "start", [FLUSH_LEFT[:-2], "(S\n  (NP (PRP We))", "(NP\n(NN a)"]
)
def test_trees_unclosed_ends_at_known_label(start):
    text = "\n".join([FLUSH_LEFT, start, GOOD, ALSO])
    assert read_skipping(text) == ([GOOD, GOOD, ALSO], 1)


def test_trees_fault_names_both_lines():
    text = SEVERAL_LINES + SEVERAL_LINES.replace("sing", "sing loud")
    message = r"^toy, line 5: \(VBP sing loud\) .* \(seen at line 8\)\."
    with pytest.raises(TreebankError, match=message):
        read(text)


def test_trees_unclosed_does_not_swallow_the_file(monkeypatch):
    monkeypatch.setattr(line_chunks, "MAX_LINES", 10)
    lines = iter(["(X", *["(Y (NN a))"] * 1000])
    with pytest.raises(TreebankError, match=r"line 1: .* still open"):
        next(parse_trees(lines))
    assert len(list(lines)) > 900


@pytest.mark.parametrize("period", [["(X"], ["(X", "(X a)"], [FLUSH_LEFT[:-1]]])
def test_trees_unclosed_ones_are_read_in_linear_time(monkeypatch, period):
    add, reads = line_chunks._Chunk.add, []
    monkeypatch.setattr(
        line_chunks._Chunk, "add", lambda self, line: reads.append(add(self, line))
    )
    lines = "\n".join(period * 3000).split("\n")
    read_skipping("\n".join([*lines, GOOD]))
    assert len(reads) < 250 * len(lines)


@pytest.mark.parametrize(
    "long",
    ["(" * 1001, f"(NP (NN {'a' * 2000}))", " " * 1200 + ALSO, "\ufeff" * 5000],
)
def test_trees_line_that_is_too_long_is_refused(write, monkeypatch, long):
    set_max_size(monkeypatch, 1000)
    path = write(GOOD, long, ALSO)
    message = r"line 2: the line has more than 1000 characters"
    with pytest.raises(TreebankError, match=message):
        list(read_trees(path))
    with pytest.warns(UserWarning, match=f"skipped 1 .*{message}"):
        found = [tree_to_string(tree) for tree in read_trees(path, on_error="skip")]
    assert found == [f"(TOP {GOOD})", f"(TOP {ALSO})"]


def test_trees_tree_of_too_many_characters_counts_as_unclosed(monkeypatch):
    set_max_size(monkeypatch, 1000)
    lines = iter(["(X", *[f"(Y (NN {'a' * 100}))"] * 1000])
    with pytest.raises(TreebankError, match=r"line 1: .* still open"):
        next(parse_trees(lines))
    assert len(list(lines)) > 980


def test_trees_fault_is_told_in_few_words():
    with pytest.raises(TreebankError, match=r"'xxx.*xxx\.\.\.\. Fix") as error:
        read("x" * 5000)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "start, unit, end",
    [
        ("", "(", ""),
        ("", "(A a)", ""),
        ("(X ", "(A a)", ")"),
        ("(X ", "a ", ")"),
        ("", "((A a)", ""),
    ],
)
def test_trees_memory_is_bounded(write, monkeypatch, start, unit, end):
    set_max_size(monkeypatch, 10_000)
    short, long = (start + unit * (n // len(unit)) + end for n in (9_990, 2_000_000))
    path = write(*[short, long] * 5)
    tracemalloc.start()
    try:
        with pytest.warns(UserWarning, match="skipped"):
            for _ in read_trees(path, on_error="skip"):
                pass
        assert tracemalloc.get_traced_memory()[1] < 500 * line_chunks.MAX_SIZE
    finally:
        tracemalloc.stop()


def test_trees_skip_needs_the_word():
    with pytest.raises(TreebankError):
        read(")", on_error="ignore")


@given(st.lists(st.text("() S\u00a0\ta0=-\udcff\0"), max_size=6))
def test_trees_any_text_is_trees_or_faults(lines):
    found, count = read_skipping("\n".join(lines))
    assert read("\n".join(found)) == found
    if count:
        with pytest.raises(TreebankError):
            read("\n".join(lines))
    else:
        assert read("\n".join(lines)) == found


# Files


def test_trees_read_file_folder_glob(tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "a" / "1.mrg").write_text(ALSO)
    (folder / "2.mrg.gz").write_bytes(gzip.compress(GOOD.encode()))
    (folder / "3.ptb.xz").write_bytes(lzma.compress(SEVERAL_LINES.encode("utf-8-sig")))
    (folder / "README.txt").write_text("Nothing to parse")
    rain, sing = f"(TOP {ALSO})", f"(TOP {GOOD})"
    expected = {
        tmp_path: [rain, sing, sing],
        str(folder): [sing, sing],
        folder / "2.mrg.gz": [sing],
        str(folder / "*.gz"): [sing],
        tmp_path / "*" / "1.*": [rain],
        str(tmp_path / "?"): [rain, sing, sing],
        str(tmp_path / "**" / "*.mrg*"): [rain, sing],
    }
    for path, strings in expected.items():
        assert [tree_to_string(tree) for tree in read_trees(path)] == strings


def test_trees_read_folder_without_suffixes(tmp_path):
    (tmp_path / "2.txt").write_text(GOOD)
    (tmp_path / "1").write_text(ALSO)
    (tmp_path / ".hidden").write_text("no tree")
    found = [tree_to_string(tree) for tree in read_trees(tmp_path)]
    assert found == [f"(TOP {ALSO})", f"(TOP {GOOD})"]


def test_trees_read_nothing(tmp_path):
    for path in [tmp_path, tmp_path / "no.mrg", str(tmp_path / "*.mrg")]:
        with pytest.raises(FileNotFoundError, match=re.escape(str(path))):
            read_trees(path)


def test_trees_read_skips_and_counts_over_files(tmp_path):
    (tmp_path / "1.mrg").write_bytes(f"{GOOD}\n(NP (NN é))\n".encode("latin-1"))
    (tmp_path / "2.mrg").write_text(f"(NP )\n{GOOD}\n")
    with pytest.warns(UserWarning, match=r"skipped 2 .*1\.mrg, line 2: the byte 0xe9"):
        assert len(list(read_trees(tmp_path, on_error="skip"))) == 2
    with pytest.raises(TreebankError, match=r"1\.mrg, line 2: "):
        list(read_trees(tmp_path))


@pytest.mark.parametrize("suffix, module", [(".gz", gzip), (".xz", lzma)])
def test_trees_read_damaged_archive(tmp_path, suffix, module):
    lines = [f"(NP (CD {i * i * 7919 % 100003}))" for i in range(20000)]
    path = tmp_path / f"1.mrg{suffix}"
    path.write_bytes(module.compress("\n".join(lines).encode())[:-20])
    (tmp_path / "2.mrg").write_text(GOOD)
    message = rf"1\.mrg\{suffix}, line \d+: the compressed file is truncated or damaged"
    with pytest.raises(TreebankError, match=message):
        list(read_trees(path))
    with pytest.warns(UserWarning, match=message):
        found = [tree_to_string(tree) for tree in read_trees(tmp_path, on_error="skip")]
    assert found[-1] == f"(TOP {GOOD})"
    path.write_text(GOOD)
    with pytest.raises(TreebankError, match=message):
        list(read_trees(path))


@pytest.mark.parametrize(
    "text, expected, count",
    [
        (f"<DOC>\n<S ID=1>\n( {GOOD})\n</S>\n<S ID=2>\n({ALSO})\n</S>", 2, 0),
        (f"<DOCID> A 1 </DOCID>\n{SEVERAL_LINES}</DOC>\n\n<P>\n{GOOD}", 2, 0),
        (f"*x*x*\n*x* (C) 1992 *x*\n***\n\n{GOOD}\n*** end\n{ALSO}\n", 2, 0),
        (f"<S ID=1>\n(S\n  (NP (PRP We))\n</S>\n<S ID=2>\n{GOOD}\n</S>", 1, 1),
        (f"<S ID=1>\n{GOOD})\n</S>\n<S ID=2>\n{ALSO}\n</S>", 1, 1),
        ("(NP (-NONE-\n*T*-1))\n(NP (SYM\n<) (SYM >))", 2, 0),
        (f"<S ID=1> {GOOD} </S>\n<S ID=2>{ALSO}</S>\n{ALSO} </P> </DOC>", 3, 0),
        (f"( (IP (NN <b>)\n  (NN a) (SYM <x>))\n)\n{GOOD}", 2, 0),
        ("< a >\n#BOS 1", 0, 2),
    ],
)
def test_trees_markup_and_headers_are_no_trees(text, expected, count):
    found, faults = read_skipping(text)
    assert (len(found), faults) == (expected, count)


# Cleaning


@pytest.mark.parametrize("root", ["%s", "( %s)", "(TOP %s)", "(ROOT %s)", "(S1 %s)"])
def test_trees_clean_root(root):
    assert clean(root % GOOD) == [f"(TOP {GOOD})"]
    assert clean(f"(VROOT {root % GOOD})") == [f"(TOP {GOOD})"]
    assert clean(root % "(UH Yes)") == ["(TOP (UH Yes))"]


@pytest.mark.parametrize("root", ["", "TOP", "VROOT"])
def test_trees_clean_root_branches(root):
    text = f"({root} (NP (NN Yes)) (. .))"
    assert clean(text) == ["(TOP (NP (NN Yes)) (. .))"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(S (NP-SBJ-1 (NN Rain)) (VP=2 (VBZ falls)))", "(S (NP %s) (VP %s))"),
        ("(S-TPC-1 (ADVP|PRT (NN Rain)) (VP (VBZ falls)))", "(S (ADVP %s) (VP %s))"),
        ("(S (-LRB- (NN Rain)) (NP_A+B (VBZ falls)))", "(S (-LRB- %s) (NP_A+B %s))"),
        ("(S (NP (NN Rain)) ( (VP-X (VBZ falls))))", "(S (NP %s) (VP %s))"),
        ("(S ( (NN Rain) (VBZ falls)))", "(S %s %s)"),
    ],
)
def test_trees_clean_labels(text, expected):
    words = ("(NN Rain)", "(VBZ falls)")
    assert clean(text) == [f"(TOP {expected % words})"]


def test_trees_clean_keeps_tags_and_words():
    text = "(NP (-LRB- -LRB-) (NN-X 1\\/2-1) (PRP$ its) (NP-SBJ *) (-RRB- -RRB-))"
    assert clean(text) == [f"(TOP {text})"]


@pytest.mark.parametrize(
    "label, separators, expected",
    [
        ("NP-SBJ-1", "-", "NP-SBJ"),
        ("NP-SBJ=12", "-=", "NP-SBJ"),
        ("NP=2", "-=", "NP"),
        ("NP-1-PRN-2", "-=", "NP-PRN"),
        ("NP-SBJ2", "-=", "NP-SBJ2"),
        ("NP;*SBJ*", "-=;", "NP;*SBJ*"),
        ("-LRB-", "-=", "-LRB-"),
    ],
)
def test_trees_clean_keep_functions(label, separators, expected):
    options = {"separators": separators, "keep_functions": True}
    assert clean(f"({label} (N a))", **options) == [f"(TOP ({expected} (N a)))"]


@pytest.mark.parametrize(
    "label, separators, expected",
    [
        ("ADJP*OC", "*", "ADJP"),
        ("ADJP*OC", "-", "ADJP*OC"),
        ("NP;*SBJ*", "-;", "NP"),
        ("NP##x##", "#", "NP"),
        ("NP]A^B\\C", "]^\\", "NP"),
        ("NP-SBJ", "", "NP-SBJ"),
    ],
)
def test_trees_clean_separators(label, separators, expected):
    found = clean(f"({label} (N a))", separators=separators)
    assert found == [f"(TOP ({expected} (N a)))"]


def test_trees_clean_tagged_empties():
    text = (
        "( (S (NP-SBJ (-NONE- *-1)) (VP (VB Try) (SBAR (-NONE- 0) (S (NP (-NONE- *T*)) "
        "(VP (-NONE- *?*)))) (NP (CD 0) (SYM *) (SYM **)))))"
    )
    expected = "(TOP (S (VP (VB Try) (NP (CD 0) (SYM *) (SYM **)))))"
    assert clean(text) == [expected]


def test_trees_clean_bare_empties():
    text = (
        "( (IP-MAT (NP-SBJ *con*) (VB sing) (CP-REL (WNP-1 0) (C 0) (P 0)) (TO *) "
        "(NP (NUM-N 0) (CONJ 0) (N 0a) (D -*))))"
    )
    expected = "(TOP (IP (VB sing) (NP (NUM-N 0) (CONJ 0) (N 0a) (D -*))))"
    assert clean(text, bare_empties=True) == [expected]
    kept = "(NP *con*)"
    assert clean(f"(IP {kept} (C 0))") == [f"(TOP (IP {kept} (C 0)))"]


SAW = "(NP-SBJ (PRO He)) (VBD saw)"


@pytest.mark.parametrize(
    "text",
    [
        f"( (IP-MAT {SAW} (. .)) (ID TEST-1,3.4))",
        f"( (METADATA (AUTHOR X) (DATE 1900)) (IP-MAT {SAW} (. .)) (ID A-1,.2))",
        f"( (METADATA (AUTHOR X)) (IP-MAT (CODE {{COM:torn}}) {SAW} (. .)))",
        f"(TOP (IP-MAT {SAW} (CODE <P_1>) (PP (CODE <i>)) (. .)) (ID A-1,.2))",
        f"( (IP-MAT {SAW} (CP-1 (WNP-2 0-2) (C 0-2) (NP *T*-2)) (. .)) (ID A))",
    ],
)
def test_trees_clean_corpus_search(text):
    assert clean(text) == ["(TOP (IP (NP (PRO He)) (VBD saw) (. .)))"]


def test_trees_clean_corpus_search_over_lines():
    text = """\
( (CODE <P_1>)
  (ID 1150.X.SCI,.1))

( (IP-MAT (CONJ og-og)
\t  (NP-SBJ *con*)
\t  (CP-THT-1 (C 0-2)
\t\t    (IP-SUB (CODE {TEXT:a_b})
\t\t\t    (NP-SBJ (PRO hann-hann))))
\t  (. .-.))
  (ID 1150.X.SCI,.2))

((IP-MAT (NP-SBJ (PRO He))
(VBD saw))
(ID A,.3))
"""
    assert clean(text, lemmas=True) == [
        None,
        "(TOP (IP (CONJ og) (CP (IP (NP (PRO hann)))) (. .)))",
        "(TOP (IP (NP (PRO He)) (VBD saw)))",
    ]


def test_trees_clean_corpus_search_without_words():
    assert clean("( (CODE <P_1>) (ID A-1,.1))") == [None]


def test_trees_clean_keeps_bookkeeping_labels_of_other_treebanks():
    text = "(S (CODE {WHAT}) (NP (ID a)))"
    assert clean(text) == [f"(TOP {text})"]
    assert clean(f"( {text})") == [f"(TOP {text})"]


def test_trees_clean_drop():
    text = "(S (CODE {X}) (NP-SBJ (NN Rain)) (PRN-1 (NP (NN so))) (VP (VBZ falls)))"
    expected = "(TOP (S (NP (NN Rain)) (VP (VBZ falls))))"
    assert clean(text, drop=["CODE", "PRN"]) == [expected]
    expected = "(TOP (S (CODE {X}) (PRN (NP (NN so))) (VP (VBZ falls))))"
    assert clean(text, drop={"NP-SBJ"}) == [expected]
    assert clean(text, drop={"S"}) == [None]


def test_trees_clean_lemmas():
    text = "( (IP (NP *con*) (V sá-sjá) (N a-b-ab) (, ---) (C 0) (X vel)) (ID A))"
    expected = "(TOP (IP (V sá) (N a-b) (, -) (X vel)))"
    assert clean(text, lemmas=True) == [expected]


def test_trees_clean_zero_with_an_index(tmp_path):
    text = "(IP (CP (C 0-2) (N 0-2)))"
    assert clean(text, bare_empties=True) == ["(TOP (IP (CP (N 0-2))))"]
    path = tmp_path / "a.psd"
    path.write_text(f"( (IP {SAW}) (X a) (ID A))", encoding="utf8")
    [tree] = read_trees(path, drop=["X"])
    assert tree.leaves() == ["He", "saw"]


def test_trees_clean_words_of_white_space():
    text = "(S (NP (NN \u00a0)) (NP (NN a\u00a0b) (NN \\u0020)) (X (NN \\u000a\u3000)))"
    assert clean(text) == ["(TOP (S (NP (NN a\\u00a0b))))"]


def test_trees_clean_nothing_left(tmp_path):
    assert clean("(S (NP (-NONE- *)))") == [None]
    assert clean("(-NONE- *)") == [None]
    (tmp_path / "a.mrg").write_text(f"(S (NP (-NONE- *)))\n{GOOD}")
    found = [tree_to_string(tree) for tree in read_trees(tmp_path / "a.mrg")]
    assert found == [f"(TOP {GOOD})"]


def test_trees_clean_leaves_its_argument_alone():
    text = "( (S-1 (NP-SBJ (-NONE- *)) (VP (VB Sing))))"
    tree = next(parse_trees([text]))
    clean_tree(tree)
    assert tree_to_string(tree) == text


# Writing


@pytest.mark.parametrize(
    "word, leaf",
    [
        ("t(est)", "t-LRB-est-RRB-"),
        ("(713)853-7041", "-LRB-713-RRB-853-7041"),
        ("[x]{y}", "-LSB-x-RSB--LCB-y-RCB-"),
        (":)", ":-RRB-"),
        ("New York", "New\\u0020York"),
        ("a\u00a0b\u3000c\n", "a\\u00a0b\\u3000c\\u000a"),
        ("a\0b", "a\\u0000b"),
        ("0=1", "0\\u003d1"),
        ("1=0", "1=0"),
        ("and/or", "and/or"),
        ('"', '"'),
        (":\\", ":\\u005c"),
        ("a\\u0020b", "a\\u005cu0020b"),
        ("\\u005c", "\\u005cu005c"),
        ("plain", "plain"),
    ],
)
def test_trees_escape(word, leaf):
    assert escape_word(word) == leaf
    assert unescape_word(leaf) == word


@pytest.mark.parametrize(
    "leaf, word",
    [
        ("``", '"'),
        ("''", '"'),
        ("`", "'"),
        ("'", "'"),
        ("``x", "``x"),
        ("'''", "'''"),
        ("1\\/2", "1/2"),
        ("\\*\\*", "**"),
        ("-LRB-s-RRB-", "(s)"),
        ("-LCB-", "{"),
        ("-NONE-", "-NONE-"),
        ("\\u0041", "\\u0041"),
    ],
)
def test_trees_unescape(leaf, word):
    assert unescape_word(leaf) == word


def test_trees_to_string_escapes():
    tree = Tree("TOP", [Tree("X", [Tree("(", ["(s) [t]"]), Tree("NN", ["``"])])])
    expected = "(TOP (X (-LRB- -LRB-s-RRB-\\u0020[t]) (NN ``)))"
    assert tree_to_string(tree) == expected
    assert Tree.fromstring(expected).leaves() == ["-LRB-s-RRB-\\u0020[t]", "``"]
    assert read(expected) == [expected]


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(WORDS.filter(lambda word: unescape_word(word) == word))
def test_trees_escape_round_trip(word):
    assert unescape_word(escape_word(word)) == word


@given(st.lists(WORDS, min_size=1))
def test_trees_leaves_survive_nltk_and_us(words):
    tree = Tree("TOP", [Tree("NN", [word]) for word in words])
    string = tree_to_string(tree)
    escaped = [word for _, word in Tree.fromstring(string).pos()]
    assert len(escaped) == len(words)
    assert tree_to_string(Tree.fromstring(string)) == string
    assert read(string) == [string]


@pytest.mark.parametrize("words", [["0=x"], ["1=x", "0=y"], ["0=0=", "\u0661=x"]])
def test_trees_words_are_not_printed_as_numbered_leaves(words):
    string = tree_to_string(Tree("TOP", [Tree("NN", [word]) for word in words]))
    assert read(string) == [string]
    leaves = Tree.fromstring(string).leaves()
    assert [unescape_word(leaf) for leaf in leaves] == words


# Words, tags and constituents

LABELS = st.sampled_from(["S", "NP", "VP", "TOP", "-LRB-"])
LEAVES = st.builds(
    lambda tag, word: Tree(tag, [word]), LABELS, st.sampled_from("abc*0")
)
NODES = st.recursive(
    LEAVES,
    lambda children: st.builds(Tree, LABELS, st.lists(children, min_size=1)),
)


def test_trees_flatten():
    text = f"(TOP (X {GOOD}) (. .))"
    words, tags, constituents = flatten_tree(next(parse_trees([text])))
    assert words == ["We", "sing", "."]
    assert tags == ["PRP", "VBP", "."]
    inner = [(0, 2, "X"), (0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]
    assert constituents == [(0, 3, "TOP"), *inner]


def test_trees_flatten_root_with_one_child():
    tree = next(parse_trees(["(TOP (UH Yes))"]))
    assert flatten_tree(tree) == (["Yes"], ["UH"], [])
    tree = next(parse_trees([f"(TOP {ALSO})"]))
    assert flatten_tree(tree) == (["Rain"], ["NN"], [(0, 1, "NP")])


def test_trees_build():
    constituents = [(0, 3, "S"), (1, 3, "VP"), (1, 3, "VP"), (2, 3, "NP")]
    tree = build_tree(["We", "sing", "songs"], ["P", "V", "N"], constituents)
    expected = "(TOP (S (P We) (VP (VP (V sing) (NP (N songs))))))"
    assert tree_to_string(tree) == expected
    assert tree_to_string(build_tree(["a", "b"], ["A", "B"], [])) == "(TOP (A a) (B b))"
    top = build_tree(["a", "b"], ["A", "B"], [(0, 2, "TOP"), (0, 1, "X")])
    assert tree_to_string(top) == "(TOP (X (A a)) (B b))"
    assert tree_to_string(build_tree([], [], [])) == "(TOP)"


@pytest.mark.parametrize(
    "constituents",
    [
        [(0, 2, "S"), (1, 3, "VP")],
        [(1, 3, "VP"), (0, 3, "S")],
        [(0, 4, "S")],
        [(1, 1, "NP")],
        [(-1, 2, "NP")],
    ],
)
def test_trees_build_refuses(constituents):
    with pytest.raises(ValueError, match="not nested"):
        build_tree(["a", "b", "c"], ["A", "B", "C"], constituents)
    with pytest.raises(ValueError):
        build_tree(["a", "b"], ["A"], [])


@given(NODES)
def test_trees_flatten_build(node):
    tree = clean_tree(node)
    assert build_tree(*flatten_tree(tree)) == tree
    words, tags, constituents = flatten_tree(tree)
    assert words == node.leaves()
    assert tags == [tag for _, tag in node.pos()]
    assert constituents == sorted(constituents, key=lambda c: (c[0], -c[1]))


@given(NODES)
def test_trees_clean_is_idempotent(node):
    tree = clean_tree(node)
    assert tree.label() == "TOP"
    assert clean_tree(tree) == tree


@given(st.lists(NODES, max_size=3))
def test_trees_write_read(nodes):
    strings = [tree_to_string(node) for node in nodes]
    assert list(parse_trees(strings)) == nodes
    assert list(parse_trees("\n".join(node.pformat(20) for node in nodes))) == nodes


@pytest.mark.parametrize("depth", [900, 20000])
def test_trees_deep(depth):
    text = f"{'(VP (VB go) ' * depth}(NP (NN home)){')' * depth}"
    tree = clean_tree(next(parse_trees([text])))
    assert tree_to_string(tree) == f"(TOP {text})"
    words, tags, constituents = flatten_tree(tree)
    assert (words[-1], tags[0], len(constituents)) == ("home", "VB", depth + 1)
    assert constituents[1] == (1, depth + 1, "VP")
    assert tree_to_string(build_tree(words, tags, constituents)) == f"(TOP {text})"


# The treebanks at hand

needs_treebanks = pytest.mark.skipif(not SHARED.exists(), reason="no treebanks here")


def folders():
    return sorted(path.parent.name for path in SHARED.glob("*/dev.mrg"))


@needs_treebanks
@pytest.mark.parametrize("folder", folders())
def test_trees_treebank(folder):
    trees = list(read_trees(SHARED / folder / "dev.mrg", **OPTIONS[folder]))
    strings = [tree_to_string(tree) for tree in trees]
    expected = SHARED / folder / "clean" / "dev.mrg"
    if expected.exists():
        assert strings == expected.read_text("utf-8").split("\n")[:-1]
    assert len(strings) == len((SHARED / folder / "dev.mrg").open("rb").readlines())
    assert not any("-NONE-" in string for string in strings)
    assert all(build_tree(*flatten_tree(tree)) == tree for tree in trees)


@needs_treebanks
@pytest.mark.parametrize("folder", folders())
def test_trees_treebank_reads(folder):
    for path in (SHARED / folder).glob("*.mrg"):
        count = sum(1 for _ in read_trees(path))
        assert count == len(path.open("rb").readlines())


@needs_treebanks
def test_trees_gum_as_it_comes(tmp_path):
    # Not through tarfile, whose filters the first releases of Python 3.10 lack.
    shutil.unpack_archive(SHARED / "en_gum" / "gum-const-original.tar.xz", tmp_path)
    found = Counter(tree_to_string(tree) for tree in read_trees(tmp_path))
    lines = Counter(
        tree_to_string(tree) for tree in read_trees(f"{SHARED}/en_gum/*.mrg")
    )
    assert found == lines


@needs_treebanks
def test_trees_wsj_sample_as_it_comes(tmp_path):
    folder = SHARED / "en_wsj_nltk_sample"
    zipfile.ZipFile(folder / "treebank.zip").extractall(tmp_path)
    found = read_trees(tmp_path / "treebank" / "combined")
    lines = read_trees(f"{folder}/*.mrg")
    assert Counter(map(tree_to_string, found)) == Counter(map(tree_to_string, lines))
