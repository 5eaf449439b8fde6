"""Tests the language's functions over repeats and curves on a simulated run, compared with the run's individual
numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from scipy import stats

from benchbrief.model.plan import Plan
from benchbrief.results.open_store import open_store
from benchbrief.results.statistics.scalability import Usl, fit_usl
from benchbrief.results.store.store import Store
from benchbrief.runners.journal.run_folder import load_plan
from tests.support.bench import Bench

SPEC = """
hardware old { hosts = "old.lab"  cores = 4 }
hardware new { hosts = "new.lab"  cores = 8 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload c from ycsb.c { records = 100k }
workload w from ycsb.c { records = 200k }
experiment ramp { hardware = [old, new]  workloads = c  threads = [1, 2, 4, 8, 16, 32]  measure = 10 s  repeats = 5 }
experiment once { hardware = old  workloads = w  threads = 1  measure = 10 s }
experiment load {
  hardware = old  workloads = w  threads = 64  target = [1k ops/s, 2k ops/s, 500k ops/s, 900k ops/s]  measure = 10 s
}
metric wide        in %     = cv(throughput[ramp] over repeat)
metric tail        in %     = cv(latency.p99[ramp, read] over repeat)
metric half        in kops/s = ci(throughput[ramp] over repeat)
metric lone        in ops/s = ci(throughput[once] over repeat)
metric differ               = p_value(throughput[ramp, old], throughput[ramp, new])
metric tails                = p_value(latency.p99[ramp, old, operation: read], latency.p99[ramp, new, operation: read])
metric peak        in kops/s = usl(throughput[ramp] over threads).peak
metric contention           = usl(throughput[ramp] over threads).sigma
metric threads_at_peak      = usl(throughput[ramp] over threads).peak_load
metric first_rate  in ops/s = usl(throughput[ramp] over threads).lambda[old]
metric kept        in ops/s = saturation(throughput[load] over target).target
metric found                = count(differ over threads, when differ < 5 %)
"""


@dataclass(frozen=True)
class World:
    plan: Plan
    store: Store

    def metric(self, name: str) -> dict[tuple[object, ...], float | None]:
        """Return a metric by the dimensions of the points, but without the workload, because there is only one."""
        query = next(metric.query for metric in self.plan.metrics if metric.name == name)
        return {tuple(key for key in row.keys if key != "c"): row.value for row in self.store.query(query)}

    def why(self, name: str) -> str:
        query = next(metric.query for metric in self.plan.metrics if metric.name == name)
        (row,) = self.store.query(query)
        return str(row.reason)

    def repeats(self, hardware: str, threads: int, view: str = "throughput") -> list[float]:
        chosen = {
            "throughput": "operation = 'all'",
            "latency": "operation = 'read' AND statistic = 'p99' AND reported AND repeat IS NOT NULL",
        }[view]
        rows = self.store.sql(
            f"SELECT value FROM measure.{view} WHERE experiment = 'ramp' AND phase IS NULL AND {chosen} "  # noqa: S608  # ours
            f"AND hardware = '{hardware}' AND threads = {threads} ORDER BY repeat"
        ).rows
        return [value for (value,) in rows]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    bench = Bench(tmp_path_factory.mktemp("functions"))
    bench.spec(SPEC)
    done = bench("run", "brief.bench", "--simulate", "--no-report", timeout=120)
    assert done.code == 0, done.text
    with open_store(bench.run_dir) as store:
        yield World(load_plan(bench.run_dir), store)


POINTS = [(hardware, threads) for hardware in ("old", "new") for threads in (1, 2, 4, 8, 16, 32)]


def test_the_variation_of_throughput_and_of_a_percentile_is_that_of_the_repeats(world: World) -> None:
    wide, tail = world.metric("wide"), world.metric("tail")
    for point in POINTS:
        assert wide[point] == pytest.approx(100 * stats.variation(world.repeats(*point), ddof=1))
        assert tail[point] == pytest.approx(100 * stats.variation(world.repeats(*point, "latency"), ddof=1))


def test_the_half_width_is_students_in_the_metrics_unit_and_missing_for_one_repeat(world: World) -> None:
    for point, half in world.metric("half").items():
        values = world.repeats(*point)  # type: ignore[arg-type]  # the dimensions are hardware and threads
        low, high = stats.t.interval(0.95, 4, loc=0, scale=stats.sem(values))
        assert half == pytest.approx((high - low) / 2 / 1000)
    assert world.metric("lone") == {("old", "w", 1): None}
    assert world.why("lone") == "it takes two repeats"


def test_the_p_value_is_welchs_on_logarithms(world: World) -> None:
    differ, tails = world.metric("differ"), world.metric("tails")
    for threads in (1, 2, 4, 8, 16, 32):
        old, new = ([math.log(rate) for rate in world.repeats(each, threads)] for each in ("old", "new"))
        assert differ[(threads,)] == pytest.approx(stats.ttest_ind(old, new, equal_var=False).pvalue)
        logs = [[math.log(p99) for p99 in world.repeats(each, threads, "latency")] for each in ("old", "new")]
        assert tails[(threads,)] == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue)
    assert world.metric("found") == {(): sum(p < 0.05 for p in differ.values() if p is not None)}
    assert (differ[(32,)] or 0) < 1e-5, "twice the cores"


def test_the_scalability_law_is_fitted_to_the_means_of_the_ramp(world: World) -> None:
    for hardware in ("old", "new"):
        loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
        fitted = fit_usl(loads, [math.fsum(world.repeats(hardware, int(n))) / 5 for n in loads])
        assert isinstance(fitted, Usl), fitted
        assert world.metric("contention")[(hardware,)] == pytest.approx(fitted.sigma)
        peak, at = world.metric("peak")[(hardware,)], world.metric("threads_at_peak")[(hardware,)]
        assert (peak is None) == (fitted.peak is None)
        assert at == (fitted.peak_load and pytest.approx(fitted.peak_load))
        if hardware == "old":
            assert world.metric("first_rate") == {(): pytest.approx(fitted.ideal)}


def test_a_systems_capacity_is_the_last_offered_load_that_it_kept_up_with(world: World) -> None:
    assert world.metric("kept") == {("old", "w"): 2000.0}
