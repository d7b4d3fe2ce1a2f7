"""Change the process for as long as a command runs."""

import multiprocessing
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import spacy


def use_gpu(gpu_id: int) -> None:
    """Use a GPU from now on.

    gpu_id (int): The GPU; -1 for the CPU.
    RAISES (ValueError): If there is no such GPU.
    """
    if gpu_id >= 0:
        spacy.require_gpu(gpu_id)


@contextmanager
def default_environment(defaults: Mapping[str, str]) -> Iterator[None]:
    """Set the environment variables that are not set.

    defaults (Mapping[str, str]): The variables and their values.
    """
    missing = {name: defaults[name] for name in defaults if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


@contextmanager
def spawn_processes() -> Iterator[None]:
    """Spawn worker processes, with one thread each. In forked ones torch would wait for
    threads that do not exist there."""
    method = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    try:
        with default_environment({"OMP_NUM_THREADS": "1"}):
            yield
    finally:
        multiprocessing.set_start_method(method, force=True)


@contextmanager
def short_warnings() -> Iterator[None]:
    """Show warnings without the line of code: they are about the input."""
    original = warnings.formatwarning
    warnings.formatwarning = _format_warning
    try:
        yield
    finally:
        warnings.formatwarning = original


def _format_warning(message: Warning | str, *_: Any, **__: Any) -> str:
    return f"Warning: {message}\n"
