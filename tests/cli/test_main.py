import json
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import DocBin
from thinc.util import has_torch_cuda_gpu
from typer.testing import CliRunner

from spacy_pointparse.__main__ import app

LINES = [
    "(TOP (S (NP (DT The) (NNS looms)) (VP (VBP hum)) (. .)))",
    "(TOP (S (NP (PRP We)) (VP (VBD left) (NP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
    "(. .)))",
    "(TOP (NP (NNS Geese)) (. !))",
]
BROKEN = "(TOP (S (NP (NN oops)) (VP (VB"


def check_error(result, *parts):
    """The run failed, with one line that says why, below the progress bar if any."""
    assert result.exit_code == 1
    *bar, line = result.stderr.splitlines()
    assert line.startswith("Error: ")
    for part in parts:
        assert part in line
    assert not any("Error" in line for line in bar)
    assert "Traceback" not in result.output


@pytest.fixture
def run():
    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def test_main_without_a_command_shows_the_commands(run):
    result = run()
    for command in ("convert", "score", "evaluate"):
        assert command in result.output


def test_main_warns_in_one_line(write, tmp_path):
    path = write(LINES[0], BROKEN)
    command = [sys.executable, "-m", "spacy_pointparse", "convert", path]
    command += ["--output", tmp_path / "out.spacy", "--on-error", "skip"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout == f"1 sentences in {tmp_path}/out.spacy\n"
    [line] = [line for line in result.stderr.splitlines() if "skipped 1" in line]
    assert "Warning: " in line
    assert ".py" not in result.stderr


def test_main_convert(run, write, tmp_path):
    output = tmp_path / "made" / "out.spacy"
    result = run("convert", write(*LINES), "--output", output, "--relabel", "NP=DP")
    assert result.exit_code == 0
    assert f"3 sentences in {output}" in result.stdout
    docs = DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)
    assert [doc._.parse_string for doc in docs] == [
        "(S (DP (DT The) (NNS looms)) (VP (VBP hum)) (. .))",
        "(S (DP (PRP We)) (VP (VBD left) (DP (-LRB- -LRB-) (NN town) (-RRB- -RRB-))) "
        "(. .))",
        "(TOP (DP (NNS Geese)) (. !))",
    ]


def test_main_convert_broken_tree(run, write, tmp_path):
    output = tmp_path / "out.spacy"
    result = run("convert", write(LINES[0], BROKEN), "-o", output)
    check_error(result, "trees.mrg, line 2")
    assert not output.exists()


def test_main_convert_skips_broken_trees_where_asked(run, write, tmp_path):
    trees = write(LINES[0], BROKEN, LINES[2])
    with pytest.warns(UserWarning, match="skipped 1 faulty tree"):
        result = run("convert", trees, "-o", tmp_path / "o.spacy", "--on-error", "skip")
    assert result.exit_code == 0
    assert "2 sentences in" in result.stdout


def test_main_convert_warns_of_no_tree(run, write, tmp_path):
    with pytest.warns(UserWarning, match="no tree"):
        result = run("convert", write(), "-o", tmp_path / "o.spacy")
    assert result.stdout == f"0 sentences in {tmp_path / 'o.spacy'}\n"


@pytest.mark.parametrize(
    "rename", ["NML", "A=B=C", "NML=", "=NP", "", "NML=N P", "NML=(NP"]
)
def test_main_convert_bad_relabel(run, write, tmp_path, rename):
    output = tmp_path / "o.spacy"
    result = run("convert", write(*LINES), "-o", output, "--relabel", rename)
    check_error(result, f"--relabel takes OLD=NEW, not '{rename}'.")
    assert not output.exists()


def test_main_convert_missing_input(run, tmp_path):
    result = run("convert", tmp_path / "nowhere.mrg", "-o", tmp_path / "o.spacy")
    check_error(result, "nowhere.mrg")


