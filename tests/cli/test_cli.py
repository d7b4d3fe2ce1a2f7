"""The commands that parse, search and count; the others are in test_main.py."""

import configparser
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib import import_module
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer import Typer
from typer.testing import CliRunner

from spacy_pointparse.cli import app
from spacy_pointparse.cli.inputs import Item, parse_items
from spacy_pointparse.cli.writers import Format, write_columns
from spacy_pointparse.tokens.search import compile_pattern
from spacy_pointparse.trees import read_trees

TEXTS = ["Run Yes", "", "The otter sleeps .", "Yes"]
PARSES = [
    "(S (VP (VB Run))) (UH Yes)",
    "",
    "(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)) (. .))",
    "(UH Yes)",
]
BAD = b"bad \xff line"


@pytest.fixture(scope="module")
def model(trained_path, tmp_path_factory):
    """The tiny parser after a component that ends a sentence before each "Yes"."""
    nlp = spacy.load(trained_path)
    nlp.add_pipe("sentencizer", first=True, config={"punct_chars": ["Run"]})
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        return CliRunner().invoke(app, [str(arg) for arg in arguments], input=stdin)

    return run


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf8")
    return path


def start(*arguments):
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "spacy_pointparse", *map(str, arguments)]
    pipe = subprocess.PIPE
    # Threads of torch's that are copied into a process would hang there; what other
    # packages warn of is no error of ours.
    settings = {"OMP_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore"}
    environment = {**os.environ, **settings}
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=environment
    )


def fork(run, *arguments):
    """Start a command in a copy of this process."""
    process = get_context("fork").Process(target=run, args=arguments)
    process.start()
    return process


def run_and_die(run, arguments, calls, cut):
    """Run a command that is killed when data is on the disk that the progress does not
    know of yet, with the last line cut off."""
    sync = os.fsync

    def die(file):
        nonlocal calls
        calls -= 1
        if not calls:
            os.ftruncate(file, os.fstat(file).st_size - cut)
            os.kill(os.getpid(), signal.SIGKILL)
        sync(file)

    os.fsync = die
    run(*arguments)


def check_error(result, *parts, code=1):
    """The last line says what is wrong, and no other does."""
    assert result.exit_code == code
    assert "Traceback" not in result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    for part in parts:
        assert part in last


def read_docs(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def test_installed_command_is_the_app():
    setup = configparser.ConfigParser()
    setup.read(Path(__file__).parents[2] / "setup.cfg")
    name, place = setup["options.entry_points"]["console_scripts"].split(" = ")
    module, attribute = place.split(":")
    assert name.strip() == "pointparse"
    assert isinstance(getattr(import_module(module), attribute), Typer)


@pytest.mark.parametrize("command", ["parse", "search", "stats"])
def test_help_says_what_a_command_does(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert command in run("--help").output


# parse: inputs


def test_parse_writes_a_line_a_text(run, model, texts):
    result = run("parse", model, texts)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.split("\n") == [*PARSES, ""]
    Path("out.mrg").write_text(result.stdout)
    assert len(list(read_trees("out.mrg"))) == 4


def test_parse_reads_all_kinds_of_input_in_order(run, model, tmp_path):
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    (folder / "below" / "b.jsonl").write_text('{"body": "three", "text": "no"}\n')
    vocab = spacy.blank("en").vocab
    DocBin(docs=[Doc(vocab, words=["f", "our"])]).to_disk(folder / "c.spacy")
    (folder / ".hidden").write_text("never")
    options = ["--text", "zero", "--field", "body", "--format", "jsonl"]
    result = run("parse", model, folder, "-", *options, stdin='{"body": "five"}\n')
    assert result.exit_code == 0
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record.get("source") for record in records] == [
        "<text>:1",
        f"{folder}/a.txt:1",
        f"{folder}/a.txt:2",
        None,
        f"{folder}/c.spacy:1",
        None,
    ]
    read = [record.get("body") or record["text"] for record in records]
    assert read == ["zero", "one", "two", "three", "f our ", "five"]


def test_parse_reads_lines_of_standard_input(run, model):
    result = run("parse", model, stdin="\n".join(TEXTS))
    assert result.stdout.split("\n") == [*PARSES, ""]


def test_parse_keeps_tokens_and_user_data_of_docs(run, model):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["Run", "Yes", "Yes"], sent_starts=[True, True, False])
    doc.user_data["id"] = 7
    DocBin(docs=[doc], store_user_data=True).to_disk("in.spacy")
    assert run("parse", model, "in.spacy", "-o", "out.spacy").exit_code == 0
    [parsed] = read_docs("out.spacy")
    assert [token.text for token in parsed] == ["Run", "Yes", "Yes"]
    assert next(parsed.sents)._.labels == ("S", "VP")
    assert parsed.user_data["id"] == 7


