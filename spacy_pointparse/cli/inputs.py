"""Read the inputs of commands: texts and Docs, each with its source."""

import json
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any, Literal, NamedTuple

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from ..parallel.processes import parse_texts
from ..tokens.docbin import SUFFIX, unpack_docs
from ..tokens.treebank import list_files, read_docs
from ..util.files import walk_folder

STDIN = Path("-")


class Item(NamedTuple):
    """A text to parse.

    place (str): Its file, and its line or number in the file.
    record (Dict[str, Any]): Its JSON object, or its source and text.
    text (Optional[Union[str, Doc]]): The text. None if it could not be read.
    error (Optional[Exception]): The error if it could not be read.
    """

    place: str
    record: dict[str, Any]
    text: str | Doc | None = None
    error: Exception | None = None


def find_inputs(paths: Iterable[Path]) -> list[Path]:
    """Find the files to read.

    paths (Iterable[Path]): Files, folders, or - for standard input.
    RETURNS (List[Path]): The files, with those in the folders and their subfolders.
    RAISES (FileNotFoundError): If a path does not exist.
    """
    files: list[Path] = []
    for path in paths:
        if path != STDIN and not path.exists():
            raise FileNotFoundError(
                f"No such file or folder: {path}. Use --text to pass a text."
            )
        files += [path] if path == STDIN else walk_folder(path)
    return files


def read_items(
    texts: Iterable[str], files: Iterable[Path], field: str | None, vocab: Vocab
) -> Iterator[Item]:
    """Read texts. A .spacy file contains Docs, a .jsonl file one text per line in a
    field, and any other file one text per line. Standard input is read as JSON lines
    if a field is given.

    texts (Iterable[str]): Texts to yield before those of files.
    files (Iterable[Path]): The files, or - for standard input.
    field (Optional[str]): The field of the text in JSON lines.
    vocab (Vocab): The vocabulary of the Docs.
    YIELDS (Item): Each text. Texts and files that cannot be read yield an item as well.
    """
    for number, text in enumerate(texts, start=1):
        yield _make_item(f"<text>:{number}", text)
    for file in files:
        try:
            if file.suffix == SUFFIX:
                docs = unpack_docs(file, vocab)
                for number, doc in enumerate(docs, start=1):
                    yield _make_item(f"{file}:{number}", doc)
            elif file == STDIN:
                stdin = typer.get_binary_stream("stdin")
                yield from _read_lines("<stdin>", stdin, field)
            else:
                key = (field or "text") if file.suffix == ".jsonl" else None
                with file.open("rb") as lines:
                    yield from _read_lines(str(file), lines, key)
        except (OSError, ValueError) as error:
            yield Item(str(file), {"source": str(file)}, error=error)


def _make_item(place: str, text: str | Doc) -> Item:
    record = {"source": place, "text": text if isinstance(text, str) else text.text}
    return Item(place, record, text)


def _read_lines(
    source: str, lines: Iterable[bytes], field: str | None
) -> Iterator[Item]:
    for number, line in enumerate(lines, start=1):
        place = f"{source}:{number}"
        try:
            text = line.decode("utf8").removeprefix("\ufeff").rstrip("\r\n")
            yield _read_record(place, text, field) if field else _make_item(place, text)
        except (RecursionError, ValueError) as error:  # deep JSON recurses
            yield Item(place, {"source": place}, error=error)


def _read_record(place: str, line: str, field: str) -> Item:
    record = json.loads(line)
    fields = record if isinstance(record, dict) else {}
    if isinstance(fields.get(field), str):
        return Item(place, fields, fields[field])
    error = ValueError(f"There is no text in a field {field!r} (see --field).")
    return Item(place, {"source": place, **fields}, error=error)


def parse_items(
    nlp: Language, items: Iterable[Item], n_process: int = 1
) -> Iterator[tuple[Item, Doc | Exception]]:
    """Parse items. With one process, a Doc is valid only until the next is yielded, as
    the memory of each batch is freed. With several, the vocabulary keeps growing.

    nlp (Language): The pipeline.
    items (Iterable[Item]): The items.
    n_process (int): Number of processes.
    YIELDS (Tuple[Item, Union[Doc, Exception]]): Each item, with its Doc or error.
    """
    if n_process != 1:
        yield from _parse(nlp, items, n_process)
        return
    for batch in minibatch(items, nlp.batch_size):
        with nlp.memory_zone():  # otherwise the vocabulary grows with every new word
            yield from _parse(nlp, batch)


def _parse(
    nlp: Language, items: Iterable[Item], n_process: int = 1
) -> Iterator[tuple[Item, Doc | Exception]]:
    ahead, behind = tee(items)
    texts = (item.text for item in ahead if item.text is not None)
    parsed = parse_texts(nlp, texts, n_process)
    for item in behind:
        yield item, item.error or next(parsed)


def read_treebank(
    path: Path, on_error: Literal["raise", "skip"]
) -> Iterator[tuple[str, Doc]]:
    """Read the Docs of a treebank.

    path (Path): A file, folder or glob of .spacy files or bracketed trees.
    on_error (Literal["raise", "skip"]): What to do with a faulty tree.
    YIELDS (Tuple[str, Doc]): Each Doc, with its file and its number in the file.
    """
    vocab = spacy.blank("xx").vocab
    for file in list_files(path):
        docs = read_docs(file, vocab, on_error=on_error)
        for number, doc in enumerate(docs, start=1):
            yield f"{file}:{number}", doc
