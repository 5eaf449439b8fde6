"""What becomes of probes' samples, clocks and server counters in the store."""

from pathlib import Path

import pytest

from benchbrief.compiler.plan import Probe
from benchbrief.results.store import open_store
from benchbrief.runners import journal as j
from benchbrief.runners.measurement import Interval, Sample
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

GAUGE = Probe(name="gauge", every_s=1, hosts=("nvme-1", "nvme-2"), origin=HERE)


def test_samples_count_from_the_start_of_the_window_and_devices_are_summed(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = {
        "nvme-1": [
            Sample("disk.read", "nvme-1", "a", -1.0, 999.0, "B/s"),  # before the window
            Sample("disk.read", "nvme-1", "a", 0.2, 10.0, "B/s"),
            Sample("disk.read", "nvme-1", "a", 0.7, 20.0, "B/s"),
            Sample("disk.read", "nvme-1", "b", 0.2, 5.0, "B/s"),
            Sample("disk.read", "nvme-1", "a", 1.2, 30.0, "B/s"),
            Sample("disk.utilisation", "nvme-1", "a", 0.2, 0.5, ""),
            Sample("disk.utilisation", "nvme-1", "b", 0.2, 0.3, ""),
        ],
        "nvme-2": [Sample("disk.read", "nvme-2", "a", 0.2, 7.0, "B/s")],
    }
    run.ok(
        cell,
        {"load-1": measurement([READ], intervals=(Interval(0.0, 5.0, 40), Interval(5.0, 5.0, 60)))},
        samples=samples,
    )
    with open_store(run.run_dir) as store:
        found = rows(store, "SELECT measure, node, time, value FROM measure.sample ORDER BY ALL")
        assert found == [
            ("disk.read", "nvme-1", 0, 20.0),  # the mean of a's two readings, and b's
            ("disk.read", "nvme-1", 0, 20.0),
            ("disk.read", "nvme-1", 1, 30.0),
            ("disk.read", "nvme-2", 0, 7.0),
            ("disk.utilisation", "nvme-1", 0, 0.4),
            ("throughput", "load-1", 0, 8.0),
            ("throughput", "load-1", 5, 12.0),
        ]
        assert rows(store, "SELECT min(t_s) FROM samples WHERE measure = 'disk.read'")[0][0] == pytest.approx(0.2)


def test_a_mean_of_readings_faster_than_one_second_is_that_of_the_readings(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    watts = ((0.1, 100.0), (0.6, 100.0), (1.1, 100.0), (2.1, 300.0))
    samples = {
        "nvme-1": [Sample("power", "nvme-1", "", at, value, "W") for at, value in watts],
        "nvme-2": [Sample("power", "nvme-2", "", at, value, "W") for at, value in watts],
    }
    run.ok(cell, {"load-1": measurement([READ])}, samples=samples)
    sql = "SELECT node, avg(value) FROM measure.sample WHERE measure = 'power' GROUP BY node ORDER BY node"
    with open_store(run.run_dir) as store:
        assert rows(store, sql) == [("nvme-1", 150.0), ("nvme-2", 150.0)]
        assert rows(store, "SELECT avg(value) FROM samples WHERE measure = 'power'") == [(150.0,)]
        kept = "SELECT node, value FROM measure.mean WHERE measure = 'power' ORDER BY node"
        assert rows(store, kept) == rows(store, kept) == [("nvme-1", 150.0), ("nvme-2", 150.0)]


def test_what_a_disks_requests_took_is_the_mean_of_the_requests(tmp_path: Path) -> None:
    cell = a_cell(probes=(GAUGE,))
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = {
        "nvme-1": [
            Sample("disk.reads", "nvme-1", "a", 0.5, 90.0, "1/s"),
            Sample("disk.read_await", "nvme-1", "a", 0.5, 0.001, "s"),
            Sample("disk.reads", "nvme-1", "b", 0.5, 10.0, "1/s"),
            Sample("disk.read_await", "nvme-1", "b", 0.5, 0.011, "s"),
            Sample("disk.reads", "nvme-1", "a", 1.5, 0.0, "1/s"),
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
    """By this one, the ten seconds of the window take eleven: it is 50 s ahead at its start, and 51 at its end."""
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


def test_a_clock_that_could_not_be_read_is_told(tmp_path: Path) -> None:
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
    told = "the clock of nvme-1 could not be read: its times are taken for the controller's"
    assert notes == [("warning", told)]


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
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", -5.0, 1.0, "Pa")]},
    )
    run.ok(
        cells[1],
        {"load-1": measurement([READ])},
        samples={"nvme-1": [Sample("gauge.bar", "nvme-1", "", float(at), 1.0, "Pa") for at in range(11)]},
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
        (AROUND, 0.0, 1050.0, None),
        (AROUND, 60.0, 1050.0, None),
        (AROUND, -60.0, 1050.0, None),
        ([98.9, 105.0, 111.2], 0.0, 1230.0, "over 12.3 s, of which 10.0 s were measured"),
    ],
    ids=["same clock", "controller ahead", "controller behind", "too few"],
)
def test_counters_are_of_the_measured_window_whatever_the_controller_s_clock(
    tmp_path: Path, times: list[float], ahead: float, delta: float, reason: str | None
) -> None:
    """A counter that rises by a hundred a second of the host's clock."""
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    samples = [(T0 + time + ahead, {"query": float(round(100 * time))}) for time in times]
    ends = (samples[0][1], samples[-1][1])
    run.ok(cell, {"load-1": measurement([READ])}, counters=ends, counter_samples=samples)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT after - before, delta, reason FROM counters") == [(delta, delta, reason)]


def test_readings_that_failed_are_noted_and_leave_the_cell_good(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    problem = "3 of 3 readings failed: refused"
    run.ok(cell, {"load-1": measurement([READ])}, counters=({}, {}), counter_problem=problem)
    with open_store(run.run_dir) as store:
        assert rows(store, "SELECT * FROM counters") == []
        assert rows(store, "SELECT status FROM cells") == [("ok",)]
        assert rows(store, "SELECT severity, text FROM notes") == [("warning", f"server counters of nvme-1: {problem}")]