# parse: formats


def test_parse_to_json_lines(run, model, texts):
    result = run("parse", model, texts, "--output", "new/out.jsonl")
    assert (result.exit_code, result.output) == (0, "")
    lines = Path("new/out.jsonl").read_text(encoding="utf8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["text"] for record in records] == TEXTS
    assert records[0]["parse_string"] == "(S (VP (VB Run)))\n(UH Yes)"
    otter = records[2]
    found = [
        (otter["text"][span["start_char"] : span["end_char"]], span["label"])
        for span in otter["constituents"]
    ]
    assert found == [(TEXTS[2], "S"), ("The otter", "NP"), ("sleeps", "VP")]
    assert all(0 < span["probability"] <= 1 for span in otter["constituents"])
    assert [path.name for path in Path("new").iterdir()] == ["out.jsonl"]


def test_parse_to_json_lines_keeps_the_fields_of_the_input(run, model):
    Path("in.jsonl").write_text('{"id": 7, "text": "Größe \\ud800", "x": [null]}\n')
    result = run("parse", model, "in.jsonl", "-o", "out.jsonl")
    assert result.exit_code == 1  # half a surrogate pair is no text
    record = json.loads(Path("out.jsonl").read_text(encoding="utf8"))
    assert record["id"] == 7
    assert record["text"] == "Größe \ud800"
    assert record["x"] == [None]
    assert "surrogates" in record["error"]


@pytest.mark.parametrize("text", ["null", "5", '["Run"]'])
def test_parse_keeps_the_fields_of_a_record_without_text(run, model, text):
    Path("in.jsonl").write_text(f'{{"id": 7, "text": {text}}}\n[8]\n')
    assert run("parse", model, "in.jsonl", "-o", "out.jsonl").exit_code == 1
    lines = Path("out.jsonl").read_text(encoding="utf8").splitlines()
    record, other = map(json.loads, lines)
    assert "There is no text in a field 'text'" in record.pop("error")
    fields = {"id": 7, "text": json.loads(text)}
    assert record == {"source": "in.jsonl:1", **fields}
    assert other["source"] == "in.jsonl:2"


def test_parse_to_columns(run, model, texts):
    assert run("parse", model, texts, "-o", "out.conll").exit_code == 0
    assert Path("out.conll").read_text() == (
        f"# newdoc id = {texts}:1\n"
        "1\tRun\tVB\t(S(VP*))\n"
        "\n"
        "1\tYes\tUH\t*\n"
        "\n"
        f"# newdoc id = {texts}:2\n"
        "\n"
        f"# newdoc id = {texts}:3\n"
        "1\tThe\tDT\t(S(NP*\n"
        "2\totter\tNN\t*)\n"
        "3\tsleeps\tVBZ\t(VP*)\n"
        "4\t.\t.\t*)\n"
        "\n"
        f"# newdoc id = {texts}:4\n"
        "1\tYes\tUH\t*\n"
        "\n"
    )


def test_columns_hold_the_whole_tree(read_doc, trees, vocab):
    odd = Doc(
        vocab, words=["(", "a b", "*", "\\", "\n"], tags=["-LRB-", "X", "*", "", ""]
    )
    odd.spans["constituents"] = [odd[0:4], odd[1:3]]
    for doc in (*map(read_doc, trees), odd):
        _, *rows = write_columns(Item("place", {}), doc).strip().split("\n")
        columns = [row.split("\t") for row in rows]
        assert [row[0] for row in columns] == [str(i + 1) for i in range(len(rows))]
        text = "".join(
            brackets.replace("*", f"({tag} {word})", 1)
            for _, word, tag, brackets in columns
        )
        assert text == doc._.parse_string.replace(" (", "(")


def test_parse_to_docs(run, model, texts):
    assert run("parse", model, texts, "-o", "out.spacy").exit_code == 0
    nlp = spacy.load(model)
    docs = read_docs("out.spacy")
    assert [doc.text for doc in docs] == TEXTS
    assert [doc.to_json() for doc in docs] == [nlp(text).to_json() for text in TEXTS]
    assert list(Path().glob("out*")) == [Path("out.spacy")]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("x.jsonl", Format.jsonl),
        ("x.conll", Format.conll),
        ("x.spacy", Format.spacy),
        ("x.mrg", Format.brackets),
        ("x", Format.brackets),
    ],
)
def test_suffix_names_the_format(name, form):
    assert Format.of(Path(name)) is form


