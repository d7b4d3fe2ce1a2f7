"""Several parsers as one: each learns by itself, and they decide together."""

import copy

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from samples import parses
from test_model import (
    assert_same,
    build_tiny,
    initialize,
    learn,
    list_params,
    make_batch,
    run_steps,
)
from thinc.api import fix_random_seed

from spacy_pointparse.ml.models.ensemble import build_ensemble
from spacy_pointparse.pipeline.pointing_parser import DEFAULT_MODEL
from spacy_pointparse.util.arrays import log_softmax

WITH_AND_WITHOUT_TAGS = pytest.mark.parametrize("tag_head", [True, False])


def make_ensemble(count=2, **options):
    fix_random_seed(0)
    return initialize(build_ensemble(*(build_tiny(**options) for _ in range(count))))


def to_probabilities(scores):
    powers = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@WITH_AND_WITHOUT_TAGS
def test_members_decide_by_the_mean_of_their_probabilities(tag_head):
    model = make_ensemble(3, tag_head=tag_head)
    batch = make_batch()
    apart = [run_steps(member, batch) for member in model.layers]
    assert not numpy.allclose(apart[0][2], apart[1][2])
    for joined, *heads in zip(run_steps(model, batch), *apart, strict=True):
        assert (joined is None) == (heads[0] is None)
        if joined is not None:
            mean = sum(map(to_probabilities, heads)) / 3
            assert_allclose(numpy.exp(joined), mean, atol=1e-6)


@WITH_AND_WITHOUT_TAGS
def test_each_member_learns_as_if_it_were_alone(tag_head):
    model, batch = make_ensemble(tag_head=tag_head), make_batch()
    alone = [copy.deepcopy(member) for member in model.layers]
    learn(model, batch)
    for member, twin in zip(model.layers, alone, strict=True):
        learn(twin, batch)
        pairs = zip(list_params(member), list_params(twin), strict=True)
        for (name, _, ours), (_, _, theirs) in pairs:
            assert (ours is None) == (theirs is None), name
            if ours is not None:
                assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6, err_msg=name)


def test_one_member_is_itself():
    model, batch = make_ensemble(1), make_batch()
    [member] = model.layers
    assert_same(model.predict(batch), member.predict(batch), atol=1e-6)
    pairs = zip(run_steps(model, batch), run_steps(member, batch), strict=True)
    for ours, own in pairs:
        assert (ours is None) == (own is None)
        if own is not None:
            assert_allclose(ours, log_softmax(model.ops, own), atol=1e-5)


@pytest.mark.parametrize("others", [{"tag_head": False}, {"left_width": 0}, None])
def test_members_with_different_heads_are_refused(others):
    members = [] if others is None else [build_tiny(), build_tiny(**others)]
    with pytest.raises(ValueError, match="one member or more, and either all or none"):
        build_ensemble(*members)


def test_members_of_different_widths_decide_together():
    other = copy.deepcopy(DEFAULT_MODEL["tok2vec"])
    other.update({"width": 9, "attrs": ["NORM"], "rows": [50]})
    wide = build_tiny(tok2vec=other, upper_encoder=(8, 12, 1), pointing_width=11)
    model = initialize(build_ensemble(build_tiny(), wide))
    batch = make_batch()
    apart = [run_steps(member, batch) for member in model.layers]
    for joined, *heads in zip(run_steps(model, batch), *apart, strict=True):
        if joined is not None:
            mean = sum(map(to_probabilities, heads)) / 2
            assert_allclose(numpy.exp(joined), mean, atol=1e-6)


def test_ensemble_learns_by_heart_and_survives_disk(
    config, train, trees, make_examples, tmp_path
):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    members = {"first": config["model"], "second": config["model"]}
    model = {"@architectures": "spacy-pointparse.Ensemble.v1", "*": members}
    parser = nlp.add_pipe("pointing_parser", config={"model": model})
    train(nlp)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    docs = [example.predicted for example in make_examples(again)]
    assert parses(again.pipe(doc.copy() for doc in docs)) == trees
    for doc in docs:
        best = parser.find_best(doc, 5)
        assert again.get_pipe("pointing_parser").find_best(doc, 5) == best
