"""Try what should hold whatever comes in on as many cases as asked for, 100,000 say, or
some properties only.

    python benchmarks/properties.py 100000
    python benchmarks/properties.py 1000 file_is_trees_or_named_faults

The properties are those of the tests, in `tests/properties.py`, and the cases are made
by hypothesis, from `tests/strategies.py`. Cases that differ are counted, and those on
which a property fails, of which the shortest is shown.
"""

import sys
import time
from pathlib import Path
from typing import NamedTuple

import spacy
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from spacy.language import Language

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from properties import PROPERTIES, Property

# Hypothesis keeps in memory what it has drawn, so it begins anew after so many cases.
ROUND = 500


class Row(NamedTuple):
    """What came of trying a property.

    cases (int): Cases tried.
    distinct (int): How many of them differ.
    failures (List[Tuple[str, str]]): Cases on which it failed, and how.
    seconds (float): Time of the processor.
    """

    cases: int
    distinct: int
    failures: list[tuple[str, str]]
    seconds: float


def measure(nlp: Language, prop: Property, count: int) -> Row:
    seen: set[int] = set()
    failures = []
    cases = 0
    start = time.process_time()

    def check(case: object) -> None:
        nonlocal cases
        cases += 1
        seen.add(hash(repr(case)))
        try:
            prop.check(nlp, case)
        except Exception as error:
            failures.append((repr(case), f"{type(error).__name__}: {error}"))

    for number, first in enumerate(range(0, count, ROUND)):
        limits = settings(
            max_examples=min(ROUND, count - first),
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        seed(number)(limits(given(prop.cases)(check)))()
    return Row(cases, len(seen), failures, time.process_time() - start)


def main(count: int, names: list[str]) -> int:
    torch.set_num_threads(1)
    nlp = spacy.load("en_pointparse_sm")
    chosen = {name: PROPERTIES[name] for name in names or PROPERTIES}
    shares = sum(prop.share for prop in chosen.values())
    rows = []
    print(f"| {'property':<35} | cases | differ | failures | seconds |")
    print("|---|---|---|---|---|")
    for name, prop in chosen.items():
        row = measure(nlp, prop, -(-count * prop.share // shares))
        rows.append(row)
        print_row(name.replace("_", " "), row)
        for case, error in sorted(row.failures, key=lambda pair: len(pair[0]))[:1]:
            print(f"{error[:1000]}\n{case[:1000]}", file=sys.stderr)
    total = Row(*(sum(column, type(column[0])()) for column in zip(*rows)))
    print_row("all", total)
    return 1 if total.failures else 0


def print_row(name: str, row: Row) -> None:
    failed = len(row.failures)
    print(
        f"| {name:<35} | {row.cases} | {row.distinct} | {failed} | {row.seconds:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
