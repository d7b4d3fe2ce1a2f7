import gc

import numpy
import pytest
import torch
from numpy.testing import assert_allclose
from thinc.api import Adam

from spacy_pointparse.ml.modules import BiLSTM
from spacy_pointparse.ml.torch_wrapper import wrap_torch

INPUTS = (numpy.ones((3, 4), dtype="f"), numpy.array([2, 1]))


def update(model, inputs, optimizer):
    outputs, backprop = model.begin_update(inputs)
    backprop(outputs)
    model.finish_update(optimizer)
    return outputs


def count_tensors():
    gc.collect()
    return sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects())


def test_updates_keep_no_old_weights():
    model = wrap_torch(BiLSTM(4, 4, 1))
    optimizer = Adam(0.1)
    counts = []
    for _ in range(4):
        outputs = update(model, INPUTS, optimizer)
        counts.append(count_tensors())
    assert len(set(counts[1:])) == 1
    assert not numpy.allclose(model.predict(INPUTS), outputs)


def test_averages_of_weights_are_used_and_put_back():
    model = wrap_torch(BiLSTM(4, 4, 1))
    [shim] = model.shims
    optimizer = Adam(0.1, use_averages=True)
    average = 0
    for step in range(1, 4):
        update(model, INPUTS, optimizer)
        weight = shim._model.forwards[0].weight_ih_l0.detach().numpy().copy()
        # thinc's moving average.
        decay = (1 + step) / (10 + step)
        average = decay * average + (1 - decay) * weight
    before = model.predict(INPUTS)
    with pytest.raises(KeyError), model.use_params(optimizer.averages):
        found = shim._model.forwards[0].weight_ih_l0.detach().numpy()
        assert_allclose(found, average, rtol=1e-4)
        assert not numpy.allclose(model.predict(INPUTS), before)
        raise KeyError
    numpy.testing.assert_array_equal(model.predict(INPUTS), before)
