"""Types that layers share."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Floats3d, Ints1d, Ints2d

Tok2Vec = Model[list[Doc], list[Floats2d]]
Table = Model[Ints2d, Floats2d]
# The words of each sentence as rows of the concatenated Docs, and the row (counted
# within all these words) of the word that each word points at.
Batch = tuple[list[Doc], list[Ints1d], Ints1d]
# Scores of general pointing, singleton pointing, span labels, unary labels, tags, and
# pointing in the left-factored tree.
Scores = tuple[Floats3d, Floats3d, Floats2d, Floats2d, Floats2d | None, Floats3d | None]
Sentences = tuple[Floats2d, list[Ints1d]]
