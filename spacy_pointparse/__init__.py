"""Constituency parsing by pointing, as a trainable spaCy pipeline component."""

from .constituents import NonConstituentException, install_extensions
from .drawing import render
from .glossary import explain
from .search import install_search

__version__ = "0.1.0"
__all__ = ["NonConstituentException", "explain", "render"]

install_extensions()
install_search()
