"""Measure what partial trees teach: half of the brackets of each tree are hidden.

    python benchmarks/partial.py ../shared/treebanks/en_wsj_nltk_sample

Data: NLTK's sample of the Penn Treebank, gold tags as input, one thread. Brackets over
the same words are hidden together. Trains on whole trees, on partial trees marked as
such, and on partial trees as if they were whole, and prints test F1 for each.
"""

import random
import sys
import tempfile
from pathlib import Path

import spacy
from one_thread import run, score, train
from spacy.tokens import Doc, DocBin

from spacy_pointparse.tokens import SPANS_KEY
from spacy_pointparse.tokens.constituents import PARTIAL_ATTR

HIDDEN = 0.5


def hide_brackets(docs: list[Doc], marked: bool) -> list[Doc]:
    """Hide half of the brackets of each Doc, the same ones in each call."""
    draw = random.Random(0).random
    for doc in docs:
        spans = list(doc.spans[SPANS_KEY])
        ranges = sorted({(span.start, span.end) for span in spans})
        kept = {bracket for bracket in ranges if draw() >= HIDDEN}
        doc.spans[SPANS_KEY] = [
            span for span in spans if (span.start, span.end) in kept
        ]
        doc.spans[SPANS_KEY].attrs[PARTIAL_ATTR] = marked
    return docs


def main(treebank: str, max_steps: str = "2000", seed: str = "0") -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for split in ("train", "dev", "test"):
            run(
                *("spacy_pointparse", "convert", treebank, "--split", split),
                *("--output", f"{folder}/{split}.spacy"),
            )
        for file, marked in (("marked", True), ("unmarked", False)):
            docs = DocBin().from_disk(folder / "train.spacy")
            hidden = hide_brackets(list(docs.get_docs(spacy.blank("en").vocab)), marked)
            DocBin(docs=hidden).to_disk(folder / f"{file}.spacy")
        print("| trained on | test F1 |\n|---|---|")
        for file, description in (
            ("train", "whole trees"),
            ("marked", "half of the brackets, marked as partial"),
            ("unmarked", "half of the brackets, as if whole"),
        ):
            f_score = train_and_score(folder, file, max_steps, seed)
            print(f"| {description} | {f_score:.2f} |", flush=True)


def train_and_score(folder: Path, file: str, max_steps: str, seed: str) -> float:
    train(
        *("gold_tags", folder / file),
        *("--paths.train", f"{folder}/{file}.spacy"),
        *("--paths.dev", f"{folder}/dev.spacy"),
        *("--training.max_steps", max_steps, "--system.seed", seed),
    )
    return score(folder / file / "model-best", folder / "test.spacy", "--gold-tags")


if __name__ == "__main__":
    main(*sys.argv[1:])
