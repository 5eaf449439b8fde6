"""Tests that two lanes run by two processes at once, on two real hosts, give the same run as a single controller."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bench import Bench, Started, records_of
from tests.support.slurm_runs import CELLS, SAME, rows, spec
from tests.support.two_hosts import two_hosts
from tests.support.waiting import until


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with two_hosts(tmp_path) as fresh:
        spec(fresh, measure="4 s")
        yield fresh


def lane_dir(bench: Bench, number: int) -> Path:
    return bench.folder / "fleet" / "lanes" / f"fleet-lane-{number}"


def said(bench: Bench, number: int, **wanted: object) -> bool:
    """Return whether the journal of a lane has a record with these fields."""
    if not (lane_dir(bench, number) / "journal.jsonl").exists():
        return False
    return any(wanted.items() <= record.items() for record in records_of(lane_dir(bench, number)))


def kill(run: Started) -> None:
    run.signal(signal.SIGKILL)
    run.process.wait(60)


@pytest.mark.long
@pytest.mark.timeout(240)
def test_killed_lanes_go_on_and_make_the_run_of_one_controller(bench: Bench) -> None:
    made = bench("plan", "brief.bench", "--into", "fleet")
    assert made.code == 0, made.text
    with (
        bench.started("lane", "fleet", "1", stays=True) as first,
        bench.started("lane", "fleet", "two", stays=True) as other,
    ):
        until(lambda: said(bench, 1, type="step_started", step="measure"), 60)
        until(lambda: said(bench, 2, type="step_started", step="load"), 60)
        beside = bench("lane", "fleet", "one")
        assert beside.code == 2
        assert "is being run by another process" in beside.err
        kill(first)
        kill(other)
    early = bench("merge", "fleet", "--no-report")
    assert early.code == 130, early.text
    assert "go on with: bench lane fleet 1" in early.out
    with bench.started("lane", "fleet", "1") as first, bench.started("lane", "fleet", "two") as other:
        for lane in (first, other):
            ended = lane.wait()
            assert ended.code == 0, ended.text
    assert said(bench, 1, type="cell_resumed", cell=CELLS[0], step="measure")
    journals = [lane_dir(bench, number) / "journal.jsonl" for number in (1, 2)]
    before = [path.read_bytes() for path in journals]
    assert bench("lane", "fleet", "1").code == 0
    assert [path.read_bytes() for path in journals] == before

    merged = bench("merge", "fleet", "--json")
    assert merged.code == 0, merged.text
    assert merged.json["cells"]["ok"] == len(CELLS)
    assert merged.json["reports"]
    alone = bench("run", "brief.bench", "--fresh", "--no-report", "--out", "alone")
    assert alone.code == 0, alone.text
    (single,) = (path.parent for path in (bench.folder / "alone").glob("*/plan.json"))
    for table in SAME:
        assert rows(single, table) == rows(bench.folder / "fleet", table), table
    judged = [each["cell"] for each in records_of(bench.folder / "fleet") if each["type"] == "cell_ended"]
    assert sorted(judged) == CELLS
    assert bench.strays() == {}
