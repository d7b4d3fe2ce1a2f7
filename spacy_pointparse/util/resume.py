"""An output that a stopped run leaves half done, and the next goes on with.

While it is made there are two files beside it: OUTPUT.partial grows, and
OUTPUT.partial.json says up to where it was sure last. What a run that was killed wrote
after that, be it half a line, is cut off and made again. A .spacy file, which cannot
grow, is made of lines of packed Docs in the end.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any
from zlib import crc32

import srsly
from spacy.util import minibatch

from .files import name_file, write_whole


class OtherRunError(ValueError):
    """Raised when another run is found to write the same output."""


@dataclass
class Progress:
    """How far a run has come.

    settings (Dict[str, Any]): What must be the same in the run that goes on.
    texts (int): Number of texts that are done.
    failed (int): Number of them that failed.
    checksum (int): Of these texts.
    size (int): Bytes of the partial file.
    """

    settings: dict[str, Any]
    texts: int = 0
    failed: int = 0
    checksum: int = 0
    size: int = 0

    def count(self, text: str, failed: bool = False) -> None:
        """Count a text."""
        line = f"{text}\n".encode("utf8", "surrogatepass")
        self.checksum = crc32(line, self.checksum)
        self.texts += 1
        self.failed += failed


def get_partial(output: Path) -> Path:
    """Name the file that grows until it is the output."""
    return output.with_name(output.name + ".partial")


def _get_state(output: Path) -> Path:
    return output.with_name(output.name + ".partial.json")


def load_progress(output: Path, settings: dict[str, Any], resume: bool) -> Progress:
    """Say where to begin.

    output (Path): The output.
    settings (Dict[str, Any]): What must be the same in the run that goes on.
    resume (bool): Whether to go on with what a stopped run has left, if it has.
    RETURNS (Progress): How far that run had come, or that nothing is done.
    RAISES (ValueError): If it left something, and that is not to be gone on with, or
        cannot be; or if the output is a folder or a device.
    """
    if output.exists() and not output.is_file():
        raise ValueError(f"{output} is no regular file, and cannot be replaced by one.")
    partial, state = get_partial(output), _get_state(output)
    if not (partial.exists() and state.exists()):
        state.unlink(missing_ok=True)
        return Progress(settings)
    try:
        progress = Progress(**srsly.read_json(state))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{state} is damaged, or of another version ({error}): delete {partial} to "
            "begin anew."
        ) from error
    if not resume:
        raise ValueError(
            f"A stopped run has left {progress.texts} texts in {partial}: go on with "
            "--resume, or delete that file."
        )
    if progress.settings != settings or partial.stat().st_size < progress.size:
        raise ValueError(
            f"{partial} is from a run with other settings, {progress.settings}: delete "
            "that file to begin anew."
        )
    return progress


def skip_texts(texts: Iterator[str], progress: Progress, output: Path) -> None:
    """Pass over the texts that are done.

    RAISES (ValueError): If these are other texts.
    """
    passed = Progress(progress.settings)
    for text in islice(texts, progress.texts):
        passed.count(text)
    if passed.checksum != progress.checksum:
        raise ValueError(
            f"{get_partial(output)} is from a run over other texts: delete that file "
            "to begin anew."
        )


def write_partial(
    output: Path, pieces: Iterable[bytes], progress: Progress, batch_size: int
) -> None:
    """Write a run's output, from where it stands on.

    output (Path): The output.
    pieces (Iterable[bytes]): The pieces, of a text or of several, each counted in
        `progress` as it is made.
    progress (Progress): How far the run has come.
    batch_size (int): After how many pieces to make sure of them.
    RAISES (OtherRunError): If another run is found to write there, too.
    """
    batches = minibatch(pieces, batch_size)
    first = next(batches, [])  # what fails at once leaves nothing, not even a folder
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
            f"Another run writes to {partial}, too. Wait for it, delete that file and "
            "begin anew."
        )


def remove_partial(output: Path) -> None:
    """Leave nothing but the output."""
    _get_state(output).unlink(missing_ok=True)
    get_partial(output).unlink(missing_ok=True)
