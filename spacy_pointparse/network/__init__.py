"""The torch modules: tensors in, tensors out."""

from .attention import SelfAttention
from .characters import CharacterLSTM
from .encoders import BiLSTM
from .heads import LabelFeatures, Pointer
from .precision import MixedPrecision
from .products import multiply

__all__ = [
    "BiLSTM",
    "CharacterLSTM",
    "LabelFeatures",
    "MixedPrecision",
    "Pointer",
    "SelfAttention",
    "multiply",
]
