"""Store a parse on a Doc.

The parse is the span group `doc.spans["constituents"]`, one Span per bracket, sorted by
start, longest first, outermost first. It survives DocBin, `to_bytes`, copies and worker
processes. Everything else is computed from it: see `getters.py`.
"""

from collections.abc import Iterable

from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup

from ..trees.structure import Constituent

SPANS_KEY = "constituents"
# Attributes of the span group: the probabilities, as in spaCy's spancat, and whether
# there may be constituents that it does not contain.
SCORES_ATTR = "scores"
PARTIAL_ATTR = "partial"
# The tag of a word without `token.tag_`.
UNKNOWN_TAG = "UNK"


class NonConstituentException(ValueError):
    """Raised for a span that is not a constituent of the parse."""


def set_constituents(
    doc: Doc,
    constituents: Iterable[Constituent],
    probabilities: NDArray | None = None,
    spans_key: str = SPANS_KEY,
) -> None:
    """Set the parse of a Doc, replacing any previous one.

    doc (Doc): The Doc to modify.
    constituents (Iterable[Constituent]): Start token, end token and label of each
        bracket. Brackets over the same tokens must be ordered from the outermost.
    probabilities (Optional[NDArray]): The probability that each bracket is right, NaN
        where unknown. Stored as `attrs["scores"]` of the span group, as in spaCy's
        spancat. Shape (constituents,).
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
    """Get the parse of a Doc, one Span per bracket, in pre-order.

    doc (Doc): A parsed Doc.
    spans_key (str): The span group to read.
    RETURNS (SpanGroup): The constituents.
    RAISES (ValueError): If the Doc has no parse.
    """
    if spans_key not in doc.spans:
        raise ValueError(
            f"The Doc has no constituency parse: doc.spans[{spans_key!r}] is not set. "
            'Add the component "pointing_parser" to your pipeline, or load a trained '
            'one: spacy.load("en_pointparse_sm").'
        )
    return doc.spans[spans_key]
