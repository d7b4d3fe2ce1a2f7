"""Gold trees over predicted tokens: alignment by the characters of the text."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example

from ..tokens.constituents import PARTIAL_ATTR, SPANS_KEY
from ..tokens.sentences import get_sentences
from ..trees.structure import Constituent


class Alignment(NamedTuple):
    """Where the characters of each reference token lie among the predicted tokens.

    first (NDArray): Predicted token with its first character. Shape (tokens,).
    last (NDArray): Predicted token with its last character. Shape (tokens,).
    starts (NDArray): True where both start at the same character. Shape (tokens,).
    ends (NDArray): True where both end at the same character. Shape (tokens,).
    """

    first: NDArray[numpy.intp]
    last: NDArray[numpy.intp]
    starts: NDArray[numpy.bool_]
    ends: NDArray[numpy.bool_]


class Gold(NamedTuple):
    """The gold tree of a sentence over predicted tokens.

    words (List[int]): Index of each word in the predicted Doc, white space left out.
    constituents (List[Constituent]): Constituents over words, in pre-order.
    tags (List[str]): Gold tag of each word, empty where there is none.
    partial (bool): Whether there may be constituents that nobody knows.
    """

    words: list[int]
    constituents: list[Constituent]
    tags: list[str]
    partial: bool


def align(example: Example) -> Alignment | None:
    """Align the tokens of the reference to the predicted tokens by their characters,
    leaving white space out.

    example (Example): The predicted and the reference Doc.
    RETURNS (Optional[Alignment]): The alignment, or None if the texts differ.
    """
    predicted, predicted_ends = _character_ends(example.predicted)
    reference, reference_ends = _character_ends(example.reference)
    if predicted.lower() != reference.lower():
        return None
    reference_starts = numpy.r_[0, reference_ends[:-1]]
    predicted_starts = numpy.r_[0, predicted_ends[:-1]]
    last_token = max(len(predicted_ends) - 1, 0)
    first = numpy.searchsorted(predicted_ends, reference_starts, side="right")
    last = numpy.searchsorted(predicted_ends, reference_ends, side="left")
    first, last = first.clip(max=last_token), last.clip(max=last_token)
    return Alignment(
        first,
        last,
        predicted_starts[first] == reference_starts,
        predicted_ends[last] == reference_ends,
    )


def get_gold(example: Example, spans_key: str = SPANS_KEY) -> Iterator[Gold | None]:
    """Get the gold tree of each sentence over the predicted tokens.

    example (Example): The example. Its sentences are those of the predicted Doc, or of
        the reference where it has none, or the whole Doc.
    spans_key (str): The span group that holds the gold trees.
    YIELDS (Optional[Gold]): The tree, or None where a bracket does not fit the
        predicted tokens or the sentence.
    """
    if spans_key not in example.reference.spans or not len(example.predicted):
        return
    alignment = align(example)
    if alignment is None:
        yield None
        return
    partial = bool(example.reference.spans[spans_key].attrs.get(PARTIAL_ATTR))
    brackets = _align_brackets(example, alignment, spans_key)
    tags = _align_tags(example, alignment)
    for start, end in _align_sentences(example, alignment):
        inside = [b for b in brackets if b[0] < end and b[1] > start]
        words = [i for i in range(start, end) if not example.predicted[i].is_space]
        if all(fits and start <= s and e <= end for s, e, _, fits in inside):
            rows = {token: row for row, token in enumerate(words)}
            constituents = [
                (rows[s], rows[e - 1] + 1, label) for s, e, label, _ in inside
            ]
            if words:
                yield Gold(words, constituents, [tags[i] for i in words], partial)
        else:
            yield None


def _align_brackets(
    example: Example, alignment: Alignment, spans_key: str
) -> list[tuple[int, int, str, bool]]:
    """Start, end and label of each bracket on the predicted tokens, and whether it
    starts and ends where tokens do. A bracket over white space is part of no tree."""
    first, last, starts, ends = (array.tolist() for array in alignment)
    return [
        (
            first[s.start],
            last[s.end - 1] + 1,
            s.label_,
            starts[s.start] and ends[s.end - 1],
        )
        for s in example.reference.spans[spans_key]
        if not s.text.isspace()
    ]


def _align_tags(example: Example, alignment: Alignment) -> list[str]:
    """The gold tag of each predicted token that is a reference token too."""
    tags = [""] * len(example.predicted)
    first, last, starts, ends = (array.tolist() for array in alignment)
    for token in example.reference:
        i = token.i
        if first[i] == last[i] and starts[i] and ends[i]:
            tags[first[i]] = token.tag_
    return tags


def _align_sentences(example: Example, alignment: Alignment) -> list[tuple[int, int]]:
    """Start and end of each sentence on the predicted tokens."""
    if example.predicted.has_annotation("SENT_START"):
        return [(sent.start, sent.end) for sent in example.predicted.sents]
    sentences = [s for s in get_sentences(example.reference) if not s.text.isspace()]
    starts = [0, *(int(alignment.first[sent.start]) for sent in sentences[1:])]
    return list(zip(starts, [*starts[1:], len(example.predicted)]))


def _character_ends(doc: Doc) -> tuple[str, NDArray[numpy.intp]]:
    """Get the text without white space, and where each token ends in it."""
    words = ["".join(token.text.split()) for token in doc]
    ends = numpy.cumsum([len(word) for word in words], dtype=numpy.intp)
    return "".join(words), ends
