"""Tests how much of a window was sampled, and the energy in it, compared with numpy's trapezoid rule."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchbrief.model.measurement import Operation, Sample
from benchbrief.model.plan import Probe
from benchbrief.results.ingest.probe_samples import (
    Coverage,
    Stretch,
    both,
    coverage,
    covered_by,
    gauge_stretches,
    stretches,
    why_no_energy,
)
from benchbrief.results.ingest.probe_samples import energy as energy_of
from benchbrief.results.open_store import open_store
from tests.results.making import HERE, MEASUREMENT, T0, RunMaker, a_cell, a_plan, a_query, a_read, measurement, rows

READ = Operation("read", 100, mean_s=0.001)


def energy(watts: Sequence[tuple[float, float]], every_s: float, seconds: float) -> float | None:
    """Return the energy of gauges, each given as (seconds from the window's start, watts)."""
    of = gauge_stretches([time for time, _ in watts], every_s, seconds)
    return energy_of([(part, each) for part, (_, each) in zip(of, watts, strict=True)], seconds)


@pytest.mark.parametrize("seed", range(50))
def test_energy_is_numpy_s_trapezoid_with_the_ends_held(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # test data
    seconds = rng.uniform(5, 60)
    every = rng.choice([0.5, 1.0, 2.0])
    times = []
    at = rng.uniform(0, every)
    while at < seconds:
        times.append(at)
        at += rng.uniform(0.3, 1.7) * every
    watts = [rng.uniform(50, 400) for _ in times]
    whole = [0.0, *times, seconds], [watts[0], *watts, watts[-1]]
    found = energy(list(zip(times, watts, strict=True)), every, seconds)
    assert found == pytest.approx(float(np.trapezoid(whole[1], whole[0])))


@pytest.mark.parametrize("seed", range(10))
def test_a_short_gap_takes_the_mean_of_the_rest(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # test data
    watts = [(float(t), rng.uniform(90, 110)) for t in range(101) if not 40 < t < 44]
    before, after = [w for t, w in watts if t <= 40], [w for t, w in watts if t >= 44]
    sampled = float(np.trapezoid(before)) + float(np.trapezoid(after))
    assert energy(watts, 1.0, 100.0) == pytest.approx(sampled / 96 * 100)


def test_over_too_long_a_gap_there_is_no_energy() -> None:
    watts = [(float(t), 100.0) for t in range(101) if not 40 < t < 48]
    assert energy(watts, 1.0, 100.0) is None
    assert energy([], 1.0, 100.0) is None
    assert energy([(50.0, 100.0)], 1.0, 100.0) is None


def test_fewer_than_three_readings_give_no_energy() -> None:
    assert energy([(10.0, 100.0)], 10.0, 20.0) is None
    assert energy([(5.0, 100.0), (15.0, 100.0)], 10.0, 20.0) is None
    assert energy([(1.0, 100.0), (10.0, 100.0), (19.0, 100.0)], 10.0, 20.0) == pytest.approx(2000)


@pytest.mark.parametrize(
    ("times", "every_s", "expected"),
    [
        ([], 1.0, Coverage(0.0, 10.0)),
        ([0.9, 1.9, 2.9, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.9], 1.0, Coverage(1.0, 0.0)),
        ([1.0, 3.0, 5.0, 7.0, 9.0], 1.0, Coverage(5 / 9, 2.0)),  # every second one is missing
        ([0.5, 2.9, 5.3, 7.7], 1.0, Coverage(0.5, 2.4)),
        ([0.5, 1.5, 3.2, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5], 1.0, Coverage(1.0, 0.0)),  # one was late
        ([0.5, 1.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5], 1.0, Coverage(0.9, 2.0)),
        # a burst of readings makes up for no one that is missing
        ([0.5, *(1.5 + n / 10 for n in range(10)), 3.5, 5.5, 7.5, 9.5], 1.0, Coverage(0.7, 2.0)),
        ([5.0], 5.0, Coverage(0.5, 5.0)),  # one of two
        ([0.5, 1.5, 6.5, 7.5, 8.5, 9.5], 1.0, Coverage(0.5, 5.0)),
        ([6.0, 7.0, 8.0, 9.0], 1.0, Coverage(0.4, 6.0)),  # began late
        ([1.0, 2.0], 1.0, Coverage(0.2, 8.0)),  # ended early
    ],
)
def test_coverage_is_of_the_readings_that_were_due_and_of_the_window_without_its_gaps(
    times: list[float], every_s: float, expected: Coverage
) -> None:
    found = coverage(times, every_s, 10.0)
    assert found.share == pytest.approx(expected.share)
    assert found.longest_s == pytest.approx(expected.longest_s)


def test_a_patchy_probe_keeps_what_it_has_and_is_reported(tmp_path: Path) -> None:
    cell = a_cell(probes=(Probe(name="gauge", every_s=1, hosts=("nvme-1", "nvme-2"), origin=HERE),))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    readings = [Sample("gauge.bar", "nvme-1", "", at, 2.0, "B") for at in (0.5, 1.5, 2.5, 7.5, 8.5, 9.5)]
    run.ok(cell, {"load-1": measurement([READ])}, samples={"nvme-1": readings, "nvme-2": []})
    with open_store(run.run_dir) as store:
        covered = list(
            store.sql("SELECT node, round(share, 3), round(longest_gap_s, 3) FROM coverage ORDER BY node").rows
        )
        notes = [text for (text,) in store.sql("SELECT text FROM notes ORDER BY text").rows]
        values = list(store.sql("SELECT node, avg(value), count(*) FROM samples GROUP BY ALL ORDER BY node").rows)
    assert covered == [("nvme-1", 0.5, 5.0), ("nvme-2", 0.0, 10.0)]
    assert notes == [
        "gauge of nvme-1 was sampled for 50 % of the measured window: the longest gap is 5.0 s",
        "the gauge probe on nvme-2 gave no sample inside the measured window",
    ]
    assert values == [("nvme-1", 2.0, 6), ("nvme-2", None, 1)]


@pytest.mark.parametrize(
    ("times", "every_s", "why"),
    [
        ([2.5, 7.5], 5.0, "that takes 3 readings of power inside the measured window, and there were 2"),
        ([0.5, 1.5, 2.5, 7.5, 8.5, 9.5], 1.0, "its power was sampled for 50 % of the measured window"),
    ],
)
def test_an_energy_that_is_not_known_has_the_reason_that_holds(times: list[float], every_s: float, why: str) -> None:
    assert energy([(time, 40.0) for time in times], every_s, 10.0) is None
    of, covered = gauge_stretches(times, every_s, 10.0), coverage(times, every_s, 10.0)
    assert why_no_energy("nvme-1", of, covered, 10.0) == f"the energy of nvme-1 is not known: {why}"


@pytest.mark.parametrize(
    ("every_other", "share"),
    [(2.5, "44 %"), (2.0, "56 %"), (1.6, "64 %"), (1.4, "73 %"), (1.0, ""), (0.4, "")],
)
def test_energy_is_known_where_the_coverage_says_that_the_power_was_sampled(
    every_other: float, share: str, tmp_path: Path
) -> None:
    """A slow meter's readings leave no gap, although most of the requested readings were not taken."""
    run = a_run_with_power(tmp_path, np.arange(0.2, 10.0, every_other).tolist(), every_s=1)
    with open_store(run.run_dir) as store:
        (joules,) = [value for (value,) in rows(store, "SELECT value FROM samples WHERE measure = 'energy'")]
        notes = [text for (text,) in rows(store, "SELECT text FROM notes WHERE origin = 'probe:energy:nvme-1'")]
        assert (joules is None, notes) == (
            (True, [f"the energy of nvme-1 is not known: its power was sampled for {share} of the measured window"])
            if share
            else (False, [])
        )
        assert share or joules == pytest.approx(400)


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ((2.0, 7.0), "that takes 3 readings of power inside the measured window, and there were 2"),
        (np.arange(0.2, 10.0, 2.5).tolist(), "its power was sampled for 44 % of the measured window"),
    ],
)
def test_a_metric_of_an_unknown_energy_is_missing_with_its_reason(
    times: Sequence[float], why: str, tmp_path: Path
) -> None:
    run = a_run_with_power(tmp_path, times, every_s=5 if len(times) < 3 else 1)
    energy_read = a_read("sample", probe="power").model_copy(update={"measure": "energy"})
    per_joule = a_query(
        "SELECT hardware, any_value(t.value) * 10 / any_value(e.value) AS value FROM measure.throughput t "
        "JOIN measure.sample e USING (hardware) WHERE e.measure = 'energy' GROUP BY ALL",
        "hardware",
        unit="ops/J",
        reads=[a_read(), energy_read],
    )
    with open_store(run.run_dir) as store:
        ((value, reason),) = [(row.value, row.reason) for row in store.query(per_joule)]
    assert (value, reason) == (None, f"the energy of nvme-1 is not known: {why}")


def test_a_short_window_needs_its_power_sampled_as_a_long_one_does(tmp_path: Path) -> None:
    """One failed reading of six is more than 5 % of the window, so the energy is unknown, and so is everything that
    depends on it."""
    per_joule = a_query(
        "SELECT hardware, any_value(t.value) * 6 / any_value(e.value) AS value FROM measure.throughput t "
        "JOIN measure.sample e USING (hardware) WHERE e.measure = 'energy' GROUP BY ALL",
        "hardware",
        unit="ops/J",
        reads=[a_read(), a_read("sample", probe="power").model_copy(update={"measure": "energy"})],
    )
    found = {}
    for failed in (None, 3.5):
        times = [at for at in np.arange(0.5, 6.0, 1.0).tolist() if at != failed]
        run = a_run_with_power(tmp_path / str(failed), times, every_s=1, seconds=6.0)
        with open_store(run.run_dir) as store:
            ((share,),) = rows(store, "SELECT share FROM coverage")
            (joules,) = [value for (value,) in rows(store, "SELECT value FROM samples WHERE measure = 'energy'")]
            ((value, reason),) = [(row.value, row.reason) for row in store.query(per_joule)]
        found[failed] = share, joules, value, reason
    share, joules, value, reason = found[None]
    assert (share, reason) == (1.0, None)
    assert (joules, value) == pytest.approx((240, 100 / 240))
    share, joules, value, reason = found[3.5]
    assert share == pytest.approx(5 / 6)
    assert (joules, value) == (None, None)
    assert reason == "the energy of nvme-1 is not known: its power was sampled for 83 % of the measured window"


def a_run_with_power(tmp_path: Path, times: Sequence[float], every_s: float, seconds: float = 10.0) -> RunMaker:
    """Make a run with readings of 40 W at these seconds of a window, by a meter that a command reads."""
    cell = a_cell(probes=(Probe(name="power", every_s=every_s, hosts=("nvme-1",), origin=HERE),))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    run.collect(
        cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measurement([READ], seconds=seconds))}
    )
    blocks = "".join(f"= {T0 + 100 + at:.3f} {500 + at:.2f}\n40\n.\n" for at in times)
    files = {"stdout": f"meter command\n{blocks}".encode(), "stderr": b""}
    run.collect(cell, attempt, "probe:power:nvme-1", "nvme-1", files)
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    return run


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(0.0, 0.4), (0.4, 1.4), (1.4, 4.0)], Coverage(1.0, 0.0)),
        ([(0.7, 1.7), (1.7, 2.7)], Coverage(0.5, 1.3)),
        ([(0.0, 1.0), (2.0, 4.0), (0.0, 1.0), (0.5, 1.0)], Coverage(0.75, 1.0)),  # of several counters
        ([(0.0, 3.0), (1.0, 2.0), (2.5, 4.0)], Coverage(1.0, 0.0)),  # one within another
        ([], Coverage(0.0, 4.0)),
    ],
)
def test_rates_cover_their_intervals_and_nothing_else(parts: list[tuple[float, float]], expected: Coverage) -> None:
    found = covered_by([Stretch(*part) for part in parts], 4.0)
    assert found.share == pytest.approx(expected.share)
    assert found.longest_s == pytest.approx(expected.longest_s)


