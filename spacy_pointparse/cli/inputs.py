"""What commands read: texts and Docs, one by one, each with its place."""

import json
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any, Literal, NamedTuple

import spacy
import typer
from spacy.cli._util import walk_directory
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from ..parallel.processes import parse_texts
from ..tokens.docbin import SUFFIX, unpack_docs
from ..training.corpus import list_files, read_docs

STDIN = Path("-")


class Item(NamedTuple):
    """A text to parse.

    place (str): Its file, and its line or number there.
    record (Dict[str, Any]): What is known of it: the JSON object, or place and text.
    text (Optional[Union[str, Doc]]): The text; None if it cannot be read.
    error (Optional[Exception]): Why it cannot be read.
    """

    place: str
    record: dict[str, Any]
    text: str | Doc | None = None
    error: Exception | None = None


def find_inputs(paths: Iterable[Path]) -> list[Path]:
    """Find the files to read: those named, and all in the folders named."""
    files = []
    for path in paths:
        if path != STDIN and not path.exists():
            raise FileNotFoundError(
                f"No such file or folder: {path}. (A text is given by --text.)"
            )
        files += [path] if path == STDIN else walk_directory(path)
    return files


def read_items(
    texts: Iterable[str], files: Iterable[Path], field: str | None, vocab: Vocab
) -> Iterator[Item]:
    """Read texts as they are given, and those of files: of a .spacy file its Docs; of a
    .jsonl file, and of standard input if a field is named, that field of each line; of
    any other file, each line. What cannot be read is an item, too."""
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
        except (RecursionError, ValueError) as error:  # the former of deep JSON
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
    """Parse items. Be done with each Doc before the next: memory is used again, but for
    what several processes bring to the vocabulary of this one."""
    if n_process != 1:
        yield from _parse(nlp, items, n_process)
        return
    for batch in minibatch(items, nlp.batch_size):
        # Else the vocabulary grows with every new word.
        with nlp.memory_zone():
            yield from _parse(nlp, batch)


def _parse(
    nlp: Language, items: Iterable[Item], n_process: int = 1
) -> Iterator[tuple[Item, Doc | Exception]]:
    ahead, behind = tee(items)
    texts = (item.text for item in ahead if item.error is None)
    parsed = parse_texts(nlp, texts, n_process)
    for item in behind:
        yield item, item.error or next(parsed)


def read_treebank(
    path: Path, on_error: Literal["raise", "skip"]
) -> Iterator[tuple[str, Doc]]:
    """Read Docs with trees, each with its file and number."""
    vocab = spacy.blank("xx").vocab
    for file in list_files(path):
        docs = read_docs(file, vocab, on_error=on_error)
        for number, doc in enumerate(docs, start=1):
            yield f"{file}:{number}", doc
