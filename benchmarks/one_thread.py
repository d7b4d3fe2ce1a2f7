"""Runs modules of this Python as the benchmarks run all of them: in one thread."""

import os
import subprocess
import sys
import time

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
    """Run a module. RETURNS (float): The seconds that it took."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", *arguments], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start
