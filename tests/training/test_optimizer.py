import numpy
import pytest
from numpy.testing import assert_allclose
from spacy.util import registry
from thinc.api import Adam, PyTorchWrapper
from torch import nn

from spacy_pointparse.training.optimizer import create_scaled_adam

CONFIG = {
    "optimizer": {
        "@optimizers": "spacy-pointparse.ScaledAdam.v1",
        "scales": {"encoder.": 0.1, "embeddings.": 0.0},
        "learn_rate": {
            "@schedules": "warmup_linear.v1",
            "initial_rate": 0.5,
            "warmup_steps": 2,
            "total_steps": 10,
        },
    }
}


@pytest.fixture
def optimizer():
    return registry.resolve(CONFIG)["optimizer"]


@pytest.mark.parametrize(
    "name, scale",
    [("W", 1), ("encoder.layer.0", 0.1), ("embeddings.words", 0), ("my.encoder.", 1)],
)
def test_steps_are_those_of_adam_times_the_scale(optimizer, name, scale):
    plain = Adam(0.25, use_averages=False)
    optimizer.step_schedules()  # half way up the ramp
    for _ in range(3):
        step, expected = (
            adam((1, name), numpy.ones(3, dtype="f"), numpy.array([1, -2, 0.5], "f"))[0]
            for adam in (optimizer, plain)
        )
        assert_allclose(step - 1, scale * (expected - 1), rtol=1e-5, atol=1e-7)


def test_scales_of_a_rate_are_multiplied():
    scales = {"encoder.": 0.5, "encoder.layer": 0.5}
    optimizer = create_scaled_adam(0.25, scales)
    weights, gradient = numpy.ones(3, dtype="f"), numpy.array([1, -2, 0.5], "f")
    key = (1, "encoder.layer.0")
    step, _ = optimizer(key, weights.copy(), gradient, lr_scale=0.4)
    # The first step of Adam is as long as the rate.
    assert_allclose(abs(step - 1), 0.25 * 0.5 * 0.5 * 0.4, rtol=1e-3)


def test_modules_of_torch_have_their_own_rates(optimizer):
    module = nn.ModuleDict({"encoder": nn.Linear(2, 2), "head": nn.Linear(2, 2)})
    module.forward = lambda x: module["head"](module["encoder"](x))
    before = {name: w.detach().clone() for name, w in module.named_parameters()}
    model = PyTorchWrapper(module)
    optimizer.step_schedules()
    outputs, backprop = model.begin_update(numpy.ones((4, 2), dtype="f"))
    backprop(numpy.ones_like(outputs))
    model.finish_update(optimizer)
    moved = {
        name: float((w.detach() - before[name]).abs().max())
        for name, w in module.named_parameters()
    }
    # The first step of Adam is as long as the rate.
    assert moved["head.weight"] == pytest.approx(0.25, rel=1e-3)
    assert moved["encoder.weight"] == pytest.approx(0.025, rel=1e-3)
