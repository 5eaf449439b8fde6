"""Provides a `bench` for each test, and helpers that all tests of faults use."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.tools import system_tool


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@dataclass(frozen=True)
class FaultyRun:
    """A run in which some cells failed, and how the run ended."""

    bench: Bench
    ended: Ended

    @cached_property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        return {record["cell"]: record for record in self.bench.journal("cell_ended")}

    def fails_only(self, pattern: str) -> None:
        """Check that only cells with matching ids failed, and that these have no numbers. There must be other cells,
        and all of them must be good."""
        failed = {cell for cell in self.verdicts if re.search(pattern, cell)}
        assert self.ended.code == 3, self.ended.text
        assert {cell for cell, record in self.verdicts.items() if record["status"] == "failed"} == failed
        assert failed
        assert len(failed) < len(self.verdicts)
        assert f": failed, {len(failed)} of {len(self.verdicts)} cells failed\n" in self.ended.out
        assert f"bench resume {self.bench.run_dir.name}" in self.ended.out
        counted = self.bench(
            "query",
            "SELECT cell_id FROM throughput WHERE ops_per_s IS NOT NULL UNION SELECT cell_id FROM latency "
            "JOIN cells USING (experiment, hardware, workload, threads, repeat) WHERE value_s IS NOT NULL",
            "--json",
        ).json
        assert {row["cell_id"] for row in counted} == self.verdicts.keys() - failed

    def says_why(self, pattern: str, *parts: str) -> None:
        """Check that each of these cells has a one-line reason for its failure. The reason must name the line of the
        spec, and have no control characters."""
        records = [record for cell, record in self.verdicts.items() if re.search(pattern, cell)]
        assert records
        for record in records:
            reason = record["reason"]
            assert record["status"] == "failed"
            assert reason.isprintable(), "one line, and nothing that a terminal would obey"
            for part in parts:
                assert part in reason, reason
            assert re.fullmatch(r"brief\.bench:\d+:\d+", record["origin"])
            assert f"FAILED  {record['origin']}\n    {reason}" in self.ended.err
            assert f"  failed  {record['cell']}: {reason}\n" in self.ended.out


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Yield a function that makes folders on file systems of a given size (such as `64k`). This needs root."""
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
