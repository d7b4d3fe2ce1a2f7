"""Docs in .spacy files."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..util.files import write_whole
from ..util.resume import get_partial

SUFFIX = ".spacy"


def unpack_docs(path: Path, vocab: Vocab, **options: bool) -> Iterator[Doc]:
    """Read the Docs of a .spacy file.

    path (Path): The file.
    vocab (Vocab): The vocabulary of the Docs.
    options (bool): Options of spaCy's `DocBin`.
    YIELDS (Doc): The Docs.
    RAISES (ValueError): If the file is damaged, or of another kind.
    """
    try:
        yield from DocBin(**options).from_disk(path).get_docs(vocab)
    except OSError:
        raise
    except Exception as error:  # whatever spaCy comes upon in it
        raise ValueError(
            f"{path} is damaged, or no .spacy file: convert or copy it again ({error})."
        ) from error


def pack_docs(docs: Iterable[Doc], **options: bool) -> bytes:
    """Pack Docs into a line.

    docs (Iterable[Doc]): The Docs.
    options (bool): Options of spaCy's `DocBin`.
    RETURNS (bytes): The line.
    """
    return b64encode(DocBin(docs=docs, **options).to_bytes()) + b"\n"


def collect_docs(output: Path, **options: bool) -> None:
    """Put the packed Docs of a partial file together as one .spacy file.

    output (Path): The .spacy file.
    options (bool): Options of spaCy's `DocBin`, those with which they were packed.
    """
    docs = DocBin(**options)
    with get_partial(output).open("rb") as lines:
        for line in lines:
            docs.merge(DocBin(**options).from_bytes(b64decode(line)))
    with write_whole(output) as path:
        docs.to_disk(path)
