"""What may come in: any text, tokens or tree, and any file in a treebank's place."""

import gzip
import lzma
import zlib
from typing import NamedTuple

from hypothesis import strategies as st
from nltk import Tree
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_pointparse.tokens import make_doc
from spacy_pointparse.trees import Constituent, build_tree, clean_tree, tree_to_string
from spacy_pointparse.trees.line_chunks import MAX_SIZE

# --- texts ---

ORDINARY = ["the", "an", "old", "boat", "She", "sold", "Ducks", "swim", "with", "don't"]
ORDINARY += ["Who", "cake", "and", ",", ".", "?", "!"]
ODD = [
    *"()[]{}\\/#*_|=<>%&@^~`",
    *("-LRB-", "-NONE-", "(s)", "(a", ":)", "``", "''", "\\u0020", "\\(", "x\\", "\\/"),
    *("0=a", "1=b", "00=", "TOP", "S|NP", "*T*-1", "https://e.org/a_(b)", "3.14", "$1"),
    # control characters, line ends, byte order marks, what is no character
    *("\0", "\x01", "\x07", "\x1b[0m", "\x1c", "\x7f", "\x85", "\u2028", "\u2029"),
    *("\ufeff", "\ufffe", "\uffff", "\U0010ffff", "\ue000", "\ufffd"),
    # right to left, joiners, marks on nothing, on a letter, and too many of them
    *("\u202e", "\u200f", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"),
    *("\u200b", "\u200d", "\u00ad", "\ufe0f", "\u0301", "e\u0301", "a" + "\u0300" * 40),
    # beyond the first plane, and what changes its length with its case
    *("\U0001f469\u200d\U0001f680", "\U0001f44b\U0001f3fd", "\U0001f1e9\U0001f1ea"),
    *("\U00020000", "\u6570\u5b57", "\uff0c", "\u0130", "\u00df", "\ufb03", "\u0e33"),
]
SPACES = [" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000\n", "\n \n\n", "\x1f"]
# Halves of surrogate pairs are no text, and refused by spaCy.
CHARACTERS = st.characters(exclude_categories=["Cs"])
HUGE = st.builds(
    lambda unit, length: (unit * length)[:length],
    st.sampled_from(["a", "contact", "\u6570\u5b57", "\u0301", "9", "ab)", "\u200b"]),
    st.sampled_from([30, 1000, 10_000]),
) | st.sampled_from(["(" * 200, "." * 200, "\U0001f44b" * 200])
WORDS = (
    st.sampled_from(ORDINARY)
    | st.sampled_from(ORDINARY)
    | st.sampled_from(ODD)
    | st.text(CHARACTERS, min_size=1, max_size=8)
    | st.builds("".join, st.lists(st.sampled_from(ODD), min_size=2, max_size=4))
)
GAPS = st.sampled_from([" "] * 12 + ["", *SPACES])


@st.composite
def draw_texts(draw: st.DrawFn) -> str:
    """A text, of words more often than of characters; one in ten has a huge word."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.text(CHARACTERS, max_size=60))
    if kind == 1:
        return "".join(draw(st.lists(st.sampled_from(SPACES), max_size=4)))
    pieces = draw(st.lists(st.tuples(WORDS, GAPS), max_size=14))
    words = [part for piece in pieces for part in piece]
    return "".join([*words, draw(HUGE)] if kind == 2 else words)


class Tokens(NamedTuple):
    """A text that is cut already.

    words (List[str]): The words, white space among them.
    spaces (List[bool]): Whether a space is after each.
    starts (Optional[List[bool]]): Whether a sentence starts there.
    tags (Optional[List[str]]): Their tags, some empty.
    """

    words: list[str]
    spaces: list[bool]
    starts: list[bool] | None
    tags: list[str] | None


@st.composite
def draw_tokens(draw: st.DrawFn) -> Tokens:
    words = draw(st.lists(WORDS | st.sampled_from(SPACES), max_size=16))
    if words and draw(st.integers(0, 9)) == 0:
        words[-1] = draw(HUGE)
    starts = lists_of(st.sampled_from([True, False, False, False]), len(words))
    return Tokens(
        words,
        draw(lists_of(st.booleans(), len(words))),
        draw(st.none() | starts),
        draw(st.none() | lists_of(st.just("") | WORDS, len(words))),
    )


def lists_of(values: st.SearchStrategy, size: int) -> st.SearchStrategy:
    return st.lists(values, min_size=size, max_size=size)


# --- trees ---

HEADS = ["S", "NP", "VP", "ADJP", "TOP", "X", "-LRB-", "IP", "np", "PRP$", "$*LRB*"]
# Separators and what follows them in the labels of the Penn Treebank, SPMRL, IcePaHC,
# Keyaki, Sinica and Alpino.
FUNCTIONS = {
    "-=|": ["-SBJ", "-SBJ-1", "=2", "|PRT", "-TPC-12", "-"],
    "#": ["##", "##lem=de|cpos=P##", "#1"],
    "*-=": ["*OC", "*", "-SBJ*OC", "=3"],
    "-=;": [";*SBJ*", ";{EX}", "-REL"],
    ":.": [":agent", ".x‧的", "::"],
    "/[": ["/su", "/--", "[hd]"],
}
LABELS = st.builds(
    str.__add__,
    st.sampled_from(HEADS),
    st.sampled_from([""] * 20 + [end for ends in FUNCTIONS.values() for end in ends]),
)
NAMES = (
    st.sampled_from(HEADS[:6])
    | LABELS
    | st.text(CHARACTERS.filter(str.strip), min_size=1, max_size=4)
)


class Parsed(NamedTuple):
    """Words, their tags, and constituents in pre-order."""

    words: list[str]
    tags: list[str]
    constituents: list[Constituent]


@st.composite
def draw_constituents(
    draw: st.DrawFn, names: st.SearchStrategy = NAMES, longest: int = 30
) -> tuple[list[Constituent], int]:
    """A tree of any branching with chains over words and phrases, and its length."""
    length = draw(st.integers(1, longest))
    pieces = [(0, length)]
    constituents = []
    while pieces:
        start, end = pieces.pop()
        least = 0 if end - start == 1 else 1
        chain = draw(st.lists(names, min_size=least, max_size=3))
        constituents += [(start, end, label) for label in chain]
        if end - start > 1:
            inner = st.integers(start + 1, end - 1)
            cuts = sorted(draw(st.sets(inner, min_size=1, max_size=4)))
            pieces += reversed(list(zip([start, *cuts], [*cuts, end])))
    return constituents, length


@st.composite
def draw_parsed(
    draw: st.DrawFn,
    words: st.SearchStrategy = WORDS,
    names: st.SearchStrategy = NAMES,
    longest: int = 12,
) -> Parsed:
    constituents, length = draw(draw_constituents(names, longest))
    drawn = [draw(lists_of(values, length)) for values in (words, names)]
    return Parsed(*drawn, constituents)


@st.composite
def draw_labels(draw: st.DrawFn) -> tuple[str, str, str]:
    """A label, what is left of it without functions, and what parts these from it."""
    separators = draw(st.sampled_from(list(FUNCTIONS)))
    others = CHARACTERS.filter(lambda char: char not in separators)
    head = draw(st.sampled_from(HEADS[:4]) | st.text(others, min_size=1, max_size=4))
    function = st.builds(
        str.__add__, st.sampled_from(separators), st.text(others, max_size=3)
    )
    ends = draw(st.lists(st.sampled_from(FUNCTIONS[separators]) | function, max_size=3))
    return head + "".join(ends), head, separators


# --- files in a treebank's place ---

PARSED = draw_parsed(
    words=st.sampled_from(["boat", "0", "*", "*T*-1", "-LRB-", "\u00e9"]) | WORDS,
    names=LABELS | LABELS | st.just("-NONE-"),
)
ROOTS = ["%s", "%s", "( %s)", "(TOP %s)", "(ROOT %s)", "(VROOT %s)", "(S1 %s )"]
INSERTS = [
    *("(", ")", "((", "))", "()", "( )", "(X", "(X)", "(X (Y", "word", "0=a"),
    *(
        "\n",
        "\r",
        "\0",
        "\ufeff",
        "\t",
        "\x0c",
        "\x0b",
        "\x85",
        "\u2028",
        "\u00a0",
        "#",
    ),
    *("(X " * 900, ")" * 900, "(X " * 900 + "(N deep)" + ")" * 900),
    *("9" * 5000 + "=x", "x" * (MAX_SIZE + 1)),
]
CODECS = ["utf-8"] * 8 + [
    *("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"),
    *("koi8-r", "shift_jis", "gb18030", "utf-7", "iso2022_jp", "cp037"),
]
ENDINGS = ["\n"] * 6 + ["\r\n", "\r", "\n\n", "\n\r", "\n  ", "\x0c", "\u2028"]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "separators": st.sampled_from(["", *FUNCTIONS]),
        "keep_functions": st.just(True),
        "bare_empties": st.just(True),
    },
)
PACKERS = {"": bytes, ".gz": lambda data: gzip.compress(data, 1), ".xz": lzma.compress}


class File(NamedTuple):
    """A file: what its name ends in, and its bytes."""

    suffix: str
    data: bytes


def print_tree(tree: Tree, layout: int) -> str:
    """Print a tree on one line, or with each bracket on a line of its own, all flush
    left or those inside another indented."""
    line = tree_to_string(tree)
    return line.replace(" (", ["", "\n(", "\n  ("][layout]) if layout else line


@st.composite
def draw_treebanks(draw: st.DrawFn) -> str:
    """The text of a treebank, every other one with faults."""
    layout = draw(st.sampled_from([0, 0, 1, 2]))
    trees = []
    for parsed in draw(st.lists(PARSED, min_size=1, max_size=4)):
        tree = build_tree(*parsed)
        trees.append(print_tree(tree[0] if len(tree) == 1 else tree, layout))
    root = draw(st.sampled_from(ROOTS))
    text = "\n".join(root.replace("%s", tree) for tree in trees)
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 5]))):
        text = draw(draw_damaged(text, st.sampled_from(INSERTS)))
    return text


@st.composite
def draw_damaged(draw: st.DrawFn, whole: str | bytes, junk: st.SearchStrategy):
    """Something cut off, with a piece cut out, said twice, or with junk in it."""
    place = draw(st.integers(0, len(whole)))
    size = draw(st.integers(1, 40))
    before, after = whole[:place], whole[place:]
    return draw(
        st.just(before or whole[:size])  # cut off
        | st.just(before + after[size:])
        | st.just(before + after[:size] + after)  # said twice
        | junk.map(lambda junk: before + junk + after)
    )


@st.composite
def draw_files(draw: st.DrawFn) -> File:
    """A treebank in some encoding, damaged or packed or both, or no treebank at all."""
    if draw(st.integers(0, 15)) == 0:
        data = draw(st.binary(max_size=300))
    else:
        text = draw(draw_treebanks()).replace("\n", draw(st.sampled_from(ENDINGS)))
        data = text.encode(draw(st.sampled_from(CODECS)), errors="replace")
    suffix = draw(st.sampled_from([""] * 6 + [*PACKERS]))
    data = PACKERS[suffix](data)
    if draw(st.integers(0, 5)) == 0:
        data = draw(draw_damaged(data, st.binary(max_size=20)))
    return File(f".mrg{suffix}", data)


@st.composite
def draw_saved_docs(draw: st.DrawFn) -> File:
    """A .spacy file, damaged as it is or before it was packed."""
    vocab = Vocab()
    drawn = draw(st.lists(PARSED, max_size=3))
    trees = filter(None, (clean_tree(build_tree(*parsed)) for parsed in drawn))
    data = DocBin(docs=[make_doc([tree], vocab) for tree in trees]).to_bytes()
    is_inside = draw(st.booleans())
    data = zlib.decompress(data) if is_inside else data
    data = draw(draw_damaged(data, st.binary(max_size=20)))
    return File(".spacy", zlib.compress(data) if is_inside else data)
