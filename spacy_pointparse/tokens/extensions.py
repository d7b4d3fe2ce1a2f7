"""The extension attributes on Doc, Span and Token."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, Token

from .constituents import (
    SPANS_KEY,
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

_GETTERS: dict[type, dict[str, Callable]] = {
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
    """Register the extension attributes on Doc, Span and Token. A `pointing_parser`
    does so when it is made; call this to read Docs that were parsed before.

    Each attribute `x` reads the span group "constituents"; its method
    `get_x(spans_key)` reads any other. Where another package, such as benepar, has
    registered a getter of the same name, ours answers for Docs that hold our parse and
    leaves all others to the getter it found.
    """
    for target, getters in _GETTERS.items():
        for name, getter in getters.items():
            _install_getter(target, name, getter)
            _install_method(target, f"get_{name}", getter)
    for target in (Doc, Span):
        _install_method(target, "constituents_matching", find_constituents)


def _install_method(target: type, name: str, method: Callable) -> None:
    if not target.has_extension(name):
        target.set_extension(name, method=method)


def _install_getter(target: type, name: str, getter: Callable) -> None:
    if not target.has_extension(name):
        target.set_extension(name, getter=getter)
        return
    _, _, found, _ = target.get_extension(name)
    if found is None or found is getter or isinstance(found, _Shared):
        return
    target.set_extension(name, getter=_Shared(getter, found), force=True)


class _Shared(partial):
    """A getter of ours in front of one that was there before."""

    def __new__(cls, ours: Callable, theirs: Callable) -> "_Shared":
        return super().__new__(cls, _get_shared, ours, theirs)

    def __reduce__(self) -> tuple:
        return _Shared, self.args


def _get_shared(ours: Callable, theirs: Callable, target: Doc | Span | Token) -> Any:
    doc = target if isinstance(target, Doc) else target.doc
    return ours(target) if SPANS_KEY in doc.spans else theirs(target)
