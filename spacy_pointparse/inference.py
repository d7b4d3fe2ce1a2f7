"""Docs to parses: what is done with the scores of a trained model."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Ragged

from .alignment import get_gold
from .decoding import decode_batch, decode_beam, decode_exact
from .loss import log_softmax
from .pointing import ROOT, Constituent, Pointings, trace
from .sentences import Piece, batch_by_length, cut_docs
from .targets import count_rows

# Longest sentence, in words, whose best tree is searched for: the n³ steps of a longer
# one would take much of the time of parsing.
MAX_EXACT = 128


class Parse(NamedTuple):
    """The parse of one sentence.

    words (List[int]): Index in the Doc of each word, white space left out.
    constituents (List[Constituent]): Constituents over words, in pre-order.
    probabilities (List[float]): How likely the model holds each constituent to be: the
        pointing times the label. Not a number where nothing was predicted.
    tags (List[str]): Predicted tag of each word; empty without a tag head.
    score (float): Log-probability of all pointings of the tree.
    """

    words: list[int]
    constituents: list[Constituent]
    probabilities: list[float]
    tags: list[str]
    score: float


class Decoding(NamedTuple):
    """How scores become trees.

    decode_from (str): Scores that are added up: "log_probabilities", or
        "probabilities" as in the paper.
    decoder (str): "exact" for the best tree of sentences of up to `MAX_EXACT` words,
        others greedily; "greedy" top-down as in the paper; or "beam".
    beam_size (int): Number of trees that a beam keeps.
    """

    decode_from: Literal["log_probabilities", "probabilities"] = "log_probabilities"
    decoder: Literal["exact", "greedy", "beam"] = "exact"
    beam_size: int = 10

    def list_trees(
        self, general: NDArray, singleton: NDArray, lengths: list[int], count: int
    ) -> list[list[NDArray]]:
        """List the best trees of sentences.

        general (NDArray): Log-probability of each word pointing at each other.
            Shape (batch, length, length).
        singleton (NDArray): Log-probability of each word being a part by itself.
            Shape (batch, length).
        lengths (List[int]): Number of words of each sentence.
        count (int): Number of trees at most. For more than one, a beam is used.
        RETURNS (List[List[NDArray]]): Of each sentence the pointings of each tree, best
            first.
        """
        if self.decode_from == "probabilities":
            general, singleton = numpy.exp(general), numpy.exp(singleton)
        if count > 1 or self.decoder == "beam":
            size = count if count > 1 else self.beam_size
            beams = (
                decode_beam(general[i, :length, :length], singleton[i, :length], size)
                for i, length in enumerate(lengths)
            )
            return [[targets for _, targets in beam[:count]] for beam in beams]
        found = self._find_best(general, singleton, lengths)
        return [[targets] for targets in found]

    def _find_best(
        self, general: NDArray, singleton: NDArray, lengths: list[int]
    ) -> list[NDArray]:
        longest = MAX_EXACT if self.decoder == "exact" else 0
        exact = numpy.asarray(lengths) <= longest
        trees = {}
        for decode, chosen in ((decode_exact, exact), (decode_batch, ~exact)):
            rows = numpy.flatnonzero(chosen).tolist()
            if rows:
                these = [lengths[i] for i in rows]
                trees.update(zip(rows, decode(general[rows], singleton[rows], these)))
        return [trees[i] for i in range(len(lengths))]


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


class Inference(NamedTuple):
    """Finds the trees of Docs, and leaves the Docs as they are.

    model (Model): A trained model, used in its parts.
    labels (Dict[str, List[str]]): The labels of its heads: "spans", "unaries", "tags".
    max_length (int): Longest sentence, in words, that is parsed in one piece.
    max_batch_tokens (int): Words, padding among them, that are encoded and scored at a
        time.
    decoding (Decoding): How scores become trees.
    """

    model: Model
    labels: dict[str, list[str]]
    max_length: int
    max_batch_tokens: int
    decoding: Decoding

    def parse(self, docs: list[Doc], count: int = 1) -> list[list[list[Parse]]]:
        """Parse Docs.

        docs (List[Doc]): The Docs.
        count (int): Number of binary trees of each sentence at most, of which several
            can stand for the same tree; one of a sentence that is parsed in pieces.
        RETURNS (List[List[List[Parse]]]): Of each sentence of each Doc its trees, best
            first.
        """
        pieces = cut_docs(docs, self.max_length)
        found: list[list[list[Parse]]] = [[] for _ in docs]
        for (doc_index, _), parts in groupby(
            zip(pieces, self._parse_pieces(docs, pieces, count)),
            lambda pair: pair[0][:2],
        ):
            found[doc_index].append(_merge([parses for _, parses in parts]))
        return found

    def _parse_pieces(
        self, docs: list[Doc], pieces: list[Piece], count: int
    ) -> list[list[Parse]]:
        """Parse sentences of at most `max_length` words, those of like length
        together."""
        if not pieces:
            return []
        ops = self.model.ops
        vectors = ops.flatten(self.model.get_ref("tok2vec").predict(docs))
        first_rows = numpy.cumsum([0, *(len(doc) for doc in docs)])
        parses: list[list[Parse]] = [[] for _ in pieces]
        for batch in batch_by_length(pieces, self.max_batch_tokens):
            rows = [pieces[i].words + first_rows[pieces[i].doc] for i in batch]
            words = self.model.get_ref("sentences").predict(
                (vectors, [ops.asarray1i(sentence) for sentence in rows])
            )
            sentences = self._encode(words)
            trees = self.decoding.list_trees(
                sentences.general, sentences.singleton, sentences.lengths, count
            )
            for rank in range(count):
                # A sentence with fewer trees is labelled again, and not listed.
                targets = [ranked[min(rank, len(ranked) - 1)] for ranked in trees]
                labelled = self._label(sentences, targets)
                for i, ranked, parse in zip(batch, trees, labelled):
                    if rank < len(ranked):
                        parses[i].append(parse._replace(words=pieces[i].words))
        return parses

    def _encode(self, words: Ragged) -> Sentences:
        ops = self.model.ops
        encoded, tag_scores = self.model.get_ref("encoder").predict(words)
        general, singleton = self.model.get_ref("pointer").predict(encoded)
        singleton = log_softmax(ops, singleton)
        tags: list[str] = []
        if tag_scores is not None:
            tags, _ = _choose(self.labels["tags"], ops.to_numpy(tag_scores))
        return Sentences(
            encoded,
            ops.to_numpy(log_softmax(ops, general)),
            ops.to_numpy(ops.xp.diagonal(singleton, axis1=1, axis2=2)),
            ops.to_numpy(words.lengths).tolist(),
            tags,
        )

    def _label(self, sentences: Sentences, targets: list[NDArray]) -> Iterator[Parse]:
        """Label the spans that the words of each sentence point out."""
        ops = self.model.ops
        rows = ops.asarray1i(count_rows(targets))
        labels, unaries = self.model.get_ref("labeller").predict(
            (sentences.encoded, rows)
        )
        names, likely = _choose(self.labels["spans"], ops.to_numpy(labels))
        unary_names, unary_likely = _choose(
            self.labels["unaries"], ops.to_numpy(unaries)
        )
        start = 0
        for general, target in zip(sentences.general, targets):
            part = slice(start, start + len(target))
            start = part.stop
            logs = general[numpy.arange(len(target)), target]
            # Nobody chose what the two ends of the sentence point at.
            logs[[0, -1]] = 0.0
            sources = [
                *(numpy.exp(logs) * likely[part]).tolist(),
                *unary_likely[part].tolist(),
            ]
            traced = trace(Pointings(target, names[part], unary_names[part]))
            yield Parse(
                [],
                [bracket[:3] for bracket in traced],
                [sources[source] for _, _, _, source in traced],
                sentences.tags[part],
                float(logs.sum()),
            )


def rank(parses: list[Parse]) -> list[Parse]:
    """Keep the best parse of each tree.

    parses (List[Parse]): Parses of one sentence, in the order of what they were decoded
        from.
    RETURNS (List[Parse]): Those with a tree of their own, those of the highest
        log-probability first.
    """
    best: dict[tuple, Parse] = {}
    for parse in sorted(parses, key=lambda parse: parse.score, reverse=True):
        best.setdefault(tuple(parse.constituents), parse)
    return list(best.values())


def judge(example: Example, parses: list[Parse]) -> Iterator[tuple[float, bool]]:
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


def _choose(names: list[str], scores: NDArray) -> tuple[list[str], NDArray]:
    """Choose the best name of each row of scores, and say how likely it is."""
    best = scores.max(axis=1, keepdims=True)
    likely = 1 / numpy.exp(scores - best).sum(axis=1)
    return [names[i] for i in scores.argmax(axis=1).tolist()], likely
