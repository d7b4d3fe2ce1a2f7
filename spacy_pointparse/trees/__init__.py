"""Trees: read, clean, escape, flatten and build them.

Knows nltk. Must not import spaCy, numpy, torch or any package of ours but `util`.
"""

from .cleaning import SEPARATORS, clean_tree
from .escaping import escape_word, unescape_word
from .reader import (
    SUFFIXES,
    TreebankError,
    find_files,
    parse_trees,
    read_lines,
    read_trees,
)
from .structure import (
    EMPTY_TAG,
    ROOT,
    ROOT_LABELS,
    Constituent,
    build_tree,
    flatten_tree,
    tree_to_string,
)

__all__ = [
    "EMPTY_TAG",
    "ROOT",
    "ROOT_LABELS",
    "SEPARATORS",
    "SUFFIXES",
    "Constituent",
    "TreebankError",
    "build_tree",
    "clean_tree",
    "escape_word",
    "find_files",
    "flatten_tree",
    "parse_trees",
    "read_lines",
    "read_trees",
    "tree_to_string",
    "unescape_word",
]
