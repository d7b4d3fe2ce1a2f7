"""An optimizer with several rates."""

from thinc.api import Optimizer
from thinc.types import FloatsXd, Generator


class ScaledAdam(Optimizer):
    """Adam whose rate depends on the names of weights: a pretrained transformer learns
    more slowly than what is above it."""

    def __init__(
        self,
        learn_rate: float | list[float] | Generator,
        scales: dict[str, float],
        **settings: float,
    ) -> None:
        """Construct the optimizer.

        learn_rate (Union[float, List[float], Generator]): The rate, or a schedule.
        scales (Dict[str, float]): Factor of the rate of all weights whose name in their
            module starts so.
        settings (float): Further settings of thinc's Optimizer.
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

        key (Tuple[int, str]): Number of their node, and their name in it.
        weights (FloatsXd): The weights.
        gradient (FloatsXd): Their gradient.
        lr_scale (float): A further factor of the rate.
        RETURNS (Tuple[FloatsXd, FloatsXd]): The new weights, and the gradient, zero.
        """
        for start, scale in self.scales.items():
            if key[1].startswith(start):
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
    """Create an Adam optimizer with several rates.

    learn_rate (Union[float, List[float], Generator]): The rate, or a schedule of it.
    scales (Dict[str, float]): Factor of the rate of all weights whose name in their
        module starts so. The names of the weights of BERT-like transformers start with
        "embeddings." and "encoder.".
    beta1 (float), beta2 (float), eps (float), L2 (float), grad_clip (float): As of
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
