"""Whole models: ours, the paper's, and several as one.

Knows thinc. Must not import training or the component.
"""
