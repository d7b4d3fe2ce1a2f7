"""Evaluate parses: EVALB's counts and tables, the scorer, calibration, statistics.

Knows spaCy. Must not import thinc, torch or the component.
"""
