"""Train stanza's in-order transition parser (Bauer et al.) and parse with it.

    python train_stanza.py DATA OUTPUT SECONDS

`compare.py` calls this in stanza's environment. Words and gold tags, hidden size 256,
no pretrained vectors. Three things are changed from outside: dev trees are scored here
and not by a Java program that the package lacks; training stops when the time runs out;
and the word vectors that the trainer insists on are zeros.
"""

import argparse
import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import torch
from common import make_parser, write_seconds, write_trees
from stanza.models import constituency_parser
from stanza.models.common.foundation_cache import FoundationCache
from stanza.models.common.pretrain import Pretrain
from stanza.models.constituency import parser_training
from stanza.models.constituency.trainer import Trainer
from stanza.models.constituency.tree_reader import read_treebank

ROOTS = ("ROOT", "TOP")
SETTINGS = [
    *("--mode", "train", "--lang", "en", "--shorthand", "en_wsj", "--cpu"),
    *("--no_retag", "--no_checkpoint", "--no_multistage", "--no_check_valid_states"),
    *("--optim", "adamw", "--learning_rate", "0.001", "--seed", "1"),
    *("--hidden_size", "256", "--train_batch_size", "30", "--epochs", "1000"),
    *("--epoch_size", "0"),
]


class OutOfTime(Exception):
    pass


def list_brackets(tree, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yield the constituents of a stanza tree."""
    for child in tree.children:
        if not child.is_preterminal():
            yield from list_brackets(child, start)
        start += len(child.leaf_labels())
    if tree.label not in ROOTS:
        yield start - len(tree.leaf_labels()), start, tree.label


class Evaluator:
    """Scores dev trees in place of stanza's, F1 of labeled brackets."""

    def __init__(self, **settings) -> None:
        pass

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(self, *error) -> None:
        pass

    def process(self, results):
        matched = total = 0
        for result in results:
            gold = Counter(list_brackets(result.gold))
            predicted = Counter(list_brackets(result.predictions[0].tree))
            matched += (gold & predicted).total()
            total += gold.total() + predicted.total()
        f_score = 2 * matched / total
        print(f"dev F1 {100 * f_score:.2f}", flush=True)
        return Response(f1=f_score, kbestF1=None, treeF1=[])


class Response(SimpleNamespace):
    def HasField(self, name: str) -> bool:
        return False


def limit_time(seconds: float) -> None:
    deadline = time.time() + seconds
    train_batch = parser_training.train_model_one_batch

    def train_until_deadline(*args, **kwargs):
        if time.time() > deadline:
            raise OutOfTime
        return train_batch(*args, **kwargs)

    parser_training.train_model_one_batch = train_until_deadline


def write_zero_vectors(path: Path) -> Path:
    text = path.with_suffix(".vec")
    zeros = " ".join(["0"] * 10)
    text.write_text("2 10\n" + "".join(f"{word} {zeros}\n" for word in ("the", "of")))
    Pretrain(str(path), str(text), save_to_file=True).load()
    return path


def write_gold(data: Path, output: Path) -> None:
    """Write the splits with the name that stanza gives to roots."""
    for split in ("train", "dev", "test"):
        text = (data / f"{split}.mrg").read_text(encoding="utf8")
        text = "\n".join(f"(ROOT{line[4:]}" for line in text.splitlines())
        (output / f"{split}.gold").write_text(f"{text}\n", encoding="utf8")


def main(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    output = arguments.output
    write_gold(arguments.data, output)
    vectors = write_zero_vectors(output / "vectors.pt")
    start = time.time()
    limit_time(arguments.seconds)
    parser_training.EvaluateParser = Evaluator
    with contextlib.suppress(OutOfTime):
        constituency_parser.main(
            [
                *SETTINGS,
                *("--train_file", str(output / "train.gold")),
                *("--eval_file", str(output / "dev.gold")),
                *("--wordvec_pretrain_file", str(vectors)),
                *("--save_dir", str(output), "--save_name", "model.pt"),
            ]
        )
    write_seconds(output, time.time() - start)
    parse(output)


def load(output: Path) -> Trainer:
    settings = {"wordvec_pretrain_file": str(output / "vectors.pt")}
    trainer = Trainer.load(
        str(output / "model.pt"), settings, foundation_cache=FoundationCache()
    )
    trainer.model.eval()
    return trainer


def parse(output: Path) -> None:
    trainer = load(output)
    for split in ("dev", "test"):
        gold = read_treebank(str(output / f"{split}.gold"))
        model = trainer.model
        with torch.no_grad():
            results = model.parse_sentences_no_grad(
                iter(gold), model.build_batch_from_trees, 50, model.predict
            )
        trees = (f"{result.predictions[0].tree:O}" for result in results)
        write_trees(output, split, (f"(TOP{tree[5:]}" for tree in trees))


if __name__ == "__main__":
    main(make_parser(__doc__).parse_args())
