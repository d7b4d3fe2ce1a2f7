"""Files and folders that are written whole or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Write a file under another name first: a stopped run leaves no half file. What is
    no file, as /dev/stdout, is written at once.

    path (Path): The file. Its folder is made if it is not there.
    YIELDS (Path): Where to write it.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    if path.is_symlink():
        path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with name_file(path):
            yield unfinished
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def write_folder(path: Path) -> Iterator[Path]:
    """Write a folder under another name first. Where there is one already, its files
    are replaced when all the new ones are written.

    path (Path): The folder.
    YIELDS (Path): Where to write it.
    """
    path = path.resolve()
    unfinished = path.with_name(path.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with name_file(path):
            unfinished.mkdir(parents=True)
            yield unfinished
            for place in sorted(unfinished.rglob("*")):
                target = path / place.relative_to(unfinished)
                if place.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    place.replace(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Let an error name the file that it is about: that of a full disk does not."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
