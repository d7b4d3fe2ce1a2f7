"""Parse many texts: in several processes, and on Apache Spark.

Knows spaCy and pyspark. Must not import torch or `cli`.
"""
