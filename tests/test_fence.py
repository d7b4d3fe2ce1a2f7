import gc

import numpy
import torch
from thinc.api import Adam

from spacy_pointparse.fence import wrap_torch
from spacy_pointparse.network import BiLSTM


def count_tensors():
    gc.collect()
    return sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects())


def test_updates_keep_no_old_weights():
    model = wrap_torch(BiLSTM(4, 4, 1))
    optimizer = Adam(0.1)
    inputs = (numpy.ones((3, 4), dtype="f"), numpy.array([2, 1]))
    counts = []
    for _ in range(4):
        outputs, backprop = model.begin_update(inputs)
        backprop(outputs)
        model.finish_update(optimizer)
        del backprop
        counts.append(count_tensors())
    assert len(set(counts[1:])) == 1
    assert not numpy.allclose(model.predict(inputs), outputs)
