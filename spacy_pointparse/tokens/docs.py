"""Trees as Docs."""

from collections.abc import Iterable

from nltk import Tree
from nltk.tokenize.treebank import TreebankWordDetokenizer
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.escaping import unescape_word
from ..trees.structure import ROOT, flatten_tree
from .constituents import PARTIAL_ATTR, SPANS_KEY, set_constituents


def join_docs(docs: list[Doc]) -> Doc:
    """Join Docs. If one is partial, so is the whole."""
    joined = Doc.from_docs(docs)
    if any(
        doc.spans[SPANS_KEY].attrs.get(PARTIAL_ATTR)
        for doc in docs
        if SPANS_KEY in doc.spans
    ):
        joined.spans[SPANS_KEY].attrs[PARTIAL_ATTR] = True
    return joined


def make_doc(trees: Iterable[Tree], vocab: Vocab, partial: bool = False) -> Doc:
    """Make a Doc of the trees of its sentences. Words are un-escaped, and set apart as
    in running text.

    trees (Iterable[Tree]): Clean trees, as from `read_trees`.
    vocab (Vocab): The vocabulary of the Doc.
    partial (bool): Whether there may be constituents that the trees do not show.
    RETURNS (Doc): The Doc, with tags, sentence starts and constituents.
    """
    words: list[str] = []
    spaces: list[bool] = []
    tags: list[str] = []
    starts: list[bool] = []
    brackets = []
    for tree in trees:
        leaves, sent_tags, constituents = flatten_tree(tree)
        sent_words = [unescape_word(leaf) for leaf in leaves]
        start = len(words)
        brackets += [
            (s + start, e + start, label)
            for s, e, label in constituents
            # The root of a partial tree only holds it together.
            if not (partial and label == ROOT and e - s == len(leaves))
        ]
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
    """Say after which words of a sentence there is a space in running text."""
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
    """Copy the tokens of a Doc and the given attributes, and nothing else."""
    words = [token.text for token in reference]
    spaces = [bool(token.whitespace_) for token in reference]
    doc = Doc(reference.vocab, words=words, spaces=spaces)
    if attributes and len(doc):
        doc.from_array(attributes, reference.to_array(attributes))
    return doc
