"""The command line: `python -m spacy_pointparse`."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu

from .convert import convert_treebank
from .corpus import create_corpus
from .evalb import evaluate_files
from .show import show
from .trees import SEPARATORS

RENAME = re.compile(r"[^=()\s]+=[^=()\s]+")

app = typer.Typer(
    name="spacy_pointparse",
    help="Constituency parsing by pointing.",
    no_args_is_help=True,
    add_completion=False,
)


class OnError(str, Enum):
    """What to do with a broken tree."""

    raise_ = "raise"
    skip = "skip"


class SettingName(str, Enum):
    """A parameter file of EVALB."""

    collins = "collins"
    nk = "nk"
    spmrl = "spmrl"


GoldTags = Annotated[bool, typer.Option(help="Give the gold tags")]
Tags = Annotated[
    Path | None, typer.Option(help="File of other tags to give, a tree a line")
]
GpuId = Annotated[int, typer.Option(help="GPU, -1 for the CPU")]


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print what is wrong with the input in one line, and exit with status 1."""
    try:
        yield
    except BrokenPipeError:  # typer's to handle: whoever reads has seen enough
        raise
    except (ImportError, OSError, ValueError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(1) from None


@app.command("convert")
def convert_cli(
    inputs: Annotated[
        list[Path], typer.Argument(help="Files, folders or globs of bracketed trees")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The .spacy file to write")
    ],
    split: Annotated[
        str, typer.Option(help="Part to take: train, dev, test, or a list's name")
    ] = "",
    limit: Annotated[int, typer.Option(help="Draw this many sentences, 0 for all")] = 0,
    relabel: Annotated[
        list[str], typer.Option(help="Rename a label, as in NML=NP")
    ] = [],  # noqa: B006
    unwrap: Annotated[
        list[str], typer.Option(help="Take this label off whole sentences")
    ] = [],  # noqa: B006
    sentences_per_doc: Annotated[
        int, typer.Option(min=1, help="Sentences of a Doc")
    ] = 1,
    partial: Annotated[
        bool, typer.Option(help="There may be brackets that the trees do not show")
    ] = False,
    separators: Annotated[
        str, typer.Option(help="Characters that part functions from labels")
    ] = SEPARATORS,
    keep_functions: Annotated[bool, typer.Option(help="Keep function tags")] = False,
    bare_empties: Annotated[
        bool, typer.Option(help="Empties are leaves like *T* without a tag")
    ] = False,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at a broken tree, or skip it")
    ] = OnError.raise_,
) -> None:
    """Convert bracketed trees to a .spacy file for training and evaluation."""
    with clear_errors():
        count = convert_treebank(
            inputs,
            output,
            split=split,
            limit=limit,
            relabel=_parse_renames(relabel),
            unwrap=unwrap,
            sentences_per_doc=sentences_per_doc,
            partial=partial,
            separators=separators,
            keep_functions=keep_functions,
            bare_empties=bare_empties,
            on_error=on_error.value,
        )
    typer.echo(f"{count} sentences in {output}")


@app.command("score")
def score_cli(
    gold: Annotated[Path, typer.Argument(help="Gold trees, one a line")],
    predicted: Annotated[Path, typer.Argument(help="Predicted trees, one a line")],
    setting: Annotated[
        SettingName, typer.Option(help="Parameter file of EVALB")
    ] = SettingName.collins,
) -> None:
    """Compare bracketed trees by the rules of EVALB and print its table."""
    with clear_errors():
        report = evaluate_files(gold, predicted, setting.value)
    typer.echo(report.table(), nl=False)


@app.command("evaluate")
def evaluate_cli(
    model: Annotated[str, typer.Argument(help="Name or path of a trained pipeline")],
    data: Annotated[Path, typer.Argument(help="A .spacy file or bracketed trees")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file for the scores")
    ] = None,
    gold_tags: GoldTags = False,
    tags: Tags = None,
    raw_text: Annotated[
        bool, typer.Option(help="Give nothing but the text: no tokens, no sentences")
    ] = False,
    sentences_per_doc: Annotated[
        int, typer.Option(min=1, help="Sentences of a Doc")
    ] = 1,
    gpu_id: GpuId = -1,
) -> None:
    """Evaluate a trained pipeline on gold tokens and sentences, or on raw text."""
    with clear_errors():
        setup_gpu(gpu_id)
        corpus = create_corpus(
            data,
            sentences_per_doc=sentences_per_doc,
            gold_tokens=not raw_text,
            gold_sentences=not raw_text,
            gold_tags=gold_tags,
            tags=tags,
        )
        nlp = spacy.load(model)
        scores = nlp.evaluate(list(corpus(nlp)))
    scores["tags_given"] = str(tags) if tags else "gold" if gold_tags else "none"
    for name, value in _list_scores(scores):
        typer.echo(f"{name:<20}{value:>10}")
    if output is not None:
        with clear_errors():
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(json.dumps(scores, indent=2), encoding="utf8")


@app.command("calibrate")
def calibrate_cli(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline")],
    data: Annotated[
        Path, typer.Argument(help="A .spacy file or trees it was not trained on")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the pipeline, calibrated")
    ],
    name: Annotated[
        str, typer.Option(help="Name of the component")
    ] = "pointing_parser",
    gold_tags: GoldTags = False,
    tags: Tags = None,
    gpu_id: GpuId = -1,
) -> None:
    """Fit the probabilities of constituents to how often they are right."""
    with clear_errors():
        setup_gpu(gpu_id)
        nlp = spacy.load(model)
        examples = create_corpus(data, gold_tags=gold_tags, tags=tags)(nlp)
        calibration = nlp.get_pipe(name).calibrate(examples)
        nlp.to_disk(output)
    typer.echo(f"slope {calibration.slope:.3f}, intercept {calibration.intercept:.3f}")


app.command("show")(clear_errors()(show))


def _list_scores(scores: dict) -> Iterator[tuple[str, str]]:
    percentages = {
        "LABELLED RECALL": "spans_constituents_r",
        "LABELLED PRECISION": "spans_constituents_p",
        "LABELLED F1": "spans_constituents_f",
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


def _parse_renames(renames: list[str]) -> dict[str, str]:
    wrong = [rename for rename in renames if not RENAME.fullmatch(rename)]
    if wrong:
        raise ValueError(f"--relabel takes OLD=NEW, not {wrong[0]!r}.")
    return dict(rename.split("=") for rename in renames)


if __name__ == "__main__":
    sys.exit(app())
