import numpy
import pytest
from numpy.testing import assert_allclose

from spacy_pointparse.evaluation.calibration import Calibration, fit


def test_default_changes_nothing():
    probabilities = numpy.array([[0.1, 0.5], [0.9, 0.999]])
    assert_allclose(Calibration().apply(probabilities), probabilities, rtol=1e-6)


def test_line_through_log_odds_by_hand():
    """Odds of 3 to 1 become 3² x 2 to 1, and 1 to 3 becomes 2 to 9."""
    line = Calibration(slope=2.0, intercept=numpy.log(2.0))
    assert_allclose(line.apply(numpy.array([3 / 4, 1 / 4])), [18 / 19, 2 / 11])


@pytest.mark.parametrize("slope, intercept", [(0.5, 0.3), (1.0, 0.0), (2.0, -1.0)])
def test_fit_finds_the_line_that_made_the_outcomes(slope, intercept):
    random = numpy.random.default_rng(0)
    probabilities = random.uniform(0.01, 0.99, 50_000)
    truth = Calibration(slope, intercept).apply(probabilities)
    right = random.uniform(size=50_000) < truth
    found = fit(probabilities, right)
    assert_allclose(found, (slope, intercept), atol=0.05)
    calibrated = found.apply(probabilities)
    for low in (0.2, 0.5, 0.8):
        inside = (calibrated >= low) & (calibrated < low + 0.1)
        assert_allclose(calibrated[inside].mean(), right[inside].mean(), atol=0.03)


def test_certain_predictions_stay_finite():
    found = fit(numpy.array([0.0, 1.0, 1.0, 0.4]), numpy.array([0, 1, 1, 0]))
    assert numpy.isfinite(found).all()
    assert numpy.isfinite(found.apply(numpy.array([0.0, 1.0]))).all()


def test_few_outcomes_do_not_make_certain():
    """One of each: two thirds and one third, as (1 + 1) / (1 + 2) is."""
    found = fit(numpy.array([0.6, 0.9]), numpy.array([0, 1]))
    assert_allclose(found.apply(numpy.array([0.6, 0.9])), [1 / 3, 2 / 3], rtol=1e-6)


def test_one_probability_for_all_becomes_the_share_of_right_ones():
    found = fit(numpy.full(4000, 0.9), numpy.arange(4000) % 4 == 0)
    assert_allclose(found.apply(numpy.array([0.9])), [0.25], atol=1e-3)


@pytest.mark.parametrize("outcome", [0, 1])
def test_nothing_to_fit_is_a_clear_error(outcome):
    with pytest.raises(ValueError, match="some right and some wrong predictions"):
        fit(numpy.array([0.3, 0.7]), numpy.array([outcome] * 2))
