"""Real tools behind a script that can make them fail. Usually one call is fake, and all others are real."""

from __future__ import annotations

from pathlib import Path

from tests.support.tools import built_tool, system_tool

PROGRAMS = Path(__file__).parent / "programs"
"""A folder for the PATH and for BENCHBRIEF_TOOLS. Its tools use little processor time."""


def db_bench(folder: Path, cases: str = "") -> Path:
    """Make a script `db_bench` in a folder, for `tool = db_bench("...")`. `cases` are cases for the script's `case "$*"
    in`."""
    system_tool("db_bench")
    return _script(folder / "db_bench", cases, PROGRAMS / "db_bench")


def ycsb(folder: Path, cases: str = "") -> Path:
    """Make a folder like YCSB's release, for `tool = ycsb("...")`. Its `bin/ycsb.sh` is a wrapper."""
    built_tool("ycsb")
    (folder / "bin").mkdir(parents=True)
    for name in ("lib", "mongodb-binding", "workloads"):
        (folder / name).symlink_to(PROGRAMS / "ycsb" / name)
    _script(folder / "bin" / "ycsb.sh", cases, PROGRAMS / "ycsb" / "bin" / "ycsb.sh")
    return folder


def _script(path: Path, cases: str, real: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}\nesac\nexec {real} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path
