"""The law of the house: a room imports only rooms above it."""

import ast
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from spacy.util import registry

import spacy_pointparse

HOUSE = Path(spacy_pointparse.__file__).parent
# From top to bottom.
ROOMS = [
    "trees",
    "pointing",
    "decoding",
    "network",
    "fence",
    "combination",
    "embeddings",
    "model",
    "sentences",
    "transformer",
    "constituents",
    "search",
    "alignment",
    "targets",
    "loss",
    "ensemble",
    "inference",
    "calibration",
    "evalb",
    "scorer",
    "glossary",
    "drawing",
    "export",
    "corpus",
    "pointing_parser",
    "joining",
    "callbacks",
    "optimizer",
    "files",
    "progress",
    "convert",
    "stream",
    "spark",
    "stats",
    "demo",
    "cli",
    "__main__",
]
# All that these know of the world outside Python.
KNOWN = {
    "trees": {"nltk"},
    "pointing": {"numpy"},
    "decoding": {"numpy"},
    "network": {"torch"},
    "fence": {"thinc"},
    "embeddings": {"numpy", "spacy", "thinc"},
    "combination": {"numpy", "spacy", "thinc"},
    "model": {"spacy", "thinc"},
    "transformer": {"spacy", "thinc"},
    "search": {"nltk", "spacy"},
    "loss": {"numpy", "thinc"},
    "ensemble": {"spacy", "thinc"},
    "inference": {"numpy", "spacy", "thinc"},
    "calibration": {"numpy"},
    "glossary": {"spacy"},
    "drawing": {"IPython", "nltk", "spacy", "svgling"},
    "joining": {"spacy", "thinc"},
    "callbacks": {"spacy", "thinc"},
    "optimizer": {"thinc"},
    "demo": {"spacy", "streamlit"},
}
ENTRY_POINTS = distribution("spacy-pointparse").entry_points


def list_files(room):
    files = sorted((HOUSE / room).rglob("*.py"))
    return files or [HOUSE / f"{room}.py"]


def read_imports(path):
    """The full names of all that a file imports, at its top or anywhere else."""
    package = ["spacy_pointparse", *path.parent.relative_to(HOUSE).parts]
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) + 1 - node.level] if node.level else []
            module = [node.module] if node.module else []
            names += [".".join([*parents, *module, a.name]) for a in node.names]
    return [name.split(".") for name in names]


def list_rooms(room):
    """The other rooms that a room imports."""
    names = [name for path in list_files(room) for name in read_imports(path)]
    return {name[1] for name in names if name[0] == "spacy_pointparse"} - {room}


def list_packages(room):
    """The packages that a room imports, the standard library left out."""
    names = {name[0] for path in list_files(room) for name in read_imports(path)}
    return names - {"spacy_pointparse"} - sys.stdlib_module_names


def run_python(code):
    # The lowest spaCy calls click by a name of old.
    ours = ["-W", "error", "-W", "ignore::DeprecationWarning:spacy.cli._util"]
    command = [sys.executable, *ours, "-c", code]
    return subprocess.run(command, capture_output=True, text=True)


def test_imports_are_read_in_all_their_forms(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "HOUSE", tmp_path)
    path = tmp_path / "network" / "heads.py"
    path.parent.mkdir()
    path.write_text(
        "import torch.nn as nn, numpy\n"
        "from .padding import pad\n"
        "from ..trees import ROOT\n"
        "from .. import corpus\n"
        "from spacy_pointparse import model\n"
        "def late():\n"
        "    import spacy_pointparse.evalb\n"
    )
    assert list_rooms("network") == {"trees", "corpus", "model", "evalb"}
    assert list_packages("network") == {"torch", "numpy"}


def test_every_room_has_its_place():
    found = {path.stem for path in HOUSE.iterdir() if path.suffix == ".py"}
    found |= {path.parent.name for path in HOUSE.glob("*/__init__.py")}
    assert found - {"__init__"} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_rooms_above(room):
    assert list_rooms(room) <= set(ROOMS[: ROOMS.index(room)])


@pytest.mark.parametrize("room", KNOWN)
def test_room_knows_only_its_packages(room):
    assert list_packages(room) == KNOWN[room]


@pytest.mark.parametrize("room", ROOMS)
def test_torch_is_for_the_network_only(room):
    assert ("torch" in list_packages(room)) == (room == "network")


def test_parser_knows_its_architecture_by_name_only():
    assert not list_rooms("pointing_parser") & {"model", "network"}


def test_package_imports_no_more_than_it_offers():
    rooms = {"constituents", "drawing", "glossary", "search"}
    assert list_rooms("__init__") == rooms


def test_package_imports_without_what_pictures_need():
    result = run_python(
        "import sys\n"
        "sys.modules['svgling'] = sys.modules['IPython'] = None\n"
        "from spacy_pointparse import explain, render\n"
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_package_reads_no_grammar_of_patterns_until_one_is_used():
    code = "import sys, spacy_pointparse; print('nltk.tgrep' in sys.modules)"
    assert run_python(code).stdout == "False\n"


@pytest.mark.parametrize("entry_point", ENTRY_POINTS, ids=lambda entry: entry.name)
def test_entry_point_resolves(entry_point):
    function = entry_point.load()
    if entry_point.group == "console_scripts":
        assert callable(function)
        return
    assert function.__module__ == entry_point.module
    group = entry_point.group.removeprefix("spacy_").removeprefix("thinc_")
    if group == "factories":
        factories = registry._entry_point_factories
        assert factories.get(entry_point.name) is function
    else:
        assert registry.get(group, entry_point.name) is function


@pytest.mark.parametrize("module", ["spacy_pointparse", "spacy_pointparse.__main__"])
def test_package_imports_without_a_warning(module):
    result = run_python(f"import {module}")
    assert (result.returncode, result.stderr) == (0, "")


def test_parser_needs_no_torch_until_it_is_made():
    """Modules of factories are loaded with every pipeline. `thinc` imports torch where
    it finds one, so torch is hidden here."""
    result = run_python(
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import spacy_pointparse.pointing_parser\n"
        "print(sorted(name for name in sys.modules if name.startswith('spacy_point')))"
    )
    assert result.stderr == ""
    assert "spacy_pointparse.constituents" in result.stdout
    assert "spacy_pointparse.model" not in result.stdout
    assert "spacy_pointparse.network" not in result.stdout
