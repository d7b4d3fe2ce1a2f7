import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
import spacy
from samples import needs_svgling, run_page
from spacy import displacy
from spacy.tokens import Doc, Span
from spacy.util import is_package

import spacy_pointparse
from spacy_pointparse import NonConstituentException
from spacy_pointparse.tokens import SPANS_KEY, set_constituents
from spacy_pointparse.visualization import render as render_module
from spacy_pointparse.visualization.render import get_colors, render

PAGE = Path(__file__).parents[2] / "docs" / "pictures.md"
TREE = pytest.param("tree", marks=needs_svgling)
STYLES = [TREE, "text", "span"]
BOAT = (
    "(S (NP (PRP She)) (VP (VBD sold) (NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (NN sail))))) (. .))"
)
FLAT = (
    "(S (NP (PRP She)) (VP (VBD sold) (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NX (DT a) (NN sail)))) (. .))"
)
HEBREW = "(S (NP (DT ה) (NN ילד)) (VP (VB רץ)) (. .))"


class Reader(HTMLParser):
    """Reads what a browser would: the elements, and what is written in each."""

    def __init__(self, html):
        super().__init__()
        self.elements = []  # tag, attributes, text right inside
        self.open = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag != "meta":
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and data.strip():
            self.open[-1][2].append(data.strip())

    def find(self, tag):
        return [element for element in self.elements if element[0] == tag]


def read_words(svg):
    """The texts of an SVG picture, in the order they are drawn, and where: the middle
    of each, from the left."""
    words = []
    stack = [(ElementTree.fromstring(svg), 0.0, 0.0)]
    while stack:
        element, left, width = stack.pop()
        kind = element.tag.split("}")[1]
        if kind == "svg":
            left += _measure(element.get("x", "0"), width)
            width = _measure(element.get("width"), width)
        elif kind == "text":
            words.append((element.text, left + width / 2))
        stack += [(child, left, width) for child in reversed(element)]
    return words


def _measure(length, whole):
    number = float(re.match(r"[\d.]+", length)[0])
    return number * whole / 100 if length.endswith("%") else number


def read_labels(html):
    """The labels of displaCy's view of spans, from top to bottom at each word: the
    word's number, the height, the label and its color."""
    labels = []
    word, top = -1, 0
    for _, attributes, texts in Reader(html).find("span"):
        style = attributes["style"]
        if "total_height" in style or "display: inline-block" in style:
            word += 1
        elif "z-index" in style:
            color = re.match("background: ([^;]+);", style)[1]
            labels.append((word, top, " ".join(texts), color))
        else:
            top = int(re.search(r"top: (\d+)px", style)[1])
    return labels


# --- trees ---


@needs_svgling
def test_drawing_tree(read_doc):
    svg = render(read_doc(FLAT))
    words = [text for text, _ in read_words(svg)]
    shown = (
        "S NP PRP She VP VBD sold NP DT the JJ old NN boat PP IN with NX DT a NN sail"
    )
    assert " ".join(words) == f"{shown} . ."


@needs_svgling
def test_drawing_tree_puts_words_in_order_below_their_constituents(read_doc):
    places = dict(read_words(render(read_doc(FLAT))))
    words = ["She", "sold", "the", "old", "boat", "with", "a", "sail"]
    assert sorted(words, key=places.get) == words
    assert places["She"] < places["VP"] < places["sail"]
    assert places["with"] < places["NX"] < places["sail"]


@needs_svgling
def test_drawing_tree_of_several_sentences_is_one_picture(read_doc):
    doc = read_doc(BOAT, "(UH Yes)", "(S (VP (VB Run)))")
    texts = [text for text, _ in read_words(render(doc))]
    assert texts[-6:] == ["UH", "Yes", "S", "VP", "VB", "Run"]
    one = [text for text, _ in read_words(render(list(doc.sents)[2]))]
    assert one == ["S", "VP", "VB", "Run"]


@needs_svgling
def test_drawing_tree_of_a_constituent(read_doc):
    doc = read_doc(BOAT)
    assert [text for text, _ in read_words(render(doc[5:8]))][:3] == [
        "PP",
        "IN",
        "with",
    ]


@needs_svgling
def test_drawing_tree_of_a_long_sentence_keeps_words_apart(read_doc):
    words = ["counterrevolutionaries", "I", "WHADVP", "a", "internationalisation"] * 12
    nodes = " ".join(f"(NP (NN {word}))" for word in words)
    places = [
        x for word, x in read_words(render(read_doc(f"(S {nodes})"))) if word in words
    ]
    assert len(places) == 60
    for i in range(59):
        # Letters of Arial, 14 pixels high, are 7 wide on the average.
        needed = 7 * (len(words[i]) + len(words[i + 1])) / 2
        assert places[i + 1] - places[i] > needed


