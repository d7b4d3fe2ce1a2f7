"""Train on GUM, with the parser's own tags, and print the scores.

    python benchmarks/gum.py TREEBANKS OUTPUT VECTORS TRANSFORMER [ROW ...]

TREEBANKS holds en_gum, en_masc, en_craft and en_genia, VECTORS is a pipeline with word
vectors, and TRANSFORMER is the folder of a small transformer; the row "nothing" uses
neither. Each row is trained on all four treebanks, with GUM twice, and then on GUM
alone. GENTLE is the part of GUM with genres that its training set lacks. One thread,
one seed. Results are kept in OUTPUT and not measured again.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from one_thread import run, score, train

HARMONIZE = ("--relabel", "NML=NP", "--unwrap", "HEADING", "--unwrap", "TITLE")
HARMONIZE += ("--unwrap", "CAPTION", "--unwrap", "CIT")
# Number of sentences of the treebanks besides GUM, 0 for all.
OTHERS = {"en_masc": 0, "en_craft": 4000, "en_genia": 3000}
SETS = {"dev": "dev", "test": "test", "GENTLE": "ood_gentle"}


@dataclass(frozen=True)
class Row:
    """How to train a parser.

    config (str): What to merge with the base config for all treebanks.
    resume (str): The same for GUM alone.
    pretrained (Optional[str]): The path setting of the pretrained part, if any.
    steps (Tuple[int, int]): Number of steps with each.
    options (Tuple[str]): Options for both.
    rate (float): Learning rate for GUM alone.
    """

    config: str
    resume: str
    pretrained: str | None
    steps: tuple[int, int]
    options: tuple[str, ...] = ()
    rate: float = 0.001


ROWS = {
    "nothing": Row(
        "large",
        "resume",
        None,
        (9000, 3000),
        ("--training.dropout", "0.35", "--training.optimizer.use_averages", "true"),
    ),
    "vectors": Row(
        "vectors",
        "resume",
        "vectors",
        (9000, 4000),
        ("--training.optimizer.L2", "0.1"),
    ),
    "transformer": Row(
        "transformer",
        "transformer resume",
        "transformer",
        (3500, 1000),
        ("--training.dropout", "0.15"),
        rate=0.0005,
    ),
}


def convert(treebanks: Path, output: Path) -> None:
    """Convert the treebanks that are not converted yet."""
    mix = output / "mix"
    for name, limit in OTHERS.items():
        source = (str(treebanks / name), "--split", "train", "--limit", str(limit))
        convert_once(mix / f"{name}.spacy", *source, *HARMONIZE)
    for name, file in {"train": "train", **SETS}.items():
        source = (str(treebanks / "en_gum" / f"{file}.mrg"),)
        convert_once(output / f"{name}.spacy", *source)
        if name == "train":
            convert_once(mix / "gum.spacy", *source)
            convert_once(mix / "gum_again.spacy", *source)


def convert_once(path: Path, *arguments: str) -> None:
    if not path.exists():
        run("spacy_pointparse", "convert", *arguments, "--output", str(path))


def measure(
    row: Row, output: Path, pretrained: dict[str, Path], folder: Path
) -> dict[str, float]:
    """Train and score a parser, unless there is a result.

    RETURNS (Dict[str, float]): Its seconds and its F1 on each set.
    """
    result = folder / "result.json"
    if not result.exists():
        first, last = folder / "mix", folder / "gum"
        options = row.options
        if row.pretrained:
            options += (f"--paths.{row.pretrained}", str(pretrained[row.pretrained]))
        seconds = train_on(
            *(row.config, first, output / "mix", output, row.steps[0]),
            *options,
        )
        seconds += train_on(
            *(row.resume, last, output / "train.spacy", output, row.steps[1]),
            *("--paths.parser", f"{first}/model-last", *row.options),
            *("--training.optimizer.learn_rate.initial_rate", str(row.rate)),
        )
        scores = {"seconds": seconds}
        for name in SETS:
            scores[name] = score(last / "model-last", output / f"{name}.spacy")
        result.write_text(json.dumps(scores), encoding="utf8")
    return json.loads(result.read_text(encoding="utf8"))


def train_on(
    config: str, folder: Path, data: Path, output: Path, steps: int, *options: str
) -> float:
    return train(
        *(config, folder),
        *("--paths.train", str(data), "--paths.dev", f"{output}/dev.spacy"),
        *("--training.max_steps", str(steps)),
        *("--training.eval_frequency", "500", *options),
    )


def main(arguments: list[str]) -> None:
    treebanks, output, vectors, transformer = (
        Path(argument).resolve() for argument in arguments[:4]
    )
    pretrained = {"vectors": vectors, "transformer": transformer}
    convert(treebanks, output)
    print("| pretrained | seconds | dev | test | GENTLE |\n|---|---|---|---|---|")
    for name in arguments[4:] or ROWS:
        scores = measure(ROWS[name], output, pretrained, output / name)
        f_scores = [f"{scores[each]:.2f}" for each in SETS]
        print(f"| {name} | {scores['seconds']:.0f} | {' | '.join(f_scores)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
