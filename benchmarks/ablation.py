"""What each option of the parser gains, and what it costs.

    python benchmarks/ablation.py TREEBANKS OUTPUT VECTORS TRANSFORMER [ROW ...]

TREEBANKS holds en_wsj_nltk_sample and en_gum, VECTORS is a pipeline with word vectors,
and TRANSFORMER is a small transformer. Trains each option for 1,000 steps on the sample
of the Wall Street Journal, with one seed or, for close calls, three, and the finalists
on GUM, with one thread. Results are kept in OUTPUT and not measured again, so an
interrupted run can be resumed, and several rows can be measured at once.
"""

import json
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
import torch
from compare import prepare
from one_thread import run

from spacy_pointparse.cli.config import make_config
from spacy_pointparse.training.corpus import create_corpus

CONFIGS = Path(__file__).parents[1] / "configs"
PARSER = "components.pointing_parser"
MODEL = f"{PARSER}.model"
WSJ, GUM = "en_wsj_nltk_sample", "en_gum"
WSJ_STEPS, GUM_STEPS, TRANSFORMER_STEPS = 1000, 8000, 250


@dataclass(frozen=True)
class Option:
    """A change of a config.

    changes (Dict[str, Any]): New values, by their dotted names in the config.
    config (str): The name of the config.
    retrained (bool): Whether it needs training, or only changes decoding.
    """

    changes: dict[str, Any] = field(default_factory=dict)
    config: str = "base"
    retrained: bool = True


def decoding(**settings: Any) -> Option:
    changes = {f"{PARSER}.{name}": value for name, value in settings.items()}
    return Option(changes, retrained=False)


def model(**settings: Any) -> Option:
    return Option({f"{MODEL}.{name}": value for name, value in settings.items()})


def transformer(rate: float, scale: float) -> Option:
    optimizer = "training.optimizer"
    changes = {
        f"{optimizer}.learn_rate.initial_rate": rate,
        f"{optimizer}.scales": {"embeddings.": scale, "encoder.": scale},
    }
    return Option(changes, config="transformer")


SELF_ATTENTION = {
    "@architectures": "spacy-pointparse.SelfAttention.v1",
    "input_width": 320,
    "width": 512,
    "depth": 2,
}
MIXED = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 128,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [15000, 1000, 5000, 2500],
        "include_static_vectors": False,
    },
    "encode": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 128,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}


def hashed(attr: str, rows: int) -> dict[str, Any]:
    return {
        "@architectures": "spacy-pointparse.HashEmbed.v1",
        "width": 128,
        "attrs": [attr],
        "rows": [rows],
    }


# A layer for each attribute, so that no attribute is dropped as a whole.
KEPT = {
    "@architectures": "spacy-pointparse.Sum.v1",
    "*": {
        "words": hashed("NORM", 15000),
        "prefixes": hashed("PREFIX", 1000),
        "suffixes": hashed("SUFFIX", 5000),
        "shapes": hashed("SHAPE", 2500),
    },
}
CHARACTERS = {
    "@architectures": "spacy-pointparse.Concat.v1",
    "*": {
        "words": hashed("NORM", 15000),
        "characters": {
            "@architectures": "spacy-pointparse.CharacterLSTM.v1",
            "width": 128,
        },
    },
}


def bilstm(width: int) -> Option:
    widths = ("lower_encoder.width", "upper_encoder.input_width", "upper_encoder.width")
    return model(**dict.fromkeys(widths, width))


DEFAULT = "default (base.cfg)"
OPTIONS = {
    DEFAULT: Option(),
    "pointing: between words, not gaps": model(pointing="biaffine"),
    "pointing: one projection, as printed": model(pointing="dot"),
    "pointing: query and key, as released": model(pointing="query_key"),
    "labels from the pointing word": model(labels_from="word"),
    "greedy": decoding(decoder="greedy"),
    "greedy on probabilities": decoding(decoder="greedy", decode_from="probabilities"),
    "beam of 10": decoding(decoder="beam"),
    "pointing heads 1,024 wide": model(pointing_width=1024, singleton_width=1024),
    "all heads 125 wide": model(pointing_width=125, label_width=125),
    "singleton head 250 wide": model(singleton_width=250),
    "self-attention, 2 layers, above": model(
        upper_encoder=SELF_ATTENTION, pointing="biaffine"
    ),
    "no feature dropped as a whole": model(tok2vec=KEPT),
    "word and characters for affixes": model(tok2vec=CHARACTERS),
    "features mixed by a layer, and a convolution": model(tok2vec=MIXED),
    "BiLSTM 256 wide": bilstm(256),
    "BiLSTM 400 wide": bilstm(400),
    "mixed precision": model(mixed_precision=True),
    "no tags": model(tag_head=False),
    "gold tags as input": Option(config="gold_tags"),
    "one BiLSTM layer above": model(**{"upper_encoder.depth": 1}),
    "three BiLSTM layers above": model(**{"upper_encoder.depth": 3}),
    "pretrained word vectors": Option(config="vectors"),
    "weight decay 0.1": Option({"training.optimizer.L2": 0.1}),
    "weight decay 0.3": Option({"training.optimizer.L2": 0.3}),
    "dropout 0.2": Option({"training.dropout": 0.2}),
    "dropout 0.4": Option({"training.dropout": 0.4}),
    "transformer, two rates": transformer(1e-3, 0.3),
    "transformer, one rate": transformer(1e-3, 1.0),
    "transformer, one lower rate": transformer(3e-4, 1.0),
}
SEEDS = {
    DEFAULT: 3,
    "no feature dropped as a whole": 3,
    "greedy": 3,
    "greedy on probabilities": 3,
    "pointing: between words, not gaps": 3,
    "pointing: query and key, as released": 3,
    "features mixed by a layer, and a convolution": 3,
    "dropout 0.2": 3,
    "weight decay 0.1": 3,
    "pretrained word vectors": 3,
}
FINALISTS = [DEFAULT, "pretrained word vectors"]


