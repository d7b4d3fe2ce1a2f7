"""Trained parsers joined to one."""

from collections.abc import Iterator, Sequence
from typing import Any

from spacy.errors import Errors
from spacy.language import Language
from thinc.api import Model

from ..ml.models.ensemble import build_ensemble

_ENSEMBLE = "spacy-pointparse.Ensemble.v1"


def join_parsers(
    pipelines: Sequence[Language], name: str = "pointing_parser"
) -> Language:
    """Join the parsers of several pipelines, as of trainings that differ in their seed
    alone, to an ensemble. What else the pipelines hold is taken from the first.

    pipelines (Sequence[Language]): Trained pipelines. The first gets the ensemble in
        place of its parser.
    name (str): Name of the parser in all of them.
    RETURNS (Language): The first pipeline.
    RAISES (ValueError): If a parser is not there, is not trained, or listens to another
        component, or if labels or shapes of the parsers differ.
    """
    for nlp in pipelines:
        if name not in nlp.pipe_names:
            raise ValueError(Errors.E001.format(name=name, opts=nlp.pipe_names))
    parsers = [nlp.get_pipe(name) for nlp in pipelines]
    first = pipelines[0]
    labels = parsers[0].label_data
    for parser in parsers:
        parser.predict([])  # fails if it is not trained
        if parser.label_data != labels:
            raise ValueError(
                "The parsers have different labels: join those of one treebank."
            )
        if any(hasattr(node, "upstream_name") for node in parser.model.walk()):
            raise ValueError(
                f"{name!r} listens to another component: give it a copy of that by "
                "nlp.replace_listeners before it is joined."
            )
    members = [member for nlp in pipelines for member in _list_members(nlp, name)]
    build_ensemble(*(model for _, model in members))  # fails if they do not fit
    configs = {f"member{i}": config for i, (config, _) in enumerate(members)}
    settings = _get_config(first, name)
    factory = settings.pop("factory")
    settings["model"] = {"@architectures": _ENSEMBLE, "*": configs}
    joined = first.replace_pipe(name, factory, config=settings)
    joined.cfg["labels"] = labels
    for layer, (_, model) in zip(joined.model.layers, members):
        layer.from_bytes(model.to_bytes())
    return first


def _get_config(nlp: Language, name: str) -> dict[str, Any]:
    return nlp.config.interpolate()["components"][name]


def _list_members(nlp: Language, name: str) -> Iterator[tuple[dict[str, Any], Model]]:
    """The configs and models that a parser is made of: one, or those of an ensemble."""
    config, model = _get_config(nlp, name)["model"], nlp.get_pipe(name).model
    if config["@architectures"] == _ENSEMBLE:
        yield from zip(config["*"].values(), model.layers)
    else:
        yield config, model
