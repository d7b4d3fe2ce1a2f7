"""The paper: trees to pointings (Algorithm 1), scores to trees (Algorithm 2 and more).

Knows numpy alone. Must not import spaCy, thinc, torch or nltk.
"""

from .beam import decode_beam
from .decoder import MAX_EXACT, Decoder
from .encoding import (
    EMPTY,
    JOINER,
    Pointings,
    mask_allowed_targets,
    pointing_to_tree,
    tree_to_pointing,
)
from .exact import decode_exact
from .greedy import decode, decode_batch
from .k_best import decode_k_best
from .k_best_labels import find_k_best_labels

__all__ = [
    "EMPTY",
    "JOINER",
    "MAX_EXACT",
    "Decoder",
    "Pointings",
    "decode",
    "decode_batch",
    "decode_beam",
    "decode_exact",
    "decode_k_best",
    "find_k_best_labels",
    "mask_allowed_targets",
    "pointing_to_tree",
    "tree_to_pointing",
]
