"""Write an output that an interrupted run can resume.

A run keeps two files beside its output: OUTPUT.partial grows, and OUTPUT.partial.json
records how much of it is safely on disk. A resumed run truncates anything written after
that point, such as half a line, and produces it again. A .spacy file cannot be appended
to, so its partial file holds lines of packed Docs, merged at the end.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any
from zlib import crc32

import srsly

from .files import name_file, write_whole


class OtherRunError(ValueError):
    """Raised when another run writes to the same output."""


@dataclass
class Progress:
    """How far a run has got.

    settings (Dict[str, Any]): The settings a resumed run must share.
    texts (int): Number of texts that are done.
    failed (int): Number of those texts that failed.
    checksum (int): Checksum of those texts.
    size (int): Size of the partial file in bytes.
    """

    settings: dict[str, Any]
    texts: int = 0
    failed: int = 0
    checksum: int = 0
    size: int = 0

    def count(self, text: str, failed: bool = False) -> None:
        """Count a text as done."""
        line = f"{text}\n".encode("utf8", "surrogatepass")
        self.checksum = crc32(line, self.checksum)
        self.texts += 1
        self.failed += failed


def get_partial(output: Path) -> Path:
    """Get the path of the file that grows until it becomes the output."""
    return output.with_name(output.name + ".partial")


def _get_state(output: Path) -> Path:
    return output.with_name(output.name + ".partial.json")


def load_progress(output: Path, settings: dict[str, Any], resume: bool) -> Progress:
    """Load the progress of an interrupted run, if there was one.

    output (Path): The output.
    settings (Dict[str, Any]): The settings a resumed run must share.
    resume (bool): Whether to resume an interrupted run.
    RETURNS (Progress): The progress of that run, or that of a new one.
    RAISES (ValueError): If an interrupted run is found that should not or cannot be
        resumed, or if the output is a folder or a device.
    """
    if output.exists() and not output.is_file():
        raise ValueError(f"{output} is not a regular file and cannot be replaced.")
    partial, state = get_partial(output), _get_state(output)
    if not (partial.exists() and state.exists()):
        state.unlink(missing_ok=True)
        return Progress(settings)
    try:
        progress = Progress(**srsly.read_json(state))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{state} is damaged or was written by another version ({error}). Delete "
            f"{partial} to start over."
        ) from error
    if not resume:
        raise ValueError(
            f"An interrupted run left {progress.texts} texts in {partial}. Continue it "
            "with --resume, or delete that file."
        )
    if progress.settings != settings or partial.stat().st_size < progress.size:
        raise ValueError(
            f"{partial} is from a run with other settings ({progress.settings}). "
            "Delete that file to start over."
        )
    return progress


def skip_texts(texts: Iterator[str], progress: Progress, output: Path) -> None:
    """Skip the texts that are done.

    texts (Iterator[str]): The texts, from the first.
    progress (Progress): The progress of the interrupted run.
    output (Path): The output.
    RAISES (ValueError): If they differ from the texts of the interrupted run.
    """
    passed = Progress(progress.settings)
    for text in islice(texts, progress.texts):
        passed.count(text)
    if passed.checksum != progress.checksum:
        raise ValueError(
            f"{get_partial(output)} is from a run over other texts. Delete that file "
            "to start over."
        )


def write_partial(
    output: Path, pieces: Iterable[bytes], progress: Progress, batch_size: int
) -> None:
    """Append to the partial file of a run.

    output (Path): The output.
    pieces (Iterable[bytes]): The pieces to write, each for one or several texts that
        have been counted in `progress` when the piece is yielded.
    progress (Progress): The progress so far. Updated as pieces are written.
    batch_size (int): Number of pieces after which to sync the file and save progress.
    RAISES (OtherRunError): If another run writes to the same file.
    """
    stream = iter(pieces)
    batches = iter(lambda: list(islice(stream, batch_size)), [])
    first = next(batches, [])  # a run that fails at once leaves not even a folder
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = get_partial(output)
    with name_file(partial), partial.open("ab") as file:
        file.truncate(progress.size)
        for batch in chain([first], batches):
            _check_alone(partial, progress)
            file.writelines(batch)
            file.flush()
            os.fsync(file.fileno())
            progress.size = file.tell()
            with write_whole(_get_state(output)) as path:
                srsly.write_json(path, asdict(progress))
        _check_alone(partial, progress)


def _check_alone(partial: Path, progress: Progress) -> None:
    if partial.stat().st_size != progress.size:
        raise OtherRunError(
            f"Another run is also writing to {partial}. Wait for it to finish, delete "
            "that file and start over."
        )


def remove_partial(output: Path) -> None:
    """Remove the files beside the output."""
    _get_state(output).unlink(missing_ok=True)
    get_partial(output).unlink(missing_ok=True)
