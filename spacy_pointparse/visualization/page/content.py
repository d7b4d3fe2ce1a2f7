"""The web page: parse a text, then view, highlight, search and download its trees."""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from string import punctuation
from threading import Lock
from typing import Any

import spacy
import streamlit as st
from spacy.language import Language
from spacy.tokens import Doc, Span

from ...parallel.processes import parse_texts
from ...tokens.constituents import get_constituents
from ...tokens.getters import get_doc_string, get_span_probability, get_span_string
from ...tokens.search import find_constituents
from ...tokens.sentences import get_sentences
from ..glossary import explain
from ..render import draw

# More would be slow to draw, especially in the browser.
MAX_SENTENCES = 50
_TITLE = "Constituency parsing by pointing"
_TEXT = (
    "The girl who lives next door found a small bird under the old tree. It sings "
    "every morning before the sun comes up."
)
_PATTERNS = (
    "`NP < PP`: noun phrases directly above a prepositional phrase · `NP << tree`: "
    "noun phrases that contain the word · `PP > VP`: prepositional phrases directly "
    "below a verb phrase · `/^VB/`: tags that begin with VB · "
    "[more](https://www.nltk.org/api/nltk.tgrep.html)"
)
_HIGHLIGHTED = "highlighted"
_FIGURE = '<div style="overflow-x: auto">{}</div>'
# Streamlit removes SVG elements. Scripts cannot run in an image.
_IMAGE = '<img src="data:image/svg+xml;base64,{}" alt="{}" style="max-width: none">'
_ESCAPES = str.maketrans({char: f"\\{char}" for char in punctuation})
# Sessions run in threads, and a pipeline is not thread-safe.
_parsing = Lock()


@lru_cache(maxsize=1)
def load_pipeline(model: str) -> Language:
    """Load a pipeline, once for the command and all sessions.

    model (str): Name or path of the pipeline.
    RETURNS (Language): The pipeline.
    RAISES (OSError): If it cannot be found.
    """
    return spacy.load(model)


@lru_cache(maxsize=8)
def parse(model: str, text: str) -> Doc | Exception:
    """Parse a text. Cached, as each click reruns the page, mostly with the same text.

    model (str): Name or path of the pipeline.
    text (str): The text.
    RETURNS (Union[Doc, Exception]): The parsed Doc, which must not be modified, or the
        error that the pipeline raised.
    """
    with _parsing:
        (parsed,) = parse_texts(load_pipeline(model), [text])
    return parsed


def show_page(model: str) -> None:
    """Show the page.

    model (str): Name or path of the pipeline.
    """
    st.set_page_config(page_title=_TITLE, layout="wide")
    st.title(_TITLE)
    st.write(
        "View the constituency tree of each sentence, highlight constituents by label, "
        "or search them by pattern."
    )
    with _clear_errors():
        _show_pipeline(model, load_pipeline(model))
        text = st.text_area("Text to analyze", _TEXT)
        doc = parse(model, text)
        if isinstance(doc, Exception):
            raise ValueError(f"The pipeline failed on this text: {doc}")
        get_constituents(doc)
        if not text.strip():
            st.info("Type a text above.")
            return
        views = {"Trees": _show_trees, "Labels": _show_labels, "Search": _show_search}
        for tab, show in zip(st.tabs(list(views)), views.values()):
            with tab, _clear_errors():
                show(doc)


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Show an error in the input, and skip the rest."""
    try:
        yield
    except (ImportError, OSError, ValueError) as error:
        st.error(_escape(str(error)))


def _escape(text: str) -> str:
    """Escape the characters that are special in Markdown."""
    return text.translate(_ESCAPES)


def _show_pipeline(model: str, nlp: Language) -> None:
    st.sidebar.subheader("Pipeline info")
    st.sidebar.text(f"{model} v{nlp.meta['version']}")
    st.sidebar.caption(_escape(nlp.meta["description"]))


def _show_trees(doc: Doc) -> None:
    buttons = st.container(horizontal=True)
    buttons.download_button(
        "Download brackets (.mrg)",
        f"{get_doc_string(doc)}\n",
        "trees.mrg",
        "text/plain",
    )
    sentences = _limit([sent for sent in get_sentences(doc) if not sent.text.isspace()])
    picture = draw(sentences)
    buttons.download_button(
        "Download picture (.svg)", picture, "trees.svg", "image/svg+xml"
    )
    for sentence in sentences:
        _show_figure(_draw_tree(sentence))


def _draw_tree(sentence: Span) -> str:
    data = b64encode(draw(sentence).encode()).decode()
    return _IMAGE.format(data, escape(get_span_string(sentence)))


def _show_labels(doc: Doc) -> None:
    constituents = get_constituents(doc)
    counts = Counter(span.label_ for span in constituents)
    labels = [label for label, _ in counts.most_common()]
    chosen = st.multiselect("Labels", labels, default=labels)
    _highlight(doc, [span for span in constituents if span.label_ in chosen])


def _show_search(doc: Doc) -> None:
    pattern = st.text_input("Pattern", "NP < PP")
    st.caption(_PATTERNS)
    _highlight(doc, find_constituents(doc, pattern))


def _highlight(doc: Doc, spans: list[Span]) -> None:
    """Draw the sentences that contain constituents, and list the constituents."""
    st.text(f"Constituents: {len(spans)}")
    if not spans:
        return
    copy = doc.copy()
    copy.spans[_HIGHLIGHTED] = [
        Span(copy, span.start, span.end, span.label) for span in spans
    ]
    starts = {span.start for span in spans}
    sentences = [s for s in get_sentences(copy) if starts & {*range(s.start, s.end)}]
    options = {"spans_key": _HIGHLIGHTED}
    _show_figure(draw(_limit(sentences), style="span", options=options))
    st.dataframe([_describe(span) for span in spans], hide_index=True)


def _limit(sentences: list[Span]) -> list[Span]:
    if len(sentences) > MAX_SENTENCES:
        st.caption(f"Showing {MAX_SENTENCES} of {len(sentences)} sentences.")
    return sentences[:MAX_SENTENCES]


def _show_figure(html: str) -> None:
    with st.container(border=True):
        st.html(_FIGURE.format(html))


def _describe(span: Span) -> dict[str, Any]:
    return {
        "text": span.text,
        "label": span.label_,
        "meaning": explain(span.label_),
        "start_char": span.start_char,
        "end_char": span.end_char,
        "probability": get_span_probability(span),
    }