def test_main_convert_missing_document(run, write, tmp_path):
    write(LINES[0], name="bank/a.mrg")
    write("a", "zebra", name="bank/dev.txt")
    output = tmp_path / "o.spacy"
    result = run("convert", tmp_path / "bank", "-o", output, "--split", "dev")
    check_error(result, "dev.txt", "'zebra'")
    assert not output.exists()


def test_main_convert_takes_a_split_and_a_limit(run, write, tmp_path):
    bank = write(*[f"(NP (NN n{i}))" for i in range(30)])
    for options, count in (
        (["--split", "dev"], 3),
        (["--split", "dev", "--limit", "2"], 2),
        (["--limit", "7", "--sentences-per-doc", "3"], 7),
    ):
        result = run("convert", bank, "-o", tmp_path / "o.spacy", *options)
        assert result.exit_code == 0
        assert f"{count} sentences in" in result.stdout
    docs = DocBin().from_disk(tmp_path / "o.spacy").get_docs(spacy.blank("en").vocab)
    assert [len(doc) for doc in docs] == [3, 3, 1]


def test_main_convert_drops_nodes_and_lemmas(run, write, tmp_path):
    line = "(IP (NP (PRO He-he)) (CODE {X}) (XX um-um) (VBD saw-see))"
    output = tmp_path / "o.spacy"
    options = ["--drop", "CODE", "--drop", "XX", "--lemmas"]
    run("convert", write(line), "-o", output, *options)
    [doc] = DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)
    assert [token.text for token in doc] == ["He", "saw"]


def test_main_convert_unwraps(run, write, tmp_path):
    line = "(TOP (CAP (TIT (NP (NN tea)))))"
    output = tmp_path / "o.spacy"
    run("convert", write(line), "-o", output, "--unwrap", "TIT", "--unwrap", "CAP")
    (doc,) = DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)
    assert doc._.parse_string == "(NP (NN tea))"


