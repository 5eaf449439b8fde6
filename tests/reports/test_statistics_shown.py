"""Tests a brief's statistics of repeats and curves, compared with numpy and scipy on the same numbers."""

from __future__ import annotations

import html
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from benchbrief.model.plan import Plan
from benchbrief.reports.render.render_report import render
from benchbrief.results.store import store_schema as s
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.plans import compile_spec

SPEC = """
hardware old "Old" { hosts = "old.lab" }
hardware new "New" { hosts = "new.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload c "Cache" from ycsb.c { records = 1M }
experiment ramp {
  hardware = [old, new]  workloads = c  threads = [1, 2, 4, 8, 16, 32, 64]  measure = 1 min  repeats = 4
}
experiment offer {
  hardware = old  workloads = c  threads = 96  measure = 1 min
  target = [1k ops/s, 2k ops/s, 3k ops/s, 4k ops/s, 5k ops/s]
}
experiment soak { hardware = old  workloads = c  threads = 12  phases = 6 x 1 min }
report brief "Brief" {
  text = \"\"\"
    peak {usl(throughput[ramp, old] over threads).peak:.3f} at {usl(throughput[ramp, old] over threads).peak_load:.3f};
    contention {usl(throughput[ramp, old] over threads).sigma:.5f};
    knee {knee(throughput[ramp, old] over threads):.0f};
    saturation {saturation(throughput[offer] over target):.0f}
    from {saturation(throughput[offer] over target).target:.0f};
    steady {mean(throughput[soak] over phase, when steady):.3f}
    after {time_to_steady(throughput[soak] over phase):.0f} s;
    spread {cv(throughput[ramp, old, threads: 8] over repeat):.6f},
    half {ci(throughput[ramp, old, threads: 8] over repeat):.4f};
    tail {cv(latency.p99[ramp, old, threads: 8, operation: read] over repeat):.6f};
    differ {p_value(throughput[ramp, old, threads: 8], throughput[ramp, new, threads: 8]):.8f}.
  \"\"\"
  disclosure = automatic
}
"""
LOADS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
OFFERED = {1000.0: 998.0, 2000.0: 1990.0, 3000.0: 2960.0, 4000.0: 3350.0, 5000.0: 3300.0}
PHASES = {1: 5000.0, 2: 7000.0, 3: 9300.0, 4: 10100.0, 5: 9900.0, 6: 10200.0}
TWIST = (0.99, 1.015, 1.0, 0.985)


def ramp(load: float, repeat: int, hardware: str) -> float:
    """Return a value on a curve with contention and coherency. The repeats differ."""
    factor = 1.0 if hardware == "old" else 1.02
    return factor * float(900 * load / (1 + 0.04 * (load - 1) + 0.0009 * load * (load - 1))) * TWIST[repeat - 1]


def rows(plan: Plan) -> list[tuple[Any, ...]]:
    cells = {cell.id: cell for cell in plan.cells}
    made: list[tuple[Any, ...]] = []
    for row in rows_for(plan):
        if isinstance(row, s.ThroughputRow):
            cell = cells[row.cell_id]
            if cell.experiment == "ramp":
                rate = ramp(float(cell.threads or 0), cell.repeat, cell.hardware)
            elif cell.target:
                rate = OFFERED[cell.target]
            else:
                rate = PHASES[row.phase] if row.phase else sum(PHASES.values()) / 6
            made.append(row._replace(ops_per_s=rate))
        else:
            made.append(row)
    return made


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """Return the numbers in the text, by the word before each of them."""
    folder = tmp_path_factory.mktemp("statistics")
    spec = folder / "statistics.bench"
    spec.write_text(SPEC, encoding="utf-8")
    plan = compile_spec(spec)
    page = render(plan, make_store(rows(plan)), "brief", Path(folder), html_only=True).html.read_text("utf-8")
    text = html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\xa0", " ")
    (begin,) = (match.start() for match in re.finditer(r"peak [\d.]+ at", text))
    text = text[begin:]  # of the text, and not of what stands before it
    found = re.findall(
        r"(peak|at|contention|knee|saturation|from|steady|after|spread|half|tail|differ) ([\d.]+\d)", text
    )
    answer: dict[str, list[float]] = {}
    for word, number in found:
        answer.setdefault(word, []).append(float(number))
    return answer


def repeats(hardware: str) -> list[float]:
    return [ramp(8.0, repeat, hardware) for repeat in (1, 2, 3, 4)]


def test_the_peak_of_the_scalability_law_is_that_of_scipys_fit(shown: dict[str, list[float]]) -> None:
    means = np.array([np.mean([ramp(float(load), repeat, "old") for repeat in (1, 2, 3, 4)]) for load in LOADS])

    def misfit(parameters: Any) -> Any:
        ideal, sigma, kappa = parameters
        return means - ideal * LOADS / (1 + sigma * (LOADS - 1) + kappa * LOADS * (LOADS - 1))

    ideal, sigma, kappa = optimize.least_squares(misfit, (1000.0, 0.02, 0.001), x_scale=(1000, 0.1, 0.001)).x
    at = math.sqrt((1 - sigma) / kappa)
    assert shown["contention"][0] == pytest.approx(sigma, abs=2e-5)
    assert shown["at"][0] == pytest.approx(at, rel=1e-3)
    assert shown["peak"][0] == pytest.approx(ideal * at / (1 + sigma * (at - 1) + kappa * at * (at - 1)), rel=1e-4)


def test_the_knee_is_the_point_farthest_above_the_line_from_corner_to_corner(shown: dict[str, list[float]]) -> None:
    means = np.array([np.mean([ramp(float(load), repeat, "old") for repeat in (1, 2, 3, 4)]) for load in LOADS])
    above = (means - means.min()) / np.ptp(means) - (LOADS - LOADS.min()) / np.ptp(LOADS)
    assert shown["knee"] == [LOADS[int(np.argmax(above))]]


def test_the_saturation_is_the_highest_rate_and_the_last_load_that_was_kept_up_with(
    shown: dict[str, list[float]],
) -> None:
    kept = max(load for load, rate in OFFERED.items() if rate >= 0.95 * load)
    assert (shown["saturation"], shown["from"]) == ([max(OFFERED.values())], [kept])


def test_the_steady_state_is_by_snias_rule(shown: dict[str, list[float]]) -> None:
    rates = np.array([*PHASES.values()])

    def steady(tail: Any) -> bool:
        slope = np.polyfit(np.arange(len(tail)), tail, 1)[0]
        return bool(np.ptp(tail) <= 0.2 * tail.mean() and abs(slope) * (len(tail) - 1) <= 0.1 * tail.mean())

    first = next(start for start in range(len(rates) - 2) if steady(rates[start:]))
    assert shown["steady"] == [pytest.approx(rates[first:].mean(), abs=1e-3)]
    assert shown["after"] == [first * 60.0]


def test_the_spread_of_repeats_and_their_p99s_is_numpys_and_their_interval_scipys(
    shown: dict[str, list[float]],
) -> None:
    values = repeats("old")
    assert shown["spread"] == [pytest.approx(np.std(values, ddof=1) / np.mean(values), abs=1e-6)]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert shown["half"] == [pytest.approx((high - low) / 2, abs=1e-3)]
    slower = np.array([1.01, 1.02, 1.03, 1.04])  # as the repeats are generated
    assert shown["tail"] == [pytest.approx(np.std(slower, ddof=1) / np.mean(slower), abs=1e-6)]
    logs = np.log(values), np.log(repeats("new"))
    assert shown["differ"] == [pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue, abs=1e-7)]
