"""Write files and folders completely or not at all, and list folders."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Write to a temporary file and rename it when done, so that an interrupted run
    leaves no partial file. Devices such as /dev/stdout are written directly.

    path (Path): The file. Its folder is created if needed.
    YIELDS (Path): The path to write to.
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
    """Write to a temporary folder and move its files into place when all are written.
    Existing files with the same names are replaced.

    path (Path): The folder.
    YIELDS (Path): The path to write to.
    """
    path = path.resolve()
    unfinished = path.with_name(path.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with name_file(path):
            unfinished.mkdir(parents=True)
            yield unfinished
            for file in sorted(unfinished.rglob("*")):
                target = path / file.relative_to(unfinished)
                if file.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    file.replace(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Add the path to an OSError that names no file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def walk_folder(path: Path) -> list[Path]:
    """List the files in a folder and its subfolders. Hidden ones are left out.

    path (Path): The folder, or a single file.
    RETURNS (List[Path]): The files, sorted by path.
    """
    if not path.is_dir():
        return [path]
    files: list[Path] = []
    for child in sorted(path.iterdir()):
        if not child.name.startswith("."):
            files += walk_folder(child)
    return files
