"""Time supar's CRF parser.

    python speed_supar.py FOLDER DATA BATCH THREADS RUNS

`speed.py` calls this in supar's environment; FOLDER is what `train_supar.py` wrote.
supar takes batches by words: those of so many sentences of average length.
"""

import sys

import torch
from common import print_times
from nltk import Tree
from train_supar import CRFConstituencyParser


def main(folder: str, data: str, batch: str, threads: str, runs: str) -> None:
    torch.set_num_threads(int(threads))
    parser = CRFConstituencyParser.load(f"{folder}/model")
    with open(data, encoding="utf8") as file:
        lengths = [len(Tree.fromstring(line).leaves()) for line in file]
    # One sentence at a time needs as many buckets of like length as sentences.
    size, buckets = 1, len(lengths)
    if batch != "1":
        size, buckets = sum(lengths) * int(batch) // len(lengths), 8
    print_times(
        lambda: parser.predict(
            data, batch_size=size, buckets=buckets, mbr=True, verbose=False
        ),
        int(runs),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
