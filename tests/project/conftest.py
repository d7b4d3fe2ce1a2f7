"""How the tests run the commands of a spaCy project."""

import os
import runpy
import sys
from collections.abc import Iterator
from multiprocessing import get_all_start_methods, get_context
from typing import Any

import pytest
import weasel.cli.run


@pytest.fixture(scope="session", autouse=True)
def fork_commands() -> Iterator[None]:
    """Run each command of a project in a fork of this process, which has imported
    already what the command would spend most of its time on."""
    with pytest.MonkeyPatch.context() as patch:
        if "fork" in get_all_start_methods():
            patch.setattr(weasel.cli.run, "run_command", _fork_command)
        yield


def _fork_command(command: list[str], **options: Any) -> None:
    process = get_context("fork").Process(target=_run_python, args=command[1:])
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)


def _run_python(*arguments: str) -> None:
    """Do what Python does with these arguments: `-m module ...` or `script ...`."""
    if arguments[0] == "-m":
        sys.argv = [*arguments[1:]]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*arguments]
        sys.path.insert(0, os.path.dirname(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
