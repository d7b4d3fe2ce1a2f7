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
    """Where each reference token lies among the predicted tokens.

    first (NDArray): The predicted token that holds its first character. Shape
        (tokens,).
    last (NDArray): The predicted token that holds its last character. Shape (tokens,).
    starts (NDArray): Whether `first` starts at the same character. Shape (tokens,).
    ends (NDArray): Whether `last` ends at the same character. Shape (tokens,).
    """

    first: NDArray[numpy.intp]
    last: NDArray[numpy.intp]
    starts: NDArray[numpy.bool_]
    ends: NDArray[numpy.bool_]


class Gold(NamedTuple):
    """The gold tree of a sentence over predicted tokens.

    words (List[int]): The index of each word in the predicted Doc, without white space.
    constituents (List[Constituent]): The constituents over these words, in pre-order.
    tags (List[str]): The gold tag of each word, or an empty string.
    partial (bool): Whether the sentence may have further, unknown constituents.
    """

    words: list[int]
    constituents: list[Constituent]
    tags: list[str]
    partial: bool


class _Bracket(NamedTuple):
    """A gold constituent over predicted tokens, from `start` to before `end`. It fits
    if it starts and ends where predicted tokens do."""

    start: int
    end: int
    label: str
    fits: bool


def align(example: Example) -> Alignment | None:
    """Align reference tokens to predicted tokens by their characters. White space and
    case are ignored.

    example (Example): The predicted and the reference Doc.
    RETURNS (Optional[Alignment]): The alignment, or None if the texts differ.
    """
    predicted, predicted_ends = _get_character_ends(example.predicted)
    reference, reference_ends = _get_character_ends(example.reference)
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

    example (Example): The example. Sentences are those of the predicted Doc, else those
        of the reference, else the whole Doc.
    spans_key (str): The span group that holds the gold trees.
    YIELDS (Optional[Gold]): The tree, or None if a bracket does not fit the predicted
        tokens or the sentence.
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
        inside = [b for b in brackets if b.start < end and b.end > start]
        if not all(b.fits and start <= b.start and b.end <= end for b in inside):
            yield None
            continue
        words = [i for i in range(start, end) if not example.predicted[i].is_space]
        if words:
            constituents = _count_in_words(inside, words)
            yield Gold(words, constituents, [tags[i] for i in words], partial)


def _align_brackets(
    example: Example, alignment: Alignment, spans_key: str
) -> list[_Bracket]:
    """Align brackets to the predicted tokens. A bracket over white space belongs to no
    tree."""
    first, last, starts, ends = (array.tolist() for array in alignment)
    brackets = []
    for span in example.reference.spans[spans_key]:
        if not span.text.isspace():
            final = span.end - 1
            fits = starts[span.start] and ends[final]
            brackets.append(
                _Bracket(first[span.start], last[final] + 1, span.label_, fits)
            )
    return brackets


def _align_tags(example: Example, alignment: Alignment) -> list[str]:
    """Get the gold tag of each predicted token that is also a reference token."""
    tags = [""] * len(example.predicted)
    first, last, starts, ends = (array.tolist() for array in alignment)
    for token in example.reference:
        i = token.i
        if first[i] == last[i] and starts[i] and ends[i]:
            tags[first[i]] = token.tag_
    return tags


def _align_sentences(example: Example, alignment: Alignment) -> list[tuple[int, int]]:
    """Get the start and end of each sentence among the predicted tokens."""
    if example.predicted.has_annotation("SENT_START"):
        return [(sent.start, sent.end) for sent in example.predicted.sents]
    sentences = [s for s in get_sentences(example.reference) if not s.text.isspace()]
    starts = [0, *(int(alignment.first[sent.start]) for sent in sentences[1:])]
    return list(zip(starts, [*starts[1:], len(example.predicted)]))


def _count_in_words(brackets: list[_Bracket], words: list[int]) -> list[Constituent]:
    """Express brackets in words instead of tokens."""
    index = {token: i for i, token in enumerate(words)}
    return [(index[b.start], index[b.end - 1] + 1, b.label) for b in brackets]


def _get_character_ends(doc: Doc) -> tuple[str, NDArray[numpy.intp]]:
    """Get the text without white space, and the offset at which each token ends."""
    words = ["".join(token.text.split()) for token in doc]
    ends = numpy.cumsum([len(word) for word in words], dtype=numpy.intp)
    return "".join(words), ends
