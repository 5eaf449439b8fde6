"""Tests probes' samples, clocks and server counters in the store."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Interval, Sample
from benchbrief.model.plan import Cell, Probe
from benchbrief.results.open_store import open_store
from tests.results.making import (
    HERE,
    MEASUREMENT,
    READ,
    T0,
    RunMaker,
    a_cell,
    a_plan,
    a_query,
    a_read,
    measurement,
    rows,
)

POWER = Probe(name="power", every_s=1, hosts=("nvme-1",), origin=HERE)
GAUGE = Probe(name="gauge", every_s=1, hosts=("nvme-1", "nvme-2"), origin=HERE)


def test_samples_count_from_the_start_of_the_window_and_devices_are_summed(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = {
        "nvme-1": [
            Sample("disk.read", "nvme-1", "a", -1.0, 999.0, "B/s", 1.0),  # before the window
            Sample("disk.read", "nvme-1", "a", 0.2, 10.0, "B/s", 0.2),
            Sample("disk.read", "nvme-1", "a", 1.0, 20.0, "B/s", 0.8),
            Sample("disk.read", "nvme-1", "b", 1.0, 5.0, "B/s", 1.0),
            Sample("disk.read", "nvme-1", "a", 2.0, 30.0, "B/s", 1.0),
            Sample("disk.utilisation", "nvme-1", "a", 1.0, 0.5, "", 1.0),
            Sample("disk.utilisation", "nvme-1", "b", 1.0, 0.3, "", 1.0),
        ],
        "nvme-2": [Sample("disk.read", "nvme-2", "a", 2.5, 7.0, "B/s", 2.5)],
    }
    run.ok(
        cell,
        {"load-1": measurement([READ], intervals=(Interval(0.0, 5.0, 40), Interval(5.0, 5.0, 60)))},
        samples=samples,
    )
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT measure, node, time, value FROM measure.sample ORDER BY ALL")
        assert found == [
            (
                "disk.read",
                "nvme-1",
                0,
                23.0,
            ),  # the mean of a's two readings, of which one is four times as long, and b's
            ("disk.read", "nvme-1", 1, 30.0),
            *(("disk.read", "nvme-2", second, 7.0) for second in range(3)),
            ("disk.utilisation", "nvme-1", 0, 0.4),
            *(("throughput", "load-1", second, 8.0 if second < 5 else 12.0) for second in range(10)),
        ]
        assert rows(store, "SELECT min(t_s) FROM samples WHERE measure = 'disk.read'")[0][0] == pytest.approx(0.2)


def test_means_of_gauges_read_at_uneven_times_are_weighted_by_time_and_agree_with_the_energy(tmp_path: Path) -> None:
    """The meter reports more often at a high power: 300 W for one second of ten, and 100 W for the rest."""
    cell = a_cell(probes=(POWER,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    watts = [(0.5 + second, 100.0) for second in range(10) if second != 4] + [(4.05 + n / 10, 300.0) for n in range(10)]
    samples = [Sample("power", "nvme-1", "", at, value, "W") for at, value in sorted(watts)]
    collect_power(run, cell, samples)
    ends = [(0.0, 100.0), *sorted(watts), (10.0, 100.0)]
    joules = float(np.trapezoid([value for _, value in ends], [at for at, _ in ends]))
    with open_store(run.run_dir) as store:
        mean = "SELECT value FROM measure.mean WHERE measure = 'power'"
        ((of_window,),) = rows(store, mean)
        assert rows(store, mean) == [(of_window,)], "also when it is kept"
        ((energy,),) = rows(store, "SELECT value FROM measure.mean WHERE measure = 'energy'")
        ((of_seconds,),) = rows(store, "SELECT avg(value) FROM measure.sample WHERE measure = 'power'")
        ((windowed,),) = rows(store, "SELECT avg(value) FROM measure.sample WHERE measure = 'power' AND time >= 7")
        ((plain,),) = rows(store, "SELECT avg(value) FROM samples WHERE measure = 'power'")
    assert plain == pytest.approx(205.26, abs=0.01)
    assert of_window == pytest.approx(joules / 10)
    assert of_seconds == pytest.approx(of_window)
    assert energy == pytest.approx(joules)
    assert windowed == pytest.approx(100.0)


def test_a_gap_between_gauges_has_no_part_in_their_mean(tmp_path: Path) -> None:
    cell = a_cell(probes=(POWER,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    times = [0.5, 1.5, 2.5, 7.5, 8.5, 9.5]
    collect_power(run, cell, [Sample("power", "nvme-1", "", at, 100.0 if at < 5 else 400.0, "W") for at in times])
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT value FROM measure.mean WHERE measure = 'power'") == [(250.0,)]
        seconds = rows(store, "SELECT time, value FROM measure.sample WHERE measure = 'power' ORDER BY time")
        assert rows(store, "SELECT share, longest_gap_s FROM coverage") == [(0.5, 5.0)]
    assert seconds == [(second, 100.0 if second < 5 else 400.0) for second in (0, 1, 2, 7, 8, 9)]


def collect_power(run: RunMaker, cell: Cell, samples: Sequence[Sample]) -> None:
    """Record samples of power on nvme-1, from a meter that a command reads."""
    attempt = run.start(cell)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measurement([READ]))})
    blocks = "".join(f"= {T0 + 100 + each.time:.3f} {500 + each.time:.2f}\n{each.value}\n.\n" for each in samples)
    files = {"stdout": f"meter command\n{blocks}".encode(), "stderr": b""}
    run.collect(cell, attempt, "probe:power:nvme-1", "nvme-1", files)
    run.ended(cell, attempt, "ok", ops_per_s=10.0)


def test_the_latency_of_a_disk_is_the_mean_of_its_requests(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = {
        "nvme-1": [
            Sample("disk.reads", "nvme-1", "a", 0.5, 90.0, "1/s", 0.5),
            Sample("disk.read_await", "nvme-1", "a", 0.5, 0.001, "s", 0.5),
            Sample("disk.reads", "nvme-1", "b", 1.0, 5.0, "1/s", 1.0),  # five in one second, and 45 in half a one
            Sample("disk.read_await", "nvme-1", "b", 1.0, 0.011, "s", 1.0),
            Sample("disk.reads", "nvme-1", "a", 1.5, 0.0, "1/s", 1.0),
        ],
        "nvme-2": [  # whose requests nobody counted
            Sample("disk.read_await", "nvme-2", "a", 0.5, 0.001, "s"),
            Sample("disk.read_await", "nvme-2", "a", 1.5, 0.003, "s"),
        ],
    }
    run.ok(cell, {"load-1": measurement([READ])}, samples=samples)
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT node, value FROM measure.mean WHERE measure = 'disk.read_await' ORDER BY node")
    assert found == [("nvme-1", pytest.approx(0.002)), ("nvme-2", pytest.approx(0.002))]


def test_samples_and_windows_of_hosts_whose_clocks_differ_are_brought_together(tmp_path: Path) -> None:
    ahead = {"load-1": -3.0, "nvme-1": 50.0}
    probes = tuple(Probe(name=name, every_s=1, hosts=("nvme-1",), origin=HERE) for name in ("cpu", "memory"))
    cell = a_cell(probes=probes)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    for host, offset in ahead.items():
        run.write(
            j.ClockRead(
                at=run.now,
                cell=cell.id,
                attempt=attempt,
                host=host,
                when="before",
                offset_s=offset,
                uncertainty_s=0.01,
                booted=1.0,
            )
        )
    measured = measurement([READ], start=T0 + 100 + ahead["load-1"])
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measured), "stderr": b""})
    # One loop for both probes. In the eighth second of the window, by whatever clock, the host is busy.
    text = "processors 2\npage 4096\n"
    for second in range(-2, 13):
        busy = 100 if second >= 8 else 0
        text += f"= {T0 + 150 + second:.1f} {500 + second}.00\ncpu  {busy} 0 0 {200 * second + 900} 0 0 0 0\n"
        text += "MemTotal: 10 kB\nMemAvailable: 4 kB\n.\n"
    run.collect(cell, attempt, "probe:cpu,memory:nvme-1", "nvme-1", {"stdout": text.encode(), "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        busy_at = rows(store, "SELECT t_s FROM samples WHERE measure = 'cpu' AND value > 0")
        assert busy_at == [(8.0,)]
        sampled = rows(store, "SELECT min(t_s), max(t_s), count(*) FROM samples WHERE measure = 'memory.used'")
        assert sampled == [(0.0, 10.0, 11)]
        notes = rows(store, "SELECT text FROM notes WHERE text LIKE 'the clock of%' ORDER BY text")
    brought = "the controller's: times are brought to the controller's clock, give or take 10 ms"
    assert notes == [
        (f"the clock of load-1 was 3 s behind {brought}",),
        (f"the clock of nvme-1 was 50 s ahead of {brought}",),
    ]


def test_times_of_a_clock_that_drifts_are_brought_to_the_controllers_on_a_line_between_its_readings(
    tmp_path: Path,
) -> None:
    """By this clock, the window's ten seconds take eleven. The clock is 50 s ahead at the start, and 51 s ahead at the
    end."""
    probes = (Probe(name="cpu", every_s=1, hosts=("nvme-1",), origin=HERE),)
    cell = a_cell(probes=probes)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    for when, at, offset in (("before", T0 + 95, 49.5), ("after", T0 + 115, 51.5)):
        clock = {"cell": cell.id, "attempt": attempt, "host": "nvme-1", "when": when, "offset_s": offset}
        booted = 1.0 + (0 if when == "before" else 0.05)
        run.write(j.ClockRead.model_validate({"at": at, **clock, "uncertainty_s": 0.002, "booted": booted}))
    measured = measurement([READ], start=T0 + 100)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measured), "stderr": b""})
    text = "processors 2\npage 4096\n"
    for second in range(-2, 13):
        busy = 100 if second >= 5 else 0
        theirs = T0 + 150 + 1.1 * second
        text += f"= {theirs:.3f} {500 + 1.1 * second:.2f}\ncpu  {busy} 0 0 {220 * second + 900} 0 0 0 0\n.\n"
    run.collect(cell, attempt, "probe:cpu:nvme-1", "nvme-1", {"stdout": text.encode(), "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        ((busy_at,),) = rows(store, "SELECT t_s FROM samples WHERE measure = 'cpu' AND value > 0")
        ((note,),) = rows(store, "SELECT text FROM notes WHERE text LIKE 'the clock of nvme-1 was%'")
    assert busy_at == pytest.approx(5.0, abs=0.002)
    assert str(note).endswith(
        "ahead of the controller's: times are brought to the controller's clock, give or take 10 ms"
    )


@pytest.mark.parametrize(
    ("clocks", "more", "reason"),
    [
        ((), {"clock_set_s": -2.0}, "the clock of load-1 was set back by 2.0 s during the measurement: plain, which"),
        ((0.0, 2.0), {}, "the clock of load-1 was set forward by 2.0 s during the measurement: plain, which"),
        ((0.0, 2.0), {"clock_set_s": 0.0}, ""),  # just before the job, or just after it
        ((), {"ended_at": T0 + 105.0}, "the clock of load-1 is not to be believed: plain, which"),
    ],
    ids=["by the job", "by an earlier version's readings", "outside of the job", "by the tool's seconds"],
)
def test_a_good_cell_whose_tool_s_clock_was_set_has_no_numbers(
    tmp_path: Path, clocks: tuple[float, ...], more: dict[str, float], reason: str
) -> None:
    """This holds even if the journal calls the cell good."""
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ])})
    journal = run.run_dir / "journal.jsonl"
    records = [j.RECORD.validate_json(line) for line in journal.read_bytes().splitlines()]
    journal.write_text("")
    for when, step in zip(("before", "after"), clocks, strict=False):
        clock = {"cell": cell.id, "attempt": 1, "host": "load-1", "when": when, "offset_s": step, "booted": 7.0 + step}
        run.write(j.ClockRead.model_validate({"at": T0 + 99, "uncertainty_s": 0.01, **clock}))
    for record in records:
        is_output = isinstance(record, j.JobCollected)
        run.write(record.model_copy(update={"clock_set_s": None, **more}) if is_output else record)
    with open_store(run.run_dir) as store:
        ((status, why),) = rows(store, "SELECT status, reason FROM cells")
        found = rows(store, "SELECT value FROM measure.throughput WHERE operation = 'all'")
    assert (status, len(found)) == (("failed", 0) if reason else ("ok", 1))
    assert str(why or "").startswith(reason)


@pytest.mark.parametrize("step", [2.0, -2.0, 3600.0])
def test_samples_stay_in_place_when_their_clock_is_set_just_before_the_job(tmp_path: Path, step: float) -> None:
    """The probe began before the clock was set, and the load began after it. Each reports when the host booted, as its
    clock showed at that moment."""
    cell = a_cell(probes=(Probe(name="cpu", every_s=0.5, hosts=("load-1", "nvme-1"), origin=HERE),))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    booted = T0 - 500.0
    for host, ahead in (("load-1", 0.0), ("nvme-1", 0.0)):
        clock = {"cell": cell.id, "attempt": attempt, "host": host, "offset_s": ahead, "booted": booted + ahead}
        run.write(j.ClockRead.model_validate({"at": T0 + 95, "when": "before", "uncertainty_s": 0.01, **clock}))
        if host == "load-1":
            clock |= {"offset_s": ahead + step, "booted": booted + ahead + step}
        run.write(j.ClockRead.model_validate({"at": T0 + 115, "when": "after", "uncertainty_s": 0.01, **clock}))
    start, _ = measurement([READ]).window
    moved = measurement([READ], start=start + step)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(moved), "stderr": b""})
    for host, by in (("load-1", step), ("nvme-1", 0.0)):
        text = "processors 1\n"
        for n in range(-8, 30):
            at, busy = start + n / 2, 100 * max(0, min(n, 12) - 10)  # busy from 5 s to 6 s of the window
            shown = at + (by if n > -2 else 0.0)
            text += f"= {shown:.3f} {at - booted:.2f}\ncpu  {busy} 0 0 {50 * n + 900} 0 0 0 0\n.\n"
        run.collect(cell, attempt, f"probe:cpu:{host}", host, {"stdout": text.encode(), "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    journal = run.run_dir / "journal.jsonl"
    records = [j.RECORD.validate_json(line) for line in journal.read_bytes().splitlines()]
    journal.write_text("")
    for record in records:
        if isinstance(record, j.JobCollected):
            then = booted + (step if record.job == "measure" else 0.0)
            run.write(record.model_copy(update={"booted": then, "clock_set_s": 0.0}))
        else:
            run.write(record)
    with open_store(run.run_dir) as store:
        busy_at = rows(store, "SELECT node, t_s FROM samples WHERE measure = 'cpu' AND value > 0 ORDER BY ALL")
        covered = rows(store, "SELECT share FROM coverage")
    assert busy_at == [(host, pytest.approx(t, abs=0.02)) for host in ("load-1", "nvme-1") for t in (5.5, 6.0)]
    assert covered == [(pytest.approx(1.0),)] * 2


def test_a_clock_that_could_not_be_read_is_reported(tmp_path: Path) -> None:
    probes = (Probe(name="gauge", every_s=1, hosts=("nvme-1",), origin=HERE),)
    cell = a_cell(probes=probes)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    clock = {"cell": cell.id, "attempt": 1, "host": "load-1", "when": "before", "offset_s": 0.0}
    run.start(cell)
    run.write(j.ClockRead.model_validate({"at": run.now, **clock, "uncertainty_s": 0.01, "booted": None}))
    run.collect(cell, 1, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measurement([READ])), "stderr": b""})
    run.ended(cell, 1, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        notes = rows(store, "SELECT severity, text FROM notes WHERE text LIKE 'the clock of%'")
    shown = "the clock of nvme-1 could not be read: its times are taken for the controller's"
    assert notes == [("warning", shown)]


def test_a_damaged_probe_output_costs_its_samples_and_not_the_throughput(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ])}, samples={"nvme-1": [Sample("cpu", "nvme-1", "", 1.0, 3.0, "cores")]})
    probe = next(run.run_dir.rglob("probe-gauge-nvme-1/stdout"))
    probe.write_bytes(probe.read_bytes().replace(b"3.0", b"9.0"))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT count(*) FROM samples") == [(0,)]
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
        assert rows(store, "SELECT value FROM measure.throughput WHERE operation = 'all'") == [(10.0,)]
        ((severity, text),) = rows(store, "SELECT severity, text FROM notes")
    assert severity == "error"
    assert "probe-gauge-nvme-1/stdout was changed" in str(text)


def test_a_probe_without_a_sample_in_the_window_leaves_a_gap_with_its_reason(tmp_path: Path) -> None:
    cells = [a_cell(hardware=h, probes=(GAUGE,)) for h in ("nvme", "hdd")]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(
        cells[0],
        {"load-1": measurement([READ])},
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", -5.0, 1.0, "B")]},
    )
    run.ok(
        cells[1],
        {"load-1": measurement([READ])},
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", float(at), 1.0, "B") for at in range(11)]},
    )
    sql = (
        "SELECT c.hardware, any_value(s.value) AS value FROM measure.cells c LEFT JOIN measure.sample s "
        "ON s.hardware = c.hardware AND s.measure = 'gauge.bar' GROUP BY ALL"
    )
    with open_store(run.run_dir) as store:
        found = store.query(a_query(sql, "hardware", reads=[a_read("sample", probe="gauge")]))
        notes = rows(store, "SELECT cell_id, severity, text, origin FROM notes")
    reason = "the gauge probe on nvme-1 gave no sample inside the measured window"
    assert [(row.keys, row.value, row.reason) for row in found] == [(("nvme",), None, reason), (("hdd",), 1.0, None)]
    assert notes == [(cells[0].id, "warning", reason, "probe:gauge:nvme-1")]


def test_counters_are_differences_and_one_that_went_back_has_none(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    before, after = {"query": 100.0, "gone": 1.0, "insert": 50.0}, {"query": 350.0, "insert": 3.0, "new": 2.0}
    run.ok(cell, {"load-1": measurement([READ])}, counters=(before, after))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT name, delta, reason FROM counters ORDER BY name") == [
            ("gone", None, "not there after the measurement"),
            ("insert", None, "went backwards: the server was started anew"),
            ("new", None, "not there before the measurement"),
            ("query", 250.0, "over 12.0 s, of which 10.0 s were measured"),
        ]


def test_a_journal_without_readings_between_gives_counters_of_the_job(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([READ], seconds=11.5)}, counters=({"query": 0.0}, {"query": 9.0}))
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT delta, reason FROM counters") == [(9.0, None)], "the job is hardly longer"


# The job takes from T0 + 99 to T0 + 111, and its window from T0 + 100 to T0 + 110.
AROUND = [98.9, 99.5, 99.8, 105.0, 109.9, 110.3, 111.2]


@pytest.mark.parametrize(
    ("times", "ahead", "delta", "reason"),
    [
        (AROUND, 0.0, 1000.0, None),
        (AROUND, 60.0, 1000.0, None),
        (AROUND, -60.0, 1000.0, None),
        ([98.9, 105.0, 111.2], 0.0, 1000.0, "no reading is nearer than 1.2 s to an end of the measured window"),
    ],
    ids=["same clock", "controller ahead", "controller behind", "too few"],
)
def test_counters_are_of_the_measured_window_whatever_the_controller_s_clock(
    tmp_path: Path, times: list[float], ahead: float, delta: float, reason: str | None
) -> None:
    """The counter rises by a hundred in each second of the host's clock."""
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = [(T0 + time + ahead, {"query": float(round(100 * time))}) for time in times]
    ends = (samples[0][1], samples[-1][1])
    run.ok(cell, {"load-1": measurement([READ])}, counters=ends, counter_samples=samples)
    with open_store(run.run_dir) as store:
        near = pytest.approx(delta, abs=0.01)
        assert rows(store, "SELECT after - before, delta, reason FROM counters") == [(near, near, reason)]


