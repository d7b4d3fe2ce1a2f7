"""Run the tests with the lowest and with the newest versions of other packages that
`setup.cfg` allows and the registry has for this Python, each in an environment of its
own, and print which these are and what came of the tests.

    pip install uv
    python benchmarks/versions.py FOLDER
    python benchmarks/versions.py FOLDER lowest -k trees

Environments are made in FOLDER, or brought up to date there. PyPI's torch for Linux
takes gigabytes: uv's own settings choose another, such as `UV_TORCH_BACKEND=cpu`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
# The packages of which the table tells the version.
SHOWN = ["spacy", "thinc", "torch", "numpy", "nltk", "spacy-transformers"]
SHOWN += ["transformers", "confection", "hypothesis", "pytest", "svgling"]
SHOWN += ["matplotlib", "pyspark"]


def run_uv(*arguments: object) -> str:
    command = ["uv", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_environment(folder: Path, resolution: str) -> Path:
    """Install the package with what its tests need, and the trained pipeline.

    RETURNS (Path): The Python of the environment.
    """
    run_uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    install = ["pip", "install", "--quiet", "--python", python]
    how = ["--upgrade", "--resolution", resolution]
    run_uv(*install, *how, "--editable", f"{ROOT}[tests]")
    # Without what it was packaged with, which is newer than what it can do with.
    run_uv(*install, "--no-deps", *(ROOT / "assets").glob("*.whl"))
    return python


def list_versions(python: Path) -> dict[str, str]:
    listed = json.loads(run_uv("pip", "list", "--format=json", "--python", python))
    versions = {package["name"]: package["version"] for package in listed}
    return {name: versions[name] for name in SHOWN}


def run_tests(python: Path, options: list[str]) -> tuple[bool, str]:
    """Say whether all tests passed, and what the last line of pytest is."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": "", "PATH": path}
    command = [python, "-m", "pytest", "-q", "-ra", *options]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    print(run.stdout, flush=True)
    return run.returncode == 0, run.stdout.strip().splitlines()[-1]


def main(folder: Path, names: list[str], options: list[str]) -> int:
    rows = {}
    all_passed = True
    for name in names:
        python = make_environment(folder / name, RESOLUTIONS[name])
        passed, summary = run_tests(python, options)
        all_passed &= passed
        result = re.sub(r" in .*", "", summary)
        rows[name] = {**list_versions(python), "tests": result}
    print(f"| Python {sys.version.split()[0]} | {' | '.join(rows)} |")
    print(f"|---|{'---|' * len(rows)}")
    for row in [*SHOWN, "tests"]:
        print(f"| {row} | {' | '.join(cells[row] for cells in rows.values())} |")
    return 0 if all_passed else 1


if __name__ == "__main__":
    given = sys.argv[2:]
    chosen = [name for name in RESOLUTIONS if given[:1] == [name]]
    rest = given[len(chosen) :]
    sys.exit(main(Path(sys.argv[1]), chosen or list(RESOLUTIONS), rest))
