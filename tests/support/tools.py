"""Finds the real tools that `make setup` installs."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def tools_dir() -> Path:
    """Return the folder of the built tools: `mongo-stand-in`, `ycsb`, and, if Go is available, `go-ycsb` and
    `openload`."""
    return REPOSITORY / ".tools"


def built_tool(path: str) -> Path:
    """Return a file or folder in `tools_dir()`. If it has not been built, the test is skipped, or fails in CI."""
    program = tools_dir() / path
    if not program.exists():
        _absent(f"{program} was not built: run `make setup`")
    return program


def system_tool(name: str) -> Path:
    """Return a program on the PATH or of the system, such as `db_bench` or `sshd`. If it is missing, the test is
    skipped, or fails in CI."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        _absent(f"{name} is not installed: run `make setup`")
    return Path(found)


def _absent(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