@needs_svgling
def test_drawing_tree_of_wide_letters_keeps_words_apart(read_doc):
    doc = read_doc("(NP (NN 重要重要重要) (NN 健康健康健康))")
    places = [x for word, x in read_words(render(doc)) if len(word) == 6]
    assert places[1] - places[0] > 6 * 14


@needs_svgling
def test_drawing_tree_runs_from_right_to_left_where_letters_do(read_doc):
    svg = render(read_doc(HEBREW))
    places = dict(read_words(svg))
    assert places["."] < places["רץ"] < places["ילד"] < places["ה"]
    assert places["VP"] < places["NP"]
    assert "direction: rtl" in svg
    assert "direction: rtl" not in render(read_doc(FLAT))


@needs_svgling
def test_drawing_goes_by_the_letters_not_by_the_language(read_doc):
    doc = read_doc("(S (NP (NN yeled)) (VP (VB rac)))", vocab=spacy.blank("he").vocab)
    places = dict(read_words(render(doc)))
    assert places["yeled"] < places["rac"]
    assert "direction: rtl" not in render(doc) + render(doc, style="span")


def make_deep(vocab, depth):
    doc = Doc(vocab, words=["w"] * depth)
    set_constituents(doc, [(i, depth, "NP") for i in range(depth - 1)])
    return doc


@needs_svgling
def test_drawing_deep_trees(vocab):
    texts = [text for text, _ in read_words(render(make_deep(vocab, 200)))]
    assert texts.count("NP") == 199
    deep = make_deep(vocab, 2000)
    with pytest.raises(ValueError, match=r'too deep for svgling.*style="text"'):
        render(deep)
    assert render(deep, style="text").count("NP") == 1999


def test_drawing_tree_without_svgling(read_doc, monkeypatch):
    for name in ("svgling", "svgling.core", "svgling.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"spacy-pointparse\[pictures\]"):
        render(read_doc(BOAT))
    assert render(read_doc(BOAT), style="text").startswith("S\n")
    assert read_labels(render(read_doc(BOAT), style="span"))


# --- text ---


def test_drawing_text(read_doc):
    assert render(read_doc(BOAT, "(UH Yes)", "(S (VP (VB Run)))"), style="text") == (
        "S\n"
        "├─ NP\n"
        "│  └─ PRP She\n"
        "├─ VP\n"
        "│  ├─ VBD sold\n"
        "│  └─ NP\n"
        "│     ├─ NP\n"
        "│     │  ├─ DT the\n"
        "│     │  ├─ JJ old\n"
        "│     │  └─ NN boat\n"
        "│     └─ PP\n"
        "│        ├─ IN with\n"
        "│        └─ NP\n"
        "│           ├─ DT a\n"
        "│           └─ NN sail\n"
        "└─ . .\n"
        "\n"
        "UH Yes\n"
        "\n"
        "S\n"
        "└─ VP\n"
        "   └─ VB Run"
    )


# --- spans ---


def test_drawing_spans_shows_every_bracket_at_a_place_of_its_own(read_doc):
    doc = read_doc(BOAT)
    labels = read_labels(render(doc, style="span"))
    shown = [(word, label) for word, _, label, _ in labels]
    assert shown == [(span.start, span.label_) for span in doc.spans[SPANS_KEY]]
    assert len({(word, top) for word, top, _, _ in labels}) == len(labels)


@pytest.mark.parametrize("chain", [["S", "VP"], ["VP", "S"], ["A", "A", "B", "A"]])
def test_drawing_spans_shows_a_chain_outermost_first(vocab, chain):
    doc = Doc(vocab, words=["Run"])
    set_constituents(doc, [(0, 1, label) for label in chain])
    labels = read_labels(render(doc, style="span"))
    assert [label for _, _, label, _ in sorted(labels)] == chain


def test_drawing_spans_of_a_constituent_counts_its_own_words(read_doc):
    labels = read_labels(render(read_doc(BOAT)[5:8], style="span"))
    assert [label[::2] for label in labels] == [(0, "PP"), (1, "NP")]


def test_drawing_spans_has_colors(read_doc):
    doc = read_doc("(S (NP (NNS Owls)) (ODD (VBP hoot)))")
    colors = {label: color for _, _, label, color in read_labels(render(doc, "span"))}
    known = get_colors()
    assert colors == {"S": known["S"], "NP": known["NP"], "ODD": "#ddd"}
    html = render(doc, "span", options={"colors": {"NP": "red", "odd": "blue"}})
    colors = {label: color for _, _, label, color in read_labels(html)}
    assert colors == {"S": known["S"], "NP": "red", "ODD": "blue"}


def test_drawing_spans_runs_from_right_to_left_where_letters_do(read_doc):
    html = render([read_doc(BOAT), read_doc(HEBREW)], style="span")
    styles = [attributes["style"] for _, attributes, _ in Reader(html).find("div")]
    assert [style.split("direction: ")[1] for style in styles] == ["ltr", "rtl"]


def test_drawing_spans_of_another_group(read_doc):
    doc = read_doc("(UH Yes)", BOAT)
    doc.spans["found"] = [
        Span(doc, 1, 2, label="PRP"),
        Span(doc, 3, 9, label="<i>"),
        Span(doc, 3, 6, label="NP"),
    ]
    html = render(doc, style="span", options={"spans_key": "found"})
    labels = {(word, label) for word, _, label, _ in read_labels(html)}
    assert labels == {(0, "PRP"), (1, "<i>"), (1, "NP")}  # bare words do not count
    sentence = render(next(doc.sents), style="span", options={"spans_key": "found"})
    assert "Yes" in sentence and not read_labels(sentence)


def test_drawing_spans_of_a_group_that_is_not_there(read_doc):
    with pytest.raises(ValueError, match=r"no span group 'sc' in \['constituents'\]"):
        render(read_doc(BOAT), style="span", options={"spans_key": "sc"})


def test_displacy_has_the_colors(read_doc):
    html = displacy.render(
        read_doc("(NP (NNS Owls))"), style="span", options={"spans_key": SPANS_KEY}
    )
    assert [color for _, _, _, color in read_labels(html)] == [get_colors()["NP"]]


def test_colors_are_readable_below_black():
    for color in set(get_colors().values()):
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))
        assert (luminance + 0.05) / 0.05 > 7


