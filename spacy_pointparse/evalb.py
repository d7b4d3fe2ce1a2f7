"""Count brackets by EVALB's rules: the command's tables and the registered scorer.

A bracket is a start, an end and a label, and brackets are counted as a multiset. Words
with a deleted tag (punctuation) are left out, and so are brackets that have a deleted
label or no word left. Files are compared sentence by sentence, word by word, just as
EVALB does it. Docs are compared character by character, so that tokens, spaces and
sentences may differ, and the gold tags decide for both sides what is punctuation.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from nltk import Tree
from spacy.errors import Errors
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from .constituents import KEY, get_sentences
from .trees import EMPTY_TAG, Constituent, flatten_tree, parse_trees

Parse = tuple[Sequence[str], Sequence[str], Sequence[Constituent]]

VALID, ERROR, SKIPPED = range(3)
PUNCTUATION = frozenset([",", ":", "``", "''", "."])
SCORES = (
    *("spans_constituents_p", "spans_constituents_r", "spans_constituents_f"),
    *("spans_constituents_per_type", "constituents_complete", "constituents_crossing"),
    *("constituents_tag_acc", "constituents_rejected"),
)
HEADER = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy"""
RULE = "=" * 76


@dataclass(frozen=True)
class Setting:
    """What EVALB reads from a parameter file.

    deleted (frozenset[str]): Labels and tags left out, the tags with their words.
        Empties (-NONE-) are not even counted in a sentence's length.
    cutoff (int): The length in words up to which sentences have a summary of their own.
    equal (Mapping[str, str]): Labels that count as another one.
    quotes (frozenset[str]): Tags that tell of a mistaken quote: where the two sides
        differ in length, a word that one of them deletes is put back if both its tags
        are among these.
    separators (str): The characters that part functions from a label.
    cut_tags (bool): Whether to cut functions off the tags, too.
    length_errors (bool): Whether a sentence that differs in length is an error. The
        SPMRL scorer reports it and still counts it as valid, with nothing in it.
    """

    deleted: frozenset[str]
    cutoff: int = 40
    equal: Mapping[str, str] = MappingProxyType({"PRT": "ADVP"})
    quotes: frozenset[str] = frozenset()
    separators: str = "-="
    cut_tags: bool = False
    length_errors: bool = True

    def cut(self, label: str) -> str:
        """Cut the functions off a label: NP-SBJ to NP. One that begins with a separator
        (-LRB-) stays as it is."""
        if label[:1] in self.separators:
            return label
        return re.split(f"[{self.separators}]", label)[0]


SETTINGS = {
    "collins": Setting(PUNCTUATION | {"TOP", EMPTY_TAG}),
    "nk": Setting(
        PUNCTUATION | {"TOP", "S1", EMPTY_TAG, "?", "!"},
        quotes=frozenset(["``", "''", "POS", "NN", "CD", "VBZ", ":"]),
    ),
    "spmrl": Setting(
        frozenset(["TOP", "ROOT", "S1", "VROOT", EMPTY_TAG]),
        cutoff=70,
        equal=MappingProxyType({}),
        separators="-=#",
        cut_tags=True,
        length_errors=False,
    ),
}


def get_setting(name: str) -> Setting:
    """Look up a setting.

    name (str): "collins", "nk" or "spmrl".
    RETURNS (Setting): The setting.
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
    status (int): VALID, ERROR (the words differ) or SKIPPED (none are left).
    message (str | None): What EVALB reports of an error.
    matched (int), gold (int), test (int): Brackets right, in gold and predicted.
    crossing (int): Predicted brackets that cross a gold bracket.
    words (int), tags (int): Words left, and those of them with the right tag.
    per_type (Mapping[str, PRFScore]): The brackets by label.
    """

    length: int
    status: int = VALID
    message: str | None = None
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    tags: int = 0
    per_type: Mapping[str, PRFScore] = field(default_factory=dict)


