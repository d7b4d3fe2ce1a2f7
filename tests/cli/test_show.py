import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from samples import BROKEN, LINES, needs_svgling
from spacy.tokens import DocBin
from spacy.util import is_package
from typer.testing import CliRunner

from spacy_pointparse.__main__ import app
from spacy_pointparse.visualization.render import render

PAGE = Path(__file__).parents[2] / "docs" / "pictures.md"
LOOMS = """\
S
├─ NP
│  ├─ DT The
│  └─ NNS looms
├─ VP
│  └─ VBP hum
└─ . .
"""
GEESE = """\
TOP
├─ NP
│  └─ NNS Geese
└─ . !
"""
YES = "UH Yes\n"


@pytest.fixture
def run():
    def run(*arguments, **settings):
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, ["show", *words], **settings)

    return run


def check_error(result, *parts):
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert not [part for part in parts if part not in line]


def test_show_bracketed_trees(run, write):
    result = run(write(LINES[0], LINES[2]))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{LOOMS}\n{GEESE}\n"


def test_show_a_spacy_file(run, read_doc, tmp_path):
    path = tmp_path / "trees.spacy"
    DocBin(docs=[read_doc(LINES[0], LINES[2])]).to_disk(path)
    assert run(path).stdout == f"{LOOMS}\n{GEESE}\n"


@pytest.mark.filterwarnings("ignore:A Doc without sentence boundaries")
def test_show_texts(run, trained_path):
    result = run("--text", "Yes", "-t", "Yes Yes", "--model", trained_path)
    assert result.stdout.startswith(f"{YES}\n")
    assert result.stdout.count("Yes") == 3
    result = run("-", "--model", trained_path, input="Yes")
    assert result.stdout == f"{YES}\n"


@pytest.mark.parametrize("arguments", [[], ["trees.mrg", "--text", "Yes"]])
def test_show_wants_one_source(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "either a file or a --text" in " ".join(result.stderr.split())


def test_show_so_many(run, write):
    assert run(write(*LINES), "--limit", 1).stdout == f"{LOOMS}\n"


def test_show_compares_with_gold(run, write):
    flat = write("(TOP (S (DT The) (NNS looms) (VP (VBP hum)) (. .)))", name="p.mrg")
    result = run(flat, "--gold", write(LINES[0]))
    assert result.stdout.count("○\u00a0NP") == 1
    assert "✗\u00a0" not in result.stdout
    assert result.stdout.startswith("gold") and "predicted" in result.stdout


def test_show_compares_as_many_as_there_are(run, write):
    two = write(*LINES[:2], name="p.mrg")
    gold = write(*LINES)
    check_error(run(two, "--gold", gold), "Cannot compare 2 parses with 3 gold parses")
    result = run(two, "--gold", gold, "--limit", 2)
    assert result.stdout.count("gold (") == 2


@needs_svgling
def test_show_svg(run, write, tmp_path, read_doc):
    output = tmp_path / "new" / "trees.svg"
    result = run(write(LINES[0], LINES[2]), "--output", output)
    assert result.stdout == f"Saved to {output}\n"
    svg = output.read_text(encoding="utf8")
    assert svg == render([read_doc(LINES[0]), read_doc(LINES[2])])
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert [path.name for path in output.parent.iterdir()] == ["trees.svg"]


@pytest.mark.parametrize("style", [pytest.param("tree", marks=needs_svgling), "span"])
def test_show_html(run, write, tmp_path, read_doc, style):
    output = tmp_path / "trees.html"
    run(write(LINES[0]), "-o", output, "--style", style)
    html = output.read_text(encoding="utf8")
    assert html == render([read_doc(LINES[0])], style=style, page=True)


def test_show_txt(run, write, tmp_path):
    output = tmp_path / "trees.txt"
    run(write(LINES[0]), "-o", output)
    assert output.read_text(encoding="utf8") == LOOMS.rstrip("\n")


@pytest.mark.parametrize("name", ["trees.png", "trees"])
def test_show_in_a_file_of_another_kind(run, write, tmp_path, name):
    output = tmp_path / name
    check_error(run(write(LINES[0]), "-o", output), ".svg, .html or .txt", name)
    assert not output.exists()


@pytest.mark.parametrize("options", [[], ["-o", "trees.svg"]])
def test_show_spans_needs_html(run, write, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(write(LINES[0]), "--style", "span", *options)
    check_error(result, "--output NAME.html")
    assert not Path("trees.svg").exists()


@pytest.mark.parametrize("name", ["gone.mrg", "gone.spacy", "gone", "*.mrg"])
def test_show_a_missing_file(run, tmp_path, name):
    check_error(run(tmp_path / name), name)


def test_show_a_broken_tree(run, write, tmp_path):
    output = tmp_path / "trees.svg"
    check_error(run(write(LINES[0], BROKEN), "-o", output), "trees.mrg, line 2")
    assert not output.exists()


def test_show_nothing(run, write, tmp_path):
    for name in ("trees.svg", "trees.html", "trees.txt"):
        output = tmp_path / name
        check_error(run(write(""), "-o", output), "Nothing to draw", "trees.mrg")
        assert not output.exists()


def test_show_without_a_model(run):
    check_error(run("-t", "Yes", "--model", "no_such_model"), "no_such_model")


def test_show_unparsed_docs(run, vocab, read_doc, tmp_path):
    path = tmp_path / "trees.spacy"
    DocBin(docs=[read_doc(LINES[0])[:].as_doc()]).to_disk(path)
    check_error(run(path), "no constituency parse")


def test_show_without_svgling(run, write, monkeypatch, tmp_path):
    for name in ("svgling", "svgling.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run(write(LINES[0]), "-o", tmp_path / "trees.svg")
    check_error(result, "spacy-pointparse[pictures]")
    assert run(write(LINES[0])).stdout == f"{LOOMS}\n"


def test_show_to_a_reader_who_leaves(write):
    trees = write(*LINES * 2000)
    command = f"{sys.executable} -m spacy_pointparse show {trees} | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("S\n", "")


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_show_as_the_page_on_pictures_says(run, write, tmp_path, read_doc, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(*LINES)
    write(*LINES, name="predicted.mrg")
    DocBin(docs=[read_doc(*LINES)]).to_disk("corpus.spacy")
    page = PAGE.read_text(encoding="utf8")
    (block,) = re.findall(r"^```bash\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    printed = ""
    for line in block.splitlines():
        before, command = line.split("python -m spacy_pointparse show ")
        text = shlex.split(before)[1] if before else None
        result = run(*shlex.split(command), input=text)
        assert (result.exit_code, result.stderr) == (0, "")
        printed += result.stdout
    assert "NNS children" in printed and "NNS Birds" in printed
    drawn = set(re.findall("Saved to (.*)", printed))
    assert drawn == {"tree.svg", "errors.html", "corpus.html"}
    assert all(Path(name).stat().st_size for name in drawn)