# --- what is written is no markup ---


EVIL = "<script>alert(1)</script>"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("compare", [False, True])
def test_drawing_escapes_words_labels_and_tags(vocab, style, compare):
    doc = Doc(vocab, words=[EVIL, "a&b"], tags=["<i>", '"'])
    set_constituents(doc, [(0, 2, "<b onclick='x'>"), (0, 1, "<u>"), (0, 1, "--><u>")])
    gold = Doc(vocab, words=[EVIL, "a&b"], tags=["<i>", '"'])
    set_constituents(gold, [(0, 2, "<s>")])
    picture = render(doc, style=style, page=True, gold=gold if compare else None)
    reader = Reader(picture)
    tags = {tag for tag, _, _ in reader.elements}
    assert not tags & {"script", "i", "b", "u", "s"}
    text = " ".join(text for _, _, texts in reader.elements for text in texts)
    for part in (EVIL, "a&b", "<b onclick='x'>", "<u>", "--><u>"):
        assert part in text
    if style == "tree":
        ElementTree.fromstring(render(doc))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "evil",
    [
        '" onload="alert(1)',
        "' onclick='alert(1)",
        '"/><script>alert(1)</script>',
        "]]><script>alert(1)</script>",
        "&lt;script&gt;",
        "&#34; onload=&#34;alert(1)",
        "</text></svg></pre><img/src=x/onerror=alert(1)>",
    ],
)
def test_drawing_lets_no_text_become_an_attribute_or_element(vocab, style, evil):
    plain, spoilt = Doc(vocab, words=["a", "b"]), Doc(vocab, words=[evil, "b"])
    for doc, name in ((plain, "X"), (spoilt, evil)):
        set_constituents(doc, [(0, 2, name), (0, 1, name)])
        doc[0].tag_ = doc[1].tag_ = name
    expected, found = (
        Reader(render(doc, style=style, page=True)).elements for doc in (plain, spoilt)
    )
    assert [tag for tag, _, _ in found] == [tag for tag, _, _ in expected]
    assert [sorted(attrs) for _, attrs, _ in found] == [
        sorted(attrs) for _, attrs, _ in expected
    ]
    assert evil.replace(" ", "") in "".join(
        text.replace(" ", "") for _, _, texts in found for text in texts
    )


@pytest.mark.parametrize("style", [TREE, "text"])
def test_drawing_shows_control_characters_as_codes(vocab, style):
    doc = Doc(vocab, words=["\x1b[31mred", "a\nb", "c\x0bd", "e\u2028f"])
    set_constituents(doc, [(0, 4, "X\x1b[0m")])
    picture = render(doc, style=style)
    for code in ("001b[31m", "000a", "000b", "2028", "001b[0m"):
        assert f"\\u{code}" in picture
    assert not re.search("[\x1b\x0b\u2028]", picture)
    if style == "tree":
        assert "a\\u000ab" in [text for text, _ in read_words(picture)]


