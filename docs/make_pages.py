"""Write the pages that come from the code: `python docs/make_pages.py`.

docs/api.md comes from docstrings and entry points, docs/labels.md from the glossary and
from examples in assets/toy.
"""

import configparser
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Span

from spacy_pointparse.pipeline.pointing_parser import (
    DEFAULT_CONFIG,
    PointingParser,
    make_pointing_parser,
)
from spacy_pointparse.tokens.treebank import read_docs
from spacy_pointparse.visualization.glossary import GLOSSARY, explain

DOCS = Path(__file__).parent
ROOT = DOCS.parent
TOY = ROOT / "assets" / "toy" / "train.mrg"
REGISTRIES = {
    "spacy_architectures": "Architectures",
    "spacy_readers": "Readers",
    "spacy_scorers": "Scorers",
    "spacy_callbacks": "Callbacks",
    "thinc_optimizers": "Optimizers",
    "spacy_displacy_colors": "Colors of displaCy",
}
METHODS = (
    *("labels", "label_data", "add_label", "initialize", "pipe", "predict"),
    *("set_annotations", "find_best", "calibrate", "calibration"),
    *("get_calibration_pairs", "update", "finish_update", "get_loss"),
)
FUNCTIONS = {
    "spacy_pointparse": "install_extensions render explain NonConstituentException",
    "trees": "read_trees parse_trees clean_tree tree_to_string flatten_tree build_tree "
    "escape_word unescape_word TreebankError",
    "pointing": "tree_to_pointing pointing_to_tree Pointings decode decode_exact "
    "decode_beam",
    "tokens": "set_constituents get_constituents find_constituents PatternError "
    "to_penn to_discbracket to_json from_json describe make_doc",
    "tokens.treebank": "read_docs",
    "training.convert": "convert_treebank",
    "evaluation.scorer": "constituents_score find_errors",
    "evaluation.evalb": "summarize SentenceCounts",
    "evaluation.report": "evaluate_files Report",
    "evaluation.stats": "TreebankStats",
    "pipeline.join_parsers": "join_parsers",
    "visualization.plot_stats": "plot",
    "parallel.processes": "parse_texts",
    "parallel.spark": "parse",
}
OUTCOMES = ("RETURNS", "YIELDS", "RAISES")
API = """\
# API reference

Anything that is not on this page is not part of the interface and may change. The
attributes `Doc._`, `Span._` and `Token._` are in the [README](../README.md#use), the
commands on [a page of their own](command_line.md).
"""
LABELS = """\
# Labels

`spacy_pointparse.explain("SBAR")` returns the same meaning, and for labels that are not
here that of `spacy.explain`. The examples are from `assets/toy`.
"""


class Entry(NamedTuple):
    """A line of a docstring's list: `name (type): text`. Names can share a text."""

    names: tuple[str, ...]
    type: str
    text: str

    @property
    def title(self) -> str:
        """The names as the page shows them."""
        return ", ".join(n if n in OUTCOMES else f"`{n}`" for n in self.names)


def make_api() -> str:
    """Make docs/api.md."""
    parts = [API, *_list_component(), *_list_registered(), *_list_functions()]
    return "\n".join(parts).rstrip("\n") + "\n"


