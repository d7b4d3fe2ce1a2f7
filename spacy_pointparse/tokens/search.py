"""Find constituents by pattern (nltk's tgrep), label, words or length."""

import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection
from functools import lru_cache

from nltk import ParentedTree, Tree
from spacy.tokens import Doc, Span

from .constituents import get_constituents
from .getters import get_span_tree
from .sentences import get_sentences

_SYNTAX = (
    "Write a pattern for nltk.tgrep, such as 'NP < PP' or 'NP << /^boat/', with other "
    "symbols in double quotes, as in 'S < \".\"'."
)
_TOO_DEEP = (
    "The tree of {!r} is too deep for the pattern {!r}: nltk recurses to search below "
    "(<<), before (,) or after (.) a node. Patterns of parents, ancestors, children "
    "and sisters (>, >>, <, $) work at any depth."
)


class PatternError(ValueError):
    """Raised for a faulty pattern. The message quotes the pattern and position."""


def find_constituents(
    target: Doc | Span,
    pattern: str = "*",
    *,
    labels: str | Collection[str] = (),
    words: str | Collection[str] = (),
    min_length: int = 1,
    max_length: int | None = None,
) -> list[Span]:
    """Find the constituents and single words that match a pattern and all filters.

    target (Union[Doc, Span]): A parsed Doc, or a constituent. The tree of a constituent
        is searched without its context.
    pattern (str): A pattern for `nltk.tgrep`, such as "NP < PP". It matches phrases
        and tags, and may name words below them as they appear in the text.
    labels (Union[str, Collection[str]]): Match any of these labels or tags.
    words (Union[str, Collection[str]]): Words that the constituent must all contain.
    min_length (int): Minimum length in words. Whitespace tokens do not count.
    max_length (Optional[int]): Maximum length in words.
    RETURNS (List[Span]): The constituents of each sentence in pre-order. Each range
        occurs once, with the label of the outermost matching node over it.
    RAISES (PatternError): If the pattern is faulty.
    RAISES (ValueError): If a tree is too deep for the pattern, or the Doc has no parse.
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
    found: list[Span] = []
    for span in get_sentences(target) if isinstance(target, Doc) else [target]:
        try:
            found += _find_in_tree(span, words, accepts)
        except RecursionError:
            raise ValueError(_TOO_DEEP.format(span.text[:80], pattern)) from None
    return found


def _find_in_tree(
    span: Span, words: set[str], accepts: "Callable[[_Node, list[list[int]]], bool]"
) -> list[Span]:
    tokens = [token for token in span if not token.is_space]
    if not tokens:
        return []
    places = [[i for i, t in enumerate(tokens) if t.text == word] for word in words]
    labels: dict[tuple[int, int], str] = {}
    for node in _list_nodes(get_span_tree(span)):
        covered = (node.start, node.end)
        if covered not in labels and accepts(node, places):
            labels[covered] = node.label()
    return [
        Span(span.doc, tokens[start].i, tokens[end - 1].i + 1, label)
        for (start, end), label in labels.items()
    ]


@lru_cache
def compile_pattern(pattern: str) -> Callable[[Tree], bool]:
    """Compile a pattern.

    pattern (str): The pattern.
    RETURNS (Callable[[Tree], bool]): Checks whether a node of a `ParentedTree` matches.
    RAISES (PatternError): If the pattern is faulty.
    """
    from nltk import tgrep  # slow to import, and not needed unless one searches

    def make_error(problem: object) -> PatternError:
        return PatternError(f"The pattern {pattern!r} is faulty: {problem}. {_SYNTAX}")

    try:
        with warnings.catch_warnings():
            # nltk uses deprecated names of pyparsing.
            warnings.simplefilter("ignore", DeprecationWarning)
            predicate = tgrep.tgrep_compile(pattern)
    except tgrep.pyparsing.ParseException as error:
        rest = pattern[error.loc :]
        if not rest:
            raise make_error("it is incomplete") from None
        raise make_error(f"unexpected {rest!r} at character {error.loc + 1}") from None
    except AssertionError:
        raise make_error("a quote or a slash is not closed") from None
    except (tgrep.TgrepException, ValueError) as error:
        raise make_error(error) from None

    def matches(node: Tree) -> bool:
        try:
            return bool(predicate(node))
        # An undefined name, or a regular expression that takes too long.
        except (tgrep.TgrepException, TimeoutError) as error:
            raise make_error(error) from None
        except TypeError:  # as of nltk 3.10
            raise make_error(
                "nltk does not support named nodes such as 'NP=n'"
            ) from None

    return matches


class _Node(ParentedTree):
    """A node with the range of words that it covers in its sentence.

    start (int): Index of its first word.
    end (int): Index after its last word.
    """

    start: int
    end: int
    # Compared as lists, nodes over equal words at different positions would be equal,
    # and nltk would confuse them.
    __eq__ = object.__eq__

    def covers_one(self, places: list[int]) -> bool:
        """Check whether the node covers any of these positions, which are sorted."""
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