@pytest.mark.parametrize("name", ["empty.mrg", "empty.spacy"])
def test_parse_nothing(run, model, name):
    assert run("parse", model, "-o", name, stdin="").exit_code == 0
    assert Path(name).exists()
    assert name == "empty.mrg" or read_docs(name) == []


# parse: faults


@pytest.fixture
def bad():
    """Bad lines among good ones, and the places of the bad."""
    Path("bad.txt").write_bytes(b"\n".join([b"Yes", BAD, b"x" * 1_000_001, b"Yes"]))
    lines = [
        '{"text": "Yes"}',
        "{",
        '{"text": 1}',
        '{"body": "x"}',
        "[]",
        "",
        '{"text": ""}',
    ]
    Path("bad.jsonl").write_text("\n".join(lines) + "\n")
    Path("bad.spacy").write_bytes(b"junk")
    places = ["bad.txt:2", "bad.txt:3", *(f"bad.jsonl:{i}" for i in range(2, 7))]
    return [*places, "bad.spacy"]


def test_bad_lines_are_reported_counted_and_keep_their_place(run, model, bad):
    result = run("parse", model, "bad.txt", "bad.jsonl", "bad.spacy")
    check_error(result, "8 of 12 texts failed")
    *reports, _ = result.stderr.splitlines()
    assert [line.split(": ")[0] for line in reports] == bad
    for line, part in zip(reports, ("0xff", "E088", "", "'text'", "'text'", "'text'")):
        assert part in line
    yes = "(UH Yes)"
    assert result.stdout.split("\n") == [yes, "", "", yes, yes, *[""] * 8]


@pytest.mark.parametrize("form", ["jsonl", "conll", "spacy"])
def test_bad_lines_keep_their_place_in_all_formats(run, model, bad, form):
    output = Path(f"out.{form}")
    check_error(run("parse", model, "bad.txt", "bad.jsonl", "-o", output), "7 of 11")
    if form == "spacy":
        docs = read_docs(output)
        good = ["constituents" in doc.spans for doc in docs]
        assert all(len(doc) == 0 for doc, is_good in zip(docs, good) if not is_good)
    elif form == "jsonl":
        records = [json.loads(line) for line in output.read_text().splitlines()]
        good = ["error" not in record for record in records]
        assert [r["source"] for r in records if r.get("error") and "source" in r] == [
            *bad[:7]
        ]
    else:
        blocks = output.read_text().split("# newdoc id = ")[1:]
        good = ["# error = " not in block for block in blocks]
    assert good == [True, False, False, True, True, *[False] * 5, True]


def test_parse_missing_input(run, model):
    result = run("parse", model, "gone.txt", "-o", "out.mrg")
    check_error(result, "No such file or folder: gone.txt", "--text")
    check_error(run("parse", "no_such_model", "--text", "Yes"), "no_such_model")
    assert list(Path().iterdir()) == []


def test_parse_by_a_pipeline_that_does_not(run, tmp_path):
    spacy.blank("en").to_disk("blank")
    result = run("parse", "blank", "--text", "Yes", "-o", "out.mrg")
    check_error(result, "The Doc has no constituency parse", "pointing_parser")
    assert not Path("out.mrg").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--resume"],
        ["--format", "spacy"],
        ["--format", "xml"],
        ["--n-process", "2", "--gpu-id", "0"],
        ["--n-process", "0"],
        ["--batch-size", "0"],
        ["--output", "."],
        ["--no-such-option"],
    ],
)
def test_parse_wrong_usage(run, options):
    result = run("parse", "model", "--text", "Yes", *options)
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert options[0] in result.stderr or "--output" in result.stderr