@pytest.mark.parametrize(("last", "share"), [(13.4, 0.85), (14.6, 1.0)], ids=["no reading after the window", "one"])
def test_the_coverage_of_counters_is_that_of_the_window_s_ends_too(tmp_path: Path, last: float, share: float) -> None:
    """The window has four seconds. The counters are read once per second, beginning before the window."""
    cell = a_cell(probes=(Probe(name="cpu", every_s=1, hosts=("nvme-1",), origin=HERE),))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    measured = MEASUREMENT.dump_json(measurement([READ], start=T0 + 110, seconds=4.0))
    run.collect(cell, attempt, "measure", "load-1", {"stdout": measured}, (T0 + 109, T0 + 115))
    text = "processors 2\n"
    for at in (9.4, 10.4, 11.4, 12.4, 13.4, 14.6):
        if at <= last:
            ticks = round(100 * at)
            text += f"= {T0 + 100 + at:.2f} {500 + at:.2f}\ncpu  {ticks} 0 0 {ticks} 0 0 0 0\n.\n"
    run.collect(cell, attempt, "probe:cpu:nvme-1", "nvme-1", {"stdout": text.encode(), "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=25.0)
    with open_store(run.run_dir) as store:
        ((found, gap),) = store.sql("SELECT share, longest_gap_s FROM coverage").rows
        notes = [text for (text,) in store.sql("SELECT text FROM notes").rows]
    assert found == pytest.approx(share, abs=1e-6)
    assert gap == pytest.approx(0.6 if share < 1 else 0.0, abs=1e-6)
    shown = ["cpu of nvme-1 was sampled for 85 % of the measured window: the longest gap is 0.6 s"]
    assert notes == (shown if share < 1 else [])


def test_readings_that_come_late_make_up_for_no_moment_before() -> None:
    """One second was missed. A burst of readings after it does not replace it."""
    found = coverage([0.0, 2.4, 2.8, 3.2, 3.6, 4.0], 1.0, 4.0)
    assert found.share == pytest.approx(0.8)
    assert found.longest_s == 2.4


def test_two_coverages_count_with_the_smaller_share_and_the_longer_gap() -> None:
    assert both(Coverage(0.5, 1.0), Coverage(0.8, 3.0)) == Coverage(0.5, 3.0)
    assert both(Coverage(0.8, 3.0), Coverage(0.5, 1.0)) == Coverage(0.5, 3.0)


def test_each_device_s_gauges_have_stretches_of_their_own() -> None:
    def gauge(device: str, time: float) -> Sample:
        return Sample("temperature", "nvme-1", device, time, 40.0, "degC")

    found = stretches([gauge("a", 1.0), gauge("b", 1.5), gauge("a", 2.0), gauge("b", 2.5)], 1.0, 3.0)
    assert found == [Stretch(0.0, 1.5), Stretch(0.0, 2.0), Stretch(1.5, 3.0), Stretch(2.0, 3.0)]
