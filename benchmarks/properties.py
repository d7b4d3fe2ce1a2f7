"""Test the properties that hold for any input on many random cases.

    python benchmarks/properties.py 100000
    python benchmarks/properties.py 1000 file_is_trees_or_named_faults

The properties are those of the tests, in `tests/properties.py`, and hypothesis draws
the cases from `tests/strategies.py`. Prints the number of cases, of distinct cases and
of failures of each property, and shows the shortest case that fails.
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

# Hypothesis keeps all cases in memory, so it starts afresh after this many.
ROUND = 500


class Row(NamedTuple):
    """The result for a property.

    cases (int): Number of cases.
    distinct (int): Number of distinct cases.
    failures (List[Tuple[str, str]]): The cases that fail, and their errors.
    seconds (float): Processor time.
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
    print(f"| {'property':<35} | cases | distinct | failures | seconds |")
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
