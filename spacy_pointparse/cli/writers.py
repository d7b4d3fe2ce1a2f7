"""Write parsed texts in the formats of the command `parse`."""

import json
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..tokens.docbin import pack_docs
from ..tokens.export import describe
from ..tokens.getters import get_doc_string
from .inputs import Item

# In a printed tree: opening brackets, tag, word, closing brackets.
_WORD = re.compile(r"((?:\([^\s()]* )*)\(([^\s()]*) ([^\s()]*)\)(\)*)")


class Format(str, Enum):
    """A format of parsed texts."""

    brackets = "brackets"
    jsonl = "jsonl"
    conll = "conll"
    spacy = "spacy"

    @classmethod
    def of(cls, output: Path | None) -> "Format":
        """Get the format named by the suffix of a file, or brackets."""
        suffix = output.suffix[1:] if output else ""
        return cls(suffix) if suffix in {form.value for form in cls} else cls.brackets


def write_brackets(item: Item, parsed: Doc | Exception) -> str:
    """Write a line per text: its trees, or nothing if it failed."""
    if isinstance(parsed, Exception):
        return "\n"
    return get_doc_string(parsed).replace("\n", " ") + "\n"


def write_json(item: Item, parsed: Doc | Exception) -> str:
    """Write a line per text: a JSON object."""
    record = {**item.record, **describe(parsed)}
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_columns(item: Item, parsed: Doc | Exception) -> str:
    """Write a line per word: number, word, tag, and brackets as in CoNLL-2012. Words
    are escaped as in bracketed trees."""
    head = f"# newdoc id = {item.place}\n"
    if isinstance(parsed, Exception):
        return f"{head}# error = {show_error(parsed)}\n\n"
    return head + "\n".join(map(_list_words, get_doc_string(parsed).split("\n"))) + "\n"


def _list_words(tree: str) -> str:
    return "".join(
        f"{i}\t{word}\t{tag}\t{left.replace(' ', '')}*{right}\n"
        for i, (left, tag, word, right) in enumerate(_WORD.findall(tree), start=1)
    )


def write_doc(item: Item, parsed: Doc | Exception) -> str:
    """Write a line per text: a packed Doc, empty if the text failed."""
    doc = Doc(Vocab()) if isinstance(parsed, Exception) else parsed
    return pack_docs([doc], store_user_data=True).decode()


WRITERS: dict[Format, Callable[[Item, Doc | Exception], str]] = {
    Format.brackets: write_brackets,
    Format.jsonl: write_json,
    Format.conll: write_columns,
    Format.spacy: write_doc,
}


def show_error(error: Exception) -> str:
    """Format an error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
