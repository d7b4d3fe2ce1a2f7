"""Count brackets by the rules of EVALB.

A bracket is a start, an end and a label, and brackets are counted as a multiset. Words
with a deleted tag (punctuation) are left out, and so are brackets with a deleted label
and those without any words left.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from operator import itemgetter

from spacy.scorer import PRFScore

from ..trees.structure import Constituent
from .params import EvalbParams

FlatTree = tuple[
    Sequence[str], Sequence[str], Sequence[Constituent]
]  # words, tags, tree
VALID, ERROR, SKIPPED = range(3)
# The words that EVALB takes for quotation marks.
_QUOTES = frozenset(["'", '"', "/"])


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
    length = sum(tag not in setting.uncounted for tag in gold[1])
    if all(tag in setting.deleted for tag in pred[1]):
        return SentenceCounts(length, SKIPPED)
    gold, pred = delete_words(gold, pred, setting)
    words = len(gold[0])
    if message := find_mismatch(gold[0], pred[0], setting):
        is_error = setting.length_errors or words == len(pred[0])
        return SentenceCounts(length, ERROR if is_error else VALID, message)
    golds, preds = select_brackets(gold[2], setting), select_brackets(pred[2], setting)
    matches = match_brackets(golds, preds, setting)
    return SentenceCounts(
        length,
        matched=len(matches),
        gold=len(golds),
        test=len(preds),
        crossing=count_crossing(golds, preds, words),
        words=words,
        tags=sum(map(setting.tags_match, gold[1], pred[1])),
        per_type=score_types(golds, preds, matches, setting),
    )


def delete_words(
    gold: FlatTree, pred: FlatTree, setting: EvalbParams
) -> tuple[FlatTree, FlatTree]:
    """Delete the words with deleted tags from both parses.

    gold (FlatTree): The gold parse.
    pred (FlatTree): The predicted parse.
    setting (EvalbParams): The parameters.
    RETURNS (Tuple[FlatTree, FlatTree]): The gold and the predicted parse.
    """
    golds = [int(tag not in setting.deleted) for tag in gold[1]]
    preds = [int(tag not in setting.deleted) for tag in pred[1]]
    if sum(golds) != sum(preds):
        _restore_quotes(gold, pred, golds, preds, setting)
    return _keep_words(gold, golds), _keep_words(pred, preds)


def _restore_quotes(
    gold: FlatTree,
    pred: FlatTree,
    golds: list[int],
    preds: list[int],
    setting: EvalbParams,
) -> None:
    """Restore quotation marks that only one side deletes, as EVALB does: it compares
    their positions among the words that are left.

    golds (List[int]): How often each gold word is kept. Modified.
    preds (List[int]): How often each predicted word is kept. Modified.
    """
    gold_quotes = _list_quotes(gold, golds, setting)
    pred_quotes = _list_quotes(pred, preds, setting)
    for i, (place, pred_word) in enumerate(pred_quotes):
        for j, (gold_place, gold_word) in enumerate(gold_quotes):
            if gold_place != place:
                continue
            gold_deleted = gold[1][gold_word] in setting.deleted
            pred_deleted = pred[1][pred_word] in setting.deleted
            if gold_deleted and not pred_deleted:
                golds[gold_word] += 1
                _move(gold_quotes, j)
            elif pred_deleted and not gold_deleted:
                preds[pred_word] += 1
                _move(pred_quotes, i)


def _list_quotes(
    parse: FlatTree, kept: Sequence[int], setting: EvalbParams
) -> list[tuple[int, int]]:
    """List quotation marks: the number of words kept before each, and its index."""
    places = accumulate(kept, initial=0)
    return [
        (place, i)
        for i, (place, word, tag) in enumerate(zip(places, parse[0], parse[1]))
        if word in _QUOTES and tag in setting.quotes
    ]


def _move(quotes: list[tuple[int, int]], first: int) -> None:
    quotes[first:] = [(place + 1, i) for place, i in quotes[first:]]


def _keep_words(parse: FlatTree, kept: Sequence[int]) -> FlatTree:
    words, tags, constituents = parse
    return (
        [word for word, count in zip(words, kept) for word in repeat(word, count)],
        [tag for tag, count in zip(tags, kept) for tag in repeat(tag, count)],
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


def find_mismatch(
    gold: Sequence[str], pred: Sequence[str], setting: EvalbParams
) -> str:
    """Compare the words of two parses.

    gold (Sequence[str]): The gold words.
    pred (Sequence[str]): The predicted words.
    setting (EvalbParams): The parameters.
    RETURNS (str): The error message of EVALB; empty if the words match.
    """
    if len(gold) != len(pred):
        return f"Length unmatch ({len(gold)}|{len(pred)})"
    pairs = zip(gold, pred)
    wrong = (pair for pair in pairs if not setting.words_match(*pair))
    return next((f"Words unmatch ({a}|{b})" for a, b in wrong), "")


def select_brackets(
    constituents: Iterable[Constituent], setting: EvalbParams
) -> list[Constituent]:
    """Select the brackets that count, without the function tags of their labels.

    constituents (Iterable[Constituent]): The constituents.
    setting (EvalbParams): The parameters.
    RETURNS (List[Constituent]): The brackets.
    """
    cut = ((i, j, setting.cut_label(label)) for i, j, label in constituents)
    return [bracket for bracket in cut if not setting.deletes(bracket[2])]


def match_brackets(
    gold: Sequence[Constituent], pred: Sequence[Constituent], setting: EvalbParams
) -> dict[int, int]:
    """Match each gold bracket with the first predicted one that is left.

    gold (Sequence[Constituent]): The gold brackets that count.
    pred (Sequence[Constituent]): The predicted brackets that count.
    setting (EvalbParams): The parameters.
    RETURNS (Dict[int, int]): The indices of the gold brackets that were found, and of
        the predicted brackets.
    """
    unmatched: dict[Constituent, deque[int]] = defaultdict(deque)
    for j, (start, end, label) in enumerate(pred):
        unmatched[start, end, label if setting.labeled else ""].append(j)
    matches: dict[int, int] = {}
    for i, (start, end, label) in enumerate(gold):
        labels = [label, *setting.equals.get(label, ())] if setting.labeled else [""]
        found = [unmatched.get((start, end, label)) for label in labels]
        if queues := [queue for queue in found if queue]:
            matches[i] = min(queues, key=itemgetter(0)).popleft()
    return matches


def count_crossing(
    gold: Iterable[Constituent], pred: Iterable[Constituent], size: int
) -> int:
    """Count the predicted brackets that cross a gold bracket.

    gold (Iterable[Constituent]): The gold brackets that count.
    pred (Iterable[Constituent]): The predicted brackets that count.
    size (int): The length of the sentence.
    RETURNS (int): The number of crossing brackets.
    """
    # Only the longest gold bracket that starts or ends at a position matters.
    last_end, first_start = [0] * (size + 1), [size] * (size + 1)
    for start, end, _ in gold:
        last_end[start] = max(last_end[start], end)
        first_start[end] = min(first_start[end], start)
    return sum(
        1
        for start, end, _ in pred
        if max(last_end[start + 1 : end], default=end) > end
        or min(first_start[start + 1 : end], default=start) < start
    )


def score_types(
    gold: Sequence[Constituent],
    pred: Sequence[Constituent],
    matches: Mapping[int, int],
    setting: EvalbParams,
) -> dict[str, PRFScore]:
    """Score brackets by label.

    gold (Sequence[Constituent]): The gold brackets that count.
    pred (Sequence[Constituent]): The predicted brackets that count.
    matches (Mapping[int, int]): The result of `match_brackets`.
    setting (EvalbParams): The parameters.
    RETURNS (Dict[str, PRFScore]): The score of each label. Labels that match each other
        are scored together.
    """
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    found = set(matches.values())
    for i, (_, _, label) in enumerate(gold):
        score = scores[setting.names.get(label, label)]
        score.tp += i in matches
        score.fn += i not in matches
    for j, (_, _, label) in enumerate(pred):
        if j not in found:
            scores[setting.names.get(label, label)].fp += 1
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
