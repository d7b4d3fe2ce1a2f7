"""Parses on Docs: store, read, search, export and import them.

Knows spaCy and nltk. Must not import thinc, torch, training or the component.
"""

from .constituents import (
    SPANS_KEY,
    NonConstituentException,
    get_constituents,
    set_constituents,
)
from .export import describe, from_json, to_discbracket, to_json, to_penn
from .extensions import install_extensions
from .make_docs import make_doc
from .search import PatternError, find_constituents
from .sentences import get_sentences

__all__ = [
    "SPANS_KEY",
    "NonConstituentException",
    "PatternError",
    "describe",
    "find_constituents",
    "from_json",
    "get_constituents",
    "get_sentences",
    "install_extensions",
    "make_doc",
    "set_constituents",
    "to_discbracket",
    "to_json",
    "to_penn",
]
