"""Tests a knee search in the store: points that were not needed, and cells that waited."""

from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Knee, KneeSearch
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.run_summary import summarise
from tests.results.making import (
    READ,
    RunMaker,
    a_cell,
    a_plan,
    a_query,
    a_read,
    measurement,
    rows,
)


def searched_run(tmp_path: Path, knee: float | None) -> RunMaker:
    """Make four points of a search, and a cell that waited for the knee. The last two points were not needed."""
    points = [a_cell(threads=threads) for threads in (1, 2, 4, 8)]
    waiting = a_cell(
        id="found/nvme/a/threads=ramp.knee/r1",
        hash="found",
        experiment="found",
        threads=None,
        threads_from=Knee(experiment="ramp", hardware="nvme", workload="a"),
    )
    plan = a_plan([*points, waiting])
    ramp = plan.experiments["ramp"]
    search = KneeSearch(latency="p99", rise=0.1, gain=0.03)
    experiments = {
        "ramp": ramp.model_copy(update={"points": (1.0, 2.0, 4.0, 8.0), "search": search}),
        "found": ramp.model_copy(update={"name": "found", "points": (), "threads_from": "ramp", "requires": ("ramp",)}),
    }
    run = RunMaker(tmp_path / "run", plan.model_copy(update={"experiments": experiments}))
    for cell in points[:2]:
        run.ok(cell, {"load-1": measurement([READ])})
    seen = tuple(j.SearchPoint(point=point, ops_per_s=10.0, latency_s=0.01) for point in (1.0, 2.0))
    key = {"experiment": "ramp", "hardware": "nvme", "workload": "a"}
    run.write(j.SearchEnded(at=run.now, axis="threads", knee=knee, points=seen, **key))
    for cell in points[2:]:
        run.write(j.CellSkipped(at=run.now, cell=cell.id, hash=cell.hash, reason="the knee was found at 1 thread"))
    if knee is None:
        run.failed(waiting, "no knee")
    else:
        run.ok(waiting, {"load-1": measurement([READ])})
    run.end("done")
    return run


def test_a_point_that_a_search_did_not_need_is_neither_missing_nor_planned(tmp_path: Path) -> None:
    run = searched_run(tmp_path, 1.0)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT threads, status, reason FROM cells WHERE experiment = 'ramp' ORDER BY threads") == [
            (1, "ok", None),
            (2, "ok", None),
            (4, "skipped", "the knee was found at 1 thread"),
            (8, "skipped", "the knee was found at 1 thread"),
        ]
        assert rows(store, "SELECT threads FROM measure.cells WHERE experiment = 'ramp' ORDER BY ALL") == [(1,), (2,)]
    status = summarise(run.run_dir)
    assert (status.done, status.failed, status.skipped, status.total) == (3, 0, 2, 5)
    assert status.remaining_s is None
    assert [cell.status for cell in status.cells] == ["ok", "ok", "skipped", "skipped", "ok"]


def test_a_cell_that_waited_for_a_knee_has_its_number_in_the_store(tmp_path: Path) -> None:
    with open_store(searched_run(tmp_path, 1.0).run_dir) as store:
        assert rows(store, "SELECT threads, status FROM cells WHERE experiment = 'found'") == [(1, "ok")]
        throughput = "SELECT threads, value FROM measure.throughput WHERE experiment = 'found' AND operation = 'all'"
        assert rows(store, throughput) == [(1, 10.0)]
        assert rows(store, "SELECT DISTINCT threads FROM measure.latency WHERE experiment = 'found'") == [(1,)]
        assert rows(store, "SELECT axis, latency, rise, gain, knee, reason FROM searches") == [
            ("threads", "p99", 0.1, 0.03, 1.0, None)
        ]


def test_a_knee_that_was_not_found_is_missing_with_its_reason(tmp_path: Path) -> None:
    with open_store(searched_run(tmp_path, None).run_dir) as store:
        assert rows(store, "SELECT knee, reason FROM searches") == [(None, "no knee up to the last point")]
        assert rows(store, "SELECT threads, status FROM cells WHERE experiment = 'found'") == [(None, "failed")]
        sql = "SELECT max(value) AS value FROM measure.throughput WHERE experiment = 'found'"
        (row,) = store.query(a_query(sql, reads=[a_read(experiment="found")]))
        assert row.value is None
        assert row.reason == "found/nvme/a/threads=ramp.knee/r1 failed: no knee"
