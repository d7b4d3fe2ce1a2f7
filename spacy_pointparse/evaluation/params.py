"""The parameters of EVALB: sets by name, and parameter files."""

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..trees.structure import EMPTY_TAG

SUFFIX = ".prm"
_LABELS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL")
_PAIRS = ("EQ_LABEL", "EQ_WORD")
_IGNORED = frozenset(["DEBUG", "MAX_ERROR"])  # these change no figure


@dataclass(frozen=True)
class EvalbParams:
    """The contents of an EVALB parameter file.

    deleted (FrozenSet[str]): Labels and tags to delete, the tags with their words.
    cutoff (int): Maximum length of the sentences in the second summary.
    equal (Tuple[Tuple[str, str], ...]): Pairs of labels or tags that match each other.
    equal_words (Tuple[Tuple[str, str], ...]): Pairs of words that match each other.
    uncounted (FrozenSet[str]): Tags that do not count towards the length of a sentence.
    quotes (FrozenSet[str]): Tags of quotation marks that are often confused. If the
        sentences would differ in length, a mark that only one side deletes is restored
        if both of its tags are among these.
    labeled (bool): Compare labels, not only positions.
    separators (str): The characters that separate function tags from a label.
    cut_tags (bool): Cut function tags off part-of-speech tags as well.
    length_errors (bool): Count a sentence as an error if the lengths differ. If False,
        it is reported and counts as valid, with no brackets or words.
    """

    deleted: frozenset[str] = frozenset()
    cutoff: int = 40
    equal: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    uncounted: frozenset[str] = frozenset()
    quotes: frozenset[str] = frozenset()
    labeled: bool = True
    separators: str = "-="
    cut_tags: bool = False
    length_errors: bool = True

    @cached_property
    def equals(self) -> dict[str, list[str]]:
        """The labels that match each label besides itself."""
        return _list_partners(self.equal)

    @cached_property
    def word_equals(self) -> dict[str, list[str]]:
        """The words that match each word besides itself."""
        return _list_partners(self.equal_words)

    @cached_property
    def names(self) -> dict[str, str]:
        """The label to name instead of each label that matches an earlier one."""
        return {second: first for first, second in reversed(self.equal)}

    def deletes(self, label: str) -> bool:
        """Check whether a bracket with this label is deleted."""
        return not self.deleted.isdisjoint([label, *self.equals.get(label, ())])

    def tags_match(self, first: str, second: str) -> bool:
        """Check whether two tags count as the same."""
        first, second = self.cut_tag(first), self.cut_tag(second)
        return first == second or second in self.equals.get(first, ())

    def words_match(self, first: str, second: str) -> bool:
        """Check whether two words count as the same."""
        return first == second or second in self.word_equals.get(first, ())

    def cut_label(self, label: str) -> str:
        """Cut function tags and indices off the label of a bracket."""
        return re.split(f"[{re.escape(self.separators)}]", label, maxsplit=1)[0]

    def cut_tag(self, tag: str) -> str:
        """Cut function tags off a tag, unless it begins with a separator (-LRB-)."""
        if not self.cut_tags or tag[:1] in self.separators:
            return tag
        return self.cut_label(tag)


def _list_partners(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    partners: dict[str, list[str]] = defaultdict(list)
    for first, second in pairs:
        partners[first].append(second)
        partners[second].append(first)
    return dict(partners)


COLLINS = EvalbParams(
    deleted=frozenset(["TOP", EMPTY_TAG, ",", ":", "``", "''", "."]),
    equal=(("ADVP", "PRT"),),
    uncounted=frozenset([EMPTY_TAG]),
)
SETTINGS = {
    "collins": COLLINS,
    "nk": replace(
        COLLINS,
        deleted=COLLINS.deleted | {"S1", "?", "!"},
        quotes=frozenset(["``", "''", "POS", "NN", "CD", "VBZ", ":"]),
    ),
    "spmrl": EvalbParams(
        deleted=frozenset(["TOP", "ROOT", "S1", "VROOT", EMPTY_TAG]),
        cutoff=70,
        uncounted=frozenset([EMPTY_TAG]),
        separators="-=#",
        cut_tags=True,
        length_errors=False,
    ),
}


def get_setting(name: str) -> EvalbParams:
    """Look up a set of parameters, or read a parameter file.

    name (str): "collins", "nk", "spmrl" or the path of a parameter file of EVALB.
    RETURNS (EvalbParams): The parameters.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (ValueError): If the name is unknown, or the file is faulty.
    """
    if name in SETTINGS:
        return SETTINGS[name]
    if Path(name).suffix == SUFFIX or Path(name).is_file():
        return read_params(name)
    choices = ", ".join(SETTINGS)
    raise ValueError(
        f"Unknown EVALB setting '{name}'. Choose from: {choices}. Or name a parameter "
        f"file of EVALB, such as COLLINS{SUFFIX}."
    )


def read_params(path: str | Path) -> EvalbParams:
    """Read a parameter file of EVALB.

    path (Union[str, Path]): The file.
    RETURNS (EvalbParams): The parameters. `DEBUG` and `MAX_ERROR` are ignored.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (ValueError): If a value is faulty. Names the file and the line.
    """
    text = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
    labels: dict[str, set[str]] = {keyword: set() for keyword in _LABELS}
    pairs: dict[str, list[tuple[str, str]]] = {keyword: [] for keyword in _PAIRS}
    numbers = {"CUTOFF_LEN": 40, "LABELED": 1}
    for i, line in enumerate(text.split("\n"), start=1):
        keyword, *values = line.split() or [""]
        if not keyword or keyword.startswith("#") or keyword in _IGNORED:
            continue
        where = f"{path}, line {i}"
        if keyword in labels:
            [label] = _check_count(values, 1, where)
            labels[keyword].add(label)
        elif keyword in pairs:
            first, second = _check_count(values, 2, where)
            pairs[keyword].append((first, second))
        elif keyword in numbers:
            [number] = _check_count(values, 1, where)
            if not re.fullmatch("[0-9]{1,9}", number):
                raise ValueError(f"{where}: {number!r} is not a number.")
            numbers[keyword] = int(number)
        else:
            warnings.warn(f"{where}: unknown keyword {keyword!r}", stacklevel=2)
    return EvalbParams(
        deleted=frozenset(labels["DELETE_LABEL"]),
        cutoff=numbers["CUTOFF_LEN"],
        equal=tuple(pairs["EQ_LABEL"]),
        equal_words=tuple(pairs["EQ_WORD"]),
        uncounted=frozenset(labels["DELETE_LABEL_FOR_LENGTH"]),
        quotes=frozenset(labels["QUOTE_LABEL"]),
        labeled=numbers["LABELED"] != 0,
    )


def _check_count(values: Sequence[str], count: int, where: str) -> Sequence[str]:
    if len(values) != count:
        raise ValueError(
            f"{where}: expected {count} value(s) after the keyword, not {len(values)}."
        )
    return values
