"""The paper's workflows, on made-up treebanks of the layout of the licensed ones."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.util import load_config
from weasel.cli.run import project_run

from spacy_pointparse.tokens import SPANS_KEY

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "paper_data.py"
SENTENCE = "( (S (NP-SBJ (NNS Owls)) (VP (VBP hoot))) )"
HYPHENS = "( (S-MAIN (NP (N##lem=buma ya|num=sg## buma-ya)) (V-PST##t=1## halka)) )"
HEBREW = {"train5k": 3, "dev": 2, "test": 1}
STEPS = {"vars.paper_steps": 1, "vars.paper_eval_frequency": 1}


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("paper_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ptb(tmp_path):
    """Of the Penn Treebank's sections, each a sentence."""
    for section in range(25):
        folder = tmp_path / "ptb" / f"{section:02}"
        folder.mkdir(parents=True)
        name = f"wsj_{section:02}01.mrg"
        (folder / name).write_text(SENTENCE + "\n", encoding="utf8")
    return tmp_path / "ptb"


@pytest.fixture(scope="module")
def spmrl(tmp_path_factory):
    """Of the SPMRL shared tasks, a Hebrew of a few sentences."""
    folder = tmp_path_factory.mktemp("spmrl")
    for split, count in HEBREW.items():
        path = folder / "HEBREW_SPMRL/gold/ptb" / split / f"{split}.Hebrew.gold.ptb"
        path.parent.mkdir(parents=True)
        path.write_text(f"{HYPHENS}\n" * count, encoding="utf8")
    return folder


