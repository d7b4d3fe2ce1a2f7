"""Compare files of trees, and print the tables of EVALB."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.scorer import PRFScore

from ..trees.reader import parse_trees, read_lines
from ..trees.structure import EMPTY_TAG, flatten_tree
from .evalb import (
    EvalbParams,
    FlatTree,
    SentenceCounts,
    add_types,
    count_brackets,
    get_setting,
    percent,
    summarize,
)

# A line with a tree without words, as for a sentence that a parser failed on.
_FAILED = re.compile(r"^\s*\(\s*(\(\s*\))?\s*\)\s*$")
RULE = "=" * 76
HEADER = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{RULE}"""
SUMMARY = """\
Number of sentence        = {sentences:6}
Number of Error sentence  = {errors:6}
Number of Skip  sentence  = {skipped:6}
Number of Valid sentence  = {valid:6}
Bracketing Recall         = {recall:6.2f}
Bracketing Precision      = {precision:6.2f}
Bracketing FMeasure       = {fscore:6.2f}
Complete match            = {complete:6.2f}
Average crossing          = {average_crossing:6.2f}
No crossing               = {no_crossing:6.2f}
2 or less crossing        = {few_crossing:6.2f}
Tagging accuracy          = {tag_accuracy:6.2f}
"""


@dataclass(frozen=True)
class Report:
    """The result of comparing two treebanks.

    rows (Sequence[SentenceCounts]): The counts of each sentence.
    cutoff (int): Maximum length of the sentences in the second summary.
    """

    rows: Sequence[SentenceCounts]
    cutoff: int

    @property
    def total(self) -> dict[str, float]:
        """The figures for all sentences, see `summarize`."""
        return summarize(self.rows)

    @property
    def short(self) -> dict[str, float]:
        """The figures for the sentences up to the cutoff length."""
        return summarize([row for row in self.rows if row.length <= self.cutoff])

    @property
    def per_type(self) -> dict[str, PRFScore]:
        """The scores by label, sorted by label."""
        return add_types(row.per_type for row in self.rows)

    def table(self) -> str:
        """Format the figures as EVALB does.

        RETURNS (str): Messages, a row for each sentence, totals and two summaries.
        """
        rows = list(enumerate(self.rows, start=1))
        lines = [f"{i} : {row.message}" for i, row in rows if row.message]
        lines += [HEADER, *(_format_row(i, row) for i, row in rows), RULE]
        lines += [_format_total(self.total), "=== Summary ===\n"]
        lines += ["-- All --", SUMMARY.format_map(self.total)]
        lines += [f"-- len<={self.cutoff} --", SUMMARY.format_map(self.short)]
        return "\n".join(lines)


def _format_row(i: int, row: SentenceCounts) -> str:
    recall = percent(row.matched, row.gold)
    precision = percent(row.matched, row.test)
    accuracy = percent(row.tags, row.words)
    return (
        f"{i:4}  {row.length:3}    {row.status}  {recall:6.2f} {precision:6.2f}"
        f"   {row.matched:3}    {row.gold:3}  {row.test:3}    {row.crossing:3}"
        f"   {row.words:4}  {row.tags:4}   {accuracy:6.2f}"
    )


def _format_total(total: dict[str, float]) -> str:
    return (
        "{recall:22.2f} {precision:6.2f}  {matched:5} {gold:5} {test:5}  {crossing:5}"
        "  {words:5} {tags:5}   {tag_accuracy:6.2f}".format_map(total)
    )


def evaluate_files(
    gold: str | Path, pred: str | Path, setting: str = "collins"
) -> Report:
    """Compare two files of bracketed trees as EVALB does. Empty elements are left out,
    words are compared as written, and function tags are cut off labels (NP-SBJ, NP=2),
    except off those that begin with a separator (-LRB-). A line of empty brackets
    counts as a failed parse.

    gold (Union[str, Path]): The file of gold trees.
    pred (Union[str, Path]): The file of predicted trees for the same sentences.
    setting (str): The EVALB parameters: "collins", "nk" or "spmrl".
    RETURNS (Report): The figures.
    RAISES (ValueError): If the numbers of trees differ, or the setting is unknown.
    """
    rules = get_setting(setting)
    golds, preds = _read_parses(gold, rules), _read_parses(pred, rules)
    if len(golds) != len(preds):
        raise ValueError(
            f"Cannot compare {len(golds)} gold trees ({gold}) with {len(preds)} "
            f"predicted trees ({pred}). Each gold tree needs one predicted tree."
        )
    rows = [count_brackets(*pair, rules) for pair in zip(golds, preds)]
    return Report(rows, rules.cutoff)


def _read_parses(path: str | Path, setting: EvalbParams) -> list[FlatTree]:
    parses: list[FlatTree] = []
    lines = (_FAILED.sub(f"({EMPTY_TAG} *)", line) for line in read_lines(path))
    for tree in parse_trees(lines, str(path)):
        words, tags, brackets = flatten_tree(tree)
        if setting.cut_tags:
            tags = [_cut(tag, setting.separators) for tag in tags]
        cut = [(i, j, _cut(label, setting.separators)) for i, j, label in brackets]
        parses.append((words, tags, cut))
    return parses


def _cut(label: str, separators: str) -> str:
    if label[:1] in separators:
        return label
    return re.split(f"[{separators}]", label)[0]
