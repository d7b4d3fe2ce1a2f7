"""The thinc layers, one a file: embedding, encoding, pointing and labeling.

Knows thinc and spaCy's Docs. Must not import `ml.models`.
"""
