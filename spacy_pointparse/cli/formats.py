"""How parsed texts are written, each as a piece of a file."""

import json
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..tokens.getters import get_doc_string
from ..tokens.docbin import pack_docs
from ..tokens.export import describe
from .inputs import Item

# In a printed tree: brackets that open, tag, word, brackets that close.
_WORD = re.compile(r"((?:\([^\s()]* )*)\(([^\s()]*) ([^\s()]*)\)(\)*)")


class Format(str, Enum):
    """A format of parsed texts."""

    brackets = "brackets"
    jsonl = "jsonl"
    conll = "conll"
    spacy = "spacy"

    @classmethod
    def of(cls, output: Path | None) -> "Format":
        """The format that the suffix of a file names, or brackets."""
        suffix = output.suffix[1:] if output else ""
        return cls(suffix) if suffix in {form.value for form in cls} else cls.brackets


def write_brackets(item: Item, parsed: Doc | Exception) -> str:
    """One line a text: its trees, or nothing if it failed."""
    if isinstance(parsed, Exception):
        return "\n"
    return get_doc_string(parsed).replace("\n", " ") + "\n"


def write_json(item: Item, parsed: Doc | Exception) -> str:
    """One line a text: a JSON object."""
    record = {**item.record, **describe(parsed)}
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_columns(item: Item, parsed: Doc | Exception) -> str:
    """One line a word: number, word, tag, brackets around it as in CoNLL-2012. Words
    are escaped as in brackets."""
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
    """One line a text: a Doc, packed; empty if it failed."""
    doc = Doc(Vocab()) if isinstance(parsed, Exception) else parsed
    return pack_docs([doc], store_user_data=True).decode()


WRITERS: dict[Format, Callable[[Item, Doc | Exception], str]] = {
    Format.brackets: write_brackets,
    Format.jsonl: write_json,
    Format.conll: write_columns,
    Format.spacy: write_doc,
}


def show_error(error: Exception) -> str:
    """An error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