class Bench:
    """Trains and measures options.

    treebanks (Path): Folder of the treebanks.
    output (Path): Folder for the results.
    vectors (Path): Pipeline with word vectors.
    transformer (Path): Folder of the transformer.
    """

    def __init__(
        self, treebanks: Path, output: Path, vectors: Path, transformer: Path
    ) -> None:
        self.treebanks = treebanks
        self.output = output
        self.paths = {"vectors": str(vectors), "transformer": str(transformer)}

    def measure(self, name: str, treebank: str, seed: int) -> dict[str, float]:
        """Measure an option, unless there is a result.

        RETURNS (Dict[str, float]): F1 on dev and test, seconds of training, and
            thousands of words parsed per second.
        """
        folder = self.output / treebank / f"{name}, seed {seed}"
        result = folder / "result.json"
        if not result.exists():
            option = OPTIONS[name]
            data = prepare(self.treebanks / treebank, self.output / treebank / "data")
            folder.mkdir(parents=True, exist_ok=True)
            if option.retrained:
                seconds = self.train(option, treebank, data, folder, seed)
                scores = {"seconds": seconds, **score(folder, data, {}, option)}
            else:
                scores = self.measure(DEFAULT, treebank, seed)
                trained = self.output / treebank / f"{DEFAULT}, seed {seed}"
                scores = {**scores, **score(trained, data, option.changes, option)}
            result.write_text(json.dumps(scores), encoding="utf8")
        return json.loads(result.read_text(encoding="utf8"))

    def train(
        self, option: Option, treebank: str, data: Path, folder: Path, seed: int
    ) -> float:
        steps = WSJ_STEPS if treebank == WSJ else GUM_STEPS
        if option.config == "transformer":
            steps = TRANSFORMER_STEPS
        changes = {
            **option.changes,
            "paths.train": f"{data}/train.mrg",
            "paths.dev": f"{data}/dev.mrg",
            "system.seed": seed,
            "training.max_steps": steps,
            "training.eval_frequency": steps // 8,
        }
        if option.config in self.paths:
            changes[f"paths.{option.config}"] = self.paths[option.config]
        config = make_config(list_files(option), changes)
        config.to_disk(folder / "config.cfg", interpolate=False)
        return run(
            "spacy", "train", f"{folder}/config.cfg", "--output", f"{folder}/training"
        )


def list_files(option: Option) -> list[Path]:
    return [CONFIGS / f"{name}.cfg" for name in ("base", option.config)]


def score(
    folder: Path, data: Path, changes: dict[str, Any], option: Option
) -> dict[str, float]:
    nlp = spacy.load(folder / "training" / "model-best", config=changes)
    scores = {}
    for split in ("dev", "test"):
        gold_tags = option.config == "gold_tags"
        corpus = create_corpus(data / f"{split}.mrg", gold_tags=gold_tags)
        results = nlp.evaluate(list(corpus(nlp)))
        scores[split] = 100 * results["spans_constituents_f"]
        scores["speed"] = results["speed"] / 1000
    return scores


def print_row(bench: Bench, name: str, treebank: str, seeds: int) -> None:
    rows = [bench.measure(name, treebank, seed) for seed in range(seeds)]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    cells = []
    for split in ("dev", "test"):
        spread = f" ± {statistics.stdev(columns[split]):.2f}" if seeds > 1 else ""
        cells.append(f"{statistics.mean(columns[split]):.2f}{spread}")
    cells.append(f"{statistics.mean(columns['seconds']):.0f}")
    cells.append(f"{statistics.mean(columns['speed']):.1f}")
    print(f"| {name} | {seeds} | {' | '.join(cells)} |", flush=True)


def print_table(bench: Bench, title: str, treebank: str, seeds: dict[str, int]) -> None:
    print(f"\n| {title} | seeds | dev | test F1 | seconds | 1,000 words/s |")
    print("|---|---|---|---|---|---|")
    for name, number in seeds.items():
        print_row(bench, name, treebank, number)


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    treebanks, output, vectors, transformer = (
        Path(argument).resolve() for argument in arguments[:4]
    )
    bench = Bench(treebanks, output, vectors, transformer)
    names = arguments[4:] or list(OPTIONS)
    print_table(bench, "screening, WSJ", WSJ, dict.fromkeys(names, 1))
    if not arguments[4:]:
        print_table(bench, "deciding, WSJ", WSJ, SEEDS)
        print_table(bench, "finalists, GUM", GUM, dict.fromkeys(FINALISTS, 1))


if __name__ == "__main__":
    main(sys.argv[1:])
