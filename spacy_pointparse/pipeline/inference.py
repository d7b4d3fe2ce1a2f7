"""Docs to parses: what is done with the scores of a trained model."""

from collections import Counter
from collections.abc import Iterator
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Ragged

from ..pointing.decoder import Decoder
from ..pointing.encoding import EMPTY, ROOT, Constituent, Pointings, trace_sources
from ..pointing.k_best_labels import find_k_best_labels
from ..tokens.sentences import Segment, segment_docs
from ..training.alignment import get_gold
from ..util.arrays import log_softmax, offset_rows
from ..util.batching import batch_by_length


class Parse(NamedTuple):
    """The parse of one sentence.

    words (List[int]): Index in the Doc of each word, white space left out.
    constituents (List[Constituent]): Constituents over words, in pre-order.
    probabilities (List[float]): How likely the model holds each constituent to be: the
        pointing times the label. Not a number where nothing was predicted.
    tags (List[str]): Predicted tag of each word; empty without a tag head.
    score (float): Log-probability of all pointings and labels of the tree.
    """

    words: list[int]
    constituents: list[Constituent]
    probabilities: list[float]
    tags: list[str]
    score: float


class Sentences(NamedTuple):
    """A batch of encoded sentences, and the scores that their trees are found by.

    encoded (Ragged): The words of all sentences. Shape (words, width).
    general (NDArray): Log-probability of each word pointing at each other.
        Shape (batch, length, length).
    singleton (NDArray): Log-probability of each word being a part by itself.
        Shape (batch, length).
    lengths (List[int]): Number of words of each sentence.
    tags (List[str]): Predicted tag of each word of all sentences, or none.
    """

    encoded: Ragged
    general: NDArray
    singleton: NDArray
    lengths: list[int]
    tags: list[str]


class _Candidate(NamedTuple):
    """A labelled tree of a sentence.

    score (float): Log-probability of its pointings and labels.
    pointings (Pointings): The tree.
    probabilities (NDArray): How likely the pointing of each word is, with its label,
        and then the label of each word alone. Shape (2 * length,).
    """

    score: float
    pointings: Pointings
    probabilities: NDArray


class Inference(NamedTuple):
    """Finds the trees of Docs, and leaves the Docs as they are.

    model (Model): A trained model, used in its parts.
    labels (Dict[str, List[str]]): The labels of its heads: "spans", "unaries", "tags".
    max_length (int): Longest sentence, in words, that is parsed in one piece.
    max_batch_tokens (int): Words, padding among them, that are encoded and scored at a
        time.
    decoding (Decoder): How scores become trees.
    """

    model: Model
    labels: dict[str, list[str]]
    max_length: int
    max_batch_tokens: int
    decoding: Decoder

    def parse(self, docs: list[Doc], count: int = 1) -> list[list[list[Parse]]]:
        """Parse Docs.

        docs (List[Doc]): The Docs.
        count (int): Number of labelled binary trees of each sentence at most, of which
            several can stand for the same tree; one of a sentence that is parsed in
            pieces.
        RETURNS (List[List[List[Parse]]]): Of each sentence of each Doc its trees, best
            first.
        """
        pieces = segment_docs(docs, self.max_length)
        found: list[list[list[Parse]]] = [[] for _ in docs]
        for (doc_index, _), parts in groupby(
            zip(pieces, self._parse_pieces(docs, pieces, count)),
            lambda pair: pair[0][:2],
        ):
            found[doc_index].append(_merge([parses for _, parses in parts]))
        return found

    def _parse_pieces(
        self, docs: list[Doc], pieces: list[Segment], count: int
    ) -> list[list[Parse]]:
        """Parse sentences of at most `max_length` words, those of like length
        together."""
        if not pieces:
            return []
        ops = self.model.ops
        vectors = ops.flatten(self.model.get_ref("tok2vec").predict(docs))
        first_rows = numpy.cumsum([0, *(len(doc) for doc in docs)])
        parses: list[list[Parse]] = [[] for _ in pieces]
        lengths = [len(piece.words) for piece in pieces]
        for batch in batch_by_length(lengths, self.max_batch_tokens):
            rows = [pieces[i].words + first_rows[pieces[i].doc] for i in batch]
            words = self.model.get_ref("sentences").predict(
                (vectors, [ops.asarray1i(sentence) for sentence in rows])
            )
            sentences = self._encode(words)
            start = 0
            for i, candidates in zip(batch, self._find_best(sentences, count)):
                words = pieces[i].words
                tags = sentences.tags[start : start + len(words)]
                parses[i] = [_read(each, words, tags) for each in candidates]
                start += len(words)
        return parses

    def _encode(self, words: Ragged) -> Sentences:
        ops = self.model.ops
        encoded, tag_scores = self.model.get_ref("encoder").predict(words)
        general, singleton = self.model.get_ref("pointer").predict(encoded)
        singleton = log_softmax(ops, singleton)
        tags: list[str] = []
        if tag_scores is not None:
            names = self.labels["tags"]
            tags = [names[i] for i in ops.to_numpy(tag_scores.argmax(axis=1)).tolist()]
        return Sentences(
            encoded,
            ops.to_numpy(log_softmax(ops, general)),
            ops.to_numpy(ops.xp.diagonal(singleton, axis1=1, axis2=2)),
            ops.to_numpy(words.lengths).tolist(),
            tags,
        )

    def _find_best(self, sentences: Sentences, count: int) -> list[list[_Candidate]]:
        """Find labelled trees of each sentence, best first."""
        trees = self.decoding.list_trees(
            sentences.general, sentences.singleton, sentences.lengths, count
        )
        best: list[list[_Candidate]] = [[] for _ in trees]
        for rank in range(max(map(len, trees))):
            targets = [ranked[min(rank, len(ranked) - 1)] for ranked in trees]
            least = [
                numpy.inf
                if rank >= len(ranked)  # that is its last tree again
                else (found[-1].score if len(found) == count else -numpy.inf)
                for ranked, found in zip(trees, best)
            ]
            for i, found in enumerate(self._label(sentences, targets, count, least)):
                best[i] = nlargest(count, best[i] + found, key=itemgetter(0))
        return best

    def _label(
        self,
        sentences: Sentences,
        targets: list[NDArray],
        count: int,
        least: list[float],
    ) -> Iterator[list[_Candidate]]:
        """Label the spans that the words of each sentence point out, in so many ways at
        most, whose score is no lower than the least that is of use."""
        ops = self.model.ops
        rows = ops.asarray1i(offset_rows(targets))
        labels, unaries = (
            ops.to_numpy(log_softmax(ops, scores))
            for scores in self.model.get_ref("labeller").predict(
                (sentences.encoded, rows)
            )
        )
        highest = [table.max(axis=1) for table in (labels, unaries)]
        start = 0
        for general, target, lowest in zip(sentences.general, targets, least):
            part = slice(start, start + len(target))
            start = part.stop
            logs = general[numpy.arange(len(target)), target]
            # Nobody chose what the two ends of the sentence point at.
            logs[[0, -1]] = 0.0
            # The last word points out the span that the first one does.
            tables = [labels[part][:-1], unaries[part]]
            score = logs.sum() + highest[0][part][:-1].sum() + highest[1][part].sum()
            yield [
                self._make_candidate(target, logs, tables, columns)
                for columns in find_k_best_labels(tables, count, score - lowest)
                if score >= lowest
            ]

    def _make_candidate(
        self,
        targets: NDArray,
        logs: NDArray,
        tables: list[NDArray],
        columns: list[NDArray],
    ) -> _Candidate:
        spans, words = (
            table[numpy.arange(len(table)), chosen]
            for table, chosen in zip(tables, columns)
        )
        sources = numpy.concatenate([logs[:-1] + spans, logs[-1:], words])
        labels, unaries = (
            [self.labels[head][column] for column in chosen.tolist()]
            for head, chosen in zip(("spans", "unaries"), columns)
        )
        pointings = Pointings(targets, [*labels, EMPTY], unaries)
        return _Candidate(float(sources.sum()), pointings, numpy.exp(sources))