@pytest.mark.parametrize("output", ["in/out.mrg", "in/a.txt"])
def test_parse_output_that_is_an_input(run, model, output):
    Path("in").mkdir()
    Path("in/a.txt").write_text("Yes")
    result = run("parse", model, "in", "-o", output)
    check_error(result, f"{output} would be part of the input in")
    assert [path.read_text() for path in Path("in").iterdir()] == ["Yes"]


def test_parse_output_of_another_kind(run, model):
    Path("link").symlink_to("target")
    assert run("parse", model, "--text", "Yes", "-o", "link").exit_code == 0
    assert Path("link").is_symlink()
    assert Path("target").read_text() == "(UH Yes)\n"
    Path("folder").mkdir()
    Path("folder.link").symlink_to("folder")
    result = run("parse", model, "--text", "Yes", "-o", "folder.link")
    assert result.exit_code > 0
    assert Path("folder.link").is_symlink()


# parse: runs that are stopped


@pytest.mark.parametrize("form", ["mrg", "jsonl", "conll", "spacy"])
def test_resumed_run_loses_and_doubles_nothing(run, model, bad, form):
    """Killed twice, in the middle of a line; what failed before that counts, too."""
    whole, resumed = f"whole.{form}", f"resumed.{form}"
    inputs = [model, "bad.txt", "bad.jsonl", "--batch-size", 2]
    check_error(run("parse", *inputs, "-o", whole), "7 of 11 texts failed")
    inputs += ["-o", resumed, "--resume"]
    for calls, cut, texts in ((3, 5, 4), (2, 1, 6)):
        process = fork(run_and_die, run, ["parse", *inputs], calls, cut)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not Path(resumed).exists()
        progress = json.loads(Path(f"{resumed}.partial.json").read_text())
        assert progress["texts"] == texts
        assert Path(f"{resumed}.partial").stat().st_size > progress["size"]
    check_error(run("parse", *inputs), "7 of 11 texts failed")
    if form == "spacy":
        pairs = zip(read_docs(resumed), read_docs(whole), strict=True)
        assert all(a.to_json() == b.to_json() for a, b in pairs)
    else:
        assert Path(resumed).read_bytes() == Path(whole).read_bytes()
    assert not list(Path().glob("*.partial*"))


