"""The torch modules: tensors in, tensors out.

Knows torch, which nothing else imports. Must not import any other of our packages.
"""

from .attention import SelfAttention
from .bilstm import BiLSTM
from .characters import CharacterLSTM
from .label_features import LabelFeatures
from .matmul import matmul
from .mixed_precision import MixedPrecision
from .pointer import Pointer

__all__ = [
    "BiLSTM",
    "CharacterLSTM",
    "LabelFeatures",
    "MixedPrecision",
    "Pointer",
    "SelfAttention",
    "matmul",
]
