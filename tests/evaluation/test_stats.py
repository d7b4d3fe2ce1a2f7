"""The counts of a treebank are right, and drawn."""

import sys
from collections import Counter
from xml.etree import ElementTree

import pytest
from spacy.tokens import Doc

from spacy_pointparse.evaluation.stats import TreebankStats
from spacy_pointparse.tokens import set_constituents
from spacy_pointparse.visualization.plot_stats import plot

LINES = [
    "(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)) (. .))",
    "(S (VP (VB Run) (NP (NP (DT a) (NN mile)) (ADVP (RB now)))))",
    "(UH Yes)",
    "(SBAR (S (VP (VB Run))))",
]


@pytest.fixture
def stats(read_doc):
    stats = TreebankStats()
    stats.add(read_doc(*LINES[:2]))
    stats.add(read_doc(*LINES[2:]))
    return stats


def test_trees_are_counted(stats):
    assert stats.lengths == Counter({4: 2, 1: 2})
    assert stats.depths == Counter({2: 1, 4: 1, 0: 1, 3: 1})
    assert stats.labels == Counter(S=3, NP=3, VP=3, ADVP=1, SBAR=1)
    assert stats.tags == Counter(
        {"DT": 2, "NN": 2, "VB": 2, "VBZ": 1, ".": 1, "RB": 1, "UH": 1}
    )
    assert stats.chains == Counter({"S VP": 1, "SBAR S VP": 1})


def test_white_space_counts_nowhere(vocab):
    words = [" ", "Owls", "\n", "hoot", "\n", "\n"]
    starts = [True, False, False, False, False, True]
    doc = Doc(vocab, words=words, tags=["_SP", "N", "_SP", "V", "_SP", "_SP"])
    for token, start in zip(doc, starts):
        token.is_sent_start = start
    set_constituents(doc, [(1, 4, "S")])
    stats = TreebankStats()
    stats.add(doc)
    assert stats == TreebankStats(
        Counter({2: 1}), Counter({1: 1}), Counter(S=1), Counter(N=1, V=1)
    )


def test_brackets_of_a_partial_tree_are_counted(vocab):
    doc = Doc(vocab, words=["a", "b", "c", "d"])
    set_constituents(doc, [(0, 2, "NP"), (2, 4, "VP"), (3, 4, "NP")])
    stats = TreebankStats()
    stats.add(doc)
    assert stats.labels == Counter(NP=2, VP=1)
    assert stats.depths == Counter({2: 1})


def test_doc_without_a_parse(vocab):
    with pytest.raises(ValueError, match="no constituency parse"):
        TreebankStats().add(Doc(vocab, words=["Yes"]))


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_plot_is_drawn(stats, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"plot{suffix}"
    plot(stats, path)
    assert path.read_bytes().startswith(start)


def test_plot_shows_the_counts(stats, tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    drawn = []
    savefig = figure.Figure.savefig

    def keep(self, *args, **settings):
        drawn.append(self)
        return savefig(self, *args, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure.Figure, "savefig", keep)
        plot(stats, tmp_path / "plot.svg")
    lengths, depths, labels, chains = drawn[0].axes
    bars = {bar.get_x() + 0.5: bar.get_height() for bar in lengths.patches}
    assert bars == {4.0: 2, 1.0: 2}
    assert sum(bar.get_height() for bar in depths.patches) == 4
    names = [label.get_text() for label in chains.get_yticklabels()]
    assert sorted(names) == ["S VP", "SBAR S VP"]
    assert sum(bar.get_width() for bar in labels.patches) == 11


def test_plot_takes_labels_for_neither_formulas_nor_markup(vocab, tmp_path):
    pytest.importorskip("matplotlib")
    labels = ["$\\frac$", "PRP$ WP$", "<script>alert(1)</script>", "--><script/>"]
    doc = Doc(vocab, words=["a", "b"])
    set_constituents(doc, [(0, 2, label) for label in labels])
    stats = TreebankStats()
    stats.add(doc)
    plot(stats, tmp_path / "plot.svg")
    elements = ElementTree.parse(tmp_path / "plot.svg").iter()
    assert not [element for element in elements if "script" in element.tag]


def test_plot_of_a_format_that_is_none(stats, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="'xyz' is not supported"):
        plot(stats, tmp_path / "plot.xyz")
    assert list(tmp_path.iterdir()) == []


def test_plot_without_matplotlib(stats, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(ImportError, match=r"spacy-pointparse\[plot\]"):
        plot(stats, tmp_path / "plot.png")
    assert list(tmp_path.iterdir()) == []
