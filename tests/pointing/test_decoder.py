import numpy
import pytest

from spacy_pointparse.pointing import Decoder
from spacy_pointparse.pointing import decoder as decoder_module

# Greedy decoding is trapped by the 0.6, see test_decoding.
GENERAL = numpy.log([[0.1] * 4, [0.1, 0.1, 0.5, 0.6], [0.5] + [0.1] * 3, [0.1] * 4])
SINGLETON = numpy.log([0.9] * 4)


@pytest.mark.parametrize(
    "decoder, expected",
    [("greedy", [3, 3, 3, 0]), ("exact", [3, 2, 0, 0]), ("beam", [3, 2, 0, 0])],
)
def test_decoders_differ_where_the_first_split_misleads(decoder, expected):
    decoding = Decoder(decoder=decoder, beam_size=2)
    [[tree]] = decoding.list_trees(GENERAL[None], SINGLETON[None], [4], 1)
    assert tree.tolist() == expected


@pytest.mark.parametrize("longest, expected", [(4, [3, 2, 0, 0]), (3, [3, 3, 3, 0])])
def test_long_sentences_are_decoded_greedily_beside_short_ones(
    monkeypatch, longest, expected
):
    monkeypatch.setattr(decoder_module, "MAX_EXACT", longest)
    general, singleton = numpy.stack([GENERAL] * 3), numpy.stack([SINGLETON] * 3)
    [three], [four], [two] = Decoder().list_trees(general, singleton, [3, 4, 2], 1)
    assert four.tolist() == expected
    assert (len(three), two.tolist()) == (3, [1, 0])


def test_beam_keeps_as_many_trees_as_it_is_told():
    narrow = Decoder(decoder="beam", beam_size=1)
    [[tree]] = narrow.list_trees(GENERAL[None], SINGLETON[None], [4], 1)
    assert tree.tolist() == [3, 3, 3, 0]
    [trees] = narrow.list_trees(GENERAL[None], SINGLETON[None], [4], 3)
    assert len(trees) == 3