def test_main_is_what_python_runs(tmp_path):
    command = [sys.executable, "-m", "spacy_pointparse", "convert", "gone.mrg"]
    result = subprocess.run(
        [*command, "--output", "o.spacy"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 1
    assert result.stdout == ""
    line = result.stderr.splitlines()[-1]
    assert line.startswith("Error: ") and "gone.mrg" in line
    assert list(tmp_path.iterdir()) == []


def test_main_convert_needs_an_output(run, write):
    result = run("convert", write(*LINES))
    assert result.exit_code == 2
    assert "--output" in result.stderr


def test_main_score(run, write):
    gold = write(*LINES, name="gold.mrg")
    right = run("score", gold, gold)
    assert right.exit_code == 0
    assert "Bracketing FMeasure       = 100.00" in right.stdout
    flat = "(TOP (S (DT The) (NNS looms) (VBP hum) (. .)))"
    half = run("score", gold, write(flat, *LINES[1:], name="pred.mrg"))
    # 3 brackets of the first sentence, 1 of them found; 4 and 1 in the others.
    assert "Bracketing Recall         =  75.00" in half.stdout
    assert "Bracketing Precision      = 100.00" in half.stdout


def test_main_score_of_differing_files(run, write):
    result = run("score", write(*LINES), write(LINES[0], name="pred.mrg"))
    check_error(result, "Cannot compare 3 gold trees")


def test_main_score_unknown_setting(run, write):
    result = run("score", write(*LINES), write(*LINES), "--setting", "none")
    check_error(result, "Unknown EVALB setting 'none'")


def test_main_score_with_a_parameter_file(run, write, tmp_path):
    gold = write("(X (NP (NN fog)))", name="gold.mrg")
    pred = write("(NP (NN fog))", name="pred.mrg")
    path = write("DELETE_LABEL X", "CUTOFF_LEN 7", name="own.prm")
    result = run("score", gold, pred, "--setting", path)
    assert "Bracketing FMeasure       = 100.00" in result.stdout
    assert "-- len<=7 --" in result.stdout


def test_main_evaluate(run, write, trained_path, trees, tmp_path):
    output = tmp_path / "scores" / "scores.json"
    result = run("evaluate", trained_path, write(*trees), "--output", output)
    assert result.exit_code == 0
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["LABELED F1"] == "100.00"
    assert rows["COMPLETE MATCH"] == "100.00"
    assert rows["TAG ACCURACY"] == "100.00"
    assert rows["REJECTED BY EVALB"] == "0"
    assert json.loads(output.read_text())["spans_constituents_f"] == 1.0


def test_main_evaluate_raw_text(run, write, trained_path, trees):
    # No component sets sentences: the text of two sentences is parsed as one.
    with pytest.warns(UserWarning, match="without sentence boundaries"):
        result = run(
            "evaluate",
            trained_path,
            write(*trees[:2]),
            "--raw-text",
            "--sentences-per-doc",
            "2",
        )
    assert result.exit_code == 0
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["COMPLETE MATCH"] == "0.00"


@pytest.mark.parametrize("options", [["--gold-tags"], ["--tags", "tags.txt"]])
def test_main_evaluate_says_whose_tags_were_given(run, write, trained_path, options):
    data = write("(S (NP (NNS Owls)) (VP (VBP hoot)))")
    tags = write("NNS VBP", name="tags.txt")
    options = [str(tags) if option == "tags.txt" else option for option in options]
    rows = [
        run("evaluate", trained_path, data, *given).stdout for given in ([], options)
    ]
    assert "TAGS GIVEN                none\n" in rows[0]
    assert rows[1].split("TAGS GIVEN")[1].split()[0] in ("gold", str(tags))
    assert "TAG ACCURACY            100.00" in rows[1]


def test_main_calibrate(run, write, trained_path, trees, tmp_path):
    wrong = "(S (NP (DT The)) (VP (NN otter) (VBZ sleeps)) (. .))"
    output = tmp_path / "calibrated"
    result = run("calibrate", trained_path, write(*trees, wrong), "--output", output)
    assert result.exit_code == 0
    slope, intercept = spacy.load(output).get_pipe("pointing_parser").calibration
    assert result.stdout.endswith(f"slope {slope:.3f}, intercept {intercept:.3f}\n")
    assert (slope, intercept) != (1, 0)
    assert spacy.load(trained_path).get_pipe("pointing_parser").calibration == (1, 0)


def test_main_calibrate_on_what_is_known_by_heart(run, write, trained_path, trees):
    output = trained_path.parent / "calibrated"
    result = run("calibrate", trained_path, write(*trees), "--output", output)
    check_error(result, "some right and some wrong predictions")
    assert not output.exists()


def test_main_join(run, trained_path, tmp_path):
    output = tmp_path / "joined"
    result = run("join", trained_path, trained_path, "--output", output)
    assert result.exit_code == 0
    assert result.stdout == f"Joined 2 parsers into {output}\n"
    model = spacy.load(output).get_pipe("pointing_parser").model
    assert len(model.layers) == 2


def test_main_evaluate_gold_tags_of_raw_text(run, write, trained_path, trees):
    data = write(*trees)
    result = run("evaluate", trained_path, data, "--raw-text", "--gold-tags")
    check_error(result, "Tags need gold_tokens")


@pytest.mark.parametrize("what", ["model", "data"])
def test_main_evaluate_missing_input(run, write, trained_path, tmp_path, what):
    paths = {"model": trained_path, "data": write(*LINES), what: tmp_path / "gone"}
    result = run("evaluate", paths["model"], paths["data"])
    check_error(result, "gone")


def test_main_evaluate_on_no_tree(run, write, trained_path):
    data = write()
    check_error(run("evaluate", trained_path, data), f"No trees in {data}")


def test_main_evaluate_output_that_cannot_be_written(run, write, trained_path, trees):
    data = write(*trees)
    result = run("evaluate", trained_path, data, "--output", data.parent)
    check_error(result, str(data.parent))
    assert "LABELED F1" in result.stdout


@pytest.mark.skipif(has_torch_cuda_gpu, reason="there is a GPU")
def test_main_evaluate_without_the_gpu_that_is_asked_for(run, write, trained_path):
    result = run("evaluate", trained_path, write(*LINES), "--gpu-id", "0")
    check_error(result, "GPU")
