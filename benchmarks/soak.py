"""Parse for hours: does memory grow, does speed drop, does the output change?

    python benchmarks/soak.py ../shared/treebanks/en_masc/dev.mrg [SENTENCES]

Parses a million sentences, or as many as given, with en_pointparse_sm, one thread: the
sentences of a treebank over and over, in texts of five. After every twentieth of them,
prints sentences per second of processor time and the memory. In the end, prints the
slope of memory after the first row, and whether any text got other trees or
probabilities than the first time.
"""

import sys
import time
from itertools import cycle

import numpy
import spacy
import torch
from nltk.tokenize.treebank import TreebankWordDetokenizer
from numpy.typing import NDArray
from peers.common import read_memory

from spacy_pointparse.tokens import SPANS_KEY
from spacy_pointparse.tokens.treebank import read_docs

SENTENCES = 1_000_000
BLOCKS = 20
TEXT = 5  # sentences


def make_texts(path: str) -> list[str]:
    detokenize = TreebankWordDetokenizer().detokenize
    docs = read_docs(path, spacy.blank("en").vocab)
    sentences = [detokenize([token.text for token in doc]) for doc in docs]
    starts = range(0, len(sentences), TEXT)
    return [" ".join(sentences[start : start + TEXT]) for start in starts]


def main(path: str, sentences: int = SENTENCES) -> None:
    torch.set_num_threads(1)
    nlp = spacy.load("en_pointparse_sm")
    texts = make_texts(path)
    first: dict[int, tuple[str, NDArray]] = {}
    changed, difference = set(), 0.0
    parsed, memory = [], []
    total, start = 0, time.process_time()
    print("| sentences | sentences/s | MiB |\n|---|---|---|")
    for i, doc in enumerate(nlp.pipe(cycle(texts), batch_size=256)):
        trees, scores = (
            doc._.parse_string,
            numpy.array(doc.spans[SPANS_KEY].attrs["scores"]),
        )
        known_trees, known_scores = first.setdefault(i % len(texts), (trees, scores))
        if trees == known_trees:
            difference = max(difference, abs(scores - known_scores).max(initial=0))
        else:
            changed.add(i % len(texts))
        total += len(list(doc.sents))
        if total >= sentences * (len(parsed) + 1) / BLOCKS:
            block = total - sum(parsed)
            seconds = time.process_time() - start
            parsed.append(block)
            memory.append(read_memory("VmRSS"))
            print(f"| {total} | {block / seconds:.0f} | {memory[-1]} |", flush=True)
            start = time.process_time()
        if len(parsed) == BLOCKS:
            break
    slope = numpy.polyfit(numpy.cumsum(parsed)[1:], memory[1:], 1)[0]
    print(f"memory after the first row: {1e6 * slope:+.1f} MiB a million sentences")
    print(
        f"{i + 1} texts, {len(texts)} distinct: {len(changed)} changed their trees, "
        f"probabilities by {difference:.1g} at most"
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
