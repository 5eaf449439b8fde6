"""Tests that a package with unreadable metadata stops neither commands nor programs that import benchbrief."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bench import PROGRAM, Bench

SPEC = """\
hardware box { hosts = local }
database rocks { engine = rocksdb  path = "/tmp/rocks" }
workload fill from db_bench.fillrandom { records = 2k }
experiment ramp { hardware = box  workloads = fill  threads = [1, 2]  measure = 1 s }
report brief "What it does" { figure "Curve" { line = throughput by threads } }
"""
BROKEN = {
    "not UTF-8": b"[console_scripts]\nb\xe9 = x:y\n",
    "no ini": b"[console_scripts]\nnothing\n",
    "plugins": b"[pydantic]\nodd = odd_plugin:plugin\n",
}


@pytest.fixture(params=[pytest.param(each, marks=() if each == "plugins" else pytest.mark.long) for each in BROKEN])
def packages(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    info = folder / "bad-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (info / "entry_points.txt").write_bytes(BROKEN[request.param])
    (folder / "odd_plugin.py").write_text("class Odd(BaseException): pass\nraise Odd\n")
    return folder


@pytest.mark.long
def test_specs_are_checked_run_and_reported_beside_a_broken_package(bench: Bench, packages: Path) -> None:
    (bench.folder / "brief.bench").write_text(SPEC)
    env = {**bench.env, "PYTHONPATH": str(packages)}
    for words in (("check", "brief.bench"), ("extensions",), ("run", "brief.bench", "--simulate")):
        done = subprocess.run([PROGRAM, *words], cwd=bench.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert list(bench.folder.glob("bench-out/*/reports/*.pdf"))


@pytest.mark.long
def test_a_program_that_imports_benchbrief_does_without_a_broken_package(tmp_path: Path) -> None:
    (tmp_path / "brief.bench").write_text(SPEC)
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_bytes(BROKEN["not UTF-8"])
    script = "import benchbrief; print(len(benchbrief.plan('brief.bench').cells))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
