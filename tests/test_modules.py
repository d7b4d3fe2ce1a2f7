"""A package imports only packages above it."""

import ast
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from spacy.util import registry

import spacy_pointparse

ROOT = Path(spacy_pointparse.__file__).parent
# From top to bottom.
PACKAGES = [
    "util",
    "trees",
    "pointing",
    "tokens",
    "ml",
    "training",
    "evaluation",
    "pipeline",
    "parallel",
    "visualization",
    "cli",
    "__main__",
]
# All that these know of the world outside Python.
KNOWN = {
    "util": {"numpy", "srsly", "thinc"},
    "trees": {"nltk"},
    "pointing": {"numpy"},
    "tokens": {"nltk", "numpy", "spacy"},
    "ml": {"numpy", "spacy", "thinc", "torch"},
    "ml/modules": {"torch"},
    "ml/models": {"spacy", "thinc"},
    "training": {"nltk", "numpy", "spacy", "thinc", "tqdm"},
    "evaluation": {"numpy", "spacy"},
    "pipeline": {"nltk", "numpy", "spacy", "thinc"},
    "parallel": {"pyarrow", "pyspark", "spacy"},
    "visualization": {"IPython", "matplotlib", "nltk", "spacy", "streamlit", "svgling"},
}
ENTRY_POINTS = distribution("spacy-pointparse").entry_points


def list_files(package):
    files = sorted((ROOT / package).rglob("*.py"))
    return files or [ROOT / f"{package}.py"]


def read_imports(path):
    """The full names of all that a file imports, at its top or anywhere else."""
    package = ["spacy_pointparse", *path.parent.relative_to(ROOT).parts]
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) + 1 - node.level] if node.level else []
            module = [node.module] if node.module else []
            names += [".".join([*parents, *module, a.name]) for a in node.names]
    return [name.split(".") for name in names]


def list_own_imports(package):
    """The other packages of ours that a package imports."""
    names = [name for path in list_files(package) for name in read_imports(path)]
    return {name[1] for name in names if name[0] == "spacy_pointparse"} - {package}


def list_libraries(package):
    """The libraries that a package imports, the standard library left out."""
    names = {name[0] for path in list_files(package) for name in read_imports(path)}
    return names - {"spacy_pointparse"} - sys.stdlib_module_names


# The lowest spaCy calls click by an old name.
STRICT = ["-W", "error", "-W", "ignore::DeprecationWarning:spacy.cli._util"]


def run_python(code, *options):
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True)


def test_imports_are_read_in_all_their_forms(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "ml" / "modules" / "heads.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "import torch.nn as nn, numpy\n"
        "from .padding import pad\n"
        "from ..layers.sum import build_sum\n"
        "from ...trees import ROOT\n"
        "from ... import tokens\n"
        "from spacy_pointparse import pipeline\n"
        "def late():\n"
        "    import spacy_pointparse.evaluation.evalb\n"
    )
    assert list_own_imports("ml") == {"trees", "tokens", "pipeline", "evaluation"}
    assert list_libraries("ml") == {"torch", "numpy"}


def test_every_package_has_its_place():
    found = {path.stem for path in ROOT.iterdir() if path.suffix == ".py"}
    found |= {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found - {"__init__"} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_packages_above(package):
    assert list_own_imports(package) <= set(PACKAGES[: PACKAGES.index(package)])


@pytest.mark.parametrize("package", KNOWN)
def test_package_knows_only_its_libraries(package):
    assert list_libraries(package) == KNOWN[package]


def test_torch_is_for_the_modules_only():
    files = sorted(ROOT.rglob("*.py"))
    knowing = {
        path.relative_to(ROOT).parts[:2]
        for path in files
        if any(name[0] == "torch" for name in read_imports(path))
    }
    assert knowing == {("ml", "modules")}


def test_layers_do_not_know_models():
    for folder, below in (("modules", {"layers", "models"}), ("layers", {"models"})):
        for path in list_files(f"ml/{folder}"):
            names = {name[2] for name in read_imports(path) if name[1:2] == ["ml"]}
            assert not names & below, path


def test_component_knows_its_architecture_by_name_only():
    for path in list_files("pipeline"):
        names = {tuple(name[:2]) for name in read_imports(path)}
        assert ("spacy_pointparse", "ml") not in names, path


def test_prediction_imports_no_training():
    names = read_imports(ROOT / "pipeline" / "inference.py")
    own = {name[1] for name in names if name[0] == "spacy_pointparse"}
    assert own and not own & {"training", "evaluation"}


def test_top_imports_no_more_than_it_offers():
    names = {tuple(name[1:3]) for name in read_imports(ROOT / "__init__.py")}
    assert names == {
        ("tokens", "constituents"),
        ("tokens", "extensions"),
        ("visualization", "glossary"),
        ("visualization", "render"),
    }


def test_installing_and_importing_register_nothing():
    result = run_python(
        "import spacy, spacy_pointparse\n"
        "from spacy.tokens import Doc, Span, Token\n"
        "spacy.blank('en')\n"
        "for owner in (Doc, Span, Token):\n"
        "    for name in ('labels', 'parent', 'children', 'probability'):\n"
        "        owner.set_extension(name, default=name)\n"
        "doc = spacy.blank('en')('Hi')\n"
        "print(doc._.labels, doc[:1]._.parent, doc[0]._.children)\n"
    )
    assert result.stdout == "labels parent children\n", result.stderr


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
    result = run_python(f"import {module}", *STRICT)
    assert (result.returncode, result.stderr) == (0, "")


def test_parser_needs_no_torch_until_it_is_made():
    """Modules of factories are loaded with every pipeline. `thinc` imports torch where
    it finds one, so torch is hidden here."""
    result = run_python(
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import spacy_pointparse.pipeline.pointing_parser\n"
        "print(sorted(name for name in sys.modules if name.startswith('spacy_point')))"
    )
    assert result.stderr == ""
    assert "spacy_pointparse.tokens.constituents" in result.stdout
    assert "spacy_pointparse.ml" not in result.stdout
