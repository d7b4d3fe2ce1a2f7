"""Segments: sentences to parse, and pieces of those that are too long."""

import warnings
from typing import NamedTuple

import numpy
from spacy.tokens import Doc

from .sentences import get_sentences

# Punctuation after which a long sentence may be cut, strongest first.
CUT_MARKS = (".?!…。？！;；", ":—–", ",、，")
_NO_SENTENCES = (
    "A Doc without sentence boundaries is parsed as one sentence. Add a component that "
    'sets them before the parser, such as "senter" or "sentencizer".'
)
_TOO_LONG = (
    'A sentence of more than {} words is parsed in pieces, joined under one "TOP" '
    "(see the setting max_length)."
)


class Segment(NamedTuple):
    """A sentence to parse, or a piece of one that is too long.

    doc (int): Index of its Doc in the batch.
    sentence (int): Index of its sentence in the Doc.
    words (List[int]): Index of each word in the Doc, without whitespace tokens.
    """

    doc: int
    sentence: int
    words: list[int]


def segment_docs(docs: list[Doc], max_length: int) -> list[Segment]:
    """Split Docs into sentences, and long sentences into pieces. Warns about long
    sentences and Docs without sentence boundaries.

    docs (List[Doc]): The Docs.
    max_length (int): Maximum number of words in a segment.
    RETURNS (List[Segment]): The segments, in text order.
    """
    segments: list[Segment] = []
    for doc_index, doc in enumerate(docs):
        if len(doc) > 1 and not doc.has_annotation("SENT_START"):
            warnings.warn(_NO_SENTENCES, stacklevel=2)
        is_space = doc.to_array("IS_SPACE")
        for sent_index, sent in enumerate(get_sentences(doc)):
            words = [i for i in range(sent.start, sent.end) if not is_space[i]]
            parts = _cut(doc, words, max_length)
            if len(parts) > 1:
                warnings.warn(_TOO_LONG.format(max_length), stacklevel=2)
            segments += [Segment(doc_index, sent_index, part) for part in parts]
    return segments


def _cut(doc: Doc, words: list[int], max_length: int) -> list[list[int]]:
    """Cut a sentence into pieces of at most `max_length` words. Each piece ends after
    the strongest punctuation in the second half of its longest possible extent."""
    pieces = []
    start = 0
    while len(words) - start > max_length:
        window = words[start + max_length // 2 : start + max_length]
        ranks = [_rank(doc[i].text) for i in window]
        best = len(ranks) - 1 - numpy.argmin(ranks[::-1])
        end = start + max_length // 2 + int(best) + 1
        pieces.append(words[start:end])
        start = end
    return pieces + ([words[start:]] if start < len(words) else [])


def _rank(text: str) -> int:
    for rank, marks in enumerate(CUT_MARKS):
        if text in marks:
            return rank
    return len(CUT_MARKS)
