"""Provides a `bench` for each test, and one finished run that tests may read but not change."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.cli.specs import SMALL
from tests.support import wrapped
from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.made_once import made_once


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@dataclass(frozen=True)
class FinishedRun:
    bench: Bench
    spec: Path
    ended: Ended
    """The result of `bench run`."""
    left: list[str]
    """The processes and the job directories that were left over at the end."""


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Make a run with real db_bench: two variants at two thread counts. All test processes read this run, and none
    changes it."""

    def make(folder: Path) -> None:
        bench = Bench(folder)
        bench.tool = f'db_bench("{wrapped.db_bench(folder / "tool")}")'
        ended = bench("run", bench.spec(SMALL).name)
        left = [*bench.strays().values(), *(str(path) for root in bench.tmp.iterdir() for path in root.iterdir())]
        (folder / "ended.json").write_text(json.dumps({"ended": asdict(ended), "left": left}))

    folder = made_once(tmp_path_factory, "finished", make)
    kept = json.loads((folder / "ended.json").read_text())
    bench = Bench(folder)
    bench.tool = f'db_bench("{folder / "tool" / "db_bench"}")'
    return FinishedRun(bench, folder / "brief.bench", Ended(**kept["ended"]), kept["left"])


@pytest.fixture
def copied_run(finished_run: FinishedRun, tmp_path: Path, bench: Bench) -> Bench:
    """Return a copy of the finished run that a test may change. The copy shares the data of the original, so a test
    that measures needs other data."""
    shutil.copytree(finished_run.bench.folder / "bench-out", tmp_path / "bench-out")
    bench.data, bench.tool = finished_run.bench.data, finished_run.bench.tool
    bench.spec(SMALL)
    return bench
