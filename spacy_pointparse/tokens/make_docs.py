"""Make, join and copy Docs."""

from collections.abc import Iterable
from typing import Any

from nltk import Tree
from nltk.tokenize.treebank import TreebankWordDetokenizer
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.escaping import unescape_word
from ..trees.structure import ROOT, Constituent, flatten_tree
from .constituents import PARTIAL_ATTR, SPANS_KEY, set_constituents


def join_docs(docs: list[Doc]) -> Doc:
    """Join Docs. If the parse of one is partial, so is that of the joined Doc.

    docs (List[Doc]): The Docs.
    RETURNS (Doc): The joined Doc.
    """
    joined = Doc.from_docs(docs)
    groups = [doc.spans[SPANS_KEY] for doc in docs if SPANS_KEY in doc.spans]
    if any(group.attrs.get(PARTIAL_ATTR) for group in groups):
        joined.spans[SPANS_KEY].attrs[PARTIAL_ATTR] = True
    return joined


def make_doc(trees: Iterable[Tree], vocab: Vocab, partial: bool = False) -> Doc:
    """Make a Doc from the trees of its sentences. Words are unescaped and spaced as in
    running text.

    trees (Iterable[Tree]): Clean trees, as from `read_trees`.
    vocab (Vocab): The vocabulary of the Doc.
    partial (bool): Whether there may be constituents that the trees do not contain.
    RETURNS (Doc): The Doc, with tags, sentence starts and constituents.
    """
    words: list[str] = []
    spaces: list[bool] = []
    tags: list[str] = []
    starts: list[bool | int | None] = []
    brackets: list[Constituent] = []
    for tree in trees:
        leaves, sent_tags, constituents = flatten_tree(tree)
        sent_words = [unescape_word(leaf) for leaf in leaves]
        for start, end, label in constituents:
            # The root of a partial tree is no constituent, it only holds it together.
            if not (partial and label == ROOT and end - start == len(leaves)):
                brackets.append((start + len(words), end + len(words), label))
        words += sent_words
        spaces += _get_spaces(sent_words)
        tags += sent_tags
        starts += [True, *[False] * (len(leaves) - 1)]
    doc = Doc(vocab, words=words, spaces=spaces, tags=tags, sent_starts=starts)
    set_constituents(doc, brackets)
    if partial:
        doc.spans[SPANS_KEY].attrs[PARTIAL_ATTR] = True
    return doc


def _get_spaces(words: list[str]) -> list[bool]:
    """Guess which words of a sentence are followed by a space in running text."""
    text = TreebankWordDetokenizer().detokenize(words)
    spaces = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return [True] * len(words)
        position += len(word)
        spaces.append(text.startswith(" ", position))
        position += spaces[-1]
    return [*spaces[:-1], True]


def copy_tokens(reference: Doc, attributes: list[str]) -> Doc:
    """Copy the tokens of a Doc with some of their attributes.

    reference (Doc): The Doc to copy.
    attributes (List[str]): The token attributes to copy, such as "TAG".
    RETURNS (Doc): The copy, without any other annotation.
    """
    words = [token.text for token in reference]
    spaces = [bool(token.whitespace_) for token in reference]
    doc = Doc(reference.vocab, words=words, spaces=spaces)
    if attributes and len(doc):
        names: list[int | str] = [*attributes]
        values: Any = reference.to_array(names)  # typed as floats, but holds integers
        doc.from_array(names, values)
    return doc
