"""The torch modules: tensors in, tensors out."""

from .encoders import BiLSTM
from .heads import LabelFeatures, Pointer

__all__ = ["BiLSTM", "LabelFeatures", "Pointer"]