def read_docs(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def test_paper_takes_the_sections_of_the_penn_treebank(
    script, ptb, tmp_path, monkeypatch
):
    monkeypatch.setitem(script.COUNTS, "PTB", (20, 1, 1))
    script.main("PTB", ptb, tmp_path / "out")
    counts = [len(read_docs(tmp_path / "out" / f"{s}.spacy")) for s in script.SPLITS]
    assert counts == [20, 1, 1]
    [doc] = read_docs(tmp_path / "out" / "test.spacy")
    assert [span.label_ for span in doc.spans[SPANS_KEY]] == ["S", "NP", "VP"]


def test_paper_expects_the_counts_of_the_paper(script):
    assert script.COUNTS["PTB"] == (39832, 1700, 2416)
    assert script.COUNTS["Swedish"] == (5000, 494, 666)
    assert len(script.COUNTS) == 9


def test_paper_lists_what_is_missing(ptb, tmp_path):
    shutil.rmtree(ptb / "07")
    shutil.rmtree(ptb / "22")
    command = [sys.executable, SCRIPT, "PTB", ptb, tmp_path / "out"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    expected = f"Missing files of PTB:\n{ptb / '07'}\n{ptb / '22'}\n"
    assert result.stderr == expected
    assert not (tmp_path / "out").exists()


def test_paper_refuses_a_treebank_that_is_not_whole(script, ptb, tmp_path):
    with pytest.raises(SystemExit) as stopped:
        script.main("PTB", ptb, tmp_path / "out")
    message = str(stopped.value)
    assert "PTB train has 20 sentences, not 39832" in message
    assert str(ptb / "02") in message
    assert list((tmp_path / "out").iterdir()) == []


def test_paper_strips_features_and_finds_small_letters(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "SPLITS", ("dev", "test"))
    monkeypatch.setitem(script.COUNTS, "Swedish", (1, 1))
    for split in ("dev", "test"):
        path = tmp_path / "SWEDISH_SPMRL/gold/ptb" / split
        path.mkdir(parents=True)
        (path / f"{split}.swedish.gold.ptb").write_text(HYPHENS + "\n", "utf8")
    script.main("Swedish", tmp_path, tmp_path / "out")
    [doc] = read_docs(tmp_path / "out" / "dev.spacy")
    assert [(token.text, token.tag_) for token in doc] == [
        ("buma-ya", "N"),
        ("halka", "V-PST"),
    ]


def test_paper_names_the_line_of_broken_features(script, tmp_path):
    path = tmp_path / "gold" / "dev.ptb"
    path.parent.mkdir()
    path.write_text(f"{HYPHENS}\n{HYPHENS.replace('sg##', 'sg')}\n", "utf8")
    with pytest.raises(SystemExit, match=r"dev\.ptb:2: unbalanced ##"):
        script.strip_features(path, tmp_path)


def test_paper_refuses_other_treebanks(script, tmp_path):
    with pytest.raises(SystemExit, match="Basque"):
        script.main("Latin", tmp_path, tmp_path / "out")


@pytest.fixture
def project(tmp_path):
    """A copy of the project whose models of the paper are small, as are the treebanks
    that it expects."""
    for folder in ("configs", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "project.yml", tmp_path)
    for path in (tmp_path / "configs").glob("paper*.cfg"):
        config = load_config(path)
        model = config["components"]["pointing_parser"]["model"]
        model.update(width=16)
        if path.stem == "paper":
            model.update(pointing_width=16, singleton_width=16)
        encoder = model["encoder"]
        encoder.update(width=16, depth=1)
        if "key_width" in encoder:
            encoder.update(key_width=4, feedforward_width=16)
        config.to_disk(path, interpolate=False)
    script = tmp_path / "benchmarks" / "paper_data.py"
    code = script.read_text(encoding="utf8")
    code = code.replace("39_832, 1_700, 2_416", "20, 1, 1")
    code = code.replace("5_000, 500, 716", "3, 2, 1")
    script.write_text(code, encoding="utf8")
    return tmp_path


def read_table(output, row):
    """The figures of both rows of the table of a workflow."""
    table = output.split(f"| {row} |")[1]
    rows = table.strip().splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize(
    "workflow, row, printed",
    [
        ("paper", "PTB", ["92.81", "92.75", "92.78", "130.2", "-"]),
        ("paper-lstm", "PTB with an LSTM", ["-", "-", "92.26", "-", "-"]),
        ("paper-transformer", "PTB with {bert}", ["-"] * 5),
    ],
)
def test_project_runs_the_paper_on_the_penn_treebank(
    project, ptb, bert, capfd, workflow, row, printed
):
    if "transformer" in workflow:
        pytest.importorskip("spacy_transformers")
    tags = project / "tags.txt"
    tags.write_text("NNS NNS\n", encoding="utf8")
    settings = {
        "vars.ptb": str(ptb),
        "vars.bert": str(bert),
        "vars.bert_width": 16,
        "vars.train_options": f"--corpora.dev.tags {tags}",
        "vars.test_tags": str(tags),
        **STEPS,
    }
    project_run(project, workflow, overrides=settings)
    ours, theirs = read_table(capfd.readouterr().out, row.format(bert=bert))
    assert ours[0] == f"ours, tags of {tags}"
    assert all(float(figure) >= 0 for figure in ours[1:])
    assert theirs == ["the paper", *printed]
    nlp = spacy.load(project / "training" / workflow / "model-best")
    assert nlp.config["corpora"]["dev"]["tags"] == str(tags)
    assert ("transformer" in nlp.pipe_names) == ("transformer" in workflow)


@pytest.mark.parametrize("workflow", ["spmrl", "spmrl-transformer"])
def test_project_runs_the_paper_on_the_shared_tasks(
    project, spmrl, bert, capfd, workflow
):
    if "transformer" in workflow:
        pytest.importorskip("spacy_transformers")
    settings = {
        "vars.spmrl": str(spmrl),
        "vars.spmrl_language": "Hebrew",
        "vars.spmrl_lang": "he",
        "vars.multilingual_bert": str(bert),
        "vars.multilingual_bert_width": 16,
        **STEPS,
    }
    project_run(project, workflow, overrides=settings)
    row = "Hebrew" if workflow == "spmrl" else f"Hebrew with {bert}"
    ours, theirs = read_table(capfd.readouterr().out, row)
    assert theirs[3] == ("90.63" if workflow == "spmrl" else "-")
    assert ours[0] == "ours, gold tags"
    assert all(float(figure) >= 0 for figure in ours[1:])
    nlp = spacy.load(project / "training" / workflow / "model-best")
    assert nlp.lang == "he"
    # The setting of the shared tasks, and labels with their hyphens.
    assert nlp.config["components"]["pointing_parser"]["scorer"]["setting"] == "spmrl"
    assert nlp.get_pipe("pointing_parser").labels == ("NP", "S-MAIN")
