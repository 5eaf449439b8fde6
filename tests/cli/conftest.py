"""A `bench` of each test's own, and one finished run that tests only look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.specs import SMALL
from tests.support import wrapped
from tests.support.bench import Bench, Ended, fresh_bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@dataclass(frozen=True)
class FinishedRun:
    bench: Bench
    spec: Path
    ended: Ended
    """How `bench run` ended."""


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run with real db_bench: two variants at two thread counts. To be looked at, not changed."""
    bench = Bench(tmp_path_factory.mktemp("finished"))
    bench.tool = f'db_bench("{wrapped.db_bench(bench.folder / "tool")}")'
    spec = bench.spec(SMALL)
    return FinishedRun(bench, spec, bench("run", spec.name))


@pytest.fixture
def copied_run(finished_run: FinishedRun, tmp_path: Path, bench: Bench) -> Bench:
    """A copy of the finished run that a test may change."""
    shutil.copytree(finished_run.bench.folder / "bench-out", tmp_path / "bench-out")
    bench.data, bench.tool = finished_run.bench.data, finished_run.bench.tool
    bench.spec(SMALL)
    return bench
