"""The commands `evaluate` and `calibrate`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer

from ..training.corpus import create_corpus
from ..util.files import write_folder, write_whole
from .environment import use_gpu
from .options import GpuId, Model, clear_errors

GoldTags = Annotated[bool, typer.Option(help="Provide the gold tags")]
Tags = Annotated[
    Path | None, typer.Option(help="File of tags to provide, one sentence per line")
]


def evaluate_cli(
    model: Model,
    data: Annotated[Path, typer.Argument(help="A .spacy file or bracketed trees")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file for the scores")
    ] = None,
    gold_tags: GoldTags = False,
    tags: Tags = None,
    raw_text: Annotated[
        bool, typer.Option(help="Provide only the text, no tokens or sentences")
    ] = False,
    sentences_per_doc: Annotated[
        int, typer.Option(min=1, help="Sentences per Doc")
    ] = 1,
    gpu_id: GpuId = -1,
) -> None:
    """Evaluate a trained pipeline on gold tokens and sentences, or on raw text."""
    with clear_errors():
        use_gpu(gpu_id)
        corpus = create_corpus(
            data,
            sentences_per_doc=sentences_per_doc,
            gold_tokens=not raw_text,
            gold_sentences=not raw_text,
            gold_tags=gold_tags,
            tags=tags,
        )
        nlp = spacy.load(model)
        examples = list(corpus(nlp))
        if not examples:
            raise ValueError(f"No trees in {data}.")
        scores = nlp.evaluate(examples)
    scores["tags_given"] = str(tags) if tags else "gold" if gold_tags else "none"
    for name, value in _list_scores(scores):
        typer.echo(f"{name:<20}{value:>10}")
    if output is not None:
        with clear_errors(), write_whole(output) as path:
            path.write_text(json.dumps(scores, indent=2), encoding="utf8")


def calibrate_cli(
    model: Model,
    data: Annotated[
        Path,
        typer.Argument(help="A .spacy file or bracketed trees, not used in training"),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the calibrated pipeline")
    ],
    name: Annotated[
        str, typer.Option(help="Name of the component")
    ] = "pointing_parser",
    gold_tags: GoldTags = False,
    tags: Tags = None,
    gpu_id: GpuId = -1,
) -> None:
    """Calibrate the probabilities of constituents on held-out data."""
    with clear_errors():
        use_gpu(gpu_id)
        nlp = spacy.load(model)
        examples = create_corpus(data, gold_tags=gold_tags, tags=tags)(nlp)
        parser: Any = nlp.get_pipe(name)
        calibration = parser.calibrate(examples)
        with write_folder(output) as folder:
            nlp.to_disk(folder)
    typer.echo(f"slope {calibration.slope:.3f}, intercept {calibration.intercept:.3f}")


def _list_scores(scores: dict) -> Iterator[tuple[str, str]]:
    percentages = {
        "LABELED RECALL": "spans_constituents_r",
        "LABELED PRECISION": "spans_constituents_p",
        "LABELED F1": "spans_constituents_f",
        "COMPLETE MATCH": "constituents_complete",
        "TAG ACCURACY": "constituents_tag_acc",
        "SENTENCE F1": "sents_f",
    }
    for name, key in percentages.items():
        if scores.get(key) is not None:
            yield name, f"{100 * scores[key]:.2f}"
    if scores.get("constituents_crossing") is not None:
        yield "AVERAGE CROSSING", f"{scores['constituents_crossing']:.2f}"
        yield "REJECTED BY EVALB", str(scores["constituents_rejected"])
    yield "TAGS GIVEN", scores["tags_given"]
    yield "WORDS PER SECOND", f"{scores['speed']:.0f}"