def _read(found: _Candidate, words: list[int], tags: list[str]) -> Parse:
    sources = found.probabilities.tolist()
    traced = trace_sources(found.pointings)
    brackets = [bracket[:3] for bracket in traced]
    probabilities = [sources[source] for _, _, _, source in traced]
    return Parse(words, brackets, probabilities, tags, found.score)


def get_unique_trees(parses: list[Parse]) -> list[Parse]:
    """Keep the first parse of each tree.

    parses (List[Parse]): Parses of one sentence.
    RETURNS (List[Parse]): Those with a tree of their own.
    """
    first: dict[tuple, Parse] = {}
    for parse in parses:
        first.setdefault(tuple(parse.constituents), parse)
    return list(first.values())


def pair_for_calibration(
    example: Example, parses: list[Parse]
) -> Iterator[tuple[float, bool]]:
    """Say of each constituent how likely it was held to be, and whether it is right.

    example (Example): The gold trees.
    parses (List[Parse]): The parse of each sentence.
    YIELDS (Tuple[float, bool]): Probability, and whether the gold tree has the
        constituent. Sentences without a whole gold tree that fits are left out.
    """
    golds = {gold.words[0]: gold for gold in get_gold(example) if gold is not None}
    for parse in parses:
        gold = golds.get(parse.words[0])
        if gold is None or gold.partial or gold.words != parse.words:
            continue
        left = Counter(gold.constituents)
        for bracket, probability in zip(parse.constituents, parse.probabilities):
            if not numpy.isnan(probability):
                yield probability, left[bracket] > 0
            left[bracket] -= 1


def _merge(pieces: list[list[Parse]]) -> list[Parse]:
    """Put the pieces of a sentence, the best tree of each, under one root, which takes
    the place of theirs."""
    if len(pieces) == 1:
        return pieces[0]
    merged = Parse([], [], [], [], 0.0)
    for parse, *_ in pieces:
        start = len(merged.words)
        kept = [
            ((s + start, e + start, label), probability)
            for (s, e, label), probability in zip(
                parse.constituents, parse.probabilities
            )
            if label != ROOT
        ]
        merged.constituents.extend(bracket for bracket, _ in kept)
        merged.probabilities.extend(probability for _, probability in kept)
        merged.words.extend(parse.words)
        merged.tags.extend(parse.tags)
    merged.constituents.insert(0, (0, len(merged.words), ROOT))
    merged.probabilities.insert(0, float("nan"))
    return [merged._replace(score=sum(parses[0].score for parses in pieces))]
