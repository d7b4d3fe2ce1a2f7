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

from spacy_pointparse.constituents import KEY

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "paper_data.py"
SENTENCE = "( (S (NP-SBJ (NNS Owls)) (VP (VBP hoot))) )"
HYPHENS = "( (S-MAIN (NP (N buma-ya)) (V-PST halka)) )"
HEBREW = {"train5k": 5000, "dev": 500, "test": 716}
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
    """Of the SPMRL shared tasks, a Hebrew of as many sentences as the real one."""
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
    assert [span.label_ for span in doc.spans[KEY]] == ["S", "NP", "VP"]


def test_paper_expects_the_counts_of_the_paper(script):
    assert script.COUNTS["PTB"] == (39832, 1700, 2416)
    assert script.COUNTS["Swedish"] == (5000, 494, 666)
    assert len(script.COUNTS) == 9


def run_script(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True
    )


def test_paper_lists_what_is_missing(ptb, tmp_path):
    shutil.rmtree(ptb / "07")
    shutil.rmtree(ptb / "22")
    result = run_script("PTB", ptb, tmp_path / "out")
    assert result.returncode == 1
    expected = f"Missing of PTB:\n{ptb / '07'}\n{ptb / '22'}\n"
    assert result.stderr == expected
    assert not (tmp_path / "out").exists()


def test_paper_refuses_a_treebank_that_is_not_whole(ptb, tmp_path):
    result = run_script("PTB", ptb, tmp_path / "out")
    assert result.returncode == 1
    assert "PTB train has 20 sentences, not 39832" in result.stderr
    assert str(ptb / "02") in result.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_paper_refuses_other_treebanks(tmp_path):
    result = run_script("Latin", tmp_path, tmp_path / "out")
    assert result.returncode == 1
    assert "Basque" in result.stderr


def test_project_runs_the_paper_from_treebank_to_table(spmrl, tmp_path, capfd):
    for folder in ("configs", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "project.yml", tmp_path)
    config = load_config(tmp_path / "configs" / "paper.cfg")
    model = config["components"]["pointing_parser"]["model"]
    model.update(width=16, pointing_width=16, singleton_width=16)
    model["upper_encoder"].update(width=16, depth=1, key_width=4, feedforward_width=16)
    config.to_disk(tmp_path / "configs" / "paper.cfg")
    settings = {
        "vars.spmrl": str(spmrl),
        "vars.spmrl_language": "Hebrew",
        "vars.spmrl_lang": "he",
        **STEPS,
    }
    project_run(tmp_path, "spmrl", overrides=settings)
    table = capfd.readouterr().out.split("| Hebrew |")[1]
    ours, printed = table.strip().splitlines()[2:]
    assert printed == "| the paper | - | - | 90.63 | - | - |"
    name, *figures = (cell.strip() for cell in ours.strip("|").split("|"))
    assert name == "ours"
    assert len(figures) == 5
    assert all(float(figure) >= 0 for figure in figures)
    nlp = spacy.load(tmp_path / "training" / "spmrl" / "model-best")
    assert nlp.lang == "he"
    # The setting of the shared tasks, and labels with their hyphens.
    assert nlp.config["components"]["pointing_parser"]["scorer"]["setting"] == "spmrl"
    assert nlp.get_pipe("pointing_parser").labels == ("NP", "S-MAIN")
