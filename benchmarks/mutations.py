"""Break one line of the package at a time, and see that a test notices.

    python benchmarks/mutations.py
    python benchmarks/mutations.py beam_size "EVALB"

Each mutation is made in a copy of the package, in a temporary folder, and its test is
run there: first on the copy as it is, where it must pass, then on the mutant, where it
must fail. With arguments, only mutations whose names hold one of them are tried.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = "spacy_pointparse"
COMPONENT = "pipeline/pointing_parser.py"
DECODER = "Decoder(self.decode_from, self.decoder, self.beam_size)"
FACTORY = "\n        {0}={0},\n"
SETTINGS = "tests/pipeline/test_inference.py::test_settings_reach_the_decoder"
CONVERT = "tests/training/test_convert.py"
# What pytest exits with when all tests pass, and when some fail.
PASSED, FAILED = 0, 1


class Mutation(NamedTuple):
    """A change of the code, and the test that is to notice it.

    name (str): What is broken.
    file (str): File of the package.
    old (str): Text that the file holds once.
    new (str): What replaces it.
    test (str): File and name of the test.
    """

    name: str
    file: str
    old: str
    new: str
    test: str


MUTATIONS = [
    Mutation(
        "component ignores decoder",
        COMPONENT,
        DECODER,
        'Decoder(self.decode_from, "exact", self.beam_size)',
        SETTINGS,
    ),
    Mutation(
        "component ignores decode_from",
        COMPONENT,
        DECODER,
        'Decoder("log_probabilities", self.decoder, self.beam_size)',
        SETTINGS,
    ),
    Mutation(
        "component ignores beam_size",
        COMPONENT,
        DECODER,
        "Decoder(self.decode_from, self.decoder, 10)",
        SETTINGS,
    ),
    Mutation(
        "find_best ignores beam_size",
        COMPONENT,
        "max(2 * count, self.beam_size)",
        "max(2 * count, 10)",
        "tests/pipeline/test_inference.py::"
        "test_best_trees_are_exact_or_those_that_the_beam_keeps",
    ),
    *(
        Mutation(
            f"factory ignores {name}",
            COMPONENT,
            FACTORY.format(name),
            "\n",
            SETTINGS,
        )
        for name in ("decoder", "decode_from", "beam_size")
    ),
    Mutation(
        "EVALB's quotes are repaired at equal length",
        "evaluation/evalb.py",
        "if sum(golds) != sum(preds):",
        "if True:",
        "tests/evaluation/test_evalb.py::test_evalb_equals_the_c_program",
    ),
    Mutation(
        "MIN_PROBABILITY = 0 in the loss",
        "training/loss.py",
        "MIN_PROBABILITY = 1e-30",
        "MIN_PROBABILITY = 0.0",
        "tests/training/test_loss.py::"
        "test_partial_tree_that_is_held_to_be_impossible_has_a_finite_loss",
    ),
    Mutation(
        "inner TOPs are kept when segments are merged",
        "pipeline/inference.py",
        "if label != ROOT:",
        "if True:",
        "tests/pipeline/test_inference.py::test_root_over_segments_is_the_only_one",
    ),
    Mutation(
        "no decrement in the calibration pairs",
        "evaluation/calibration.py",
        "left[bracket] -= 1",
        "pass",
        "tests/pipeline/test_inference.py::test_constituent_found_twice_is_right_once",
    ),
    Mutation(
        "merged score is 0",
        "pipeline/inference.py",
        "sum(best.score for best, *_ in segments)",
        "0.0",
        "tests/pipeline/test_inference.py::"
        "test_score_of_a_sentence_in_segments_is_that_of_their_trees",
    ),
    Mutation(
        "from_disk calls an OSError damage",
        COMPONENT,
        "except (MemoryError, OSError):",
        "except MemoryError:",
        "tests/project/test_faults.py::"
        "test_weights_that_are_missing_are_not_called_damaged",
    ),
    Mutation(
        "convert does not resume after a full disk",
        "training/convert.py",
        "if isinstance(error, ValueError) or not progress.size:",
        "if True:",
        f"{CONVERT}::test_convert_goes_on_when_a_full_disk_has_room_again",
    ),
    Mutation(
        "learning-rate scale is overwritten",
        "training/optimizer.py",
        "lr_scale *= scale",
        "lr_scale = scale",
        "tests/training/test_optimizer.py::test_scales_of_a_rate_are_multiplied",
    ),
    Mutation(
        "zero vector has a scale of 0",
        "ml/layers/static_vectors.py",
        "    scale[scale == 0] = 1.0\n",
        "",
        "tests/ml/test_embeddings.py::test_static_vectors_of_zeros",
    ),
]


def copy_project(folder: Path) -> None:
    """Copy what the tests of the mutations read."""
    for name in (PACKAGE, "tests", "configs", "docs", "benchmarks"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "setup.cfg", folder)


def run_test(folder: Path, test: str) -> int:
    """Run a test on the copy of the package, and return pytest's exit code."""
    code = (
        f"import sys, pytest, {PACKAGE}\n"
        f"assert {PACKAGE}.__file__.startswith({str(folder)!r}), {PACKAGE}.__file__\n"
        f"sys.exit(pytest.main(['-qx', '-p', 'no:cacheprovider', {test!r}]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    return run.returncode


def try_mutation(folder: Path, mutation: Mutation) -> str:
    """Say whether the test notices a mutation of the copy, which is undone then."""
    path = folder / PACKAGE / mutation.file
    code = path.read_text(encoding="utf8")
    if code.count(mutation.old) != 1:
        return "not found in the code"
    if run_test(folder, mutation.test) != PASSED:
        return "fails without it"
    path.write_text(code.replace(mutation.old, mutation.new), encoding="utf8")
    try:
        return "yes" if run_test(folder, mutation.test) == FAILED else "NO"
    finally:
        path.write_text(code, encoding="utf8")


def main(parts: list[str]) -> int:
    chosen = [
        mutation
        for mutation in MUTATIONS
        if not parts or any(part in mutation.name for part in parts)
    ]
    print("| mutation | test | noticed |\n|---|---|---|")
    found = []
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_project(folder)
        for mutation in chosen:
            found.append(try_mutation(folder, mutation))
            test = mutation.test.split("::")[1]
            print(f"| {mutation.name} | `{test}` | {found[-1]} |", flush=True)
    return 0 if found and {*found} == {"yes"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