def test_readings_that_failed_are_noted_and_leave_the_cell_good(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    problem = "3 of 3 readings failed: refused"
    run.ok(cell, {"load-1": measurement([READ])}, counters=({}, {}), counter_problem=problem)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT * FROM counters") == []
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
        assert rows(store, "SELECT severity, text FROM notes") == [("warning", f"server counters of nvme-1: {problem}")]


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (Sample("gauge.foo", "nvme-1", "", 1.0, 3.0, "B"), "its spec does not declare `gauge.foo`"),
        (
            Sample("gauge.bar", "nvme-1", "", 1.0, 3.0, "B/s"),
            "the unit of `gauge.bar` was `B/s`, and its spec declares `B`",
        ),
        (
            Sample("gauge.bar", "nvme-1", "", 1.0, 3.0, ""),
            "the unit of `gauge.bar` was `1`, and its spec declares `B`",
        ),
    ],
)
def test_samples_that_their_spec_does_not_declare_are_refused(tmp_path: Path, sample: Sample, why: str) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    good = Sample("gauge.bar", "nvme-1", "", 2.0, 3.0, "B")
    run.ok(cell, {"load-1": measurement([READ])}, samples={"nvme-1": [good, sample]})
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT * FROM samples WHERE measure LIKE 'gauge%'") == []
        notes = rows(store, "SELECT severity, text FROM notes WHERE origin = 'probe:gauge:nvme-1'")
    assert notes == [("error", f"the gauge probe on nvme-1 gave no samples: {why}")]


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        (Sample("lagging.wait", "", "", 1.0, 3.0, "s"), "its spec does not declare `lagging.wait`"),
        (
            Sample("lagging.lag", "", "", 1.0, 3.0, "ms"),
            "the unit of `lagging.lag` was `ms`, and its spec declares `s`",
        ),
    ],
)
def test_a_load_generator_s_own_measures_are_held_to_its_spec(tmp_path: Path, sample: Sample, why: str) -> None:
    cell = a_cell(driver="lagging", load_hosts=("load-1", "load-2"))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    good = Sample("lagging.lag", "", "", 2.0, 3.0, "s")
    sources = {
        "load-1": replace(measurement([READ]), samples=(good, sample)),
        "load-2": replace(measurement([READ]), samples=(good,)),
    }
    run.ok(cell, sources)
    with open_store(run.run_dir) as store:
        sql = "SELECT node, value, unit FROM samples WHERE measure LIKE 'lagging%' ORDER BY node"
        assert rows(store, sql) == [("load-1", None, "s"), ("load-2", 3.0, "s")]
        notes = rows(store, "SELECT severity, text FROM notes WHERE origin = 'probe:lagging:load-1'")
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
    assert notes == [("error", f"lagging on load-1 gave no measures of its own: {why}")]


def test_a_mistake_in_a_packages_probe_loses_its_samples_alone_and_names_the_place(tmp_path: Path) -> None:
    broken = Probe(name="broken", every_s=1, hosts=("nvme-1",), origin=HERE)
    cell = a_cell(probes=(broken,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    attempt = run.start(cell)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(measurement([READ]))})
    run.collect(cell, attempt, "probe:broken:nvme-1", "nvme-1", {"stdout": b"much", "stderr": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    with open_store(run.run_dir) as store:
        ((note,),) = rows(store, "SELECT text FROM notes WHERE origin = 'probe:broken:nvme-1' AND severity = 'error'")
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
    assert re.fullmatch(
        r"the broken probe on nvme-1 gave no samples: a mistake in plain-tools 1\.0, at plain_tools\.py:\d+: "
        r"ValueError: could not convert string to float: 'much'",
        note,
    )
