"""Train from scratch on NLTK's sample of the Penn Treebank, gold tags as input.

    python benchmarks/wsj.py ../shared/treebanks/en_wsj_nltk_sample

One thread. Prints the time that training took and EVALB's figures for the test split.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIG = Path(__file__).parents[1] / "configs" / "gold_tags.cfg"
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Without these the C library maps and unmaps torch's large arrays again and again.
    # Larger ones than the first, as a transformer's embeddings, would leave holes.
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "67108864",
}


def run(*arguments: str) -> float:
    """Run a module of this Python. RETURNS (float): The seconds that it took."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", *arguments], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def main(treebank: Path, max_steps: str = "2000", seed: str = "0") -> None:
    with tempfile.TemporaryDirectory() as folder:
        for split in ("train", "dev", "test"):
            run(
                *("spacy_pointparse", "convert", str(treebank), "--split", split),
                *("--output", f"{folder}/{split}.spacy"),
            )
        seconds = run(
            *("spacy", "train", str(CONFIG), "--output", f"{folder}/training"),
            *("--paths.train", f"{folder}/train.spacy"),
            *("--paths.dev", f"{folder}/dev.spacy"),
            *("--training.max_steps", max_steps, "--system.seed", seed),
        )
        for split in ("dev", "test"):
            metrics = f"{folder}/{split}.json"
            run(
                *("spacy_pointparse", "evaluate", f"{folder}/training/model-best"),
                *(f"{folder}/{split}.spacy", "--gold-tags", "--output", metrics),
            )
            scores = json.loads(Path(metrics).read_text(encoding="utf8"))
            print(f"{split:<6}labelled F1 {100 * scores['spans_constituents_f']:.2f}")
        print(f"trained in {seconds:.0f} s, {max_steps} steps, seed {seed}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
