"""How the cost of parsing grows with the sentence and with the corpus.

    pip install matplotlib torch-struct
    python benchmarks/scaling.py ../shared/treebanks/en_masc/dev.mrg docs/scaling.svg

One thread. Times decoding in batches of 6,400 words: with the scores of
en_pointparse_sm for running text cut into sentences of one length, and with artificial
scores for trees of extreme shapes. For comparison, times the chart decoder of benepar,
torch-struct's CKY, with 60 labels. Then times en_pointparse_sm on such sentences, and
on 1,000 to 100,000 sentences of the text itself. Prints the tables, and plots the times
of decoding.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from unittest import mock

import numpy
import spacy
import torch
from matplotlib import pyplot
from numpy.typing import NDArray
from peers.common import read_memory
from spacy.language import Language
from spacy.tokens import Doc
from torch_struct import TreeCRF

from spacy_pointparse.pointing import Decoder, decode_batch, decode_exact
from spacy_pointparse.tokens.treebank import read_docs

LENGTHS = [10, 20, 40, 80, 160, 320, 640]
BATCH_WORDS = 6400
LABELS = 60
# Longer charts take minutes.
LONGEST_CHART = 160
SIZES = [1000, 10_000, 100_000]
RUNS = 3

Batch = tuple[NDArray, NDArray, list[int]]
# Where each shape splits a span, given its first word, last word and depth.
SHAPES: dict[str, Callable[[int, int, int], int]] = {
    "balanced": lambda start, last, depth: (start + last) // 2,
    "right-branching": lambda start, last, depth: start,
    "alternating": lambda start, last, depth: last - 1 if depth % 2 else start,
}


def time_best(function: Callable[[], object]) -> float:
    """Get the seconds of the fastest of several runs."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def make_docs(nlp: Language, words: list[str], length: int) -> list[Doc]:
    """Cut running text into sentences of one length, one a Doc."""
    stream = cycle(words)
    starts = [True] + [False] * (length - 1)
    return [
        Doc(nlp.vocab, words=list(islice(stream, length)), sent_starts=starts)
        for _ in range(BATCH_WORDS // length)
    ]


def find_scores(nlp: Language, docs: list[Doc]) -> Batch:
    """Get the parser's scores for the Docs."""
    parser = nlp.get_pipe("pointing_parser")
    seen: list[Batch] = []

    def keep(decoding: Decoder, *batch: object) -> list[list[NDArray]]:
        seen.append(batch[:3])
        return [[targets] for targets in decode_batch(*batch[:3])]

    with mock.patch.object(Decoder, "list_trees", keep):
        parser.predict(docs)
    general, singleton, lengths = zip(*seen)
    return (
        numpy.concatenate(general),
        numpy.concatenate(singleton),
        [length for batch in lengths for length in batch],
    )


def make_scores(shape: str, length: int) -> Batch:
    """Make scores whose best trees have a given shape."""
    count = BATCH_WORDS // length
    general = numpy.zeros((count, length, length), dtype="float32")
    spans = [(0, length - 1, 0)]
    while spans:
        start, last, depth = spans.pop()
        if start < last:
            split = SHAPES[shape](start, last, depth)
            general[:, split, start] = general[:, split + 1, last] = 1.0
            spans += [(start, split, depth + 1), (split + 1, last, depth + 1)]
    return general, numpy.ones((count, length), dtype="float32"), [length] * count


def time_chart(length: int) -> float:
    """Time torch-struct's CKY as benepar calls it, in seconds per sentence."""
    count = max(1, 640 // length)
    torch.manual_seed(0)
    scores = torch.randn(count, length, length, LABELS)
    lengths = torch.full((count,), length)
    return time_best(lambda: TreeCRF(scores.clone(), lengths=lengths).argmax) / count


def time_decoding(nlp: Language, words: list[str], length: int) -> dict[str, float]:
    """Time each kind of decoding, in milliseconds per sentence."""
    real = find_scores(nlp, make_docs(nlp, words, length))
    batches = {"greedy, text": real}
    batches |= {f"greedy, {shape}": make_scores(shape, length) for shape in SHAPES}
    times = {
        name: time_best(lambda batch=batch: decode_batch(*batch)) / len(batch[2])
        for name, batch in batches.items()
    }
    times["exact, text"] = time_best(lambda: decode_exact(*real)) / len(real[2])
    short = length <= LONGEST_CHART
    times["CKY of torch-struct"] = time_chart(length) if short else float("nan")
    return {name: 1000 * seconds for name, seconds in times.items()}


def time_parsing(nlp: Language, words: list[str], length: int) -> float:
    """Time the whole parser, in milliseconds per sentence."""
    parser = nlp.get_pipe("pointing_parser")

    def parse() -> None:
        docs = make_docs(nlp, words, length)
        parser.set_annotations(docs, parser.predict(docs))

    return 1000 * time_best(parse) / (BATCH_WORDS // length)


def measure_corpus(nlp: Language, texts: Iterator[str], size: int) -> tuple[float, int]:
    """Get sentences per second of the pipeline, and its peak memory so far, in MiB."""
    start = time.perf_counter()
    count = 0
    for doc in nlp.pipe(texts):
        count += sum(1 for _ in doc.sents)
        if count >= size:
            break
    rate = count / (time.perf_counter() - start)
    return rate, read_memory("VmHWM")


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def draw(rows: list[dict[str, float]], path: str) -> None:
    # Keep text as text, and make the same file each time.
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "scaling"})
    figure, axes = pyplot.subplots(figsize=(6, 4.5))
    for name, marker in zip(rows[0], "ov^s*x"):
        axes.plot(LENGTHS, [row[name] for row in rows], f"{marker}-", label=name)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="words per sentence", ylabel="decoding, ms per sentence")
    axes.set_xticks(LENGTHS, map(str, LENGTHS), minor=False)
    axes.minorticks_off()
    axes.legend()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main(path: str, figure: str) -> None:
    torch.set_num_threads(1)
    nlp = spacy.load("en_pointparse_sm")
    docs = list(read_docs(path, spacy.blank("en").vocab, sentences_per_doc=10))
    words = [token.text for doc in docs for token in doc]
    rows = [time_decoding(nlp, words, length) for length in LENGTHS]
    print_row("words", *rows[0], "parsing")
    print_row(*["---"] * (len(rows[0]) + 2))
    for length, row in zip(LENGTHS, rows):
        times = [*row.values(), time_parsing(nlp, words, length)]
        print_row(length, *(f"{milliseconds:.3f}" for milliseconds in times))
    draw(rows, figure)
    print("\n| sentences | sentences/s | peak memory, MiB |\n|---|---|---|")
    for size in SIZES:
        rate, memory = measure_corpus(nlp, cycle(doc.text for doc in docs), size)
        print_row(size, f"{rate:.0f}", memory)


if __name__ == "__main__":
    main(*sys.argv[1:])
