"""Many texts at once: in several processes, and on Apache Spark.

Knows spaCy and pyspark. Must not import torch or `cli`.
"""
