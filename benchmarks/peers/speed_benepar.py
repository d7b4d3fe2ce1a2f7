"""Time benepar's chart parser.

    python speed_benepar.py FOLDER DATA BATCH THREADS RUNS

`speed.py` calls this in benepar's environment; FOLDER is what `train_benepar.py` wrote.
benepar takes batches by words, or word-pieces: those of so many sentences of 25.
"""

import sys
from pathlib import Path

import torch
from benepar.parse_chart import ChartParser
from common import print_times
from train_benepar import read_sentences


def main(folder: str, data: str, batch: str, threads: str, runs: str) -> None:
    torch.set_num_threads(int(threads))
    model = ChartParser.from_trained(f"{folder}/model.pt")
    sentences = read_sentences(Path(data), gold=False)

    def parse() -> None:
        if batch == "1":
            for sentence in sentences:
                list(model.parse([sentence]))
        else:
            list(model.parse(sentences, subbatch_max_tokens=25 * int(batch)))

    print_times(parse, int(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
