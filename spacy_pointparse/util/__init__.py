"""Arrays, batches and atomic writes.

Knows numpy, thinc's Ops and srsly. Imports no other package of ours.
"""
