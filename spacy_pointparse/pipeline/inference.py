"""Docs to parses: what a trained model scores is decoded, labeled and put together.

A model says how it is used by functions among its attributes: "embed", "point" and
"label" (see `ml.models.network`).
"""

from collections.abc import Iterator
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model, Ops

from ..pointing.decoder import Decoder
from ..pointing.encoding import EMPTY, Pointings, pointing_to_spans
from ..pointing.k_best_labels import find_k_best_labels
from ..tokens.parse import Parse
from ..tokens.segments import Segment, segment_docs
from ..trees.structure import ROOT
from ..util.arrays import log_softmax, offset_rows, to_ids
from ..util.batching import batch_by_length

Labels = dict[str, list[str]]


class ScoredBatch(NamedTuple):
    """A batch of segments, and the scores that their trees are decoded from.

    encoded (Any): The encoded words, for the label heads.
    general (NDArray): Log-probability of each word pointing at each other.
        Shape (batch, length, length).
    singleton (NDArray): Log-probability of each word being a part by itself.
        Shape (batch, length).
    tags (List[List[str]]): Predicted tags of each segment; empty without a tag head.
    """

    encoded: Any
    general: NDArray
    singleton: NDArray
    tags: list[list[str]]


class _LabelScores(NamedTuple):
    """Log-probabilities of the labels of one tree.

    spans (NDArray): Of the span that each word points out. Shape (words, labels).
    unaries (NDArray): Of each word alone. Shape (words, labels).
    """

    spans: NDArray
    unaries: NDArray


class _Candidate(NamedTuple):
    """A labeled tree of a segment.

    score (float): Log-probability of its pointings and labels.
    pointings (Pointings): The tree.
    probabilities (NDArray): Probability of each word's pointing and its label, and then
        of the label of each word alone. Shape (2 * length,).
    """

    score: float
    pointings: Pointings
    probabilities: NDArray


def parse_docs(
    model: Model,
    docs: list[Doc],
    labels: Labels,
    decoder: Decoder,
    *,
    max_length: int,
    max_batch_tokens: int,
    count: int = 1,
) -> list[list[list[Parse]]]:
    """Parse Docs, and leave them as they are.

    model (Model): A trained model.
    docs (List[Doc]): The Docs.
    labels (Dict[str, List[str]]): The labels of its heads: "spans", "unaries", "tags".
    decoder (Decoder): How scores become trees.
    max_length (int): Longest segment of a sentence, in words.
    max_batch_tokens (int): Words, padding included, that are scored at a time.
    count (int): Labeled binary trees of each sentence at most; several of them can
        stand for the same tree. One of a sentence that is parsed in segments.
    RETURNS (List[List[List[Parse]]]): For each sentence of each Doc its trees, best
        first.
    RAISES (FloatingPointError): If the model's scores are not numbers.
    """
    segments = segment_docs(docs, max_length)
    parses: list[list[Parse]] = [[] for _ in segments]
    if segments:
        embedded = model.attrs["embed"](model, docs)
        first_rows = numpy.cumsum([0, *(len(doc) for doc in docs)])
        lengths = [len(segment.words) for segment in segments]
        for batch in batch_by_length(lengths, max_batch_tokens):
            chosen = [segments[i] for i in batch]
            rows = [segment.words + first_rows[segment.doc] for segment in chosen]
            scored = score_pointings(model, embedded, rows, labels["tags"])
            found = _find_best(
                model, scored, [len(row) for row in rows], labels, decoder, count
            )
            for i, segment, tags, candidates in zip(batch, chosen, scored.tags, found):
                parses[i] = [_read(each, segment.words, tags) for each in candidates]
    return _join_segments(len(docs), segments, parses)


def score_pointings(
    model: Model, embedded: Any, rows: list[NDArray], tags: list[str]
) -> ScoredBatch:
    """Score the pointings and the tags of a batch of segments.

    model (Model): A trained model.
    embedded (Any): What its "embed" has made of the Docs.
    rows (List[NDArray]): Row of each word of each segment among the tokens of all Docs.
        Each of shape (words,).
    tags (List[str]): Names of the tags.
    RETURNS (ScoredBatch): The scores.
    RAISES (FloatingPointError): If they are not numbers.
    """
    ops = model.ops
    encoded, general, singleton, tag_scores = model.attrs["point"](
        model, embedded, [to_ids(ops, row) for row in rows]
    )
    singleton = log_softmax(ops, singleton)
    names: list[list[str]] = [[] for _ in rows]
    if tag_scores is not None:
        ids = iter(_check(ops, tag_scores).argmax(axis=1).tolist())
        names = [[tags[next(ids)] for _ in row] for row in rows]
    return ScoredBatch(
        encoded,
        _check(ops, log_softmax(ops, general)),
        # (batch, length, length) -> (batch, length)
        _check(ops, singleton.diagonal(axis1=1, axis2=2)),
        names,
    )


def _check(ops: Ops, scores: Any) -> NDArray:
    """Move scores to the CPU, and check that they are numbers."""
    checked: NDArray = ops.to_numpy(scores)
    if numpy.isnan(checked).any():
        raise FloatingPointError
    return checked


