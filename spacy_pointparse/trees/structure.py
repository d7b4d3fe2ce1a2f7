"""Convert an `nltk.Tree` to words, tags and constituents, and back.

All functions are iterative, so that trees may be arbitrarily deep. nltk's own methods
(`==`, `pformat`, `copy(deep=True)`, ...) recurse.
"""

from collections import deque
from collections.abc import Sequence

from nltk.tree import Tree

from .escaping import PRINTED, escape_text

Constituent = tuple[int, int, str]  # start, end (exclusive), label
ROOT = "TOP"
ROOT_LABELS = frozenset(["", ROOT, "ROOT", "S1", "VROOT"])
EMPTY_TAG = "-NONE-"


def list_nodes(tree: Tree) -> list[Tree]:
    """List the nodes of a tree in pre-order."""
    nodes: list[Tree] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(child for child in reversed(node) if isinstance(child, Tree))
    return nodes


def is_preterminal(node: Tree) -> bool:
    """Check whether a node is a part-of-speech tag above a word."""
    return len(node) == 1 and not isinstance(node[0], Tree)


def tree_to_string(tree: Tree) -> str:
    """Print a tree on one line. Parentheses, whitespace and null characters inside
    words and labels are escaped, as in `-LRB-`, `-RRB-` and `\\u0020`.

    tree (Tree): The tree.
    RETURNS (str): The line, without a newline.
    """
    pieces: list[str] = []
    stack: list[Tree | str | None] = [tree]
    while stack:
        item = stack.pop()
        if item is None:
            pieces.append(")")
        elif isinstance(item, Tree):
            pieces.append(f" ({escape_text(str(item.label()), PRINTED)}")
            stack.append(None)
            stack.extend(reversed(item))
        else:
            pieces.append(f" {escape_text(str(item), PRINTED)}")
    return "".join(pieces)[1:]


def flatten_tree(tree: Tree) -> tuple[list[str], list[str], list[Constituent]]:
    """Convert a tree to words, tags and constituents. The inverse of `build_tree`.

    tree (Tree): The tree.
    RETURNS (Tuple[List[str], List[str], List[Constituent]]): The leaves, their tags,
        and the constituents in pre-order. Preterminals are not constituents, and a TOP
        root is one only if it has several children.
    """
    words: list[str] = []
    tags: list[str] = []
    constituents: list[Constituent] = []
    stack: list[Tree | int] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, int):  # the end of this constituent
            start, _, label = constituents[item]
            constituents[item] = (start, len(words), label)
        elif is_preterminal(item):
            words.append(item[0])
            tags.append(item.label())
        else:
            stack.append(len(constituents))
            constituents.append((len(words), len(words), item.label()))
            stack.extend(reversed(item))
    if tree.label() == ROOT and len(tree) == 1:
        constituents = constituents[1:]
    return words, tags, constituents


def flatten_trees(
    trees: Sequence[Tree],
) -> tuple[list[str], list[str], list[Constituent]]:
    """Convert the trees of one sentence to words, tags and constituents.

    trees (Sequence[Tree]): The trees, in the order of their words.
    RETURNS (Tuple[List[str], List[str], List[Constituent]]): As from `flatten_tree`,
        but every root is a constituent.
    """
    words, tags, constituents = flatten_tree(Tree("", trees))
    return words, tags, constituents[1:]


def build_tree(
    words: Sequence[str], tags: Sequence[str], constituents: Sequence[Constituent]
) -> Tree:
    """Build a tree with a TOP root. The inverse of `flatten_tree`.

    words (Sequence[str]): The words.
    tags (Sequence[str]): The tag of each word.
    constituents (Sequence[Constituent]): The constituents, nested and in pre-order. If
        the first is a TOP over all words, it becomes the root.
    RETURNS (Tree): The tree.
    RAISES (ValueError): If the constituents are not nested or not in pre-order.
    """
    whole = (0, len(words), ROOT)
    waiting = deque(constituents)
    if waiting and waiting[0] == whole:
        waiting.popleft()
    root = Tree(ROOT, [])
    open_nodes = [(root, len(words))]
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        while open_nodes[-1][1] <= i:
            open_nodes.pop()
        while waiting and waiting[0][0] == i and i < waiting[0][1] <= open_nodes[-1][1]:
            _, end, label = waiting.popleft()
            node = Tree(label, [])
            open_nodes[-1][0].append(node)
            open_nodes.append((node, end))
        open_nodes[-1][0].append(Tree(tag, [word]))
    if waiting:
        raise ValueError(f"{waiting[0]} is out of order or not nested")
    return root
