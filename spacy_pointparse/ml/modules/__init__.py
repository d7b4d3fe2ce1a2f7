"""The torch modules: tensors in, tensors out.

Knows torch, and is all that imports it. Must not import any other package of ours.
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
