"""Tests the spread over repeats, and a spec's expectations."""

import math
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import stats

from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Dimension, Expect, Query, Unjudged
from benchbrief.progress.finished_run import expect_case
from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict, evaluate, is_number
from benchbrief.results.open_store import open_store
from benchbrief.runners.scheduling.confidence_interval import t_interval
from tests.results.making import HERE, RunMaker, a_cell, a_plan, a_query, measurement

RATES = (10.0, 12.0, 11.0, 15.0)


def test_the_interval_is_students() -> None:
    mean, sd, n = statistics.mean(RATES), statistics.stdev(RATES), len(RATES)
    expected = stats.t.interval(0.95, n - 1, loc=mean, scale=sd / math.sqrt(n))
    assert t_interval(n, mean, sd) == pytest.approx(expected)
    assert t_interval(1, 5.0, None) == (None, None)


def test_throughput_over_repeats_has_mean_spread_and_interval(tmp_path: Path) -> None:
    cells = [a_cell(repeat=r) for r in (1, 2, 3, 4)]
    lone, failed = a_cell(threads=8), a_cell(threads=16)
    run = RunMaker(tmp_path / "run", a_plan([*cells, lone, failed]))
    for cell, rate in zip(cells, RATES, strict=True):
        run.ok(cell, {"load-1": measurement([Operation("read", int(rate * 10))])})
    run.ok(lone, {"load-1": measurement([Operation("read", 50)])})
    run.failed(failed, "gone")
    with open_store(run.run_dir) as store:
        four, one = store.confidence()
        (reads, _) = store.confidence("read")
    assert (four.threads, four.repeats, four.mean) == (4, 4, 12.0)
    assert four.sd == pytest.approx(statistics.stdev(RATES))
    assert four.cv == pytest.approx(statistics.stdev(RATES) / 12)
    assert (four.low, four.high) == pytest.approx(t_interval(4, 12.0, statistics.stdev(RATES)))
    assert (one.threads, one.repeats, one.mean, one.sd, one.low, one.high) == (8, 1, 5.0, None, None, None)
    assert reads.mean == 12.0


