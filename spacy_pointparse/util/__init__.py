"""Arrays, batches, and files that are written whole.

Knows numpy and thinc's Ops. Imports no other package of ours.
"""
