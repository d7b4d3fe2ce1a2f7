"""Export parses to other formats, and read JSON back."""

import re
from itertools import count
from math import isnan
from typing import Any

import numpy
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..trees.reader import parse_trees
from .constituents import PARTIAL_ATTR, SCORES_ATTR, get_constituents
from .getters import get_doc_string, get_span_probability, get_span_string

_LEAF = re.compile(r" ([^ ()]+)\)")


def to_penn(doc: Doc | Span) -> str:
    """Write trees in the layout of the Penn Treebank, indented over several lines.

    doc (Union[Doc, Span]): A parsed Doc, or a constituent of one.
    RETURNS (str): The trees. `trees.read_trees` can read them from a file.
    """
    trees = parse_trees(_get_string(doc))
    return "\n".join(tree.pformat(margin=80) for tree in trees)


def to_discbracket(doc: Doc | Span) -> str:
    """Write trees in the discbracket format of disco-dop, with numbered words.

    doc (Union[Doc, Span]): A parsed Doc, or a constituent of one.
    RETURNS (str): The trees, one per line.
    """
    return "\n".join(_number(line) for line in _get_string(doc).split("\n"))


def _get_string(target: Doc | Span) -> str:
    if isinstance(target, Doc):
        return get_doc_string(target)
    return get_span_string(target)


def _number(line: str) -> str:
    numbers = count()
    return _LEAF.sub(lambda leaf: f" {next(numbers)}={leaf[1]})", line)


def to_json(doc: Doc) -> dict[str, Any]:
    """Convert a Doc to JSON with `Doc.to_json`, adding the parts of a parse that it
    omits.

    doc (Doc): A parsed Doc.
    RETURNS (Dict[str, Any]): The data of `Doc.to_json`, as well as "probabilities",
        one for each of `data["spans"]["constituents"]` (None if unknown), and
        "partial", whether there may be constituents that the Doc does not contain.
    """
    group = get_constituents(doc)
    attrs = group.attrs
    scores = numpy.asarray(attrs.get(SCORES_ATTR, ())).tolist()
    if len(scores) != len(group):  # spans were added to or removed from the group
        scores = []
    return {
        **doc.to_json(),
        "probabilities": [None if isnan(score) else score for score in scores],
        "partial": bool(attrs.get(PARTIAL_ATTR)),
    }


def from_json(data: dict[str, Any], vocab: Vocab) -> Doc:
    """Make a Doc from JSON.

    data (Dict[str, Any]): The data returned by `to_json`.
    vocab (Vocab): The vocabulary of the Doc.
    RETURNS (Doc): The Doc.
    """
    doc = Doc(vocab).from_json(data)
    attrs = get_constituents(doc).attrs
    if data["probabilities"]:
        attrs[SCORES_ATTR] = numpy.asarray(data["probabilities"], dtype="float32")
    if data["partial"]:
        attrs[PARTIAL_ATTR] = True
    return doc


def describe(parsed: Doc | Exception) -> dict[str, Any]:
    """Describe a parsed text in plain values.

    parsed (Union[Doc, Exception]): The parsed Doc, or the error of a failed text.
    RETURNS (Dict[str, Any]): "parse_string", the trees of the text, one per line, and
        "constituents", the character offsets, label and probability of each bracket in
        pre-order; or "error", what went wrong.
    """
    if isinstance(parsed, Exception):
        return {"error": f"{type(parsed).__name__}: {parsed}"}
    constituents = [
        {
            "start_char": span.start_char,
            "end_char": span.end_char,
            "label": span.label_,
            "probability": get_span_probability(span),
        }
        for span in get_constituents(parsed)
    ]
    return {"parse_string": get_doc_string(parsed), "constituents": constituents}
