"""Folders that one test process fills for all of them, and what it returned when it did."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Made = TypeVar("Made")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder with this name. The first process that asks for it fills it, while others wait.

    All processes share the folder, so tests must not change it.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each process has a folder of its own in that of the session
        root = root.parent
    folder = root / name
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            try:
                make(folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
    return folder


def returned_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Made]) -> Made:
    """Return what `make` returns, which must be picklable. The first process that asks for this name calls `make`, and
    the others read its result from the folder."""
    kept = "returned.pickle"
    folder = made_once(factory, name, lambda folder: _write(folder / kept, make(folder)))
    made: Made = pickle.loads((folder / kept).read_bytes())  # noqa: S301  # of these tests
    return made


def _write(path: Path, made: object) -> None:
    path.write_bytes(pickle.dumps(made))
