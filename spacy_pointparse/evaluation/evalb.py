"""Count brackets by the rules of EVALB.

A bracket is a start, an end and a label, and brackets are counted as a multiset. Words
with a deleted tag (punctuation) are left out, and so are brackets with a deleted label
and those without any words left.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from spacy.scorer import PRFScore

from ..trees.structure import EMPTY_TAG, Constituent

FlatTree = tuple[
    Sequence[str], Sequence[str], Sequence[Constituent]
]  # words, tags, tree
Brackets = Counter[Constituent]
VALID, ERROR, SKIPPED = range(3)


@dataclass(frozen=True)
class EvalbParams:
    """The contents of an EVALB parameter file.

    deleted (FrozenSet[str]): Labels and tags to delete, the tags with their words.
        Empty elements (-NONE-) do not even count towards the length of a sentence.
    cutoff (int): Maximum length of the sentences in the second summary.
    equal (Mapping[str, str]): Labels to count as another label.
    quotes (FrozenSet[str]): Tags of quotation marks that are often confused. If the
        sentences would differ in length, a word that only one side deletes is restored
        if both of its tags are among these.
    separators (str): The characters that separate function tags from a label.
    cut_tags (bool): Cut function tags off part-of-speech tags as well.
    length_errors (bool): Count a sentence as an error if the lengths differ. If False,
        it is reported and counts as valid, with no brackets or words.
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
    """Look up a set of parameters.

    name (str): "collins", "nk" or "spmrl".
    RETURNS (EvalbParams): The parameters.
    RAISES (ValueError): If the name is unknown.
    """
    if name not in SETTINGS:
        choices = ", ".join(SETTINGS)
        raise ValueError(f"Unknown EVALB setting '{name}'. Choose from: {choices}.")
    return SETTINGS[name]


@dataclass(frozen=True)
class SentenceCounts:
    """One row of EVALB's table.

    length (int): Length of the gold sentence in words, without empty elements.
    status (int): VALID, ERROR (the words differ) or SKIPPED (no words are left).
    message (str): The error message of EVALB, if the words differ.
    matched (int), gold (int), test (int): Number of correct, gold and predicted
        brackets.
    crossing (int): Number of predicted brackets that cross a gold bracket.
    words (int), tags (int): Number of words that are left, and of correct tags.
    per_type (Mapping[str, PRFScore]): The scores by label.
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


def count_brackets(
    gold: FlatTree, pred: FlatTree, setting: EvalbParams
) -> SentenceCounts:
    """Compare two parses of a sentence.

    gold (FlatTree): The gold words, tags and constituents.
    pred (FlatTree): The predicted words, tags and constituents.
    setting (EvalbParams): The parameters.
    RETURNS (SentenceCounts): The counts, all zero if the words differ.
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


def _drop_empties(parse: FlatTree) -> FlatTree:
    return _keep_words(parse, [tag != EMPTY_TAG for tag in parse[1]])


def delete_words(
    gold: FlatTree, pred: FlatTree, setting: EvalbParams
) -> tuple[FlatTree, FlatTree]:
    """Delete the words with deleted tags from both parses.

    gold (FlatTree): The gold parse.
    pred (FlatTree): The predicted parse.
    setting (EvalbParams): The parameters.
    RETURNS (Tuple[FlatTree, FlatTree]): The gold and the predicted parse.
    """
    golds = [tag not in setting.deleted for tag in gold[1]]
    preds = [tag not in setting.deleted for tag in pred[1]]
    if sum(golds) != sum(preds):
        for i, tags in enumerate(zip(gold[1], pred[1])):
            if golds[i] != preds[i] and setting.quotes.issuperset(tags):
                golds[i] = preds[i] = True
    return _keep_words(gold, golds), _keep_words(pred, preds)


def _keep_words(parse: FlatTree, kept: Sequence[bool]) -> FlatTree:
    words, tags, constituents = parse
    return (
        [word for word, keep in zip(words, kept) if keep],
        [tag for tag, keep in zip(tags, kept) if keep],
        move_brackets(constituents, list(accumulate(kept, initial=0))),
    )


def move_brackets(
    constituents: Iterable[Constituent], places: Sequence[int]
) -> list[Constituent]:
    """Move constituents to new positions, and drop those that become empty.

    constituents (Iterable[Constituent]): The constituents.
    places (Sequence[int]): The new position of each old start or end.
    RETURNS (List[Constituent]): The moved constituents.
    """
    moved = [(places[start], places[end], label) for start, end, label in constituents]
    return [bracket for bracket in moved if bracket[0] < bracket[1]]


def find_mismatch(gold: Sequence[str], pred: Sequence[str]) -> str:
    """Compare the words of two parses.

    gold (Sequence[str]): The gold words.
    pred (Sequence[str]): The predicted words.
    RETURNS (str): The error message of EVALB; empty if the words match.
    """
    if len(gold) != len(pred):
        return f"Length unmatch ({len(gold)}|{len(pred)})"
    messages = (f"Words unmatch ({a}|{b})" for a, b in zip(gold, pred) if a != b)
    return next(messages, "")


def select_brackets(
    constituents: Iterable[Constituent], setting: EvalbParams
) -> Brackets:
    """Select the brackets that count, with the labels that they count as.

    constituents (Iterable[Constituent]): The constituents. Those with an empty label,
        which a root may have, never count.
    setting (EvalbParams): The parameters.
    RETURNS (Brackets): The brackets, as a multiset.
    """
    return Counter(
        (start, end, setting.equal.get(label, label))
        for start, end, label in constituents
        if label and label not in setting.deleted
    )


def count_crossing(gold: Brackets, pred: Brackets, size: int) -> int:
    """Count the predicted brackets that cross a gold bracket.

    gold (Brackets): The gold brackets.
    pred (Brackets): The predicted brackets.
    size (int): The length of the sentence.
    RETURNS (int): The number of crossing brackets.
    """
    # Only the longest gold bracket that starts or ends at a position matters.
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
    """Score brackets by label.

    gold (Brackets): The gold brackets.
    pred (Brackets): The predicted brackets.
    RETURNS (Dict[str, PRFScore]): The score of each label.
    """
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    for (_, _, label), count in (gold & pred).items():
        scores[label].tp += count
    for (_, _, label), count in (pred - gold).items():
        scores[label].fp += count
    for (_, _, label), count in (gold - pred).items():
        scores[label].fn += count
    return scores


def add_types(scores: Iterable[Mapping[str, PRFScore]]) -> dict[str, PRFScore]:
    """Add up scores by label.

    scores (Iterable[Mapping[str, PRFScore]]): The scores by label.
    RETURNS (Dict[str, PRFScore]): The total of each label, sorted by label.
    """
    totals: dict[str, PRFScore] = defaultdict(PRFScore)
    for score in scores:
        for label in score:
            totals[label] += score[label]
    return dict(sorted(totals.items()))


def summarize(rows: Sequence[SentenceCounts]) -> dict[str, float]:
    """Add up the counts of sentences. Sentences with errors and skipped ones are left
    out of all figures except their own.

    rows (Sequence[SentenceCounts]): The counts of each sentence.
    RETURNS (Dict[str, float]): Counts ("sentences", "errors", "skipped", "valid",
        "matched", "gold", "test", "crossing", "words", "tags"), the average number of
        crossing brackets ("average_crossing"), and percentages ("recall", "precision",
        "fscore", "complete", "no_crossing", "few_crossing", "tag_accuracy").
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
    """Divide, and return a percentage; 0 if there is nothing to divide by."""
    return 100 * part / whole if whole else 0.0
