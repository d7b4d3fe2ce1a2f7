"""Clean the trees of a treebank."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from nltk import Tree

from .escaping import unescape_word
from .structure import EMPTY_TAG, ROOT, ROOT_LABELS, is_preterminal, list_nodes

SEPARATORS = "-=|"
# Where empty elements are bare leaves, "0" is one under these labels and a word
# elsewhere.
ZERO_LABELS = frozenset(["C", "P", "WADJP", "WADVP", "WNP", "WPP"])
_LEMMA = re.compile("(.+)-.+")
_ZERO = re.compile(r"0(-\d+)?")
# The nodes of CorpusSearch's files that hold no words, and those that name the file.
BOOKKEEPING = frozenset(["ID", "METADATA", "CODE"])
_FILE_LABELS = frozenset(["ID", "METADATA"])


def clean_tree(
    tree: Tree,
    *,
    separators: str = SEPARATORS,
    keep_functions: bool = False,
    bare_empties: bool = False,
    drop: Collection[str] = (),
    lemmas: bool = False,
) -> Tree | None:
    """Make a clean copy of a tree, with a single TOP root. Empty elements, whitespace
    words and the nodes they leave empty are removed, nodes without a label are replaced
    by their children, and function tags and indices are cut off phrase labels. Words
    and part-of-speech tags stay unchanged.

    A tree in CorpusSearch's form, with `(ID ...)` or `(METADATA ...)` beside its
    sentence, has bare empties, and its `ID`, `METADATA` and `CODE` nodes are removed.

    tree (Tree): The tree as read.
    separators (str): The characters that separate function tags and indices from a
        label. A label that begins with one, such as `-LRB-`, is never cut.
    keep_functions (bool): Cut indices only.
    bare_empties (bool): Whether empty elements are not tagged `-NONE-` but stand
        directly under a label, as in `(NP-SBJ *con*)` and `(C 0)`. Otherwise such `*`
        and `0` are words.
    drop (Collection[str]): Labels of nodes to remove with all their words.
    lemmas (bool): Whether leaves are `word-lemma`, as in IcePaHC. Keeps the word.
    RETURNS (Optional[Tree]): The clean tree, or None if no words are left.
    """
    if _is_corpus_search(tree):
        bare_empties = True
        drop = BOOKKEEPING.union(drop)
    cleaned: dict[int, list[Tree]] = {}  # node id to what is left of the node
    for node in reversed(list_nodes(tree)):
        label = _cut_label(node.label(), separators, keep_functions)
        head = _cut_label(node.label(), separators, False)
        if head in drop or node.label() in drop:
            cleaned[id(node)] = []
        elif is_preterminal(node):
            is_empty = _is_empty(head, node[0], bare_empties)
            word = _cut_lemma(node[0]) if lemmas else node[0]
            cleaned[id(node)] = [] if is_empty else [Tree(node.label(), [word])]
        else:
            kept = [piece for child in node for piece in cleaned[id(child)]]
            cleaned[id(node)] = [Tree(label, kept)] if kept and label else kept
    rest = cleaned[id(tree)]
    while len(rest) == 1 and _is_root(rest[0]):
        rest = list(rest[0])
    return Tree(ROOT, rest) if rest else None


def _is_corpus_search(tree: Tree) -> bool:
    is_root = tree.label() in ROOT_LABELS and not is_preterminal(tree)
    return is_root and any(child.label() in _FILE_LABELS for child in tree)


def _cut_lemma(word: str) -> str:
    match = _LEMMA.fullmatch(word)
    return match[1] if match else word


def _is_root(node: Tree) -> bool:
    return node.label() in ROOT_LABELS and not is_preterminal(node)


def _is_empty(tag: str, word: str, bare_empties: bool) -> bool:
    is_bare = word.startswith("*") or (
        tag in ZERO_LABELS and _ZERO.fullmatch(word) is not None
    )
    is_space = unescape_word(word).isspace()  # not part of any tree on a Doc
    return tag == EMPTY_TAG or is_space or (bare_empties and is_bare)


@lru_cache(10_000)
def _cut_label(label: str, separators: str, keep_functions: bool) -> str:
    if not separators or label[:1] in separators:
        return label
    marks = f"[{re.escape(separators)}]"
    if keep_functions:
        return re.sub(rf"{marks}\d+(?={marks}|$)", "", label)
    return re.split(marks, label)[0]


def harmonize(
    tree: Tree, relabel: Mapping[str, str], unwrap: set[str], found: set[str]
) -> Tree:
    """Rename labels, and remove single-child nodes at the root. Modifies the tree.

    tree (Tree): A clean tree.
    relabel (Mapping[str, str]): The new name of each label to rename.
    unwrap (Set[str]): The labels to remove from above a whole sentence.
    found (Set[str]): Updated with the labels in the tree, under their old names.
    RETURNS (Tree): The tree.
    """
    while len(tree) == 1 and tree[0].label() in unwrap and isinstance(tree[0][0], Tree):
        found.add(tree[0].label())
        tree = Tree(ROOT, list(tree[0]))
    stack = [tree]
    while stack:
        node = stack.pop()
        children = [child for child in node if isinstance(child, Tree)]
        if children:
            found.add(node.label())
            node.set_label(relabel.get(node.label(), node.label()))
        stack += children
    return tree
