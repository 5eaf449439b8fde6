"""Tests full disks. A full disk of a host fails the host's cells. A full disk of the controller stops the run before
anything is lost."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import rocks, variants
from tests.support import wrapped
from tests.support.bench import Bench, fresh_bench
from tests.support.longer import longer
from tests.support.tools import system_tool

Mount = Callable[[str], Path]
TWO_CELLS = rocks(variants("good"), ["here.good"]).replace("[1]", "[1, 2]")
REPORT = 'report r "Room" { figure "f" { line = throughput by threads } }\n'
PAGE = os.sysconf("SC_PAGESIZE")


def test_a_database_that_fills_its_disk_fails_its_cell_alone(bench: Bench, small_disk: Mount) -> None:
    bench.data.mkdir()
    (bench.data / "bad").symlink_to(small_disk("3m"))
    bench.spec(rocks(variants("bad", "good"), ["here.bad", "here.good"]).replace("records = 2k", "records = 100k"))
    unlimited = {"PATH": os.environ["PATH"]}  # so that the disk is full within the second
    run = FaultyRun(bench, bench("run", "brief.bench", env=unlimited))
    run.fails_only("/bad/")
    run.says_why("/bad/", "db_bench", "no space left in", "/bad on local, where", "of 3.0 MiB are free")


def test_a_load_that_does_not_fit_is_not_begun(bench: Bench, small_disk: Mount) -> None:
    bench.data.mkdir()
    (bench.data / "bad").symlink_to(small_disk("3m"))
    tool = f'tool = db_bench("{wrapped.db_bench(bench.folder / "tool")}")'
    bench.spec(rocks(variants("bad", "good"), ["here.bad", "here.good"], benchmark="readrandom", tool=tool))
    run = FaultyRun(bench, bench("run", "brief.bench"))
    run.fails_only("/bad/")
    run.says_why("/bad/", "the load needs about 64.", "MiB in", "/bad on local", "make room, name another `path`")


def test_a_host_without_room_for_the_jobs_outputs_fails_its_cells(bench: Bench, small_disk: Mount) -> None:
    full = small_disk("64k")
    (full / "rest").write_bytes(b"x" * 60_000)
    bench.spec(TWO_CELLS)
    ended = bench("run", "brief.bench", env={"TMPDIR": str(full)})
    assert ended.code == 3, ended.text
    assert {status for status, _ in bench.verdicts().values()} == {"failed"}
    assert ended.out.count("no space left on local") == 2
    assert "Make room on local" in ended.out


@pytest.fixture(scope="module")
def room_taken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Return how many bytes a good run of the two cells takes on disk, by kind of content."""
    system_tool("db_bench")
    with fresh_bench(tmp_path_factory.mktemp("good"), paper=True) as bench:
        bench.spec(TWO_CELLS + REPORT)
        assert bench("run", "brief.bench").code == 0
        parts = {
            "definition": ["plan.json", "spec", "identity.json"],
            "journal": ["journal.jsonl", "live.json"],
            "raw": ["raw"],
            "store": ["store"],
            "reports": ["reports"],
        }
        return {part: sum(_room(bench.run_dir / name) for name in names) for part, names in parts.items()}


def _room(path: Path) -> int:
    """Return the size of the files, each rounded up to whole pages, since files in memory take whole pages."""
    files = [each for each in (path, *path.rglob("*")) if each.is_file()]
    return sum(-(-each.stat().st_size // PAGE) * PAGE for each in files)


@pytest.mark.usefixtures("paper")
@pytest.mark.parametrize(
    ("full", "said"),
    [
        pytest.param("definition", r"bench-out can't be written", marks=pytest.mark.long),
        ("journal", r"/journal\.jsonl can't be written"),
        *longer(
            ("raw", r"on the controller for \S+/raw/|/raw/\S+ can't be|/journal\.jsonl can't be"),
            ("store", r"/store can't be written"),
        ),
        pytest.param("reports", r"/reports/\S+ can't be written", marks=pytest.mark.long),
    ],
    ids=lambda value: value if value.isalpha() else "",
)
def test_a_full_controller_stops_the_run_which_goes_on_when_there_is_room(
    bench: Bench, small_disk: Mount, room_taken: dict[str, int], full: str, said: str
) -> None:
    parts = list(room_taken)
    before = sum(room_taken[part] for part in parts[: parts.index(full)])
    out = small_disk(f"{before + (room_taken[full] // 2 if full != 'journal' else 0)}")
    (bench.folder / "bench-out").symlink_to(out)
    bench.spec(TWO_CELLS + REPORT)
    ended = bench("run", "brief.bench")
    assert ended.code == {"definition": 5, "store": 5, "reports": 5}.get(full, 130), ended.text
    assert "o space left on" in ended.text
    assert re.search(said, ended.text), ended.text
    assert len([line for line in ended.err.splitlines() if line.startswith("error:")]) <= 1
    good = bench.verdicts() if bench.run_dirs() else {}
    assert all(verdict == ("ok", 1) for verdict in good.values())

    subprocess.run(["mount", "-o", "remount,size=64m", out], check=True)
    words = ("resume", bench.run_dir.name) if bench.run_dirs() else ("run", "brief.bench")
    rendered = full == "reports"
    again = bench(*words, *([] if rendered else ["--no-report"]))
    assert again.code == 0, again.text
    assert ("PDF" in again.out) == rendered
    verdicts = bench.verdicts()
    assert [status for status, _ in verdicts.values()] == ["ok", "ok"]
    assert good.items() <= verdicts.items(), "what was good is kept"
