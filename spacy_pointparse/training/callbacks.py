"""Callbacks for spaCy's config that make a package smaller."""

from collections.abc import Callable

from spacy.language import Language
from spacy.vectors import Vectors
from thinc.api import Model, torch2xp, xp2torch


def create_weight_rounder() -> Callable[[Language], Language]:
    """Create a callback that rounds all weights of a pipeline to the nearest bfloat16
    before it is saved. They stay in single precision, with sixteen bits of zero at the
    end of each, which a wheel (a zip file) compresses away; speed and memory are
    unchanged. For `training.before_to_disk` of spaCy's config; training goes on with
    the rounded weights.

    RETURNS (Callable[[Language], Language]): The callback.
    """
    return _round_pipeline


def create_vectors_remover() -> Callable[[Language], Language]:
    """Create a callback that takes the vectors out of the vocab, once the parser has
    copied them (`spacy-pointparse.StaticVectors.v1`). For `initialize.after_init` of
    spaCy's config, in a pipeline where nothing else looks vectors up.

    RETURNS (Callable[[Language], Language]): The callback.
    """
    return _remove_vectors


def _remove_vectors(nlp: Language) -> Language:
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings)
    return nlp


def _round_pipeline(nlp: Language) -> Language:
    for _, pipe in nlp.components:
        if isinstance(getattr(pipe, "model", None), Model):
            _round_model(pipe.model)
    return nlp


def _round_model(model: Model) -> None:
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                weights = xp2torch(node.get_param(name))
                node.set_param(name, torch2xp(weights.bfloat16().to(weights.dtype)))
        for shim in node.shims:
            for weights in shim._model.parameters():
                weights.data = weights.data.bfloat16().to(weights.dtype)
