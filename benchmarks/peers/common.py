"""What the scripts of all peers share. They run in the peers' environments, without
this package."""

import argparse
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def make_parser(description: str) -> argparse.ArgumentParser:
    """Make the parser of a script's arguments, to which it adds its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("seconds", type=float)
    return parser


def write_seconds(output: Path, seconds: float) -> None:
    text = json.dumps({"seconds": round(seconds)})
    (output / "training.json").write_text(text, encoding="utf8")


def write_trees(output: Path, split: str, trees: Iterable[str]) -> None:
    """Write predicted trees, each on a line of its own."""
    lines = [" ".join(tree.split()) + "\n" for tree in trees]
    (output / f"{split}.mrg").write_text("".join(lines), encoding="utf8")


def print_times(parse: Callable[[], object], runs: int) -> None:
    """Print the seconds that each run of a parser took, after one that does not count,
    and the most memory of the process in the meantime, in MiB: what loading took more
    is not in it."""
    parse()
    # Linux forgets the most memory so far.
    Path("/proc/self/clear_refs").write_text("5", encoding="utf8")
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        parse()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "memory": read_memory("VmHWM")}))


def read_memory(kind: str) -> int:
    """Memory of this process on Linux, in MiB: "VmRSS", what it has, or "VmHWM", the
    most that it had. (What `resource` gives as that is the most of the process that
    started this one, if it had more.)"""
    lines = Path("/proc/self/status").read_text(encoding="utf8").splitlines()
    [line] = [line for line in lines if line.startswith(kind)]
    return int(line.split()[1]) // 1024
