"""How fast `configs/base.cfg` trains, and what its batches and precision gain.

    python benchmarks/training.py ../shared/treebanks/en_gum

Times updates on the training split of GUM, one thread: with the config as it is, with
batches of sentences in the order of the corpus, and in mixed precision. Prints words
and sentences per second, epochs per hour without evaluation, and the share of an update
that targets and loss take.
"""

import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from spacy.training.initialize import init_nlp
from spacy.util import fix_random_seed, load_config, registry, resolve_dot_names

from spacy_pointparse.pipeline.pointing_parser import PointingParser

CONFIG = Path(__file__).parents[1] / "configs" / "base.cfg"
UPDATES = 150
UNTIMED = 20
IN_ORDER = {
    "@batchers": "spacy.batch_by_words.v1",
    "size": 900,
    "tolerance": 0.0,
    "discard_oversize": False,
}
ROWS: dict[str, dict[str, Any]] = {
    "`configs/base.cfg`": {},
    "sentences in corpus order": {"training.batcher": IN_ORDER},
    "mixed precision": {"components.pointing_parser.model.mixed_precision": True},
}


def measure(changes: dict[str, Any], train: Path) -> tuple[float, float, float, int]:
    """Train for some updates.

    RETURNS (Tuple[float, float, float, int]): Words and sentences per second, the share
        of targets and loss, and the number of sentences in an epoch.
    """
    fix_random_seed(0)
    overrides = {"paths.train": str(train), "paths.dev": str(train), **changes}
    nlp = init_nlp(load_config(CONFIG, overrides))
    config = nlp.config.interpolate()
    settings = registry.resolve(config["training"])
    [corpus] = resolve_dot_names(config, [settings["train_corpus"]])
    examples = list(corpus(nlp))
    batches = settings["batcher"](iter(examples))
    spent: list[float] = []
    words = sentences = 0
    with (
        mock.patch.object(
            PointingParser, "_get_targets", timed(PointingParser._get_targets, spent)
        ),
        mock.patch.object(
            PointingParser, "_compute_loss", timed(PointingParser._compute_loss, spent)
        ),
    ):
        for i, batch in enumerate(islice(batches, UNTIMED + UPDATES)):
            if i == UNTIMED:
                spent.clear()
                start = time.perf_counter()
            nlp.update(batch, sgd=settings["optimizer"], drop=settings["dropout"])
            if i >= UNTIMED:
                words += sum(len(example.predicted) for example in batch)
                sentences += len(batch)
        seconds = time.perf_counter() - start
    return words / seconds, sentences / seconds, sum(spent) / seconds, len(examples)


def timed(function: Callable, spent: list[float]) -> Callable:
    def call(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        spent.append(time.perf_counter() - start)
        return result

    return call


def main(treebank: str) -> None:
    torch.set_num_threads(1)
    columns = ["words/s", "sentences/s", "epochs/hour", "targets and loss"]
    print(f"| | {' | '.join(columns)} |\n|{'---|' * 5}")
    for title, changes in ROWS.items():
        words, rate, share, count = measure(changes, Path(treebank) / "train.mrg")
        cells = [f"{words:.0f}", f"{rate:.0f}", f"{3600 * rate / count:.1f}"]
        print(f"| {title} | {' | '.join(cells)} | {100 * share:.1f}% |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
