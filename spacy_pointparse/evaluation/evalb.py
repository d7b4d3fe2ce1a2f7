"""Count brackets by EVALB's rules, and print its tables.

A bracket is a start, an end and a label, and brackets are counted as a multiset. Words
with a deleted tag (punctuation) are left out, and so are brackets that have a deleted
label or no word left. Files are compared sentence by sentence, word by word, as EVALB
does it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from spacy.scorer import PRFScore

from ..trees.structure import EMPTY_TAG, Constituent

Parse = tuple[Sequence[str], Sequence[str], Sequence[Constituent]]  # words, tags, ...
Brackets = Counter[Constituent]
VALID, ERROR, SKIPPED = range(3)


@dataclass(frozen=True)
class EvalbParams:
    """What EVALB reads from a parameter file.

    deleted (frozenset[str]): Labels and tags left out, the tags with their words.
        Empties (-NONE-) are not even counted in the length of a sentence.
    cutoff (int): The length up to which sentences have a summary of their own.
    equal (Mapping[str, str]): Labels that count as another one.
    quotes (frozenset[str]): Tags of mistaken quotes: where the two sides would differ
        in length, a word that only one of them deletes is put back if both its tags
        are among these.
    separators (str): The characters that part functions from a label.
    cut_tags (bool): Whether to cut functions off the tags, too.
    length_errors (bool): Whether a sentence that differs in length is an error. If not,
        it is reported and still counts as valid, with nothing in it.
    """

    deleted: frozenset[str]
    cutoff: int = 40
    equal: Mapping[str, str] = field(default_factory=dict)
    quotes: frozenset[str] = frozenset()
    separators: str = "-="
    cut_tags: bool = False
    length_errors: bool = True


COLLINS = EvalbParams(
    deleted=frozenset(["TOP", EMPTY_TAG, ",", ":", "``", "''", "."]),
    equal={"PRT": "ADVP"},
)
SETTINGS = {
    "collins": COLLINS,
    "nk": EvalbParams(
        deleted=COLLINS.deleted | {"S1", "?", "!"},
        equal=COLLINS.equal,
        quotes=frozenset(["``", "''", "POS", "NN", "CD", "VBZ", ":"]),
    ),
    "spmrl": EvalbParams(
        deleted=frozenset(["TOP", "ROOT", "S1", "VROOT", EMPTY_TAG]),
        cutoff=70,
        separators="-=#",
        cut_tags=True,
        length_errors=False,
    ),
}


def get_setting(name: str) -> EvalbParams:
    """Look up a setting.

    name (str): "collins", "nk" or "spmrl".
    RETURNS (EvalbParams): The setting.
    RAISES (ValueError): If there is none of that name.
    """
    if name not in SETTINGS:
        choices = ", ".join(SETTINGS)
        raise ValueError(f"Unknown EVALB setting '{name}'. Choose from: {choices}.")
    return SETTINGS[name]


@dataclass(frozen=True)
class SentenceCounts:
    """One row of EVALB's table.

    length (int): Words of the gold sentence, without empties.
    status (int): VALID, ERROR (the words differ) or SKIPPED (no word is left).
    message (str): What EVALB reports, if the words differ.
    matched (int), gold (int), test (int): Brackets right, in gold and predicted.
    crossing (int): Predicted brackets that cross a gold bracket.
    words (int), tags (int): Words left, and those of them with the right tag.
    per_type (Mapping[str, PRFScore]): The brackets by label.
    """

    length: int
    status: int = VALID
    message: str = ""
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    tags: int = 0
    per_type: Mapping[str, PRFScore] = field(default_factory=dict)


def count_brackets(gold: Parse, pred: Parse, setting: EvalbParams) -> SentenceCounts:
    """Compare two parses of a sentence.

    gold (Parse): Words, tags and constituents.
    pred (Parse): The same as predicted.
    setting (EvalbParams): The rules.
    RETURNS (SentenceCounts): The figures; all zero if the words differ.
    """
    gold, pred = _drop_empties(gold), _drop_empties(pred)
    length = len(gold[0])
    gold, pred = delete_words(gold, pred, setting)
    words = len(gold[0])
    if not pred[0]:
        return SentenceCounts(length, SKIPPED)
    if message := find_mismatch(gold[0], pred[0]):
        is_error = setting.length_errors or words == len(pred[0])
        return SentenceCounts(length, ERROR if is_error else VALID, message)
    golds, preds = select_brackets(gold[2], setting), select_brackets(pred[2], setting)
    return SentenceCounts(
        length,
        matched=(golds & preds).total(),
        gold=golds.total(),
        test=preds.total(),
        crossing=count_crossing(golds, preds, words),
        words=words,
        tags=sum(a == b for a, b in zip(gold[1], pred[1])),
        per_type=score_types(golds, preds),
    )


def _drop_empties(parse: Parse) -> Parse:
    return _keep_words(parse, [tag != EMPTY_TAG for tag in parse[1]])


def delete_words(gold: Parse, pred: Parse, setting: EvalbParams) -> tuple[Parse, Parse]:
    golds = [tag not in setting.deleted for tag in gold[1]]
    preds = [tag not in setting.deleted for tag in pred[1]]
    if sum(golds) != sum(preds):
        for i, tags in enumerate(zip(gold[1], pred[1])):
            if golds[i] != preds[i] and setting.quotes.issuperset(tags):
                golds[i] = preds[i] = True
    return _keep_words(gold, golds), _keep_words(pred, preds)


def _keep_words(parse: Parse, kept: Sequence[bool]) -> Parse:
    words, tags, constituents = parse
    return (
        [word for word, keep in zip(words, kept) if keep],
        [tag for tag, keep in zip(tags, kept) if keep],
        move_brackets(constituents, list(accumulate(kept, initial=0))),
    )


def move_brackets(
    constituents: Iterable[Constituent], places: Sequence[int]
) -> list[Constituent]:
    """Move constituents to new places. Those with nothing left in them are dropped."""
    moved = [(places[start], places[end], label) for start, end, label in constituents]
    return [bracket for bracket in moved if bracket[0] < bracket[1]]


def find_mismatch(gold: Sequence[str], pred: Sequence[str]) -> str:
    if len(gold) != len(pred):
        return f"Length unmatch ({len(gold)}|{len(pred)})"
    messages = (f"Words unmatch ({a}|{b})" for a, b in zip(gold, pred) if a != b)
    return next(messages, "")


def select_brackets(
    constituents: Iterable[Constituent], setting: EvalbParams
) -> Brackets:
    """The brackets that count, under the labels they count as. A root may have none."""
    return Counter(
        (start, end, setting.equal.get(label, label))
        for start, end, label in constituents
        if label and label not in setting.deleted
    )


def count_crossing(gold: Brackets, pred: Brackets, size: int) -> int:
    """Count the predicted brackets that cross some gold bracket. Of the gold brackets
    that start or end at a place, the longest is enough to know."""
    last_end, first_start = [0] * (size + 1), [size] * (size + 1)
    for start, end, _ in gold:
        last_end[start] = max(last_end[start], end)
        first_start[end] = min(first_start[end], start)
    return sum(
        count
        for (start, end, _), count in pred.items()
        if max(last_end[start + 1 : end], default=end) > end
        or min(first_start[start + 1 : end], default=start) < start
    )


def score_types(gold: Brackets, pred: Brackets) -> dict[str, PRFScore]:
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    for (_, _, label), count in (gold & pred).items():
        scores[label].tp += count
    for (_, _, label), count in (pred - gold).items():
        scores[label].fp += count
    for (_, _, label), count in (gold - pred).items():
        scores[label].fn += count
    return scores


def add_types(scores: Iterable[Mapping[str, PRFScore]]) -> dict[str, PRFScore]:
    """Add up scores by label, and order them by label."""
    totals: dict[str, PRFScore] = defaultdict(PRFScore)
    for score in scores:
        for label in score:
            totals[label] += score[label]
    return dict(sorted(totals.items()))


def summarize(rows: Sequence[SentenceCounts]) -> dict[str, float]:
    """Add up the figures of sentences. Error and skipped ones are counted as such, and
    left out of everything else.

    rows (Sequence[SentenceCounts]): The sentences.
    RETURNS (dict[str, float]): Counts ("sentences", "errors", "skipped", "valid",
        "matched", "gold", "test", "crossing", "words", "tags"), the average of crossing
        brackets ("average_crossing"), and percentages ("recall", "precision", "fscore",
        "complete", "no_crossing", "few_crossing", "tag_accuracy").
    """
    valid = [row for row in rows if row.status == VALID]
    names = ("matched", "gold", "test", "crossing", "words", "tags")
    sums = {name: sum(getattr(row, name) for row in valid) for name in names}
    recall = percent(sums["matched"], sums["gold"])
    precision = percent(sums["matched"], sums["test"])
    complete = sum(row.matched == row.gold == row.test for row in valid)
    return {
        "sentences": len(rows),
        "errors": sum(row.status == ERROR for row in rows),
        "skipped": sum(row.status == SKIPPED for row in rows),
        "valid": len(valid),
        **sums,
        "recall": recall,
        "precision": precision,
        "fscore": 2 * recall * precision / ((recall + precision) or 1),
        "complete": percent(complete, len(valid)),
        "average_crossing": sums["crossing"] / (len(valid) or 1),
        "no_crossing": percent(sum(r.crossing == 0 for r in valid), len(valid)),
        "few_crossing": percent(sum(r.crossing <= 2 for r in valid), len(valid)),
        "tag_accuracy": percent(sums["tags"], sums["words"]),
    }


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
