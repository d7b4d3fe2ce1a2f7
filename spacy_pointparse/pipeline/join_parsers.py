"""Trained parsers joined into one."""

from collections.abc import Sequence
from typing import Any

from spacy.errors import Errors
from spacy.language import Language
from spacy.util import registry
from thinc.api import Model

from .pointing_parser import PointingParser

_ENSEMBLE = "spacy-pointparse.Ensemble.v1"


def join_parsers(
    pipelines: Sequence[Language], name: str = "pointing_parser"
) -> Language:
    """Join the parsers of several pipelines into an ensemble. They usually come from
    trainings that differ in their seed only. All other components are the first
    pipeline's.

    pipelines (Sequence[Language]): Trained pipelines. The first gets the ensemble in
        place of its parser.
    name (str): Name of the parser in all of them.
    RETURNS (Language): The first pipeline.
    RAISES (ValueError): If a parser is missing, is not trained, or listens to another
        component, or if the labels or the heads of the parsers differ.
    """
    parsers = [_get_parser(nlp, name) for nlp in pipelines]
    first = pipelines[0]
    labels = parsers[0].label_data
    for parser in parsers:
        _check_parser(parser, labels)
    configs: dict[str, Any] = {}
    models: list[Model] = []
    for nlp in pipelines:
        for config, model in _list_members(nlp, name):
            configs[f"member{len(models)}"] = config
            models.append(model)
    settings = _get_config(first, name)
    factory = settings.pop("factory")
    settings["model"] = {"@architectures": _ENSEMBLE, "*": configs}
    # Fails if they do not fit, where replacing the parser would lose it.
    registry.resolve({"model": settings["model"]})
    first.replace_pipe(name, factory, config=settings)
    joined = _get_parser(first, name)
    joined.cfg["labels"] = labels
    joined.spans_key = parsers[0].spans_key
    for layer, model in zip(joined.model.layers, models):
        layer.from_bytes(model.to_bytes())
    return first


def _get_parser(nlp: Language, name: str) -> PointingParser:
    if name not in nlp.pipe_names:
        raise ValueError(Errors.E001.format(name=name, opts=nlp.pipe_names))
    parser: Any = nlp.get_pipe(name)
    return parser


def _check_parser(parser: PointingParser, labels: dict[str, list[str]]) -> None:
    parser.predict([])  # fails if it is not trained
    if parser.label_data != labels:
        raise ValueError(
            "The parsers have different labels: join parsers of one treebank."
        )
    if any(hasattr(node, "upstream_name") for node in parser.model.walk()):
        raise ValueError(
            f"{parser.name!r} listens to another component: give it a copy of that by "
            "nlp.replace_listeners before you join it."
        )


def _get_config(nlp: Language, name: str) -> dict[str, Any]:
    return nlp.config.interpolate()["components"][name]


def _list_members(nlp: Language, name: str) -> list[tuple[dict[str, Any], Model]]:
    """List the configs and models of a parser: one, or those of an ensemble."""
    config, model = _get_config(nlp, name)["model"], _get_parser(nlp, name).model
    if config["@architectures"] == _ENSEMBLE:
        return list(zip(config["*"].values(), model.layers))
    return [(config, model)]
