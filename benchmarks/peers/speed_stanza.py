"""Time stanza's transition parser.

    python speed_stanza.py FOLDER DATA BATCH THREADS RUNS

`speed.py` calls this in stanza's environment; FOLDER is what `train_stanza.py` wrote.
Words and tags are given; the longest sentences come first, as in stanza's pipeline.
"""

import sys
from pathlib import Path

import torch
from common import print_times
from stanza.models.constituency.tree_reader import read_trees
from train_stanza import load


def main(folder: str, data: str, batch: str, threads: str, runs: str) -> None:
    torch.set_num_threads(int(threads))
    model = load(Path(folder)).model
    text = Path(data).read_text(encoding="utf8").replace("(TOP ", "(ROOT ")
    trees = sorted(read_trees(text), key=lambda tree: -len(tree.leaf_labels()))

    def parse() -> None:
        with torch.no_grad():
            model.parse_sentences_no_grad(
                iter(trees), model.build_batch_from_trees, int(batch), model.predict
            )

    print_times(parse, int(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
