"""Time this parser and benepar with the same transformer, by sentence length.

    python benchmarks/compare.py ../shared/treebanks training/compare transformer \
        transformer-benepar
    python benchmarks/transformer.py training/compare

The words of the dev and test sentences of the sample of the Wall Street Journal, cut
into sentences of one length, in batches of 32, with gold tokens and one thread, each
parser in a process of its own. Prints sentences per second and the peak memory of the
process during parsing, in MiB.
"""

import sys
from itertools import chain
from pathlib import Path

import spacy
from compare import WSJ
from nltk import Tree
from speed import Parser, time_parser

from spacy_pointparse.tokens.treebank import read_docs
from spacy_pointparse.trees import tree_to_string

LENGTHS = [12, 24, 48, 80, 120, 160]
WORDS = 7680  # for each length
BATCH = 32


def write_sentences(words: list[str], length: int, path: Path) -> None:
    """Write flat trees over a given number of words each."""
    starts = range(0, min(WORDS, len(words) - length + 1), length)
    trees = (
        Tree("S", [Tree("X", [word]) for word in words[start : start + length]])
        for start in starts
    )
    path.write_text("".join(f"{tree_to_string(tree)}\n" for tree in trees), "utf8")


def measure(folder: Path, data: Path, length: int) -> list[str]:
    """Get the cells of a row: both rates, their ratio, and both peak memories."""
    parser = Parser(f"{folder}/transformer/model-best")
    benepar = Parser(f"{folder}/transformer-benepar", "benepar")
    ours = time_parser(parser, data, folder, BATCH, 1)
    # benepar counts a batch in sentences of 25 word-pieces; a word has 1.3 pieces.
    theirs = time_parser(benepar, data, folder, round(BATCH * 1.3 * length / 25), 1)
    return [
        f"{ours['rate']:.1f}",
        f"{theirs['rate']:.1f}",
        f"{ours['rate'] / theirs['rate']:.2f}",
        str(ours["memory"]),
        str(theirs["memory"]),
    ]


def main(folder: Path) -> None:
    vocab = spacy.blank("en").vocab
    docs = chain(
        *(read_docs(folder / WSJ / f"{s}.mrg", vocab) for s in ("dev", "test"))
    )
    words = [token.text for doc in docs for token in doc]
    columns = ["words", "ours", "benepar", "ratio", "ours, MiB", "benepar, MiB"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    data = folder / "transformer.mrg"
    for length in LENGTHS:
        write_sentences(words, length, data)
        cells = [str(length), *measure(folder, data, length)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