def test_scipy_is_not_imported_for_single_measurements(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([Operation("read", 50)])})
    open_store(run.run_dir).close()
    code = """
import sys
from pathlib import Path
from benchbrief.results.open_store import open_store
with open_store(Path(sys.argv[1])) as store:
    assert store.confidence()[0].mean == 5.0
print([name for name in ("scipy", "pyarrow", "numpy") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(run.run_dir)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


TOTAL = "FROM measure.throughput WHERE operation = 'all'"
RATE = a_query(f"SELECT threads, value {TOTAL}", "threads")
LIMIT = a_query("SELECT 15.0 AS value", text="15 ops/s")


def verdict(tmp_path: Path, sql: str, *dims: Dimension, sides: tuple[Query, ...] = ()) -> ExpectVerdict:
    """Return the verdict if 1, 2 and 3 threads do 100, 200 and 300 reads in ten seconds, and 4 threads fail."""
    cells = [a_cell(threads=t) for t in (1, 2, 3, 4)]
    text = "throughput > 15 ops/s"
    expect = Expect(text=text, label="", query=a_query(sql, *dims, text=text), sides=sides, origin=HERE)
    plan = a_plan(cells, [expect])
    run = RunMaker(tmp_path / "run", plan)
    for cell in cells[:3]:
        run.ok(cell, {"load-1": measurement([Operation("read", 100 * (cell.threads or 0))])})
    run.failed(cells[3], "gone")
    with open_store(run.run_dir) as store:
        (found,) = evaluate(plan, store)
    assert (found.text, found.origin) == (text, "brief.bench:7:3")
    return found


@pytest.mark.parametrize("limit", ["15 ops/s", "10k ops/s", "-20 %", "1 us", "0.5", "4 MiB", "-1"])
def test_a_limit_as_it_stands_in_the_spec_is_not_reported_again(limit: str) -> None:
    assert is_number(a_query("", text=limit))
    assert not is_number(a_query("", text=f"{limit} * factor"))
    assert not is_number(a_query("", text="limit"))


def test_a_time_is_shown_in_the_unit_that_fits_it(tmp_path: Path) -> None:
    took = a_query("SELECT 1.6985e-05::DOUBLE AS value", text="latency.p50").model_copy(update={"unit": "s"})
    found = verdict(tmp_path, "SELECT 0.0::DOUBLE AS value", sides=(took, a_query("SELECT 1e-6", text="1 us")))
    assert found.detail.endswith("latency.p50 is 16.985 us")


def test_an_expectation_that_holds_everywhere_holds(tmp_path: Path) -> None:
    found = verdict(tmp_path, f"SELECT threads, (value > 5)::DOUBLE AS value {TOTAL}", "threads")
    assert (found.holds, found.detail) == (True, "holds for 3 of 3: threads 1; threads 2; threads 3")


def test_an_expectation_that_fails_somewhere_says_where_and_by_which_numbers(tmp_path: Path) -> None:
    sql = f"SELECT threads, (value > 15)::DOUBLE AS value {TOTAL}"
    found = verdict(tmp_path, sql, "threads", sides=(RATE, LIMIT))
    assert (found.holds, found.detail) == (False, "does not hold for 1 of 3: threads 1: throughput is 10 ops/s")


def test_an_expectation_without_a_result_is_not_known_and_says_why(tmp_path: Path) -> None:
    sql = (
        "SELECT threads, (value > 5)::DOUBLE AS value FROM measure.cells LEFT JOIN "
        "(FROM measure.throughput WHERE operation = 'all') USING (threads)"
    )
    found = verdict(tmp_path, sql, "threads", sides=(RATE, LIMIT))
    assert found.holds is None
    assert found.detail == "can't be known for 1 of 4: threads 4: ramp/nvme/a/threads=4/repeat=1 failed: gone"


def test_a_verdict_says_which_workloads_it_passes_over(tmp_path: Path) -> None:
    query = a_query("SELECT 1.0 AS value")
    over = Unjudged(measure="latency.p99[read]", dim="workload", keys=("b", "c", "d", "e"))
    plan = a_plan([a_cell()], [Expect(text="x", label="x", query=query, unjudged=(over,), origin=HERE)])
    with open_store(RunMaker(tmp_path / "run", plan).run_dir) as store:
        (found,) = evaluate(plan, store)
    assert (found.holds, found.detail) == (
        True,
        "holds; not judged: workload b, c, d and 1 more, without latency.p99[read]",
    )
    assert "not judged: workload b, c, d" in expect_case(found).detail


def test_an_expectation_of_no_rows_is_not_known(tmp_path: Path) -> None:
    found = verdict(tmp_path, "SELECT threads, 1.0 AS value FROM measure.cells WHERE threads = 99", "threads")
    assert (found.holds, found.detail) == (None, "there is no result to judge it by")


@pytest.mark.parametrize(
    ("limit", "holds", "detail"),
    [(5, True, "holds: least is 10 ops/s"), (50, False, "does not hold: least is 10 ops/s")],
)
def test_an_expectation_of_one_number_holds_or_not(tmp_path: Path, limit: int, holds: bool, detail: str) -> None:
    least = a_query(f"SELECT min(value) AS value {TOTAL}", text="least")
    found = verdict(tmp_path, f"SELECT (min(value) > {limit})::DOUBLE AS value {TOTAL}", sides=(least, LIMIT))
    assert (found.holds, found.detail) == (holds, detail)


@pytest.mark.parametrize("more", [1, 2])
def test_only_the_first_places_are_listed(tmp_path: Path, more: int) -> None:
    cells = [a_cell(threads=t) for t in range(1, 4 + more)]
    query = a_query("SELECT threads, 0.0 AS value FROM measure.cells", "threads")
    plan = a_plan(cells, [Expect(text="x", label="x", query=query, origin=HERE)])
    with open_store(RunMaker(tmp_path / "run", plan).run_dir) as store:
        (found,) = evaluate(plan, store)
    listed = f"{3 + more} of {3 + more}: threads 1; threads 2; threads 3; and {more} more"
    assert found.detail == f"does not hold for {listed}"