def count_brackets(gold: Parse, pred: Parse, setting: Setting) -> SentenceCounts:
    """Compare two parses of a sentence.

    gold (Parse): Words, tags and constituents.
    pred (Parse): The same as predicted.
    setting (Setting): The rules.
    RETURNS (SentenceCounts): The figures; all zero if the words differ.
    """
    gold, pred = _drop_empties(gold), _drop_empties(pred)
    length = len(gold[0])
    gold, pred = _delete_words(gold, pred, setting)
    if not pred[0]:
        return SentenceCounts(length, SKIPPED)
    if message := _find_mismatch(gold[0], pred[0]):
        is_error = setting.length_errors or len(gold[0]) == len(pred[0])
        return SentenceCounts(length, ERROR if is_error else VALID, message)
    n_words = len(gold[0])
    brackets = _select(gold[2], setting), _select(pred[2], setting)
    return SentenceCounts(
        length,
        matched=(brackets[0] & brackets[1]).total(),
        gold=brackets[0].total(),
        test=brackets[1].total(),
        crossing=_count_crossing(*brackets, n_words),
        words=n_words,
        tags=sum(a == b for a, b in zip(gold[1], pred[1])),
        per_type=_score_labels(*brackets),
    )


def _drop_empties(parse: Parse) -> Parse:
    return _keep_words(parse, [tag != EMPTY_TAG for tag in parse[1]])


def _keep_words(parse: Parse, kept: Sequence[bool]) -> Parse:
    words, tags, constituents = parse
    return (
        [word for word, keep in zip(words, kept) if keep],
        [tag for tag, keep in zip(tags, kept) if keep],
        _move(constituents, list(accumulate(kept, initial=0))),
    )


def _move(
    constituents: Iterable[Constituent], places: Sequence[int]
) -> list[Constituent]:
    """Move constituents to new places; those with nothing left in them are dropped."""
    moved = [(places[start], places[end], label) for start, end, label in constituents]
    return [bracket for bracket in moved if bracket[0] < bracket[1]]


def _delete_words(gold: Parse, pred: Parse, setting: Setting) -> tuple[Parse, Parse]:
    kept_gold = [tag not in setting.deleted for tag in gold[1]]
    kept_pred = [tag not in setting.deleted for tag in pred[1]]
    if sum(kept_gold) != sum(kept_pred) and len(kept_gold) == len(kept_pred):
        for i, tags in enumerate(zip(gold[1], pred[1])):
            if kept_gold[i] != kept_pred[i] and setting.quotes.issuperset(tags):
                kept_gold[i] = kept_pred[i] = True
    return _keep_words(gold, kept_gold), _keep_words(pred, kept_pred)


def _find_mismatch(gold: Sequence[str], pred: Sequence[str]) -> str | None:
    if len(gold) != len(pred):
        return f"Length unmatch ({len(gold)}|{len(pred)})"
    differing = (f"Words unmatch ({a}|{b})" for a, b in zip(gold, pred) if a != b)
    return next(differing, None)


def _select(
    constituents: Iterable[Constituent], setting: Setting
) -> Counter[Constituent]:
    """The brackets that count, under the labels they count as."""
    equal, deleted = setting.equal, setting.deleted
    return Counter(
        (start, end, equal.get(label, label))
        for start, end, label in constituents
        if label not in deleted
    )


def _count_crossing(
    gold: Counter[Constituent], pred: Counter[Constituent], size: int
) -> int:
    """Count the predicted brackets that cross some gold bracket. For each place we need
    only the longest gold brackets that start and that end there."""
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


def _score_labels(
    gold: Counter[Constituent], pred: Counter[Constituent]
) -> dict[str, PRFScore]:
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    for (_, _, label), count in (gold & pred).items():
        scores[label].tp += count
    for (_, _, label), count in (pred - gold).items():
        scores[label].fp += count
    for (_, _, label), count in (gold - pred).items():
        scores[label].fn += count
    return dict(scores)


@dataclass(frozen=True)
class Summary:
    """Figures over many sentences: counts, and percentages but for the average of
    crossing brackets. Error and skipped sentences count in the first three only."""

    sentences: int
    errors: int
    skipped: int
    valid: int
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    tags: int
    recall: float
    precision: float
    fscore: float
    complete: float
    average_crossing: float
    no_crossing: float
    few_crossing: float
    tag_accuracy: float


