"""Read .spacy files, and write them piece by piece."""

import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..util.files import write_whole
from ..util.resume import get_partial

SUFFIX = ".spacy"
# What spaCy and its libraries raise for files that are damaged or of another kind.
_UNREADABLE = (
    AttributeError,
    LookupError,
    OverflowError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


def unpack_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Read the Docs of a .spacy file, with their user data if it holds any.

    path (Path): The file.
    vocab (Vocab): The vocabulary of the Docs.
    YIELDS (Doc): The Docs.
    RAISES (ValueError): If the file is damaged or not a .spacy file.
    """
    try:
        yield from DocBin().from_disk(path).get_docs(vocab)
    except _UNREADABLE as error:
        raise ValueError(
            f"{path} is damaged or is not a .spacy file ({error}). Convert or copy it "
            "again."
        ) from error


def pack_docs(docs: Iterable[Doc], *, store_user_data: bool = False) -> bytes:
    """Pack Docs into a line.

    docs (Iterable[Doc]): The Docs.
    store_user_data (bool): Pack the user data of the Docs as well.
    RETURNS (bytes): The line.
    """
    packed = DocBin(docs=docs, store_user_data=store_user_data)
    return b64encode(packed.to_bytes()) + b"\n"


def collect_docs(output: Path, *, store_user_data: bool = False) -> None:
    """Merge the lines of a partial file into a .spacy file.

    output (Path): The .spacy file.
    store_user_data (bool): Whether the lines contain user data.
    """
    docs = DocBin(store_user_data=store_user_data)
    with get_partial(output).open("rb") as lines:
        for line in lines:
            packed = DocBin(store_user_data=store_user_data)
            docs.merge(packed.from_bytes(b64decode(line)))
    with write_whole(output) as path:
        docs.to_disk(path)
