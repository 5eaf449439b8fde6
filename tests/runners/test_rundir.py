"""Tests the contents of a run's directory."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.run_folder import PLAN, create_run, kept_content
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload w from db_bench.fillrandom
experiment e { hardware = box  workloads = w  threads = 1  measure = 1 min }
report brief { template = technical_brief  theme { css = "house.css" } }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "house.css").write_text("p { color: black }")
    (tmp_path / "a.bench").write_text(SPEC)
    return compile_spec(tmp_path / "a.bench")


def test_the_house_style_is_there_before_the_plan_makes_the_folder_a_run(tmp_path: Path, plan: Plan) -> None:
    (asset,) = plan.assets.items()
    seen = []

    def begin(run_dir: Path) -> None:
        seen.append((kept_content(run_dir, *asset), (run_dir / PLAN).exists()))

    create_run(tmp_path / "out", plan, {}, begin)
    assert seen == [(b"p { color: black }", False)]


@pytest.mark.parametrize("change", [lambda path: path.write_text("p {}"), Path.unlink])
def test_a_file_that_is_not_what_the_plan_says_makes_no_run(tmp_path: Path, plan: Plan, change: object) -> None:
    assert callable(change)
    change(tmp_path / "house.css")
    with pytest.raises(RunnerError, match=r"house\.css"):
        create_run(tmp_path / "out", plan, {})
    assert list((tmp_path / "out").iterdir()) == []


def test_a_kept_file_that_was_changed_is_reported(tmp_path: Path, plan: Plan) -> None:
    ((name, digest),) = plan.assets.items()
    run_dir = create_run(tmp_path / "out", plan, {})
    (kept,) = (run_dir / "spec").iterdir()
    kept.write_text("p {}")
    with pytest.raises(RunnerError, match="its SHA-256 is another"):
        kept_content(run_dir, name, digest)
    assert hashlib.sha256(kept.read_bytes()).hexdigest() != digest


def test_a_file_that_could_not_be_written_completely_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "identity.json"
    write_durably(path, b"before")

    def fails(_: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="the disk is broken"):
        write_durably(path, b"half")
    assert path.read_bytes() == b"before"
