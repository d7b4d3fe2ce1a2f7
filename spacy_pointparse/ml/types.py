"""Types shared by layers and models."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Floats3d, Ints1d, Ints2d

Tok2Vec = Model[list[Doc], list[Floats2d]]
# Embeds attributes of tokens: one row a token, one column an attribute.
Table = Model[Ints2d, Floats2d]
# The Docs; the words of each sentence, as rows of all tokens of the Docs; and the word
# that each word points at, as a row of all words of the sentences.
Batch = tuple[list[Doc], list[Ints1d], Ints1d]
# Scores of general pointings, singleton pointings, span labels, unary labels, tags, and
# pointings in the left-factored tree.
Scores = tuple[Floats3d, Floats3d, Floats2d, Floats2d, Floats2d | None, Floats3d | None]
