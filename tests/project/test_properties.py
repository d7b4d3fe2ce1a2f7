"""A fixed share of what `benchmarks/properties.py` tries: what holds of any text, any
tokens, any tree and any file in a treebank's place."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import PROPERTIES

from spacy_pointparse.parallel.processes import parse_texts


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_hold(name, splitting):
    _, share, check = PROPERTIES[name]
    few = settings(
        max_examples=5 * share,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    few(given(st.just(splitting), PROPERTIES[name].cases)(check))()


def test_properties_half_of_a_surrogate_pair_is_refused(splitting):
    """Python can hold it, but it is no text."""
    texts = ["Yes", "a \ud83d b", "\U0001f44b", "\ud83d\udc4b", "Yes"]
    yes, half, waves, halves, again = parse_texts(splitting, texts)
    assert yes._.parse_string == again._.parse_string == "(UH Yes)"
    assert waves._.parse_trees[0].leaves() == ["\U0001f44b"]
    assert isinstance(half, UnicodeEncodeError)
    assert isinstance(halves, UnicodeEncodeError)
