import zlib

import numpy
import spacy
from spacy.util import registry


def round_weights(nlp):
    return registry.callbacks.get("spacy-pointparse.weight_rounder.v1")()(nlp)


def list_weights(nlp):
    for node in nlp.get_pipe("pointing_parser").model.walk():
        yield from (node.get_param(name) for name in node.param_names)
        for shim in node.shims:
            yield from (tensor.detach().numpy() for tensor in shim._model.parameters())


def test_every_weight_is_rounded_to_its_first_eight_bits(trained):
    before = [weights.copy() for weights in list_weights(trained)]
    after = list(list_weights(round_weights(trained)))
    assert len(before) > 20
    for weights, rounded in zip(before, after, strict=True):
        assert rounded.dtype == numpy.float32
        assert not (rounded.view("uint32") & 0xFFFF).any()
        assert (abs(rounded - weights) <= 2**-8 * abs(weights)).all()


def test_rounded_pipeline_is_saved_smaller_and_parses_as_before(
    trained, trees, make_examples, tmp_path
):
    size = len(zlib.compress(trained.to_bytes()))
    docs = [example.predicted for example in make_examples(trained)]
    round_weights(trained).to_disk(tmp_path)
    reloaded = spacy.load(tmp_path)
    assert len(zlib.compress(reloaded.to_bytes())) < 0.7 * size
    assert [doc._.parse_string for doc in reloaded.pipe(docs)] == trees


def test_components_without_a_model_are_left_alone():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert round_weights(nlp) is nlp
