"""Compare files of trees, and print the tables of EVALB."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.scorer import PRFScore

from ..trees.reader import parse_chunk, parse_trees, read_lines
from ..trees.structure import EMPTY_TAG, flatten_trees
from .evalb import (
    FlatTree,
    SentenceCounts,
    add_types,
    count_brackets,
    percent,
    summarize,
)
from .params import get_setting

# Nothing, or brackets without a word, as for a sentence that a parser failed on.
_FAILED = re.compile(r"[\s(]*(TOP|ROOT|S1|VROOT)?[\s)]*")
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
    brackets = (
        "{recall:22.2f} {precision:6.2f}  {matched:5} {gold:5} {test:5}  {crossing:5}"
    )
    words = "  {words:5} {tags:5}   {tag_accuracy:6.2f}"
    line = brackets + words if total["gold"] and total["test"] else words
    return line.format_map(total)


def evaluate_files(
    gold: str | Path, pred: str | Path, setting: str = "collins"
) -> Report:
    """Compare two files of bracketed trees as EVALB does: line by line. A blank line,
    and one of empty brackets, is a parse that failed; all brackets of a line are one
    sentence. If trees span several lines, each tree of the file is a sentence instead,
    and blank lines do not count. Words are compared as written, and function tags are
    cut off labels (NP-SBJ, NP=2).

    gold (Union[str, Path]): The file of gold trees.
    pred (Union[str, Path]): The file of predicted trees for the same sentences.
    setting (str): The EVALB parameters: "collins", "nk", "spmrl" or the path of a
        parameter file.
    RETURNS (Report): The figures.
    RAISES (TreebankError): If a tree is faulty.
    RAISES (ValueError): If the numbers of sentences differ, or the setting is unknown.
    """
    rules = get_setting(str(setting))
    golds, preds = _read_parses(gold), _read_parses(pred)
    shorter = min(len(golds), len(preds))
    if any(parse[0] for parse in [*golds[shorter:], *preds[shorter:]]):
        raise ValueError(
            f"Cannot compare {len(golds)} gold trees ({gold}) with {len(preds)} "
            f"predicted trees ({pred}). Each gold tree needs one predicted tree, or a "
            "blank line."
        )
    rows = [count_brackets(*pair, rules) for pair in zip(golds, preds)]
    return Report(rows, rules.cutoff)


def _read_parses(path: str | Path) -> list[FlatTree]:
    lines = [line.lstrip("\ufeff") for line in read_lines(path)]
    if not all(map(_is_balanced, lines)):
        lines = [
            f"({EMPTY_TAG} *)" if "(" in line and _is_failed(line) else line
            for line in lines
        ]
        return [flatten_trees([tree]) for tree in parse_trees(lines, str(path))]
    return [
        flatten_trees([] if _is_failed(line) else parse_chunk([(i, line)], str(path)))
        for i, line in enumerate(lines, start=1)
    ]


def _is_balanced(line: str) -> bool:
    return line.count("(") == line.count(")")


def _is_failed(line: str) -> bool:
    return _is_balanced(line) and _FAILED.fullmatch(line) is not None
