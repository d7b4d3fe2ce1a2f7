"""What the scripts of all peers share. They run in the peers' environments, without
this package."""

import argparse
import json
from collections.abc import Iterable
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