def test_run_killed_from_outside_is_resumed(run, model):
    numbers = [f"Yes {i}" for i in range(3000)]
    Path("in.txt").write_text("\n".join(numbers))
    inputs = ["parse", model, "in.txt", "-o", "out.jsonl", "--batch-size", 10]
    for _ in range(2):
        state = Path("out.jsonl.partial.json")
        before = state.read_text() if state.exists() else ""
        process = fork(run, *inputs, "--resume")
        while not state.exists() or state.read_text() == before:
            assert process.is_alive()
            time.sleep(0.01)
        process.kill()
        process.join()
    assert run(*inputs, "--resume").exit_code == 0
    lines = Path("out.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == numbers


@pytest.fixture
def stopped(run, model, texts):
    """A run that was stopped after two of four texts."""
    options = ["parse", model, texts, "-o", "out.mrg", "-b", 1]
    process = fork(run_and_die, run, options, 3, 1)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return options


def test_stopped_run_is_not_overwritten_unasked(run, stopped):
    result = run(*stopped)
    check_error(result, "left 2 texts in out.mrg.partial", "--resume")
    Path("out.mrg.partial").unlink()
    assert run(*stopped).exit_code == 0
    assert Path("out.mrg").read_text().split("\n") == [*PARSES, ""]


def test_resumed_run_does_not_parse_what_is_done(run, stopped):
    partial = Path("out.mrg.partial")
    partial.write_text(partial.read_text().replace("Run", "RUN"))
    assert run(*stopped, "--resume").exit_code == 0
    assert Path("out.mrg").read_text().split("\n") == [
        PARSES[0].replace("Run", "RUN"),
        *PARSES[1:],
        "",
    ]


def test_run_over_other_texts_is_not_resumed(run, stopped, texts):
    good = texts.read_text()
    texts.write_text("Changed" + good)
    check_error(run(*stopped, "--resume"), "other texts", "Delete")
    texts.write_text("Run Yes")
    check_error(run(*stopped, "--resume"), "other texts", "Delete")
    texts.write_text(good)
    assert run(*stopped, "--resume").exit_code == 0


def test_run_with_other_settings_is_not_resumed(run, stopped):
    result = run(*stopped, "--resume", "--format", "jsonl")
    check_error(result, "other settings", "brackets", "Delete")
    Path("out.mrg.partial").write_text("")
    check_error(run(*stopped, "--resume"), "other settings", "Delete")


@pytest.mark.parametrize("state", ["", "{", '{"texts": 2, "of_tomorrow": 1}'])
def test_progress_that_cannot_be_read_is_not_gone_on_with(run, stopped, state):
    Path("out.mrg.partial.json").write_text(state)
    check_error(run(*stopped, "--resume"), "out.mrg.partial.json is damaged", "Delete")


def test_resume_without_a_stopped_run_begins(run, model, texts):
    Path("out.mrg.partial").write_text("half a li")  # killed before all progress
    assert run("parse", model, texts, "-o", "out.mrg", "--resume").exit_code == 0
    assert Path("out.mrg").read_text().split("\n") == [*PARSES, ""]


def test_run_killed_right_after_its_end_leaves_nothing_to_resume(run, stopped, texts):
    state = Path("out.mrg.partial.json")
    progress = state.read_text()
    assert run(*stopped, "--resume").exit_code == 0
    state.write_text(progress)
    texts.write_text("Yes\nYes\nYes\n")
    process = fork(run_and_die, run, stopped, 1, 0)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert run(*stopped, "--resume").exit_code == 0
    assert Path("out.mrg").read_text() == "(UH Yes)\n" * 3


# parse: streams


def test_texts_are_read_as_they_are_parsed(model):
    nlp = spacy.load(model)
    nlp.batch_size = 10
    items = (Item("", {}, text) for text in repeat("Yes"))
    parsed = parse_items(nlp, items)
    assert [next(parsed)[1].text for _ in range(25)] == ["Yes"] * 25
    parsed.close()


def test_new_words_do_not_fill_the_memory(model):
    nlp = spacy.load(model)
    nlp.batch_size = 10
    list(parse_items(nlp, [Item("", {}, "Yes")]))
    known = len(nlp.vocab.strings)
    items = [Item("", {}, f"new{i}word") for i in range(50)]
    found = [doc[0].text for _, doc in parse_items(nlp, items)]
    assert found == [item.text for item in items]
    assert len(nlp.vocab.strings) == known


def test_several_processes_parse_the_same(run, model, bad):
    inputs = ["bad.txt", "bad.jsonl", "--batch-size", 2]
    alone = run("parse", model, *inputs)
    process = start("parse", model, *inputs, "--n-process", 2)
    stdout, stderr = process.communicate()
    assert process.returncode == 1
    assert stdout == alone.stdout
    assert [line for line in stderr.splitlines() if line in alone.stderr] == [
        *alone.stderr.splitlines()
    ]


def test_reader_that_has_had_enough_is_no_error(model, texts):
    texts.write_text("Yes\n" * 20_000)
    process = start("parse", model, texts, "-b", 10)
    assert process.stdout.readline() == "(UH Yes)\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()


class Terminal(io.TextIOWrapper):
    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf8", write_through=True)

    def isatty(self):
        return True

    def read_all(self):
        return self.buffer.getvalue().decode()


@pytest.mark.parametrize(
    ("terminals", "options", "is_shown"),
    [
        (["stderr"], [], True),
        (["stdout", "stderr"], ["-o", "out.mrg"], True),
        (["stdout", "stderr"], [], False),  # the trees are shown there
        (["stdout"], ["-o", "out.mrg"], False),
        ([], ["-o", "out.mrg"], False),
    ],
)
def test_bar_with_rate_is_for_terminals(
    model, texts, monkeypatch, capfd, tmp_path, terminals, options, is_shown
):
    monkeypatch.chdir(tmp_path)
    shown = {name: Terminal() for name in terminals}
    for name, terminal in shown.items():
        monkeypatch.setattr(sys, name, terminal)
    app(["parse", str(model), str(texts), *options], standalone_mode=False)
    assert ("stderr" in shown and shown["stderr"].read_all() != "") == is_shown
    if is_shown:
        assert "4 texts [" in shown["stderr"].read_all()
        assert "texts/s]" in shown["stderr"].read_all()
    assert capfd.readouterr().err == ""


# search


def rows(result):
    return [line.split("\t") for line in result.stdout.splitlines()]


BOAT = (
    "(S (NP (PRP She)) (VP (VBD sold) (NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (JJ red) (NN sail))))) (. .))"
)
FOUND = [
    "9\t37\tthe old boat with a red sail\t(NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (JJ red) (NN sail))))"
]


def test_search_trees_and_docs(run, write, read_doc):
    write("(NP (NN tea))", BOAT, name="bank/a.mrg")
    write(BOAT, name="bank/b.mrg")
    doc = read_doc("(UH Yes)", BOAT)
    DocBin(docs=[read_doc("(UH Yes)"), doc]).to_disk("docs.spacy")
    result = run("search", "NP < PP", "bank", "*/b.mrg", "docs.spacy")
    assert (result.exit_code, result.stderr) == (0, "")
    places = [tuple(row[:2]) for row in rows(result)]
    assert places == [
        ("bank/a.mrg:2", "1"),
        ("bank/b.mrg:1", "1"),
        ("bank/b.mrg:1", "1"),
        ("docs.spacy:2", "2"),
    ]
    assert [row[2:] for row in rows(result)[:3]] == [FOUND[0].split("\t")] * 3
    _, _, first, last, text, _ = rows(result)[3]
    assert doc.text[int(first) : int(last)] == text


def test_search_with_filters(run, write):
    bank = write(BOAT)
    options = ["--label", "NP", "--label", "PP", "--word", "red", "--max-length", 4]
    texts = [row[4] for row in rows(run("search", "*", bank, *options))]
    assert texts == ["with a red sail", "a red sail"]
    options += ["--min-length", 4, "--word", "sail"]
    texts = [row[4] for row in rows(run("search", "*", bank, *options))]
    assert texts == ["with a red sail"]
    result = run("search", "CONJP", bank)
    assert (result.exit_code, result.output) == (0, "")


def test_search_texts(run, model, texts):
    result = run("search", "S|UH", texts, "--model", model, "--text", "Yes")
    assert result.exit_code == 0
    assert [row[:5] for row in rows(result)] == [
        ["<text>:1", "1", "0", "3", "Yes"],
        [f"{texts}:1", "1", "0", "3", "Run"],
        [f"{texts}:1", "2", "4", "7", "Yes"],
        [f"{texts}:3", "1", "0", "18", "The otter sleeps ."],
        [f"{texts}:4", "1", "0", "3", "Yes"],
    ]
    result = run("search", "UH", "-m", model, "-b", 1, stdin="Run\nYes\n")
    assert [row[0] for row in rows(result)] == ["<stdin>:2"]


def test_search_goes_on_after_what_fails(run, model, bad, read_doc, vocab):
    result = run("search", "UH", "bad.txt", "bad.jsonl", "--model", model)
    check_error(result, "7 text(s) failed")
    assert [row[0] for row in rows(result)] == ["bad.txt:1", "bad.txt:4", "bad.jsonl:1"]
    docs = [Doc(vocab, words=["Yes"]), read_doc("(UH Yes)")]
    DocBin(docs=docs).to_disk("some.spacy")
    result = run("search", "UH", "some.spacy")
    check_error(result, "1 text(s) failed")
    assert (
        "some.spacy:1: ValueError: The Doc has no constituency parse" in result.stderr
    )
    assert [row[0] for row in rows(result)] == ["some.spacy:2"]


@pytest.mark.parametrize("pattern", ["NP <", "NP < @x"])
def test_search_faulty_pattern(run, write, pattern):
    result = run("search", pattern, write(BOAT, BOAT))
    check_error(result, f"The pattern '{pattern}' is faulty")
    assert len(result.stderr.splitlines()) == 1


def test_search_broken_tree(run, write):
    bank = write("(NP (NN tea))", "(NP (NN))", "(NP (NN cake))")
    result = run("search", "NP", bank)
    check_error(result, "trees.mrg, line 2")
    assert [row[4] for row in rows(result)] == ["tea"]
    with pytest.warns(UserWarning, match="trees.mrg.*line 2"):
        result = run("search", "NP", bank, "--on-error", "skip")
    assert result.exit_code == 0
    assert [row[4] for row in rows(result)] == ["tea", "cake"]


def test_search_missing_input(run):
    check_error(run("search", "NP", "gone.spacy"), "gone.spacy")
    assert run("search", "NP").exit_code == 2
    assert run("search", "NP", "--text", "Yes").exit_code == 2


# stats


def test_stats(run, write, read_doc):
    bank = write("(S (VP (VB Run)))", BOAT, "(NP (NN tea))", "(UH Yes)")
    DocBin(docs=[read_doc("(UH Yes)", "(UH No)")]).to_disk("docs.spacy")
    result = run("stats", bank, "docs.spacy", "--top", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    shown = [line.split() for line in result.stdout.splitlines()]
    for row in (
        ["sentences", "6"],
        ["words", "15"],
        ["brackets", "10"],
        ["unary", "chains", "1"],
        ["words", "2.5", "1", "10"],
        ["depth", "1.3", "0.5", "5"],
        ["NP", "5", "50.0"],
        ["(2", "others)", "3", "30.0"],
        ["S", "VP", "1", "100.0"],
        ["UH", "3", "20.0"],
    ):
        assert row in shown


def test_stats_plot(run, write):
    pytest.importorskip("matplotlib")
    result = run("stats", write(BOAT), "--plot", "plots/plot.svg")
    assert result.exit_code == 0
    assert Path("plots/plot.svg").read_text().startswith("<?xml")


def test_stats_of_a_plot_without_matplotlib(run, write, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    result = run("stats", write(BOAT), "--plot", "plot.svg")
    check_error(result, "spacy-pointparse[plot]")
    assert "sentences" in result.stdout


def test_stats_of_what_has_no_trees(run, write, vocab, read_doc):
    check_error(run("stats", "gone"), "gone")
    bank = write("(NP (NN tea))", "(NP (NN")
    check_error(run("stats", bank), "trees.mrg, line 2")
    with pytest.warns(UserWarning, match="trees.mrg.*line 2"):
        result = run("stats", bank, "--on-error", "skip")
    assert ["sentences", "1"] in [line.split() for line in result.stdout.splitlines()]
    Path("empty.mrg").write_text("")
    check_error(run("stats", "empty.mrg"), "No sentences in empty.mrg")
    docs = [read_doc("(UH Yes)"), Doc(vocab, words=["Yes"])]
    DocBin(docs=docs).to_disk("some.spacy")
    check_error(run("stats", "some.spacy"), "some.spacy:2", "no constituency parse")
    with pytest.warns(UserWarning, match=r"skipped 1 Doc.*some.spacy:2"):
        result = run("stats", "some.spacy", "--on-error", "skip")
    assert ["sentences", "1"] in [line.split() for line in result.stdout.splitlines()]


# documentation

ROOT = Path(__file__).parents[2]
PROMPT = "python -m spacy_pointparse "


@pytest.mark.parametrize("page", ["README.md", "docs/command_line.md"])
def test_documented_commands_run(run, model, write, read_doc, page):
    pytest.importorskip("matplotlib")
    blocks = re.findall("```bash\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    commands = [
        shlex.split(line.removeprefix(PROMPT), comments=True)
        for line in lines
        if re.match(f"{PROMPT}(parse|search|stats) ", line)
    ]
    assert {command[0] for command in commands} == {"parse", "search", "stats"}
    write(BOAT, name="trees.mrg")
    write("Run", "Yes", name="notes.txt")
    write("The otter sleeps .", name="letters/one.txt")
    record = {"text": "Yes", "body": "Run"}
    write(json.dumps(record), name="reviews.jsonl")
    for command in commands:
        words = [str(model) if word == "en_pointparse_sm" else word for word in command]
        stdin = None
        if words[-2] == "<":
            stdin = Path(words.pop()).read_text()
            words.pop()
        result = run(*words, stdin=stdin)
        assert (result.exit_code, result.stderr) == (0, ""), command
        if "--output" in words:
            assert Path(words[words.index("--output") + 1]).stat().st_size > 0
        elif words[0] == "parse":
            assert result.stdout.startswith("(")


def test_documented_patterns_are_read():
    page = (ROOT / "docs/command_line.md").read_text()
    table = page.split("| pattern | finds |")[1].split("\n\n")[0]
    patterns = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    assert len(patterns) == 12
    for pattern in patterns:
        compile_pattern(pattern.replace("\\|", "|"))


def test_documented_python_finds_constituents(model, monkeypatch, capsys):
    page = (ROOT / "docs/command_line.md").read_text()
    [code] = re.findall("```python\n(.*?)```", page, re.DOTALL)
    load = spacy.load
    monkeypatch.setattr(spacy, "load", lambda _: load(model))
    exec(code, {})
    assert "NP" in capsys.readouterr().out
