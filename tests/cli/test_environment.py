"""A command leaves the process as it was."""

import multiprocessing
import os
import warnings

import pytest
from typer.testing import CliRunner

from spacy_pointparse.cli import app
from spacy_pointparse.cli.environment import (
    default_environment,
    short_warnings,
    spawn_processes,
)


def read_state():
    method = multiprocessing.get_start_method(allow_none=True)
    return dict(os.environ), method, warnings.formatwarning


def test_variables_are_set_where_they_are_missing(monkeypatch):
    monkeypatch.setenv("POINTPARSE_SET", "as before")
    before = read_state()
    with default_environment({"POINTPARSE_SET": "new", "POINTPARSE_NEW": "new"}):
        assert os.environ["POINTPARSE_SET"] == "as before"
        assert os.environ["POINTPARSE_NEW"] == "new"
    assert read_state() == before


def test_processes_are_spawned_with_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = read_state()
    with spawn_processes():
        assert multiprocessing.get_start_method() == "spawn"
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert read_state() == before


@pytest.mark.parametrize("change", [spawn_processes, short_warnings])
def test_state_is_restored_after_an_error(change):
    before = read_state()
    with pytest.raises(KeyError), change():
        raise KeyError
    assert read_state() == before


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("model", ["no_such_model", None])
def test_command_changes_nothing_for_what_follows(trained_path, model, processes):
    before = read_state()
    arguments = ["parse", model or str(trained_path), "--text", "Yes"]
    result = CliRunner().invoke(app, [*arguments, "--n-process", processes])
    assert result.exit_code == (1 if model else 0)
    assert read_state() == before
