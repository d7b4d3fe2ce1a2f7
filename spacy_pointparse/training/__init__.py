"""From treebanks to gradients: readers, alignment, labels, targets, loss, optimizers.

Knows spaCy and thinc. Must not import torch or the component.
"""
