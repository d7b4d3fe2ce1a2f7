"""Faults while working, each provoked: runs that are killed, disks that are full, files
that are damaged or malicious, pipelines of other versions."""

import ast
import json
import os
import pickle
import re
import resource
import shlex
import shutil
import signal
from contextlib import contextmanager
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from samples import (
    BOAT,
    LINES,
    PARSES,
    Payload,
    needs_matplotlib,
    needs_svgling,
    parses,
)
from spacy.cli import app as spacy_app
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import DocBin
from test_modules import PACKAGES, read_imports
from test_modules import list_files as list_sources
from typer.testing import CliRunner

from spacy_pointparse.cli import app
from spacy_pointparse.cli.config import make_config
from spacy_pointparse.tokens import make_doc
from spacy_pointparse.tokens.treebank import read_docs
from spacy_pointparse.training import convert
from spacy_pointparse.training.convert import convert_treebank
from spacy_pointparse.util.resume import get_partial

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "robustness.md"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def check_error(result, *parts):
    """The last line says what is wrong, and no other does."""
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    for part in parts:
        assert part in last


def kill(function, *arguments, **options):
    """Run a function that kills its process."""
    process = get_context("fork").Process(
        target=function, args=arguments, kwargs=options
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def list_files(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# --- runs that are killed ---


@spacy.registry.callbacks("die_in_third_step")
def make_killer():
    return lambda nlp, progress: die() if progress["step"] == 2 else None


@pytest.fixture
def killed_training(write, trees, tmp_path):
    """A training that was killed after its second step, each of which was saved."""
    data = str(write(*trees, name="corpus/trees.mrg"))
    overrides = {
        "paths.train": data,
        "paths.dev": data,
        "training.eval_frequency": 1,
        "training.before_update": {"@callbacks": "die_in_third_step"},
    }
    output = tmp_path / "training"
    kill(spacy_train, ROOT / "configs" / "base.cfg", output, overrides=overrides)
    return tmp_path / "training" / "model-last"


def test_killed_training_goes_on_by_the_documented_command(
    killed_training, tmp_path, monkeypatch
):
    """At a rate of zero, what it ends with is what it goes on from."""
    page = PAGE.read_text()
    [config] = re.findall(r"^python -m spacy_pointparse (config .*)$", page, re.M)
    [command] = re.findall(r"^python -m spacy (train .*)$", page, re.M)
    words = shlex.split(command)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    for name in ("train.spacy", "dev.spacy"):
        convert_treebank([tmp_path / "corpus/trees.mrg"], tmp_path / "corpus" / name)
    monkeypatch.chdir(tmp_path)
    words += ["--training.max_steps", "1", "--training.eval_frequency", "1"]
    words += ["--training.optimizer.learn_rate.initial_rate", "0.0"]
    for commands, arguments in ((app, shlex.split(config)), (spacy_app, words)):
        result = CliRunner().invoke(commands, arguments)
        assert result.exit_code == 0, result.output
    output = tmp_path / words[words.index("--output") + 1] / "model-last"
    assert output != killed_training
    models = [
        spacy.load(path).get_pipe("pointing_parser").model.to_bytes()
        for path in (output, killed_training)
    ]
    assert models[0] == models[1]


def test_killed_conversion_leaves_nothing_that_passes_for_whole(
    write, tmp_path, monkeypatch
):
    trees, output = write(*LINES), tmp_path / "corpus" / "out.spacy"

    def write_half_and_die(docs, path):
        path.write_bytes(docs.to_bytes()[:100])
        die()

    with monkeypatch.context() as patch:
        patch.setattr(DocBin, "to_disk", write_half_and_die)
        kill(convert_treebank, [trees], output)
    left = {"out.spacy.unfinished", "out.spacy.partial", "out.spacy.partial.json"}
    assert {path.name for path in output.parent.iterdir()} == left
    for path in (output, output.parent):
        with pytest.raises(FileNotFoundError):
            list(read_docs(path, spacy.blank("en").vocab))
    convert_treebank([trees], output, resume=True)
    assert list(output.parent.iterdir()) == [output]
    assert parses(read_docs(output, spacy.blank("en").vocab)) == PARSES


@pytest.fixture
def killed_conversion(write, tmp_path, monkeypatch):
    """A conversion that was killed over its last Doc, of which each batch has one."""
    trees, output = write(*LINES), tmp_path / "corpus" / "out.spacy"
    monkeypatch.setattr(convert, "BATCH", 1)
    made = []

    def make_doc_or_die(batch, vocab, partial):
        if len(made) == len(LINES) - 1:
            die()
        made.append(batch)
        return make_doc(batch, vocab, partial)

    with monkeypatch.context() as patch:
        patch.setattr(convert, "make_doc", make_doc_or_die)
        kill(convert_treebank, [trees], output)
    return trees, output


def test_killed_conversion_goes_on_where_it_stopped(
    run, killed_conversion, tmp_path, monkeypatch
):
    trees, output = killed_conversion
    whole = tmp_path / "whole.spacy"
    assert convert_treebank([trees], whole) == len(LINES)
    made = []

    def make_doc_and_count(batch, *arguments):
        made.append(batch)
        return make_doc(batch, *arguments)

    monkeypatch.setattr(convert, "make_doc", make_doc_and_count)
    result = run("convert", trees, "--output", output, "--resume")
    assert result.exit_code == 0
    assert f"{len(LINES)} sentences in" in result.stdout
    assert len(made) == 1
    assert output.read_bytes() == whole.read_bytes()
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.parametrize(
    "change, message",
    [
        ("option", "Continue it with --resume, or delete that file"),
        ("trees", "is from a run over other texts"),
        ("settings", "is from a run with other settings"),
        ("state", "is damaged or was written by another version"),
    ],
)
def test_killed_conversion_of_something_else_is_not_gone_on_with(
    run, killed_conversion, change, message
):
    trees, output = killed_conversion
    options = [] if change == "option" else ["--resume"]
    if change == "trees":
        trees.write_text("\n".join(LINES[::-1]), encoding="utf8")
    if change == "settings":
        options.append("--partial")
    if change == "state":
        Path(f"{output}.partial.json").write_text("{")
    before = list_files(output.parent)
    result = run("convert", trees, "--output", output, *options)
    check_error(result, f"{output}.partial", message)
    assert list_files(output.parent) == before


def test_two_conversions_to_one_file_are_noticed(write, tmp_path, monkeypatch):
    trees, output = write(*LINES), tmp_path / "out.spacy"
    monkeypatch.setattr(convert, "BATCH", 1)

    def make_doc_beside_another(batch, *arguments):
        with get_partial(output).open("ab") as file:
            file.write(b"a Doc of the other run\n")
        return make_doc(batch, *arguments)

    monkeypatch.setattr(convert, "make_doc", make_doc_beside_another)
    with pytest.raises(
        ValueError, match=r"Another run is also writing to .*out\.spacy\.partial"
    ):
        convert_treebank([trees], output)
    assert not output.exists()
    assert get_partial(output).exists()  # which may be all that the other has


def test_killed_calibration_leaves_what_was_there(
    run, write, trees, trained_path, monkeypatch
):
    wrong = "(S (NP (DT The)) (VP (NN otter) (VBZ sleeps)) (. .))"
    command = ["calibrate", trained_path, write(*trees, wrong), "--output", "output"]
    shutil.copytree(trained_path, "output")
    before = list_files(Path("output"))

    def write_half_and_die(nlp, path):
        nlp.config.to_disk(path / "config.cfg")
        die()

    with monkeypatch.context() as patch:
        patch.setattr(Language, "to_disk", write_half_and_die)
        kill(run, *command)
    assert list_files(Path("output")) == before
    assert run(*command).exit_code == 0
    after = list_files(Path("output"))
    assert after.keys() == before.keys()
    assert after["pointing_parser/cfg"] != before["pointing_parser/cfg"]
    assert not Path("output.unfinished").exists()


# --- disks that are full, folders that cannot be written ---


@contextmanager
def small_disk(size):
    """No file may be larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


TEXTS = ["Yes", "Run", ""] * 40
WRITERS = {
    "convert": ["convert", "trees.mrg", "--output", "out.spacy"],
    "evaluate": ["evaluate", "model", "trees.mrg", "--output", "out.json"],
    "calibrate": ["calibrate", "model", "trees.mrg", "--output", "output"],
    "show": ["show", "trees.mrg", "--output", "out.svg"],
    "stats": ["stats", "trees.mrg", "--plot", "out.svg"],
}

NEEDS = {"show": needs_svgling, "stats": needs_matplotlib}
NAMES = [pytest.param(name, marks=NEEDS.get(name, ())) for name in WRITERS]


@pytest.fixture
def workplace(run, trained_path, write, trees):
    """A folder with what the commands read."""
    shutil.copytree(trained_path, "model")
    write(*trees, "(S (NP (DT The)) (VP (NN otter) (VBZ sleeps)) (. .))", BOAT)
    write(*TEXTS, name="texts.txt")
    return Path()


@pytest.mark.parametrize("name", NAMES)
def test_full_disk_is_named_and_leaves_nothing_half_written(run, workplace, name):
    command = WRITERS[name]
    assert run(*command).exit_code == 0
    shutil.rmtree("output", ignore_errors=True)
    Path(command[-1]).write_text("before")
    if name == "calibrate":
        Path("output").unlink()
    before = list_files(workplace)
    with small_disk(100):
        result = run(*command)
    check_error(result, "File too large", command[-1])
    assert list_files(workplace) == before


@pytest.mark.parametrize("form", ["mrg", "jsonl", "conll", "spacy"])
def test_parsing_goes_on_when_a_full_disk_has_room_again(run, workplace, form):
    command = ["parse", "model", "texts.txt", "-b", "2", "--resume", "--output"]
    assert run(*command, f"whole.{form}").exit_code == 0
    # Until all is done, Docs are text.
    size = 20_000 if form == "spacy" else Path(f"whole.{form}").stat().st_size // 2
    with small_disk(size):
        result = run(*command, f"out.{form}")
    check_error(result, "File too large", f"out.{form}.partial")
    progress = json.loads(Path(f"out.{form}.partial.json").read_text())
    assert 0 < progress["texts"] < len(TEXTS)
    assert not Path(f"out.{form}").exists()
    assert run(*command, f"out.{form}").exit_code == 0
    if form == "spacy":
        vocab = spacy.blank("en").vocab
        found, expected = (
            [doc.to_json() for doc in read_docs(f"{name}.spacy", vocab)]
            for name in ("out", "whole")
        )
        assert found == expected
    else:
        assert Path(f"out.{form}").read_bytes() == Path(f"whole.{form}").read_bytes()


@pytest.mark.parametrize("name", [*NAMES, "parse"])
# Below a file there is no folder, and in /sys nobody makes files, not even root.
@pytest.mark.parametrize("folder", ["texts.txt/new", "/sys"])
def test_unwritable_folder_is_named(run, workplace, name, folder):
    command = WRITERS.get(name, ["parse", "model", "texts.txt", "--output", "out.mrg"])
    before = list_files(workplace)
    result = run(*command[:-1], f"{folder}/{command[-1]}")
    check_error(result, folder.removesuffix("/new"))
    assert list_files(workplace) == before


# --- files that are damaged ---


@pytest.mark.parametrize("keep", [0.0, 0.5])
@pytest.mark.parametrize(
    "command", ["stats", "search NP", "show", "parse model", "evaluate model"]
)
def test_damaged_docs_are_named(run, workplace, command, keep):
    convert_treebank([Path("trees.mrg")], Path("cut.spacy"))
    data = Path("cut.spacy").read_bytes()
    Path("cut.spacy").write_bytes(data[: int(len(data) * keep)])
    result = run(*command.split(), "cut.spacy")
    check_error(result)
    assert "cut.spacy is damaged or is not a .spacy file" in result.stderr


def test_json_that_is_nested_too_deep_is_one_bad_line(run, workplace):
    lines = ['{"text": "Yes"}', "[" * 100_000, '{"text": "Run"}']
    Path("deep.jsonl").write_text("\n".join(lines))
    result = run("parse", "model", "deep.jsonl")
    assert result.stdout.splitlines() == ["(UH Yes)", "", "(S (VP (VB Run)))"]
    check_error(result, "1 of 3 texts failed")
    assert "deep.jsonl:2: RecursionError" in result.stderr


@pytest.fixture
def spoil(trained_path, tmp_path):
    """Copy the tiny parser, with a file changed."""

    def spoil(file, change):
        folder = tmp_path / "model"
        shutil.copytree(trained_path, folder)
        path = folder / file
        path.write_bytes(change(path.read_bytes()))
        return folder

    return spoil


@pytest.mark.parametrize("file", ["model", "cfg"])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_truncated_component_is_named(spoil, file, keep):
    folder = spoil(
        f"pointing_parser/{file}", lambda data: data[: int(len(data) * keep)]
    )
    with pytest.raises(ValueError, match=r"pointing_parser cannot be loaded.* again\."):
        spacy.load(folder)


def test_weights_that_are_missing_are_not_called_damaged(trained_path, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(trained_path, folder)
    (folder / "pointing_parser" / "model").unlink()
    with pytest.raises(FileNotFoundError, match="pointing_parser/model"):
        spacy.load(folder)


# --- pipelines of other versions ---


def change_labels(change):
    def change_cfg(data):
        cfg = json.loads(data)
        change(cfg)
        return json.dumps(cfg).encode()

    return change_cfg


@pytest.mark.parametrize(
    "change",
    [
        lambda cfg: cfg.pop("labels"),
        lambda cfg: cfg["labels"].pop("unaries"),
        lambda cfg: cfg["labels"]["spans"].pop(),
        lambda cfg: cfg["labels"]["spans"].append("NEW"),
        lambda cfg: cfg["labels"]["unaries"].pop(),
    ],
)
def test_labels_that_do_not_fit_the_model_are_refused(spoil, change):
    folder = spoil("pointing_parser/cfg", change_labels(change))
    with pytest.raises(
        ValueError, match=r"pointing_parser cannot be loaded: .*saved by"
    ):
        spacy.load(folder)


def replace(old, new):
    def change(data):
        text, count = re.subn(old, new, data.decode())
        assert count == 1
        return text.encode()

    return change


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "decoder = .*",
            r"\g<0>\nof_tomorrow = 1",
            "of_tomorrow",
        ),
        (
            "label_width",
            r"of_tomorrow = 1\n\g<0>",
            "of_tomorrow",
        ),
        (r"PointingParser\.v1", "PointingParser.v9", r"PointingParser\.v9"),
        (
            "pointing_width = 32",
            "pointing_width = 16",
            "pointing_parser cannot be loaded",
        ),
    ],
)
def test_settings_of_a_later_version_are_named(spoil, old, new, message):
    with pytest.raises(ValueError, match=message):
        spacy.load(spoil("config.cfg", replace(old, new)))


@pytest.mark.parametrize("setting", ["decoder", "mixed_precision"])
def test_settings_that_an_earlier_version_did_not_have_get_their_defaults(
    spoil, setting, trained
):
    nlp = spacy.load(spoil("config.cfg", replace(rf"\n{setting} = .*", "")))
    assert nlp("Run")._.parse_string == trained("Run")._.parse_string


def test_pipeline_of_another_spacy_is_loaded_with_a_warning(spoil, trained):
    change = replace('"spacy_version":"[^"]*"', '"spacy_version":">=3.0.0,<3.1.0"')
    with pytest.warns(UserWarning, match="W095"):
        nlp = spacy.load(spoil("meta.json", change))
    assert nlp("Run")._.parse_string == trained("Run")._.parse_string


# --- training ---


def train(folder, train, dev, **overrides):
    """Train with the default config, at every step evaluated and saved."""
    paths = {"paths.train": str(train), "paths.dev": str(dev)}
    steps = {"training.max_steps": 3, "training.eval_frequency": 1}
    config = ROOT / "configs" / "base.cfg"
    spacy_train(config, folder, overrides={**paths, **steps, **overrides})


def test_labels_of_dev_that_train_does_not_have_count_as_missed(
    write, trees, tmp_path, capsys
):
    data = write(*trees, name="train.mrg")
    dev = write("(ZP (QP (RB Twice)) (NNS geese))", *trees, name="dev.mrg")
    train(tmp_path / "output", data, dev)
    nlp = spacy.load(tmp_path / "output" / "model-last")
    missed = {"p": 0.0, "r": 0.0, "f": 0.0}
    per_type = nlp.meta["performance"]["spans_constituents_per_type"]
    assert per_type["ZP"] == per_type["QP"] == missed
    assert "ZP" not in nlp.get_pipe("pointing_parser").labels


@spacy.registry.callbacks("spoil_third_step")
def make_spoiler():
    def spoil(nlp, progress):
        layer = nlp.get_pipe("pointing_parser").model.get_ref("output_layer")
        if progress["step"] == 2:
            layer.set_param("W", layer.get_param("W") * numpy.nan)

    return spoil


def test_loss_that_is_no_number_stops_training_and_leaves_the_best_model(
    write, trees, tmp_path
):
    data = write(*trees)
    spoiler = {"training.before_update": {"@callbacks": "spoil_third_step"}}
    with pytest.raises(ValueError, match="E910"):
        train(tmp_path / "output", data, data, **spoiler)
    parser = spacy.load(tmp_path / "output" / "model-best").get_pipe("pointing_parser")
    assert not numpy.isnan(parser.model.get_ref("output_layer").get_param("W")).any()


def test_training_without_the_vectors_that_it_needs(write, trees, tmp_path):
    data = str(write(*trees))
    spacy.blank("en").to_disk(tmp_path / "vectors")
    for vectors, message in (
        ("nowhere", "nowhere"),
        (str(tmp_path / "vectors"), "StaticVectors.v1 found no word vectors"),
    ):
        paths = {"paths.train": data, "paths.dev": data, "paths.vectors": vectors}
        files = [ROOT / "configs" / f"{name}.cfg" for name in ("base", "vectors")]
        make_config(files, paths).to_disk(tmp_path / "config.cfg")
        with pytest.raises((OSError, ValueError), match=message):
            spacy_train(tmp_path / "config.cfg", tmp_path / "out")
        assert not (tmp_path / "out" / "model-last").exists()


# --- files that are malicious ---


def pack_torch(payload):
    file = BytesIO()
    torch.save(payload, file)
    return file.getvalue()


def pack_numpy(payload):
    file = BytesIO()
    numpy.save(file, numpy.array([payload], dtype=object), allow_pickle=True)
    return file.getvalue()


PACKERS = {"pickle": pickle.dumps, "torch": pack_torch, "numpy": pack_numpy}


@pytest.mark.parametrize("kind", PACKERS)
def test_malicious_file_in_place_of_any_other_does_not_run(
    trained_path, tmp_path, kind
):
    data = PACKERS[kind](Payload(tmp_path / "ran"))
    names = list_files(trained_path)
    assert {"pointing_parser/model", "vocab/vectors", "vocab/lookups.bin"} <= {*names}
    for name in names:
        folder = tmp_path / "model"
        shutil.copytree(trained_path, folder)
        (folder / name).write_bytes(data)
        with pytest.raises((OSError, ValueError, KeyError, TypeError)):
            spacy.load(folder)("Run")
        shutil.rmtree(folder)
    assert not (tmp_path / "ran").exists()
    # It would have run where objects are unpickled.
    if kind == "torch":
        torch.load(BytesIO(data), weights_only=False)
    elif kind == "numpy":
        numpy.load(BytesIO(data), allow_pickle=True)
    else:
        pickle.loads(data)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_runs_code_of_others(package):
    """Nor does any unpickle objects; parse patterns, in their own test, are nltk's."""
    paths = list_sources(package)
    imported = {name[0] for path in paths for name in read_imports(path)}
    assert not imported & {"pickle", "marshal", "shelve", "subprocess", "code", "dill"}
    for path in paths:
        nodes = ast.walk(ast.parse(path.read_text("utf8")))
        called = {ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call)}
        assert not called & {"eval", "exec", "compile", "__import__", "torch.load"}