def make_labels() -> str:
    """Make docs/labels.md."""
    docs = list(read_docs(TOY, spacy.blank("en").vocab))
    words = {token.tag_: token.text for doc in docs for token in doc}
    phrases: dict[str, Span] = {}
    for span in (span for doc in docs for span in doc.spans["constituents"]):
        shown = phrases.get(span.label_)
        if shown is None or abs(len(span) - 3) < abs(len(shown) - 3):
            phrases[span.label_] = span
    rows = [(key, text, phrases.get(key, "")) for key, text in GLOSSARY.items()]
    tags = [(tag, explain(tag), words[tag]) for tag in sorted(words)]
    parts = [LABELS]
    for title, table in (("Constituents", rows), ("Tags of words", tags)):
        table = [(_show_label(label), *rest) for label, *rest in table]
        parts += [f"## {title}\n", *_make_table(("", "meaning", "example"), table)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _show_label(label: str) -> str:
    return f"<code>{label}</code>" if "`" in label else f"`{label}`"


def _list_component() -> Iterator[str]:
    yield "## The component `pointing_parser`\n"
    meta = Language.get_factory_meta("pointing_parser")
    _, entries = _read_docstring(make_pointing_parser)
    rows = [
        (entry.title, _show_default(meta.default_config[entry.names[0]]), entry.text)
        for entry in entries
        if entry.names[0] in meta.default_config
    ]
    yield (
        'Settings, for `nlp.add_pipe("pointing_parser", config={...})` and for\n'
        "`[components.pointing_parser]` in a config:\n"
    )
    yield from _make_table(("setting", "default", ""), rows)
    yield "The default model, with all its settings:\n"
    yield f"```ini{DEFAULT_CONFIG}```\n"
    assigned = ", ".join(f"`{name}`" for name in meta.assigns)
    yield _wrap(
        f"The component sets {assigned}. It "
        "reads sentence boundaries and, if its config says so, tags. It also has the "
        "methods of [every trainable component](https://spacy.io/api/pipe): "
        "`__call__`, `score`, `to_disk`, `from_disk`, `to_bytes`, `from_bytes`."
    )
    for name in METHODS:
        yield from _describe(name, getattr(PointingParser, name))


def _list_registered() -> Iterator[str]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    groups = setup["options.entry_points"]
    yield "## Registered functions\n"
    for group, title in REGISTRIES.items():
        yield f"### {title}\n"
        for line in groups[group].strip().splitlines():
            name, place = line.split(" = ")
            module, function = place.split(":")
            function = getattr(importlib.import_module(module), function)
            yield from _describe(name, function, level=4, has_call=False)


def _list_functions() -> Iterator[str]:
    yield "## Functions and classes\n"
    for module, names in FUNCTIONS.items():
        path = "spacy_pointparse"
        path += "" if module == path else f".{module}"
        yield f"### `{path}`\n"
        home = importlib.import_module(path)
        for name in names.split():
            yield from _describe(name, getattr(home, name), level=4)
            yield from _list_members(getattr(home, name))


def _list_members(item: Any) -> Iterator[str]:
    """Describe the methods and properties of a class, unless it is an exception."""
    if not inspect.isclass(item) or issubclass(item, Exception):
        return
    for name, member in vars(item).items():
        is_ours = inspect.isfunction(member) or isinstance(member, property)
        if is_ours and not name.startswith("_"):
            yield from _describe(f"{item.__name__}.{name}", member, level=5)


def _describe(
    name: str, item: Any, level: int = 3, has_call: bool = True
) -> Iterator[str]:
    """Describe a function, class or property: signature, purpose, arguments."""
    description, entries = _read_docstring(item)
    call, defaults = _read_signature(item) if inspect.isfunction(item) else ("", {})
    yield f"{'#' * level} `{name}{call if has_call else ''}`\n"
    for paragraph in description:
        yield _wrap(paragraph)
    rows = [
        (
            entry.title,
            f"`{entry.type}`",
            ", ".join(defaults[name] for name in entry.names if name in defaults),
            entry.text,
        )
        for entry in entries
    ]
    if not any(row[2] for row in rows):
        yield from _make_table(("", "type", ""), [(*r[:2], r[3]) for r in rows])
    else:
        yield from _make_table(("", "type", "default", ""), rows)


def _read_signature(function: Any) -> tuple[str, dict[str, str]]:
    """Read the signature of a function, and the defaults of its arguments."""
    names: list[str] = []
    defaults = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        is_first = not any(each.startswith("*") for each in names)
        if parameter.kind is parameter.KEYWORD_ONLY and is_first:
            names.append("*")
        names.append(star.get(parameter.kind, "") + name)
        if parameter.default is not parameter.empty:
            defaults[name] = _show_default(parameter.default)
    return f"({', '.join(names)})", defaults


def _show_default(value: Any) -> str:
    if isinstance(value, dict):  # a registered function
        [name] = [value[key] for key in value if key.startswith("@")]
        return f"`{name}`"
    return f"`{json.dumps(value) if isinstance(value, str) else repr(value)}`"


def _read_docstring(item: Any) -> tuple[list[str], list[Entry]]:
    """Read a docstring in spaCy's form: paragraphs, then `name (type): text`."""
    paragraphs: list[list[str]] = [[]]
    entries: list[Entry] = []
    for line in inspect.getdoc(item).splitlines():
        if re.match(r"[\w*]+ \(.+?\)(, [\w*]+ \(.+?\))*: ", line):
            heads, text = line.split("): ", 1)
            names, types = zip(*(head.split(" (") for head in heads.split("), ")))
            entries.append(Entry(names, types[0], text))
        elif entries and line.startswith("    "):
            *_, last = entries
            entries[-1] = last._replace(text=f"{last.text} {line.strip()}")
        elif line:
            paragraphs[-1].append(line)
        else:
            paragraphs.append([])
    return [" ".join(lines) for lines in paragraphs if lines], entries


def _make_table(header: Iterable[str], rows: list[tuple]) -> Iterator[str]:
    if rows:
        for row in (header, ["---"] * len(tuple(header)), *rows):
            cells = (str(cell).replace("|", "\\|") for cell in row)
            yield f"| {' | '.join(cells)} |"
        yield ""


def _wrap(text: str) -> str:
    lines = textwrap.wrap(text, 90, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, make in (("api", make_api), ("labels", make_labels)):
        (DOCS / f"{name}.md").write_text(make(), encoding="utf8")