def summarize(rows: Sequence[SentenceCounts]) -> Summary:
    """Add up the figures of sentences.

    rows (Sequence[SentenceCounts]): The sentences.
    RETURNS (Summary): The figures over all of them.
    """
    valid = [row for row in rows if row.status == VALID]
    names = ("matched", "gold", "test", "crossing", "words", "tags")
    sums = {name: sum(getattr(row, name) for row in valid) for name in names}
    recall = _get_percentage(sums["matched"], sums["gold"])
    precision = _get_percentage(sums["matched"], sums["test"])
    complete = sum(row.matched == row.gold == row.test for row in valid)
    return Summary(
        sentences=len(rows),
        errors=sum(row.status == ERROR for row in rows),
        skipped=sum(row.status == SKIPPED for row in rows),
        valid=len(valid),
        **sums,
        recall=recall,
        precision=precision,
        fscore=2 * recall * precision / (recall + precision or 1),
        complete=_get_percentage(complete, len(valid)),
        average_crossing=sums["crossing"] / (len(valid) or 1),
        no_crossing=_get_percentage(sum(r.crossing == 0 for r in valid), len(valid)),
        few_crossing=_get_percentage(sum(r.crossing <= 2 for r in valid), len(valid)),
        tag_accuracy=_get_percentage(sums["tags"], sums["words"]),
    )


