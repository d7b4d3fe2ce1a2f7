"""Files that are written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Write a file under another name first: a stopped run leaves no half file.

    path (Path): The file. Its folder is made if it is not there.
    YIELDS (Path): Where to write it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
