"""Draw parses: trees as SVG or text, or spans with displaCy."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import zip_longest
from typing import Any, NamedTuple

from nltk import Tree
from spacy.displacy.render import DEFAULT_ENTITY_COLOR, SpanRenderer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import is_in_jupyter

from ..evaluation.scorer import find_errors
from ..tokens.constituents import SPANS_KEY, get_constituents, set_constituents
from ..tokens.getters import get_span_constituents, get_span_labels, get_span_tree
from ..tokens.sentences import get_sentences

# Paul Tol's "light" scheme, which is readable behind black text and color-blind safe.
# Other labels get displaCy's gray.
_LABELS = {
    "#77AADD": "S SBAR SBARQ SINV SQ RRC CP IP CS SENT Sint Srel Ssub zdanie",
    "#99DDFF": "ADVP WHADVP AVP CAVP AdP fps",
    "#44BB99": "PP WHPP CPP fpm",
    "#BBCC33": "ADJP WHADJP AP CAP AA fpt",
    "#AAAA00": "QP NM",
    "#EEDD88": "NP WHNP NX NML NAC CNP PN fno",
    "#EE8866": "VP CVP VZ CVZ VN VPinf VPpart ff",
    "#FFAABB": "CONJP UCP CO COORD PRN INTJ EDITED FRAG X",
}
# Marks of brackets that are not in gold and of gold brackets that were not found, and
# their colors in trees (from the "high-contrast" scheme) and in spans.
WRONG, MISSING = "✗", "○"
_INK = {WRONG: "#BB5566", MISSING: "#004488"}
_FILL = {WRONG: "#EE8866", MISSING: "#77AADD"}
_TITLES = (f"gold ({MISSING} not found)", f"predicted ({WRONG} not in gold)")
_FONT = "font-family: Arial, Helvetica, sans-serif;"
_CANVAS = "max-width: none; background: #fff"  # else Jupyter shrinks wide pictures
_FIGURE = '<figure class="tex2jax_ignore" style="overflow-x: auto">{}</figure>'
_PAGE = """\
<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>Constituents</title></head>
<body style="font: 16px Arial, Helvetica, sans-serif; padding: 2rem">
{}
</body>
</html>
"""
# Characters that would break a line, a terminal or an XML file, or reorder a line.
_CONTROLS = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *(0xFFFE, 0xFFFF),
)
_CODES = {code: f"\\u{code:04x}" for code in _CONTROLS}


class _Panel(NamedTuple):
    """One picture.

    span (Span): The sentence or constituent to draw.
    title (str): The title, if any.
    """

    span: Span
    title: str = ""


def get_colors() -> dict[str, str]:
    """Get the colors of constituent labels in displaCy. Registered by the entry point
    `spacy_displacy_colors`.

    RETURNS (Dict[str, str]): The color of each label.
    """
    colors: dict[str, str] = {}
    for color, labels in _LABELS.items():
        colors.update(dict.fromkeys(labels.split(), color))
    return colors


def render(
    docs: Doc | Span | Iterable[Doc | Span],
    style: str = "tree",
    page: bool = False,
    jupyter: bool | None = None,
    options: dict[str, Any] | None = None,
    gold: Doc | Iterable[Doc] | None = None,
) -> str | None:
    """Draw parses. In a Jupyter notebook the picture is displayed, as by
    `displacy.render`.

    docs (Union[Doc, Span, Iterable[Union[Doc, Span]]]): The Docs, of which every
        sentence is drawn, or Spans that are sentences or constituents.
    style (str): "tree" for SVG, "text" for a plain-text outline, "span" for displaCy's
        span visualizer.
    page (bool): Make a full HTML page.
    jupyter (Optional[bool]): Whether to display the picture in a notebook. None to
        detect automatically.
    options (Optional[Dict[str, Any]]): Options of displaCy's span visualizer, such as
        "spans_key" to draw other spans than the constituents.
    gold (Optional[Union[Doc, Iterable[Doc]]]): The gold Doc of each Doc. Both are
        drawn, with marks on brackets that the scorer counts as wrong or missed.
    RETURNS (Optional[str]): The picture as SVG, text or HTML, depending on style and
        page. None if it was displayed.
    RAISES (ValueError): If the style is unknown, a Doc has no parse or no such spans,
        or the gold Docs do not match the Docs.
    RAISES (NonConstituentException): If a Span is not a constituent.
    RAISES (ImportError): If svgling is not installed, for style "tree".
    """
    picture = draw(docs, style, page=page, options=options, gold=gold)
    if not (is_in_jupyter() if jupyter is None else jupyter):
        return picture
    from IPython.display import HTML, display

    display(HTML(picture if page else _frame(picture, style)))
    return None


def draw(
    docs: Doc | Span | Iterable[Doc | Span],
    style: str = "tree",
    *,
    page: bool = False,
    options: dict[str, Any] | None = None,
    gold: Doc | Iterable[Doc] | None = None,
) -> str:
    """Draw parses and return the picture, in a notebook as well. See `render`."""
    if style not in _STYLES:
        raise ValueError(f"Unknown style {style!r}. Choose from: {', '.join(_STYLES)}.")
    panels = list(_list_panels(docs) if gold is None else _compare(docs, gold))
    picture = _STYLES[style](panels, options or {}) if panels else ""
    return _PAGE.format(_frame(picture, style)) if page else picture


def _frame(picture: str, style: str) -> str:
    """Make a picture part of an HTML page."""
    return _FIGURE.format(
        f"<pre>{escape(picture)}</pre>" if style == "text" else picture
    )


def _list_panels(docs: Doc | Span | Iterable[Doc | Span]) -> Iterator[_Panel]:
    for doc in _as_list(docs):
        get_constituents(doc if isinstance(doc, Doc) else doc.doc)
        for span in get_sentences(doc) if isinstance(doc, Doc) else [doc]:
            if not span.text.isspace():
                yield _Panel(span)


def _compare(
    docs: Doc | Span | Iterable[Doc | Span], golds: Doc | Iterable[Doc]
) -> Iterator[_Panel]:
    docs, golds = _as_list(docs), _as_list(golds)
    if len(docs) != len(golds) or not all(isinstance(d, Doc) for d in docs + golds):
        raise ValueError(
            f"Cannot compare {len(docs)} parses with {len(golds)} gold parses. Provide "
            "a gold Doc for each Doc."
        )
    for doc, gold in zip(docs, golds):
        pairs = zip_longest(*(_list_panels(one) for one in _mark_errors(doc, gold)))
        for pair in pairs:
            for panel, title in zip(pair, _TITLES):
                if panel:
                    yield panel._replace(title=title)


def _as_list(docs: Any) -> list[Any]:
    return [docs] if isinstance(docs, Doc | Span) else list(docs)


def _mark_errors(doc: Doc, gold: Doc) -> Iterator[Doc]:
    """Copy the gold and the predicted Doc, and mark the labels of brackets that only
    one of them has.

    YIELDS (Doc): The gold Doc, then the predicted one.
    """
    get_constituents(gold)
    wrong, missing = find_errors(Example(doc, gold))
    for one, marked, mark in ((gold, missing, MISSING), (doc, wrong, WRONG)):
        labels = [span.label_ for span in get_constituents(one)]
        for i in marked:
            labels[i] = f"{mark}\N{NO-BREAK SPACE}{labels[i]}"
        spans = zip(get_constituents(one), labels)
        copy = one.copy()
        set_constituents(copy, [(span.start, span.end, label) for span, label in spans])
        yield copy


def _draw_trees(panels: list[_Panel], options: dict[str, Any]) -> str:
    try:
        from svgling.figure import Caption, RowByRow
    except ImportError:
        raise ImportError(
            'The style "tree" needs svgling: pip install "spacy-pointparse[pictures]". '
            'The styles "text" and "span" have no extra requirements.'
        ) from None
    try:
        rows = []
        for panel in panels:
            tree = _lay_out(get_span_tree(panel.span))
            rows.append(Caption(tree, panel.title) if panel.title else tree)
        svg = RowByRow(*rows).get_svg()
        svg["style"] = _CANVAS
        return svg.tostring()
    except RecursionError:
        raise ValueError(
            'A tree is too deep for svgling. Draw it with style="text" or style="span".'
        ) from None


def _lay_out(tree: Tree) -> Any:
    """Lay out a tree with its words aligned, each below its tag."""
    from svgling.core import TreeOptions, draw_tree, node

    text = "".join(tree.leaves())
    is_rtl = _is_right_to_left(text)

    def split(part: Tree) -> tuple[Any, list[Tree]]:
        label = _clean(part.label())
        if not isinstance(part[0], Tree):
            return f"{label}\n{_clean(part[0])}", []
        if label[:1] in _INK:
            label = node(label, options=TreeOptions(text_color=_INK[label[:1]]))
        return label, part[::-1] if is_rtl else part

    return draw_tree(
        tree,
        tree_split=split,
        leaf_nodes_align=True,
        descend_direct=False,  # otherwise edges cross labels
        distance_to_daughter=1.5,
        font_size=14,
        font_style=f"{_FONT} direction: {'rtl' if is_rtl else 'ltr'};",
        average_glyph_width=1.0 if _is_wide(text) else 1.7,  # glyphs per em
    )


def _draw_outlines(panels: list[_Panel], options: dict[str, Any]) -> str:
    outlines = (_outline(get_span_tree(panel.span)) for panel in panels)
    titled = zip((panel.title for panel in panels), outlines)
    return "\n\n".join("\n".join(filter(None, pair)) for pair in titled)


def _outline(tree: Tree) -> str:
    lines = []
    stack = [(tree, "", "")]
    while stack:
        node, first, rest = stack.pop()
        words = [word for word in node if not isinstance(word, Tree)]
        lines.append(first + _clean(" ".join([node.label(), *words])))
        nodes = [child for child in node if isinstance(child, Tree)]
        arms = [("├─ ", "│  ")] * (len(nodes) - 1) + [("└─ ", "   ")]
        below = [(child, rest + a, rest + b) for child, (a, b) in zip(nodes, arms)]
        stack += reversed(below)
    return "\n".join(lines)


def _draw_spans(panels: list[_Panel], options: dict[str, Any]) -> str:
    renderer = SpanRenderer(options)
    colors = renderer.colors
    pictures = []
    for panel in panels:
        brackets = _list_brackets(panel.span, options.get("spans_key", SPANS_KEY))
        spans = list(_describe_spans(panel, brackets, colors))
        renderer.colors = {span["label"].upper(): span["color"] for span in spans}
        is_rtl = _is_right_to_left(panel.span.text)
        picture = {
            "tokens": [token.text for token in panel.span],
            "spans": spans,
            "title": panel.title,
            "settings": {"direction": "rtl" if is_rtl else "ltr"},
        }
        pictures.append(renderer.render([picture]))
    return "\n".join(pictures)


def _list_brackets(span: Span, key: str) -> Iterator[tuple[Span, str]]:
    """List the spans of a group inside a constituent, each with its label."""
    doc = span.doc
    if key not in doc.spans:
        raise ValueError(f"There is no span group {key!r} in {list(doc.spans)}.")
    if key == SPANS_KEY:
        for part in get_span_constituents(span):
            yield from ((part, label) for label in get_span_labels(part))
        return
    for part in doc.spans[key]:
        if span.start <= part.start and part.end <= span.end:
            yield part, part.label_


def _describe_spans(
    panel: _Panel, brackets: Iterable[tuple[Span, str]], colors: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Describe brackets in the format of displaCy. It sorts spans over the same words
    by label, so a comment before each label keeps their order. It does not escape
    labels, either."""
    start = panel.span.start
    for number, (span, label) in enumerate(brackets):
        color = _FILL.get(label[:1]) if panel.title else colors.get(label.upper())
        yield {
            "start_token": span.start - start,
            "end_token": span.end - start,
            "label": f"<!--{number:04}-->{escape(label)}",
            "color": color or DEFAULT_ENTITY_COLOR,
        }


def _is_right_to_left(text: str) -> bool:
    """Check whether most letters belong to a right-to-left script. The language does
    not tell, as treebanks of Arabic and Hebrew are often transliterated."""
    kinds = Counter(unicodedata.bidirectional(char) for char in text)
    return kinds["R"] + kinds["AL"] > kinds["L"]


def _is_wide(text: str) -> bool:
    return any(unicodedata.east_asian_width(char) in "WF" for char in text)


def _clean(text: str) -> str:
    return text.translate(_CODES)


_STYLES: dict[str, Callable[[list[_Panel], dict[str, Any]], str]] = {
    "tree": _draw_trees,
    "text": _draw_outlines,
    "span": _draw_spans,
}