@pytest.mark.parametrize("style", [TREE, "text"])
@pytest.mark.parametrize("code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_drawing_shows_bidirectional_controls_as_codes(vocab, style, code):
    doc = Doc(vocab, words=[f"a{chr(code)}b", "c"])
    set_constituents(doc, [(0, 2, f"X{chr(code)}")])
    picture = render(doc, style=style)
    assert picture.count(f"\\u{code:04x}") == 2
    assert chr(code) not in picture


def test_drawing_keeps_the_marks_of_right_to_left_scripts(vocab):
    doc = Doc(vocab, words=["שלום\u200f!", "می\u200cخواهم"])
    set_constituents(doc, [(0, 2, "S")])
    assert all(token.text in render(doc, style="text") for token in doc)


# --- gold against predicted ---


def test_drawing_compares(read_doc):
    assert render(read_doc(FLAT), style="text", gold=read_doc(BOAT)) == (
        "gold (○ not found)\n"
        "S\n"
        "├─ NP\n"
        "│  └─ PRP She\n"
        "├─ VP\n"
        "│  ├─ VBD sold\n"
        "│  └─ ○\u00a0NP\n"
        "│     ├─ NP\n"
        "│     │  ├─ DT the\n"
        "│     │  ├─ JJ old\n"
        "│     │  └─ NN boat\n"
        "│     └─ PP\n"
        "│        ├─ IN with\n"
        "│        └─ ○\u00a0NP\n"
        "│           ├─ DT a\n"
        "│           └─ NN sail\n"
        "└─ . .\n"
        "\n"
        "predicted (✗ not in gold)\n"
        "S\n"
        "├─ NP\n"
        "│  └─ PRP She\n"
        "├─ VP\n"
        "│  ├─ VBD sold\n"
        "│  ├─ NP\n"
        "│  │  ├─ DT the\n"
        "│  │  ├─ JJ old\n"
        "│  │  └─ NN boat\n"
        "│  └─ PP\n"
        "│     ├─ IN with\n"
        "│     └─ ✗\u00a0NX\n"
        "│        ├─ DT a\n"
        "│        └─ NN sail\n"
        "└─ . ."
    )


@needs_svgling
def test_drawing_compares_in_every_style(read_doc):
    doc, gold = read_doc(FLAT), read_doc(BOAT)
    svg = render(doc, gold=gold)
    marked = [
        (element.text[0], element.get("fill"))
        for element in ElementTree.fromstring(svg).iter(
            "{http://www.w3.org/2000/svg}text"
        )
        if element.text[0] in "✗○"
    ]
    assert [mark for mark, _ in marked] == ["○", "○", "✗"]
    assert marked[0][1] == marked[1][1] != marked[2][1] != ""
    labels = read_labels(render(doc, style="span", gold=gold))
    marked = [(label[0], color) for _, _, label, color in labels if label[0] in "✗○"]
    assert [mark for mark, _ in marked] == ["○", "○", "✗"]
    others = {color for _, _, label, color in labels if label[0] not in "✗○"}
    assert others == {"#ddd"}
    assert marked[0][1] == marked[1][1] != marked[2][1] not in others


@needs_svgling
def test_drawing_leaves_what_is_compared_as_it_was(read_doc):
    doc, gold = read_doc(FLAT), read_doc(BOAT)
    render(doc, gold=gold)
    assert doc._.parse_string == FLAT
    assert gold._.parse_string == BOAT


def test_drawing_marks_nothing_that_does_not_count(read_doc):
    gold = read_doc("(TOP (ADVP (RB Up)) (NP (NNS owls)) (. .))")
    doc = read_doc("(FRAG (PRT (RB Up)) (NP (NNS owls) (. .)))")
    picture = render(doc, style="text", gold=gold)
    assert re.findall("[✗○]\u00a0.*", picture) == ["✗\u00a0FRAG"]


def test_drawing_compares_other_tokens(read_doc, vocab):
    gold = read_doc("(S (NP (NNS Owls)) (VP (MD can) (RB not)))")
    doc = Doc(vocab, words=["Owls", "cannot"], tags=["NNS", "MD"])
    set_constituents(doc, [(0, 2, "S"), (0, 1, "NP"), (1, 2, "NP")])
    picture = render(doc, style="text", gold=gold)
    assert re.findall("[✗○]\u00a0.*", picture) == ["○\u00a0VP", "✗\u00a0NP"]


def test_drawing_compares_sentence_by_sentence(read_doc):
    one, two = "(S (NP (NNS Owls)) (VP (VBP hoot)))", "(S (VP (VB Run)))"
    picture = render(read_doc(one, two), style="text", gold=read_doc(one, two))
    roots = [part.split("\n")[0].split()[0] for part in picture.split("\n\n")]
    assert roots == ["gold", "predicted", "gold", "predicted"]
    joined = read_doc("(S (NP (NNS Owls)) (VP (VBP hoot) (VB Run)))")
    picture = render(joined, style="text", gold=read_doc(one, two))
    roots = [part.split("\n")[0].split()[0] for part in picture.split("\n\n")]
    assert roots == ["gold", "predicted", "gold"]


def test_drawing_compares_several_docs(read_doc):
    docs = [read_doc(BOAT), read_doc(FLAT)]
    picture = render(docs, style="text", gold=docs[::-1])
    assert (picture.count("✗\u00a0"), picture.count("○\u00a0")) == (3, 3)


def test_drawing_compares_only_what_fits(read_doc, vocab):
    doc = read_doc(BOAT)
    with pytest.raises(ValueError, match="compare 1 parses with 2 gold parses"):
        render(doc, gold=[doc, doc])
    with pytest.raises(ValueError, match="a gold Doc for each Doc"):
        render(doc[0:1], gold=doc)
    with pytest.raises(ValueError, match="E949"):
        render(doc, gold=read_doc("(UH Yes)"))
    for pair in ((doc, doc[:].as_doc()), (doc[:].as_doc(), doc)):
        with pytest.raises(ValueError, match="no constituency parse"):
            render(pair[0], style="text", gold=pair[1])


# --- where it is shown ---


@pytest.mark.parametrize("style", STYLES)
def test_drawing_makes_a_page(read_doc, style):
    page = render(read_doc(HEBREW), style=style, page=True)
    assert page.startswith("<!DOCTYPE html>")
    reader = Reader(page)
    assert reader.find("meta")[0][1] == {"charset": "utf-8"}
    assert "overflow-x: auto" in reader.find("figure")[0][1]["style"]
    texts = [text for _, _, texts in reader.elements for text in texts]
    assert "ילד" in " ".join(texts)


@pytest.fixture
def shown(monkeypatch):
    """What a notebook would show."""
    shown = []
    notebook = ModuleType("IPython.display")
    notebook.HTML = str
    notebook.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    return shown


@pytest.mark.parametrize("style", STYLES)
def test_drawing_is_shown_in_a_notebook(read_doc, monkeypatch, shown, style):
    doc = read_doc(BOAT)
    assert render(doc, style=style, jupyter=True) is None
    assert "boat" in shown[0] and Reader(shown[0]).find("figure")
    monkeypatch.setattr(render_module, "is_in_jupyter", lambda: True)
    assert render(doc, style=style) is None
    assert shown[1] == shown[0]
    assert isinstance(render(doc, style=style, jupyter=False), str)
    assert len(shown) == 2


@needs_svgling
def test_drawing_outside_of_a_notebook_shows_nothing(read_doc, shown):
    assert isinstance(render(read_doc(BOAT)), str)
    assert shown == []


def test_drawing_is_at_hand():
    assert spacy_pointparse.render is render_module.render


# --- what cannot be drawn ---


def test_drawing_in_an_unknown_style(read_doc):
    with pytest.raises(ValueError, match=r"'dep'\. Choose from: tree, text, span"):
        render(read_doc(BOAT), style="dep")


@pytest.mark.parametrize("style", STYLES)
def test_drawing_without_a_parse(vocab, read_doc, style):
    doc = Doc(vocab, words=["a", "b"])
    for what in (doc, doc[0:2], Doc(vocab), [read_doc(BOAT), doc]):
        with pytest.raises(ValueError, match="no constituency parse"):
            render(what, style=style)


@pytest.mark.parametrize("style", STYLES)
def test_drawing_what_is_no_constituent(read_doc, style):
    with pytest.raises(NonConstituentException, match="She sold"):
        render(read_doc(BOAT)[0:2], style=style)


@pytest.mark.parametrize("style", STYLES)
def test_drawing_nothing(vocab, style):
    empty = Doc(vocab)
    set_constituents(empty, [])
    assert render(empty, style=style) == render([], style=style) == ""
    blank = Doc(vocab, words=["\n", "Yes"], sent_starts=[True, True])
    set_constituents(blank, [])
    assert render(blank, style="text") == "UNK Yes"


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_page_on_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGE)
    assert read_labels((tmp_path / "spans.html").read_text(encoding="utf8"))
