"""Read the parse of a Doc: the functions behind the extension attributes.

Each of them looks up brackets by bisection in the sorted span group, so that no index
has to be built or kept. Whitespace tokens are not part of any tree.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from math import isnan

import numpy
from nltk import Tree
from spacy.tokens import Doc, Span, SpanGroup, Token

from ..trees.escaping import escape_word
from ..trees.structure import build_tree, tree_to_string
from .constituents import (
    PARTIAL_ATTR,
    SCORES_ATTR,
    SPANS_KEY,
    UNKNOWN_TAG,
    NonConstituentException,
    get_constituents,
)
from .sentences import get_sentences

_NO_CONSTITUENT = (
    "Span is not a constituent: {!r} (tokens {} to {}). sent._.constituents lists the "
    "constituents of a sentence."
)
_CHANGED_SENTENCES = (
    "Sentence is not a constituent: {!r} (tokens {} to {}). Sentence boundaries have "
    "changed since the parse. Put the component that sets them before the parser."
)


def _trim(span: Span) -> Span:
    """Strip whitespace tokens from both ends."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while start < end and span.doc[end - 1].is_space:
        end -= 1
    return span.doc[start:end]


def _bracket_order(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def _find_brackets(span: Span, spans_key: str) -> tuple[Span, list[Span]]:
    """Find the brackets over and inside a span.

    RETURNS (Tuple[Span, List[Span]]): The trimmed span, and its brackets in pre-order.
    RAISES (NonConstituentException): If the span is neither a constituent nor a word.
    """
    group = get_constituents(span.doc, spans_key)
    span = _trim(span)
    low = bisect_left(group, (span.start, -span.end), key=_bracket_order)
    high = bisect_left(group, (span.end, -len(span.doc)), lo=low, key=_bracket_order)
    brackets = [group[i] for i in range(low, high)]
    if len(span) > 1 and not _is_node(span, brackets, group):
        message = _NO_CONSTITUENT
        if span.doc.has_annotation("SENT_START") and _is_sentence(span):
            message = _CHANGED_SENTENCES
        raise NonConstituentException(message.format(span.text, span.start, span.end))
    return span, brackets


def _is_node(span: Span, brackets: list[Span], group: SpanGroup) -> bool:
    """Check whether a bracket covers the span, or a partial parse omits its root."""
    if brackets and _bracket_order(brackets[0]) == _bracket_order(span):
        return True
    return bool(group.attrs.get(PARTIAL_ATTR)) and _is_sentence(span)


def _is_sentence(span: Span) -> bool:
    ranges = (_bracket_order(_trim(sent)) for sent in get_sentences(span.doc))
    return _bracket_order(span) in ranges


def _get_chain(span: Span, brackets: list[Span]) -> list[Span]:
    """Get the unary chain: the brackets that cover the whole span."""
    return [bracket for bracket in brackets if bracket.end - bracket.start == len(span)]


def get_span_labels(span: Span, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """Get the labels of a constituent: its whole unary chain, outermost first."""
    chain = _get_chain(*_find_brackets(span, spans_key))
    return tuple(bracket.label_ for bracket in chain)


def get_span_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """Get the tree of a constituent. Its leaves are the token texts."""
    return _build_tree(*_find_brackets(span, spans_key))


def get_span_string(span: Span, spans_key: str = SPANS_KEY) -> str:
    """Get the bracketed string of a constituent; empty for whitespace."""
    span, brackets = _find_brackets(span, spans_key)
    if not len(span):
        return ""
    return tree_to_string(_build_tree(span, brackets, escape_word))


def _build_tree(
    span: Span, brackets: list[Span], write: Callable[[str], str] = str
) -> Tree:
    words = [token for token in span if not token.is_space]
    # Number of words up to and including each token.
    counts = numpy.cumsum([not token.is_space for token in span]).tolist()
    constituents = []
    for bracket in brackets:
        start = counts[bracket.start - span.start] - 1
        end = counts[bracket.end - 1 - span.start]
        constituents.append((start, end, bracket.label_))
    tags = [token.tag_ or UNKNOWN_TAG for token in words]
    tree = build_tree([write(token.text) for token in words], tags, constituents)
    return tree[0] if len(tree) == 1 else tree


def get_span_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Get the constituents inside a constituent, including itself and single words, in
    pre-order. Each range occurs once, with the label of its outermost bracket; that of
    a bare word is empty."""
    span, brackets = _find_brackets(span, spans_key)
    words = (span.doc[token.i : token.i + 1] for token in span if not token.is_space)
    nodes: dict[tuple[int, int], Span] = {}
    for node in (*brackets, *words):
        nodes.setdefault(_bracket_order(node), node)
    for place in sorted(nodes):
        yield nodes[place]


def get_span_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Get the child constituents and words of a constituent. Each range occurs once,
    with the label of its outermost bracket."""
    span, brackets = _find_brackets(span, spans_key)
    inner = iter(bracket for bracket in brackets if len(bracket) < len(span))
    bracket = next(inner, None)
    start = span.start
    while start < span.end and len(span) > 1:
        while bracket is not None and bracket.start < start:
            bracket = next(inner, None)
        child = span.doc[start : start + 1]
        if bracket is not None and bracket.start == start:
            child = bracket
        if not child[0].is_space:
            yield child
        start = child.end


def get_span_parent(span: Span, spans_key: str = SPANS_KEY) -> Span | None:
    """Get the smallest constituent around a constituent, with the label of its
    outermost bracket; None for the root and for whitespace."""
    span, _ = _find_brackets(span, spans_key)
    if not len(span):
        return None
    doc = span.doc
    group = get_constituents(doc, spans_key)
    sentence = span.sent.start if doc.has_annotation("SENT_START") else 0
    index = bisect_left(group, (span.start, -span.end), key=_bracket_order) - 1
    while index >= 0 and group[index].start >= sentence:
        order = _bracket_order(group[index])
        if -order[1] >= span.end:
            return group[bisect_left(group, order, key=_bracket_order)]
        index -= 1
    return None


def get_span_probability(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """Get the probability that a constituent is right, with all labels of its unary
    chain. None if unknown, as for gold trees and for words without a constituent."""
    span, brackets = _find_brackets(span, spans_key)
    chain = _get_chain(span, brackets)
    group = get_constituents(span.doc, spans_key)
    scores = group.attrs.get(SCORES_ATTR, ())
    # The scores no longer match if spans were added to or removed from the group.
    if not chain or len(scores) != len(group):
        return None
    first = bisect_left(group, (span.start, -span.end), key=_bracket_order)
    probability = float(scores[first])
    return None if isnan(probability) else probability


def get_doc_trees(doc: Doc, spans_key: str = SPANS_KEY) -> list[Tree]:
    """Get the tree of each sentence, skipping those that are only whitespace."""
    get_constituents(doc, spans_key)
    sentences = (_trim(sent) for sent in get_sentences(doc))
    return [get_span_tree(sent, spans_key) for sent in sentences if len(sent)]


def get_doc_string(doc: Doc, spans_key: str = SPANS_KEY) -> str:
    """Get the bracketed strings of the sentences of a Doc, one per line."""
    get_constituents(doc, spans_key)
    strings = (get_span_string(sent, spans_key) for sent in get_sentences(doc))
    return "\n".join(string for string in strings if string)


def get_token_labels(token: Token, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """Get the labels of the constituents over a single word, outermost first."""
    return get_span_labels(_as_span(token), spans_key)


def get_token_string(token: Token, spans_key: str = SPANS_KEY) -> str:
    """Get the bracketed string of a single word."""
    return get_span_string(_as_span(token), spans_key)


def get_token_parent(token: Token, spans_key: str = SPANS_KEY) -> Span | None:
    """Get the smallest constituent around a single word."""
    return get_span_parent(_as_span(token), spans_key)


def _as_span(token: Token) -> Span:
    return token.doc[token.i : token.i + 1]