def _get_percentage(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


SUMMARY = """\
Number of sentence        = {0.sentences:6}
Number of Error sentence  = {0.errors:6}
Number of Skip  sentence  = {0.skipped:6}
Number of Valid sentence  = {0.valid:6}
Bracketing Recall         = {0.recall:6.2f}
Bracketing Precision      = {0.precision:6.2f}
Bracketing FMeasure       = {0.fscore:6.2f}
Complete match            = {0.complete:6.2f}
Average crossing          = {0.average_crossing:6.2f}
No crossing               = {0.no_crossing:6.2f}
2 or less crossing        = {0.few_crossing:6.2f}
Tagging accuracy          = {0.tag_accuracy:6.2f}"""


@dataclass(frozen=True)
class Report:
    """What comes out of comparing two treebanks.

    rows (Sequence[SentenceCounts]): The figures of each sentence.
    cutoff (int): The length of the longest sentence in the summary of short ones.
    """

    rows: Sequence[SentenceCounts]
    cutoff: int

    @property
    def total(self) -> Summary:
        """The figures over all sentences."""
        return summarize(self.rows)

    @property
    def short(self) -> Summary:
        """The figures over the sentences up to the cut-off length."""
        return summarize([row for row in self.rows if row.length <= self.cutoff])

    @property
    def per_type(self) -> dict[str, PRFScore]:
        """The brackets of all valid sentences by label, the labels in order."""
        scores: dict[str, PRFScore] = defaultdict(PRFScore)
        _add_scores(scores, (row.per_type for row in self.rows))
        return dict(sorted(scores.items()))

    def table(self) -> str:
        """Print the figures the way EVALB does.

        RETURNS (str): Messages, one row a sentence, totals and both summaries.
        """
        numbered = list(enumerate(self.rows, start=1))
        total = self.total
        lines = [f"{i} : {row.message}" for i, row in numbered if row.message]
        lines += [HEADER, RULE, *(_format_row(i, row) for i, row in numbered), RULE]
        lines += [_format_total(total), "=== Summary ===", ""]
        lines += ["-- All --", SUMMARY.format(total), ""]
        lines += [f"-- len<={self.cutoff} --", SUMMARY.format(self.short), ""]
        return "\n".join(lines)


def _add_scores(
    scores: dict[str, PRFScore], others: Iterable[Mapping[str, PRFScore]]
) -> None:
    for other in others:
        for label, score in other.items():
            scores[label] += score


def _format_row(i: int, row: SentenceCounts) -> str:
    recall = _get_percentage(row.matched, row.gold)
    precision = _get_percentage(row.matched, row.test)
    accuracy = _get_percentage(row.tags, row.words)
    return (
        f"{i:4}  {row.length:3}    {row.status}  {recall:6.2f} {precision:6.2f}"
        f"   {row.matched:3}    {row.gold:3}  {row.test:3}    {row.crossing:3}"
        f"   {row.words:4}  {row.tags:4}   {accuracy:6.2f}"
    )


def _format_total(total: Summary) -> str:
    return (
        f"{total.recall:22.2f} {total.precision:6.2f}"
        f"  {total.matched:5} {total.gold:5} {total.test:5}  {total.crossing:5}"
        f"  {total.words:5} {total.tags:5}   {total.tag_accuracy:6.2f}"
    )


def evaluate_trees(
    gold: Iterable[Tree], pred: Iterable[Tree], setting: str = "collins"
) -> Report:
    """Compare trees as they were read: functions are cut off the labels here, and what
    else is left out depends on the setting.

    gold (Iterable[Tree]): The gold trees.
    pred (Iterable[Tree]): The predicted trees of the same sentences.
    setting (str): The name of a setting.
    RETURNS (Report): The figures.
    RAISES (ValueError): If the numbers of trees differ, or without such a setting.
    """
    rules = get_setting(setting)
    golds = [_flatten(tree, rules) for tree in gold]
    preds = [_flatten(tree, rules) for tree in pred]
    if len(golds) != len(preds):
        raise ValueError(
            f"Cannot compare {len(golds)} gold trees with {len(preds)} predicted "
            "trees: give one predicted tree for each gold tree, in the same order."
        )
    rows = [count_brackets(*pair, rules) for pair in zip(golds, preds)]
    return Report(rows, rules.cutoff)


def _flatten(tree: Tree, setting: Setting) -> Parse:
    """Take a tree apart. An unlabelled root is no bracket."""
    words, tags, constituents = flatten_tree(tree)
    if setting.cut_tags:
        tags = [setting.cut(tag) for tag in tags]
    cut = ((start, end, setting.cut(label)) for start, end, label in constituents)
    return words, tags, [bracket for bracket in cut if bracket[2]]


def evaluate_files(
    gold: str | Path, pred: str | Path, setting: str = "collins"
) -> Report:
    """Compare two files of bracketed trees.

    The trees are taken as they stand, as EVALB takes them: empties and functions are
    left out by EVALB's rules (see `Setting`), and words are compared as written.

    gold (str | Path): The file of gold trees.
    pred (str | Path): The file of predicted trees.
    setting (str): The name of a setting: "collins", "nk" or "spmrl".
    RETURNS (Report): The figures.
    RAISES (ValueError): If the numbers of trees differ, or without such a setting.
    """
    with open(gold, encoding="utf-8") as golds, open(pred, encoding="utf-8") as preds:
        return evaluate_trees(
            parse_trees(golds, str(gold)), parse_trees(preds, str(pred)), setting
        )


def make_constituents_scorer(setting: str = "collins") -> Callable[..., dict[str, Any]]:
    """Make the registered scorer `spacy-pointparse.constituents_scorer.v1`.

    setting (str): The name of a setting: "collins", "nk" or "spmrl".
    RETURNS (Callable): `constituents_score` under that setting.
    """
    get_setting(setting)
    return partial(constituents_score, setting=setting)


def constituents_score(
    examples: Iterable[Example], *, setting: str = "collins", **kwargs: Any
) -> dict[str, Any]:
    """Score the parses of Docs against gold.

    examples (Iterable[Example]): References without a parse are left out.
    setting (str): The name of a setting.
    RETURNS (dict[str, Any]): Precision, recall and F-score over all brackets and by
        label, from 0 to 1; the share of gold sentences with all brackets right; crossing
        brackets a gold sentence; tag accuracy over the tokens that both sides have and
        that are no punctuation; and the number of gold sentences that EVALB itself
        would report as an error, since the words left by each side's own tags differ.
        All None without gold parses, the last two also without gold tags.
    RAISES (ValueError): If reference and predicted differ in more than white space.
    """
    rules = get_setting(setting)
    counts: Counter[str] = Counter()
    per_type: dict[str, PRFScore] = defaultdict(PRFScore)
    for example in examples:
        if KEY in example.reference.spans:
            counts.update(_count_example(example, rules, per_type))
    if not counts["docs"]:
        return dict.fromkeys(SCORES)
    total = sum(per_type.values(), PRFScore())
    return {
        "spans_constituents_p": total.precision,
        "spans_constituents_r": total.recall,
        "spans_constituents_f": total.fscore,
        "spans_constituents_per_type": {
            label: score.to_dict() for label, score in sorted(per_type.items())
        },
        "constituents_complete": _divide(counts["complete"], counts["sentences"]),
        "constituents_crossing": _divide(counts["crossing"], counts["sentences"]),
        "constituents_tag_acc": _divide(counts["tags"], counts["tokens"]),
        "constituents_rejected": counts["rejected"] if counts["tagged"] else None,
    }


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class _Text(NamedTuple):
    """A Doc as characters without white space.

    words (list[str]): The tokens' characters.
    tags (list[str]): The tokens' tags.
    places (list[int]): How many characters lie before each token, and in all.
    constituents (list[Constituent]): The brackets over characters.
    """

    words: list[str]
    tags: list[str]
    places: list[int]
    constituents: list[Constituent]

    def get_tokens(self, start: int, end: int) -> Parse:
        """The words and tags between two characters."""
        inside = slice(bisect_left(self.places, start), bisect_left(self.places, end))
        tokens = list(zip(self.words[inside], self.tags[inside]))
        return [w for w, _ in tokens if w], [tag for w, tag in tokens if w], []


def _read_doc(doc: Doc) -> _Text:
    words = ["".join(token.text.split()) for token in doc]
    places = list(accumulate(map(len, words), initial=0))
    group = doc.spans[KEY] if KEY in doc.spans else []
    spans = [(span.start, span.end, span.label_) for span in group]
    return _Text(words, [token.tag_ for token in doc], places, _move(spans, places))


def _count_example(
    example: Example, setting: Setting, per_type: dict[str, PRFScore]
) -> dict[str, int]:
    """Count everything in one example; the brackets are added to `per_type`."""
    gold, pred = _read_doc(example.reference), _read_doc(example.predicted)
    if "".join(gold.words) != "".join(pred.words):
        raise ValueError(Errors.E949.format(x=pred.words[:10], y=gold.words[:10]))
    is_kept = [
        tag not in setting.deleted
        for word, tag in zip(gold.words, gold.tags)
        for _ in word
    ]
    places = list(accumulate(is_kept, initial=0))
    gold_brackets = _select(_move(gold.constituents, places), setting)
    pred_brackets = _select(_move(pred.constituents, places), setting)
    _add_scores(per_type, [_score_labels(gold_brackets, pred_brackets)])

    sents = [
        (gold.places[sent.start], gold.places[sent.end])
        for sent in get_sentences(example.reference)
    ]
    starts = [start for start, _, _ in _move(((*sent, "") for sent in sents), places)]
    differing = (gold_brackets - pred_brackets) + (pred_brackets - gold_brackets)
    wrong = {bisect_right(starts, start) for start, _, _ in differing}
    return {
        "docs": 1,
        "sentences": len(starts),
        "complete": len(starts) - len(wrong),
        "crossing": _count_crossing(gold_brackets, pred_brackets, places[-1]),
        **_count_tags(gold, pred, sents, setting),
    }


def _count_tags(
    gold: _Text, pred: _Text, sents: Iterable[tuple[int, int]], setting: Setting
) -> dict[str, int]:
    """Count what needs gold tags: nothing, where there are none."""
    if not any(gold.tags):
        return {}
    predicted = dict(zip(zip(pred.places, pred.places[1:]), pred.tags))
    pairs = [
        (tag, predicted[place])
        for word, tag, *place in zip(
            gold.words, gold.tags, gold.places, gold.places[1:]
        )
        if word and tag and tag not in setting.deleted and tuple(place) in predicted
    ]
    left = [
        _delete_words(gold.get_tokens(*sent), pred.get_tokens(*sent), setting)
        for sent in sents
    ]
    return {
        "tagged": 1,
        "tokens": len(pairs),
        "tags": sum(a == b for a, b in pairs),
        "rejected": sum(_find_mismatch(a[0], b[0]) is not None for a, b in left),
    }
