"""How a parse lives on a Doc: one span group, and the getters that read it.

`doc.spans["constituents"]` holds one Span for each bracket, sorted by start, longest
first, outermost first. The group is all there is: it survives DocBin, `to_bytes`,
copies and worker processes, and every extension attribute is a getter over it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from math import isnan

import numpy
from nltk import Tree
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup, Token

from ..trees.escaping import escape_word
from ..trees.structure import Constituent, build_tree, tree_to_string
from .sentences import get_sentences

SPANS_KEY = "constituents"
SCORES_ATTR = "scores"
# Attribute of the span group: these brackets are right, but there may be others.
PARTIAL_ATTR = "partial"
# The tag of a pre-terminal where nobody set `token.tag_`.
UNKNOWN_TAG = "UNK"


class NonConstituentException(ValueError):
    """Raised for a range of tokens that is no constituent of the parse."""


def set_constituents(
    doc: Doc,
    constituents: Iterable[Constituent],
    probabilities: NDArray | None = None,
    spans_key: str = SPANS_KEY,
) -> None:
    """Set the parse of a Doc. What it held before is gone.

    doc (Doc): The Doc to modify.
    constituents (Iterable[Constituent]): Start token, end token and label of each
        bracket, the brackets over the same tokens outermost first.
    probabilities (Optional[NDArray]): How likely each is to be right, not a number
        where that is unknown. They are kept as `attrs["scores"]` of the span group, as
        those of spaCy's spancat are. Shape (constituents,).
    spans_key (str): The span group to write.
    """
    brackets = list(constituents)
    order = sorted(
        range(len(brackets)), key=lambda i: (brackets[i][0], -brackets[i][1])
    )
    spans = [Span(doc, *brackets[i][:2], label=brackets[i][2]) for i in order]
    attrs = {}
    if probabilities is not None:
        attrs[SCORES_ATTR] = probabilities[order].astype("float32")
    doc.spans[spans_key] = SpanGroup(doc, name=spans_key, attrs=attrs, spans=spans)


def get_constituents(doc: Doc, spans_key: str = SPANS_KEY) -> SpanGroup:
    """Get the parse of a Doc: one Span a bracket, in pre-order.

    doc (Doc): A parsed Doc.
    spans_key (str): The span group to read.
    RETURNS (SpanGroup): The constituents.
    RAISES (ValueError): If the Doc has no parse.
    """
    if spans_key not in doc.spans:
        raise ValueError(
            f"The Doc has no constituency parse: doc.spans[{spans_key!r}] is not set. "
            f'Add the component "pointing_parser" to your pipeline, or load a trained '
            f'one: spacy.load("en_pointparse_sm").'
        )
    return doc.spans[spans_key]


def _trim(span: Span) -> Span:
    """Leave out white space at both ends: it is part of no tree."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while start < end and span.doc[end - 1].is_space:
        end -= 1
    return span.doc[start:end]


