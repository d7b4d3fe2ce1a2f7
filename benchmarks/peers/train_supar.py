"""Train supar's CRF parser (Zhang et al., 2020) from scratch and parse with it.

    python train_supar.py DATA OUTPUT SECONDS [--tags] [--patience EPOCHS] [--seed SEED]

`compare.py` calls this in supar's environment. A BiLSTM (2 x 200) over words and
characters, and tags where asked. The epoch in which the time runs out is finished.
"""

import argparse
import contextlib
import functools
import time
from pathlib import Path

import torch
from common import make_parser, write_seconds, write_trees

# Its checkpoints hold objects, which torch no longer loads unless told to.
torch.load = functools.partial(torch.load, weights_only=False)

from supar import CRFConstituencyParser  # noqa: E402

SETTINGS = {
    "encoder": "lstm",
    "embed": None,
    "unk": "unk",
    "n_embed": 100,
    "n_lstm_hidden": 200,
    "n_lstm_layers": 2,
    "n_span_mlp": 200,
    "n_label_mlp": 100,
    "mbr": True,
    "min_freq": 2,
    "fix_len": 20,
    "buckets": 32,
    "batch_size": 1000,
    "lr": 2e-3,
    "mu": 0.9,
    "nu": 0.9,
    "eps": 1e-12,
    "weight_decay": 0,
    "clip": 5.0,
    "decay": 0.75,
    "decay_steps": 1500,
    "epochs": 1000,
    "device": "cpu",
    "verbose": True,
}


class OutOfTime(Exception):
    pass


class TimedParser(CRFConstituencyParser):
    deadline = float("inf")

    def _train(self, loader):
        if time.time() > self.deadline:
            raise OutOfTime
        super()._train(loader)


def train(arguments: argparse.Namespace, path: Path) -> float:
    """Train until the time runs out or dev F1 has not risen for some epochs.

    RETURNS (float): The seconds that it took.
    """
    start = time.time()
    TimedParser.deadline = start + arguments.seconds
    torch.manual_seed(arguments.seed)
    data = arguments.data
    # It scores a test set after each epoch: one sentence of dev, so that this is fast.
    first = path.with_name("first.mrg")
    first.write_text((data / "dev.mrg").read_text("utf8").split("\n")[0] + "\n")
    settings = {
        **SETTINGS,
        "path": str(path),
        "build": True,
        "checkpoint": False,
        "feat": ["tag", "char"] if arguments.tags else ["char"],
        "patience": arguments.patience,
        "train": str(data / "train.mrg"),
        "dev": str(data / "dev.mrg"),
        "test": str(first),
    }
    with contextlib.suppress(OutOfTime):
        TimedParser.build(**settings).train(**settings)
    return time.time() - start


def main(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    data, output = arguments.data, arguments.output
    path = output / "model"
    seconds = train(arguments, path)
    write_seconds(output, seconds)
    parser = CRFConstituencyParser.load(str(path))
    for split in ("dev", "test"):
        parsed = parser.predict(
            str(data / f"{split}.mrg"), batch_size=1000, mbr=True, verbose=False
        )
        trees = (tree.pformat(margin=10**9) for tree in parsed.trees)
        write_trees(output, split, trees)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--tags", action="store_true")
    parser.add_argument("--patience", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
