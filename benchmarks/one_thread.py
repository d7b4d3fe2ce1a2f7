"""Run modules in one thread, as all benchmarks do."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

CONFIGS = Path(__file__).parents[1] / "configs"
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Without these the C library maps and unmaps large arrays of torch all the time.
    # Arrays above the first limit, such as a transformer's embeddings, would leave
    # holes.
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "67108864",
}


def run(*arguments: str) -> float:
    """Run a module. RETURNS (float): Its seconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", *arguments], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def train(configs: str, folder: Path, *overrides: str) -> float:
    """Train a pipeline.

    configs (str): What to merge with the base config: names of files, or "base" alone.
    folder (Path): Folder for the pipeline.
    overrides (str): Settings, as on the command line.
    RETURNS (float): The seconds that training took.
    """
    base, config = str(CONFIGS / "base.cfg"), str(folder / "config.cfg")
    merge = ("spacy_pointparse", "config", base, *configs.split(), "--output", config)
    run(*merge, *overrides)
    return run("spacy", "train", config, "--output", str(folder))


def score(model: Path, data: Path, *options: str) -> float:
    """Evaluate a pipeline. RETURNS (float): Its F1, in percent."""
    metrics = model.parent / f"{data.stem}.json"
    run(
        *("spacy_pointparse", "evaluate", str(model), str(data)),
        *("--output", str(metrics), *options),
    )
    return 100 * json.loads(metrics.read_text("utf8"))["spans_constituents_f"]
