"""The component, and how it finds trees with a trained model.

Knows spaCy and thinc, and its architecture by registered name only. Must not import ml.
"""
