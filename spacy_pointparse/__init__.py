"""Constituency parsing by pointing, as a trainable spaCy pipeline component."""

from .tokens.constituents import NonConstituentException
from .tokens.extensions import install_extensions
from .visualization.glossary import explain
from .visualization.render import render

__version__ = "0.2.0"
__all__ = ["NonConstituentException", "explain", "install_extensions", "render"]
