"""The paper's parser, as one architecture."""

import copy

import numpy
import pytest
from numpy.testing import assert_array_equal
from test_model import build, initialize, make_batch, make_encoder
from thinc.api import fix_random_seed

TOK2VEC = {
    "@architectures": "spacy-pointparse.HashEmbed.v1",
    "width": 8,
    "attrs": ["NORM"],
    "rows": [50],
}
WIDTHS = {"width": 6, "pointing_width": 7, "singleton_width": 5, "label_width": 9}


def make_paper(**options):
    fix_random_seed(0)
    config = {
        "@architectures": "spacy-pointparse.PaperParser.v1",
        "tok2vec": copy.deepcopy(TOK2VEC),
        "encoder": make_encoder((6, 10, 1)),
    }
    return initialize(build({**config, **WIDTHS, **options}))


@pytest.mark.parametrize("pointing", ["dot", "query_key"])
def test_paper_parser_is_ours_with_the_paper_s_options(pointing):
    fix_random_seed(0)
    config = {
        "@architectures": "spacy-pointparse.PointingParser.v1",
        "tok2vec": copy.deepcopy(TOK2VEC),
        "lower_encoder": None,
        "upper_encoder": make_encoder((6, 10, 1)),
        "tag_head": False,
        "pointing": pointing,
        "left_width": 0,
        "labels_from": "word",
    }
    ours = initialize(build({**config, **WIDTHS}))
    batch = make_batch()
    scores = make_paper(pointing=pointing).predict(batch)
    for paper, other in zip(scores, ours.predict(batch), strict=True):
        assert_array_equal(paper, other)
    assert scores[4] is scores[5] is None  # neither tags nor a left-factored tree


def test_paper_points_as_printed_by_default():
    batch = make_batch()
    printed = make_paper(pointing="dot").predict(batch)
    assert_array_equal(make_paper().predict(batch)[0], printed[0])
    # One projection of both words, so the scores are symmetric.
    numpy.testing.assert_allclose(
        printed[0], numpy.swapaxes(printed[0], 1, 2), atol=1e-5
    )


def test_paper_labels_spans_from_the_word_that_points():
    docs, sentences, targets = make_batch()
    model = make_paper()
    scores = model.predict((docs, sentences, targets))
    others = model.predict((docs, sentences, numpy.zeros_like(targets)))
    assert_array_equal(scores[2], others[2])
