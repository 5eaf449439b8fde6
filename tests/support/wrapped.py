"""Real tools behind a script that lets them go wrong: most of what they do is real, one call is not."""

from __future__ import annotations

from pathlib import Path

from tests.support.tools import built_tool, system_tool

_QUICK_LOAD = 'case "$*" in *--benchmarks=fillseq,*) set -- "$@" --benchmarks=fillseq,flush;; esac\n'
"""Without the five seconds that db_bench waits for compactions, which so few records do not cause."""


def db_bench(folder: Path, cases: str = "") -> Path:
    """A `db_bench` in a folder, for `tool = db_bench("...")`. `cases` are of the shell's `case "$*" in`."""
    return _script(folder / "db_bench", cases, system_tool("db_bench"), _QUICK_LOAD)


def ycsb(folder: Path, cases: str) -> Path:
    """A folder laid out like YCSB's release, for `tool = ycsb("...")`, whose `bin/ycsb.sh` is wrapped."""
    real = built_tool("ycsb")
    (folder / "bin").mkdir(parents=True)
    for name in ("lib", "mongodb-binding", "workloads"):
        (folder / name).symlink_to(real / name)
    _script(folder / "bin" / "ycsb.sh", cases, real / "bin" / "ycsb.sh")
    return folder


def _script(path: Path, cases: str, real: Path, before: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{before}case "$*" in\n{cases}\nesac\nexec {real} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path
