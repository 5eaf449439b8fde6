"""A `bench` of each test's own, and what every fault has in common."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.tools import system_tool


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


class OnlyFails(Protocol):
    def __call__(self, ended: Ended, failed: str, *saying: str) -> None: ...


@pytest.fixture
def only_fails(bench: Bench) -> OnlyFails:
    """Checks that just the cells whose id fits a pattern failed, each with one line that says what, and where."""

    def check(ended: Ended, failed: str, *saying: str) -> None:
        assert ended.code == 3, ended.text
        records = {record["cell"]: record for record in bench.journal("cell_ended")}
        bad = [cell for cell in records if re.search(failed, cell)]
        assert bad, records.keys()
        assert {cell: records[cell]["status"] for cell in records} == {
            cell: "failed" if cell in bad else "ok" for cell in records
        }
        assert len(records) > len(bad), "another cell is to show that the run goes on"
        for cell in bad:
            reason = records[cell]["reason"]
            assert "\n" not in reason
            for part in saying:
                assert part in reason, reason
            assert re.fullmatch(r"brief\.bench:\d+:\d+", records[cell]["origin"])
            assert f"{records[cell]['origin']}\n    {reason}" in ended.err
            assert f"  failed  {cell}: {reason}\n" in ended.out
            assert not re.search(r"[^\n -~–°µ]", reason), "what a terminal would obey is not shown"
        assert f"bench resume {bench.run_dir.name}" in ended.out
        told = bench(
            "query",
            "SELECT cell_id FROM throughput WHERE ops_per_s IS NOT NULL UNION SELECT cell_id FROM latency "
            "JOIN cells USING (experiment, hardware, workload, threads, repeat) WHERE value_s IS NOT NULL",
            "--json",
        ).json
        assert {row["cell_id"] for row in told} == records.keys() - set(bad)

    return check


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes folders on file systems of a given size (`64k`), which only root can."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        path = tmp_path / f"small-{len(mounted)}"
        path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(path)
        return path

    yield mount
    for path in mounted:
        subprocess.run(["umount", "--lazy", path], check=True)
