"""The torch modules: tensors in, tensors out."""

from .attention import SelfAttention
from .characters import CharacterLSTM
from .encoders import BiLSTM
from .heads import LabelFeatures, Pointer

__all__ = ["BiLSTM", "CharacterLSTM", "LabelFeatures", "Pointer", "SelfAttention"]
