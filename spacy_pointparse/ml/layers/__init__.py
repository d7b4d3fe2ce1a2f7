"""The thinc layers, a file each: what they embed, encode, point and label with.

Knows thinc and spaCy's Docs. Must not import `ml.models`.
"""