def _find_best(
    model: Model,
    scored: ScoredBatch,
    lengths: list[int],
    labels: Labels,
    decoder: Decoder,
    count: int,
) -> list[list[_Candidate]]:
    """Find labeled trees of each segment, best first. Trees are labeled by rank, the
    best tree of all segments together, so that the label heads run on whole batches."""
    trees = decoder.list_trees(scored.general, scored.singleton, lengths, count)
    best: list[list[_Candidate]] = [[] for _ in trees]
    for rank in range(max(map(len, trees))):
        targets = [ranked[min(rank, len(ranked) - 1)] for ranked in trees]
        label_scores = _score_labels(model, scored.encoded, targets)
        for i, (ranked, scores) in enumerate(zip(trees, label_scores)):
            if rank < len(ranked):
                lowest = best[i][-1].score if len(best[i]) == count else -numpy.inf
                logs = _score_tree(scored.general[i], targets[i])
                found = _label_tree(targets[i], logs, scores, labels, count, lowest)
                best[i] = nlargest(count, [*best[i], *found], key=itemgetter(0))
    return best


def _score_labels(
    model: Model, encoded: Any, targets: list[NDArray]
) -> list[_LabelScores]:
    """Score the labels of one tree of each segment."""
    ops = model.ops
    rows = to_ids(ops, offset_rows(targets))
    spans, unaries = model.attrs["label"](model, encoded, rows)
    spans = _check(ops, log_softmax(ops, spans))
    unaries = _check(ops, log_softmax(ops, unaries))
    scores = []
    start = 0
    for tree in targets:
        part = slice(start, start + len(tree))
        scores.append(_LabelScores(spans[part], unaries[part]))
        start = part.stop
    return scores


def _score_tree(general: NDArray, targets: NDArray) -> NDArray:
    """Get the log-probability of each pointing of a tree. Shape (words,)."""
    logs = general[numpy.arange(len(targets)), targets]
    # The two ends of a sentence point at each other in every tree.
    logs[[0, -1]] = 0.0
    return logs


def _label_tree(
    targets: NDArray,
    logs: NDArray,
    scores: _LabelScores,
    labels: Labels,
    count: int,
    lowest: float,
) -> Iterator[_Candidate]:
    """Label a tree in the best ways, `count` at most, that score `lowest` or more."""
    # The last word points out the same span as the first one.
    tables = [scores.spans[:-1], scores.unaries]
    score = logs.sum() + sum(table.max(axis=1).sum() for table in tables)
    if score < lowest:
        return
    for spans, unaries in find_k_best_labels(tables, count, score - lowest):
        span_logs = tables[0][numpy.arange(len(spans)), spans]
        unary_logs = tables[1][numpy.arange(len(unaries)), unaries]
        sources = numpy.concatenate([logs[:-1] + span_logs, logs[-1:], unary_logs])
        span_labels = [labels["spans"][i] for i in spans.tolist()]
        unary_labels = [labels["unaries"][i] for i in unaries.tolist()]
        yield _Candidate(
            float(sources.sum()),
            Pointings(targets, [*span_labels, EMPTY], unary_labels),
            numpy.exp(sources),
        )


def _read(found: _Candidate, words: list[int], tags: list[str]) -> Parse:
    by_source = found.probabilities.tolist()
    constituents, probabilities = [], []
    for start, end, label, source in pointing_to_spans(found.pointings):
        constituents.append((start, end, label))
        probabilities.append(by_source[source])
    return Parse(words, constituents, probabilities, tags, found.score)


def get_unique_trees(parses: list[Parse]) -> list[Parse]:
    """Keep the first parse of each tree.

    parses (List[Parse]): Parses of one sentence.
    RETURNS (List[Parse]): One parse for each distinct tree.
    """
    first: dict[tuple, Parse] = {}
    for parse in parses:
        first.setdefault(tuple(parse.constituents), parse)
    return list(first.values())


def _join_segments(
    n_docs: int, segments: list[Segment], parses: list[list[Parse]]
) -> list[list[list[Parse]]]:
    """Give each Doc its sentences, those that were parsed in segments put together."""
    joined: list[list[list[Parse]]] = [[] for _ in range(n_docs)]
    pairs = zip(segments, parses)
    for (doc, _), group in groupby(pairs, lambda pair: pair[0][:2]):
        joined[doc].append(_merge([found for _, found in group]))
    return joined


def _merge(segments: list[list[Parse]]) -> list[Parse]:
    """Put the best trees of a sentence's segments under one root, which takes the place
    of theirs."""
    if len(segments) == 1:
        return segments[0]
    merged = Parse([], [], [], [], sum(best.score for best, *_ in segments))
    for parse, *_ in segments:
        offset = len(merged.words)
        for (start, end, label), probability in zip(
            parse.constituents, parse.probabilities
        ):
            if label != ROOT:
                merged.constituents.append((start + offset, end + offset, label))
                merged.probabilities.append(probability)
        merged.words.extend(parse.words)
        merged.tags.extend(parse.tags)
    merged.constituents.insert(0, (0, len(merged.words), ROOT))
    merged.probabilities.insert(0, float("nan"))
    return [merged]
