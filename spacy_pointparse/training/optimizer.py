"""An optimizer with several learning rates."""

from typing import Any

from thinc.api import Optimizer
from thinc.types import FloatsXd, Generator


class ScaledAdam(Optimizer):
    """Adam with a learning rate that depends on the names of weights, so that a
    pretrained transformer can learn more slowly than the layers above it."""

    def __init__(
        self,
        learn_rate: float | list[float] | Generator,
        scales: dict[str, float],
        **settings: Any,
    ) -> None:
        """Construct the optimizer.

        learn_rate (Union[float, List[float], Generator]): The learning rate, or a
            schedule.
        scales (Dict[str, float]): Prefixes of weight names, and the factor of their
            learning rate.
        settings (Any): Other settings of thinc's Optimizer.
        """
        super().__init__(learn_rate, use_averages=False, **settings)
        self.scales = scales

    def __call__(
        self,
        key: tuple[int, str],
        weights: FloatsXd,
        gradient: FloatsXd,
        *,
        lr_scale: float = 1.0,
    ) -> tuple[FloatsXd, FloatsXd]:
        """Update weights.

        key (Tuple[int, str]): The ID of the node, and the name of the weights in it.
        weights (FloatsXd): The weights.
        gradient (FloatsXd): Their gradient.
        lr_scale (float): Another factor of the learning rate.
        RETURNS (Tuple[FloatsXd, FloatsXd]): The new weights and the gradient, reset to
            zero.
        """
        for prefix, scale in self.scales.items():
            if key[1].startswith(prefix):
                lr_scale *= scale
        return super().__call__(key, weights, gradient, lr_scale=lr_scale)


def create_scaled_adam(
    learn_rate: float | list[float] | Generator,
    scales: dict[str, float],
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    L2: float = 0.0,
    grad_clip: float = 1.0,
) -> ScaledAdam:
    """Create an Adam optimizer with several learning rates.

    learn_rate (Union[float, List[float], Generator]): The learning rate, or a schedule.
    scales (Dict[str, float]): Prefixes of weight names, and the factor of their
        learning rate. In BERT-like transformers the prefixes are "embeddings." and
        "encoder.".
    beta1 (float), beta2 (float), eps (float), L2 (float), grad_clip (float): See
        thinc's `Adam.v1`.
    RETURNS (ScaledAdam): The optimizer.
    """
    return ScaledAdam(
        learn_rate,
        scales,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        L2=L2,
        grad_clip=grad_clip,
    )
