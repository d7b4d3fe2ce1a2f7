"""Run the tests with the lowest and with the newest versions of our requirements.

    pip install uv
    python benchmarks/versions.py FOLDER
    python benchmarks/versions.py FOLDER lowest -k trees

Makes an environment for each in FOLDER, or updates it, with the versions that
`setup.cfg` allows and the registry has for this Python, and prints the versions and the
results. PyPI's torch for Linux takes gigabytes; a setting of uv, such as
`UV_TORCH_BACKEND=cpu`, chooses another.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
# The packages whose versions are printed.
SHOWN = ["spacy", "thinc", "torch", "numpy", "nltk", "spacy-transformers"]
SHOWN += ["transformers", "confection", "hypothesis", "pytest", "svgling"]
SHOWN += ["matplotlib", "pyspark"]


def run_uv(*arguments: object) -> str:
    command = ["uv", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_environment(folder: Path, resolution: str) -> Path:
    """Install the package, the requirements of its tests, and the trained pipeline.

    RETURNS (Path): The Python of the environment.
    """
    run_uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    install = ["pip", "install", "--quiet", "--python", python]
    how = ["--upgrade", "--resolution", resolution]
    run_uv(*install, *how, "--editable", f"{ROOT}[tests]")
    # Without its requirements, which name the versions that it was packaged with.
    run_uv(*install, "--no-deps", *(ROOT / "assets").glob("*.whl"))
    return python


def list_versions(python: Path) -> dict[str, str]:
    listed = json.loads(run_uv("pip", "list", "--format=json", "--python", python))
    versions = {package["name"]: package["version"] for package in listed}
    return {name: versions[name] for name in SHOWN}


def run_tests(python: Path, options: list[str]) -> tuple[bool, str]:
    """Run the tests, and get whether all passed and the last line of pytest."""
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
