"""Find constituents by pattern, label, words or length: nltk's tgrep over Docs."""

import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection
from functools import lru_cache

from nltk import ParentedTree, Tree
from spacy.tokens import Doc, Span

from .constituents import get_constituents, get_span_tree
from .sentences import get_sentences

_SYNTAX = (
    "Patterns are those of nltk.tgrep, as 'NP < PP' or 'NP << /^boat/'; other signs go "
    "in double quotes, as in 'S < \".\"'."
)
_TOO_DEEP = (
    "The tree of {!r} is too deep for the pattern {!r}: nltk recurses to find what is "
    "anywhere below (<<), before (,) or after (.) a node. Parents, ancestors, children "
    "and sisters (>, >>, <, $) are found at any depth."
)


class PatternError(ValueError):
    """A fault in a pattern; the message shows the pattern and the place."""


def find_constituents(
    target: Doc | Span,
    pattern: str = "*",
    *,
    labels: str | Collection[str] = (),
    words: str | Collection[str] = (),
    min_length: int = 1,
    max_length: int | None = None,
) -> list[Span]:
    """Find the constituents, single words among them, that match a pattern and all
    filters. Words that are white space are in no tree and do not count.

    target (Union[Doc, Span]): A parsed Doc; or a constituent, of which the tree below
        it is searched, as if there were nothing around.
    pattern (str): A pattern of `nltk.tgrep`, as "NP < PP". It finds phrases and tags;
        words, as they stand in the text, can be named below them.
    labels (Union[str, Collection[str]]): Labels or tags, of which the node has one.
    words (Union[str, Collection[str]]): Words that are all in the constituent.
    min_length (int): Words of a constituent at least.
    max_length (Optional[int]): Words of a constituent at most.
    RETURNS (List[Span]): The constituents, sentence by sentence, in pre-order, each
        range once, with the label of the outermost node over it that matches.
    RAISES (PatternError): If the pattern is faulty, and where.
    RAISES (ValueError): If a tree is too deep for it, or the Doc has no parse.
    """
    matches = compile_pattern(pattern)
    labels, words = _as_set(labels), _as_set(words)
    longest = len(target) if max_length is None else max_length

    def accepts(node: _Node, places: list[list[int]]) -> bool:
        return (
            (not labels or node.label() in labels)
            and min_length <= node.end - node.start <= longest
            and all(map(node.covers_one, places))
            and matches(node)
        )

    get_constituents(target.doc)
    found = []
    for span in get_sentences(target) if isinstance(target, Doc) else [target]:
        tokens = [token for token in span if not token.is_space]
        places = [[i for i, t in enumerate(tokens) if t.text == w] for w in words]
        ranges: dict[tuple[int, int], str] = {}
        try:
            for node in _list_nodes(get_span_tree(span)) if tokens else ():
                if (node.start, node.end) not in ranges and accepts(node, places):
                    ranges[node.start, node.end] = node.label()
        except RecursionError:
            raise ValueError(_TOO_DEEP.format(span.text[:80], pattern)) from None
        found += [
            Span(target.doc, tokens[start].i, tokens[end - 1].i + 1, label)
            for (start, end), label in ranges.items()
        ]
    return found


@lru_cache
def compile_pattern(pattern: str) -> Callable[[Tree], bool]:
    """Read a pattern.

    pattern (str): The pattern.
    RETURNS (Callable[[Tree], bool]): Says whether a node of a `ParentedTree` matches.
    RAISES (PatternError): If the pattern is faulty, and where.
    """
    from nltk import tgrep  # not at the top: it takes long, and few search

    def make_error(problem: object) -> PatternError:
        return PatternError(f"The pattern {pattern!r} is faulty: {problem}. {_SYNTAX}")

    try:
        with warnings.catch_warnings():
            # nltk calls pyparsing by names of old.
            warnings.simplefilter("ignore", DeprecationWarning)
            predicate = tgrep.tgrep_compile(pattern)
    except tgrep.pyparsing.ParseException as error:
        rest = pattern[error.loc :]
        place = f"from character {error.loc + 1} on, {rest!r}" if rest else "at its end"
        raise make_error(f"it cannot be read {place}") from None
    except AssertionError:
        raise make_error("a quote or a slash is not closed") from None
    except (tgrep.TgrepException, ValueError) as error:
        raise make_error(error) from None

    def matches(node: Tree) -> bool:
        try:
            return bool(predicate(node))
        # A name without a meaning, a regular expression that takes too long.
        except (tgrep.TgrepException, TimeoutError) as error:
            raise make_error(error) from None
        except TypeError:  # as of nltk 3.10
            raise make_error("nltk cannot name nodes, as in 'NP=n'") from None

    return matches


class _Node(ParentedTree):
    """A node that knows which words of its sentence it covers.

    start (int): The first of them.
    end (int): The one after the last.
    """

    start: int
    end: int
    # As lists, nodes over the same words in other places would be equal, and nltk would
    # take one for the other.
    __eq__ = object.__eq__

    def covers_one(self, places: list[int]) -> bool:
        """Whether any of these words, in order, is among its own."""
        i = bisect_left(places, self.start)
        return i < len(places) and places[i] < self.end


def _list_nodes(tree: Tree) -> list[_Node]:
    """List the nodes of a tree in pre-order."""
    nodes: list[_Node] = []
    stack: list[tuple[Tree | str, _Node | None]] = [(tree, None)]
    words = 0
    while stack:
        item, parent = stack.pop()
        if isinstance(item, Tree):
            node = _Node(item.label(), [])
            node.start = words
            nodes.append(node)
            stack.extend((child, node) for child in reversed(item))
        else:
            node = item
            words += 1
        if parent is not None:
            parent.append(node)
    for node in reversed(nodes):
        last = node[-1]
        node.end = last.end if isinstance(last, _Node) else node.start + 1
    return nodes


def _as_set(values: str | Collection[str]) -> set[str]:
    return {values} if isinstance(values, str) else set(values)
