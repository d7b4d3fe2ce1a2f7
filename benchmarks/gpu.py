"""Train and parse on a GPU, and compare its parses with the CPU's.

    python benchmarks/gpu.py ../shared/treebanks/en_wsj_nltk_sample [TRANSFORMER]

Needs a GPU, a CUDA build of torch and its cupy wheel (`cupy-cuda12x` or
`cupy-cuda13x`); for TRANSFORMER, a folder or a name on the Hugging Face hub, also
spacy-transformers. Takes ten minutes at most. `--cpu` tries the script without a GPU.

For `base gpu` and `transformer gpu`, in float32 and bfloat16: trains 200 steps on the
training split and prints sentences per second, in training and in parsing, at batches
of 1 and of 256 sentences, beside the paper's 130.2 (parsing, one GPU). Then parses the
dev split on the GPU and, from the same weights in float32, on the CPU, and prints the
share of equal trees.
"""

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import fix_random_seed, minibatch

from spacy_pointparse.cli.config import make_config
from spacy_pointparse.training.corpus import create_corpus

CONFIGS = Path(__file__).parents[1] / "configs"
STEPS = 200
SIZES = (1, 256)
SECONDS = 10  # of each measurement, at most
HEADER = "| config | precision | training 1 | 256 | parsing 1 | 256 | equal trees |"


def measure(
    treebank: Path, variants: list[str], bfloat16: bool, overrides: dict[str, str]
) -> list[str]:
    """Train a parser and time it.

    RETURNS (List[str]): Sentences per second, and the share of trees that are equal on
        the CPU.
    """
    fix_random_seed(0)
    settings = {
        "paths.train": str(treebank / "train.mrg"),
        "paths.dev": str(treebank / "dev.mrg"),
        "components.pointing_parser.model.mixed_precision": bfloat16,
        **overrides,
    }
    paths = [CONFIGS / f"{name}.cfg" for name in ("base", *variants)]
    nlp = init_nlp(make_config(paths, settings))
    train = list(create_corpus(treebank / "train.mrg")(nlp))
    dev = list(create_corpus(treebank / "dev.mrg")(nlp))
    optimizer = nlp.create_optimizer()
    for batch in repeat_batches(train, 32, STEPS):
        nlp.update(batch, sgd=optimizer)
    speeds = [time_training(nlp, train, size, optimizer) for size in SIZES]
    speeds += [time_parsing(nlp, dev, size) for size in SIZES]
    found = list(parse(nlp, dev))
    return [*(f"{speed:.0f}" for speed in speeds), compare(nlp, treebank, found)]


def repeat_batches(
    examples: list[Example], size: int, steps: int
) -> Iterator[list[Example]]:
    while steps > 0:
        for batch in minibatch(examples, size):
            if steps > 0:
                yield batch
            steps -= 1


def time_training(
    nlp: Language, examples: list[Example], size: int, optimizer: object
) -> float:
    count = 0
    start = time.perf_counter()
    for batch in minibatch(examples, size):
        nlp.update(batch, sgd=optimizer)
        count += len(batch)
        if time.perf_counter() - start > SECONDS:
            break
    return count / (time.perf_counter() - start)


def time_parsing(nlp: Language, examples: list[Example], size: int) -> float:
    docs = [example.predicted.copy() for example in examples]
    count = 0
    start = time.perf_counter()
    for _ in nlp.pipe(docs, batch_size=size):
        count += 1
        if time.perf_counter() - start > SECONDS:
            break
    return count / (time.perf_counter() - start)


def parse(nlp: Language, examples: Iterable[Example]) -> Iterator[str]:
    docs: list[Doc] = [example.predicted.copy() for example in examples]
    for doc in nlp.pipe(docs, batch_size=64):
        yield doc._.parse_string


def compare(nlp: Language, treebank: Path, found: list[str]) -> str:
    """Parse again in a process without a GPU.

    RETURNS (str): The share of equal trees.
    """
    with TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        command = [sys.executable, __file__, str(treebank), "--parse-on-cpu", folder]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = run.stdout.splitlines()
    equal = sum(a == b for a, b in zip(found, lines, strict=True))
    return f"{100 * equal / len(found):.2f}%"


def parse_on_cpu(treebank: Path, model: str) -> None:
    nlp = spacy.load(
        model,
        config={"components.pointing_parser.model.mixed_precision": False},
    )
    print(*parse(nlp, create_corpus(treebank / "dev.mrg")(nlp)), sep="\n")


def main(words: list[str]) -> None:
    options = [word for word in words if word.startswith("--")]
    treebank, *rest = [word for word in words if not word.startswith("--")]
    if "--parse-on-cpu" in options:
        return parse_on_cpu(Path(treebank), rest[0])
    if "--cpu" not in options:
        spacy.require_gpu()
    rows: list[tuple[list[str], dict[str, str]]] = [(["gpu"], {})]
    if rest:
        rows.append((["transformer", "gpu"], {"paths.transformer": rest[0]}))
    print(f"{HEADER}\n|{'---|' * HEADER.count(' |')}")
    for variants, overrides in rows:
        for bfloat16 in (False, True):
            cells = measure(Path(treebank), variants, bfloat16, overrides)
            precision = "bfloat16" if bfloat16 else "float32"
            print(f"| {' '.join(variants)} | {precision} | {' | '.join(cells)} |")
    print("| the paper | | | | 130.2 | | |")


if __name__ == "__main__":
    main(sys.argv[1:])
