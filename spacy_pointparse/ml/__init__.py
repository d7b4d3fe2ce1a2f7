"""The network: torch modules, thinc layers around them, and whole models.

Knows thinc and spaCy's Docs. Must not import training or the component.
"""
