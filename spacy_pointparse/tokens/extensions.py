"""The extension attributes on Doc, Span and Token."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, Token

from .constituents import SPANS_KEY
from .getters import (
    get_doc_string,
    get_doc_trees,
    get_span_children,
    get_span_constituents,
    get_span_labels,
    get_span_parent,
    get_span_probability,
    get_span_string,
    get_span_tree,
    get_token_labels,
    get_token_parent,
    get_token_string,
)
from .search import find_constituents

_Target = type[Doc] | type[Span] | type[Token]
_GETTERS: dict[_Target, dict[str, Callable[..., Any]]] = {
    Doc: {"parse_string": get_doc_string, "parse_trees": get_doc_trees},
    Span: {
        "parse_string": get_span_string,
        "parse_tree": get_span_tree,
        "labels": get_span_labels,
        "constituents": get_span_constituents,
        "parent": get_span_parent,
        "children": get_span_children,
        "probability": get_span_probability,
    },
    Token: {
        "labels": get_token_labels,
        "parse_string": get_token_string,
        "parent": get_token_parent,
    },
}


def install_extensions() -> None:
    """Register the extension attributes on Doc, Span and Token. Creating a
    `pointing_parser` does this, too. Call this function to read Docs that were parsed
    earlier.

    Each attribute `x` reads the span group "constituents", and each method
    `get_x(spans_key)` the given one. If another package, such as benepar, has already
    registered a getter with the same name, Docs with a span group "constituents" use
    the new getter, and all others the previous one.
    """
    for target, getters in _GETTERS.items():
        for name, getter in getters.items():
            _install_getter(target, name, getter)
            _install_method(target, f"get_{name}", getter)
    _install_method(Doc, "constituents_matching", find_constituents)
    _install_method(Span, "constituents_matching", find_constituents)


def _install_method(target: _Target, name: str, method: Callable[..., Any]) -> None:
    if not target.has_extension(name):
        target.set_extension(name, method=method)


def _install_getter(target: _Target, name: str, getter: Callable[..., Any]) -> None:
    if not target.has_extension(name):
        target.set_extension(name, getter=getter)
        return
    _, _, found, _ = target.get_extension(name)  # default, method, getter, setter
    if found is None or found is getter or isinstance(found, _Shared):
        return
    target.set_extension(name, getter=_Shared(getter, found), force=True)


class _Shared(partial):
    """A getter that falls back to one registered earlier by another package."""

    def __new__(cls, ours: Callable, theirs: Callable) -> "_Shared":
        return super().__new__(cls, _get_shared, ours, theirs)

    def __reduce__(self) -> tuple:
        return _Shared, self.args


def _get_shared(ours: Callable, theirs: Callable, target: Doc | Span | Token) -> Any:
    doc = target if isinstance(target, Doc) else target.doc
    return ours(target) if SPANS_KEY in doc.spans else theirs(target)
