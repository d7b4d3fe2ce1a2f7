"""Train benepar's chart parser (Kitaev et al., 2019) and parse with it.

    python train_benepar.py DATA OUTPUT SECONDS [--transformer FOLDER]

`compare.py` calls this in benepar's environment. The package has no trainer: this is
its model and loss under Adam, with warm-up and then a rate that falls to zero over the
time given. From scratch it reads characters with three layers of self-attention; over a
transformer it has two. Tags are no input of its own.
"""

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from benepar import char_lstm, decode_chart, parse_chart, ptb_unescape
from benepar.nkutil import HParams
from common import make_parser, write_seconds, write_trees
from nltk.tree import Tree

COMMON = {
    "max_len_train": 0,
    "max_len_dev": 0,
    "d_char_emb": 64,
    "char_lstm_input_dropout": 0.2,
    "use_encoder": True,
    "num_heads": 8,
    "encoder_max_len": 512,
    "morpho_emb_dropout": 0.2,
    "attention_dropout": 0.2,
    "relu_dropout": 0.1,
    "residual_dropout": 0.2,
    "force_root_constituent": True,
    "predict_tags": False,
    "tag_loss_scale": 5.0,
}
SCRATCH = {
    "use_chars_lstm": True,
    "use_pretrained": False,
    "pretrained_model": "",
    "num_layers": 3,
    "d_model": 256,
    "d_kv": 32,
    "d_ff": 512,
    "d_label_hidden": 64,
    "d_tag_hidden": 64,
}
PRETRAINED = {
    "use_chars_lstm": False,
    "use_pretrained": True,
    "num_layers": 2,
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 1024,
    "d_label_hidden": 96,
    "d_tag_hidden": 96,
}
# Rate, steps of warm-up, sentences in a batch, greatest norm of the gradient.
LEARNING_SCRATCH = (1e-3, 160, 24, 5.0)
LEARNING_PRETRAINED = (2e-4, 40, 32, 1e9)
# Longer sentences are left out of training: their charts need too much memory.
MAX_LENGTH = 100


@dataclass
class Sentence:
    """A sentence as the package wants it."""

    tree: Tree | None
    tagged: list[tuple[str, str]]
    words: list[str]
    space_after: list[bool]

    def leaves(self) -> list[str]:
        return [word for word, _ in self.tagged]

    def pos(self) -> list[tuple[str, str]]:
        return self.tagged


def read_sentences(path: Path, gold: bool) -> list[Sentence]:
    sentences = []
    for line in path.read_text(encoding="utf8").splitlines():
        tree = Tree.fromstring(line)
        leaves = tree.leaves()
        sentences.append(
            Sentence(
                tree=tree if gold else None,
                tagged=tree.pos(),
                words=ptb_unescape.ptb_unescape(leaves),
                space_after=ptb_unescape.guess_space_after(leaves),
            )
        )
    return sentences


def build(train: list[Sentence], transformer: str) -> parse_chart.ChartParser:
    sizes = {**PRETRAINED, "pretrained_model": transformer} if transformer else SCRATCH
    labels = decode_chart.ChartDecoder.build_vocab([item.tree for item in train])
    tags = sorted({tag for item in train for _, tag in item.tagged})
    characters = None
    if not transformer:
        characters = char_lstm.RetokenizerForCharLSTM.build_vocab(
            [item.words for item in train]
        )
    return parse_chart.ChartParser(
        tag_vocab={tag: i for i, tag in enumerate(["UNK", *tags])},
        label_vocab=labels,
        char_vocab=characters,
        hparams=HParams(**COMMON, **sizes),
    )


def train(
    model: parse_chart.ChartParser,
    sentences: list[Sentence],
    seconds: float,
    learning: tuple[float, int, int, float],
) -> float:
    """Train until the time runs out. RETURNS (float): The seconds that it took."""
    rate, warm_up, size, greatest_norm = learning
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    start = time.time()
    for step, batch in enumerate(draw_batches(sentences, size), start=1):
        left = 1 - (time.time() - start) / seconds
        if left <= 0:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, step / warm_up) * left
        model.train()
        optimizer.zero_grad()
        for _, part in model.encode_and_collate_subbatches(batch, 800):
            loss = model.compute_loss(part)
            if loss.item() > 0:
                loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), greatest_norm)
        optimizer.step()
        if step % 100 == 0:
            print(step, f"{time.time() - start:.0f} s", loss.item(), flush=True)
    return time.time() - start


def draw_batches(sentences: list[Sentence], size: int) -> Iterator[list[Sentence]]:
    while True:
        random.shuffle(sentences)
        for i in range(0, len(sentences), size):
            yield sentences[i : i + size]


def main(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    random.seed(0)
    torch.manual_seed(0)
    data, output = arguments.data, arguments.output
    transformer = arguments.transformer
    sentences = read_sentences(data / "train.mrg", gold=True)
    sentences = [item for item in sentences if len(item.words) <= MAX_LENGTH]
    model = build(sentences, transformer)
    learning = LEARNING_PRETRAINED if transformer else LEARNING_SCRATCH
    seconds = train(model, sentences, arguments.seconds, learning)
    write_seconds(output, seconds)
    state = {"config": model.config, "state_dict": model.state_dict()}
    torch.save(state, output / "model.pt")
    for split in ("dev", "test"):
        sentences = read_sentences(data / f"{split}.mrg", gold=False)
        trees = model.parse(sentences, subbatch_max_tokens=1500)
        write_trees(output, split, (tree.pformat(margin=10**9) for tree in trees))


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--transformer", default="")
    main(parser.parse_args())