def _bracket_order(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def _find_brackets(span: Span, spans_key: str) -> tuple[Span, list[Span]]:
    """Find the brackets over and inside a range.

    RETURNS (Tuple[Span, List[Span]]): The trimmed range and its brackets, in pre-order.
    RAISES (NonConstituentException): If the range is neither a constituent nor a word.
    """
    group = get_constituents(span.doc, spans_key)
    span = _trim(span)
    low = bisect_left(group, (span.start, -span.end), key=_bracket_order)
    high = bisect_left(group, (span.end, -len(span.doc)), lo=low, key=_bracket_order)
    brackets = [group[i] for i in range(low, high)]
    found = brackets and _bracket_order(brackets[0]) == _bracket_order(span)
    if (
        len(span) > 1
        and not found
        and not (group.attrs.get(PARTIAL_ATTR) and _is_sentence(span))
    ):
        raise NonConstituentException(
            f"Span is not a constituent: {span.text!r} (tokens {span.start} to "
            f"{span.end}). The constituents are listed by sent._.constituents."
        )
    return span, brackets


def _is_sentence(span: Span) -> bool:
    ranges = (_bracket_order(_trim(sent)) for sent in get_sentences(span.doc))
    return _bracket_order(span) in ranges


def _chain(span: Span, brackets: list[Span]) -> list[Span]:
    """The brackets over all of a range: its unary chain."""
    return [bracket for bracket in brackets if bracket.end - bracket.start == len(span)]


def get_span_labels(span: Span, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """Get the labels of a constituent, the whole unary chain, outermost first."""
    return tuple(bracket.label_ for bracket in _chain(*_find_brackets(span, spans_key)))


def get_span_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """Get the tree of a constituent, its leaves the texts of the tokens."""
    return _build_tree(*_find_brackets(span, spans_key))


def get_span_string(span: Span, spans_key: str = SPANS_KEY) -> str:
    """Get the Penn-style string of a constituent; empty for white space."""
    span, brackets = _find_brackets(span, spans_key)
    if not len(span):
        return ""
    return tree_to_string(_build_tree(span, brackets, escape_word))


def _build_tree(
    span: Span, brackets: list[Span], write: Callable[[str], str] = str
) -> Tree:
    words = [token for token in span if not token.is_space]
    rows = numpy.cumsum([not token.is_space for token in span]).tolist()
    constituents = [
        (rows[s.start - span.start] - 1, rows[s.end - 1 - span.start], s.label_)
        for s in brackets
    ]
    tags = [token.tag_ or UNKNOWN_TAG for token in words]
    tree = build_tree([write(token.text) for token in words], tags, constituents)
    return tree[0] if len(tree) == 1 else tree


def get_span_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Get the constituents inside a constituent, itself and single words among them,
    in pre-order, each range once."""
    span, brackets = _find_brackets(span, spans_key)
    ranges = {(bracket.start, -bracket.end) for bracket in brackets}
    ranges |= {(token.i, -token.i - 1) for token in span if not token.is_space}
    for start, end in sorted(ranges):
        yield span.doc[start:-end]


def get_span_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Get the constituents and words right below a constituent, each range once."""
    span, brackets = _find_brackets(span, spans_key)
    inner = iter(bracket for bracket in brackets if len(bracket) < len(span))
    bracket = next(inner, None)
    start = span.start
    while start < span.end and len(span) > 1:
        while bracket is not None and bracket.start < start:
            bracket = next(inner, None)
        at_bracket = bracket is not None and bracket.start == start
        end = bracket.end if at_bracket else start + 1
        child = span.doc[start:end]
        if not child[0].is_space:
            yield child
        start = end


def get_span_parent(span: Span, spans_key: str = SPANS_KEY) -> Span | None:
    """Get the smallest constituent around a constituent; None at the root, and for
    white space."""
    span, _ = _find_brackets(span, spans_key)
    if not len(span):
        return None
    doc = span.doc
    group = get_constituents(doc, spans_key)
    sentence = span.sent.start if doc.has_annotation("SENT_START") else 0
    index = bisect_left(group, (span.start, -span.end), key=_bracket_order) - 1
    while index >= 0 and group[index].start >= sentence:
        bracket = group[index]
        if bracket.end >= span.end:
            return doc[bracket.start : bracket.end]
        index -= 1
    return None


def get_span_probability(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """Get how likely a constituent is to be right, by the parser that found it; None if
    that is unknown, as for gold trees and for words without a constituent. Of a unary
    chain it is that of all labels together."""
    span, brackets = _find_brackets(span, spans_key)
    chain = _chain(span, brackets)
    group = get_constituents(span.doc, spans_key)
    scores = group.attrs.get(SCORES_ATTR, ())
    # Spans that were added to the group, or taken from it, have moved the others.
    if not chain or len(scores) != len(group):
        return None
    first = bisect_left(group, (span.start, -span.end), key=_bracket_order)
    probability = float(scores[first])
    return None if isnan(probability) else probability


def get_doc_trees(doc: Doc, spans_key: str = SPANS_KEY) -> list[Tree]:
    """Get the tree of each sentence, those of white space only left out."""
    get_constituents(doc, spans_key)
    sentences = (_trim(sent) for sent in get_sentences(doc))
    return [get_span_tree(sent, spans_key) for sent in sentences if len(sent)]


def get_doc_string(doc: Doc, spans_key: str = SPANS_KEY) -> str:
    """Get the Penn-style strings of a Doc: one tree a line, one line a sentence."""
    get_constituents(doc, spans_key)
    strings = (get_span_string(sent, spans_key) for sent in get_sentences(doc))
    return "\n".join(string for string in strings if string)


def get_token_labels(token: Token, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """Get the labels of the constituents over a single word, outermost first."""
    return get_span_labels(_as_span(token), spans_key)


def get_token_string(token: Token, spans_key: str = SPANS_KEY) -> str:
    """Get the Penn-style string of a single word."""
    return get_span_string(_as_span(token), spans_key)


def get_token_parent(token: Token, spans_key: str = SPANS_KEY) -> Span | None:
    """Get the smallest constituent around a single word."""
    return get_span_parent(_as_span(token), spans_key)


def _as_span(token: Token) -> Span:
    return token.doc[token.i : token.i + 1]
