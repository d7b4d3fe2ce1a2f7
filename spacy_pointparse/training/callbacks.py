"""Callbacks for spaCy's config that make a package smaller."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.vectors import Vectors
from thinc.api import Model, torch2xp, xp2torch

from ..ml.torch_wrapper import get_torch_modules


def create_weight_rounder() -> Callable[[Language], Language]:
    """Create a callback that rounds all weights of a pipeline to the nearest bfloat16,
    for `training.before_to_disk` of spaCy's config. The weights stay in single
    precision, but each ends in 16 zero bits, which compress well in a wheel. Speed and
    memory use do not change. Training continues with the rounded weights.

    RETURNS (Callable[[Language], Language]): The callback.
    """
    return _round_pipeline


def create_vectors_remover() -> Callable[[Language], Language]:
    """Create a callback that removes the vectors from the vocab, for
    `initialize.after_init` of spaCy's config. By then the parser has its own copy
    (`spacy-pointparse.StaticVectors.v1`). Use it only if no other component needs the
    vectors.

    RETURNS (Callable[[Language], Language]): The callback.
    """
    return _remove_vectors


def _remove_vectors(nlp: Language) -> Language:
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings)
    return nlp


def _round_pipeline(nlp: Language) -> Language:
    for _, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        if isinstance(model, Model):
            _round_model(model)
    return nlp


def _round_model(model: Model) -> None:
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                rounded: Any = torch2xp(_round(xp2torch(node.get_param(name))))
                node.set_param(name, rounded)
    for module in get_torch_modules(model):
        for weight in module.parameters():
            weight.data = _round(weight.data)


def _round(weights: Any) -> Any:
    return weights.bfloat16().to(weights.dtype)
