"""Where the real tools are that `make setup` puts together."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def tools_dir() -> Path:
    """The folder of the tools that are built: `mongo-stand-in`, `ycsb`, and with Go `go-ycsb` and `openload`."""
    return REPOSITORY / ".tools"


def built_tool(path: str) -> Path:
    """A file or folder under `tools_dir()`; where it was not built the test is skipped, and fails in CI."""
    program = tools_dir() / path
    if not program.exists():
        _absent(f"{program} was not built: run `make setup`")
    return program


def system_tool(name: str) -> Path:
    """A program on the PATH or among the system's, such as `db_bench` or `sshd`; else as `built_tool`."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        _absent(f"{name} is not installed: run `make setup`")
    return Path(found)


def _absent(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
