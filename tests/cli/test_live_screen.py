"""Tests the live screen and the plain lines, for terminals of all sizes and any number of cells and hosts."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from benchbrief.cli.terminal import ASCII, UNICODE, duration, latency, marks, rate, shared_start, shorten
from benchbrief.model import events as j
from benchbrief.model.message import figure
from benchbrief.model.run_messages import say
from benchbrief.progress.live_screen import host_summary, screen
from benchbrief.progress.openmetrics import text
from benchbrief.progress.run_progress import Progress
from benchbrief.progress.run_view import LiveRun
from benchbrief.runners.execution.live_numbers import JobReading, load_of
from benchbrief.running.run_output import grouped
from tests.support.longer import longer
from tests.support.plans import compile_spec
from tests.support.waiting import until

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = 1_000_000.0


def going_on(hosts: int, run_id: str = "run", simulated: j.Simulated | None = None) -> tuple[LiveRun, list[JobReading]]:
    """Return a run in progress with readings from a load generator and probes. Each host measures a cell."""
    plan = compile_spec(EXAMPLES / "quickstart.bench")
    first = plan.cells[0]
    cells = tuple(
        first.model_copy(update={"id": f"ramp/group/workload/threads={n}/r1", "locks": (f"host-{n}",)})
        for n in range(hosts)
    )
    view = LiveRun(plan.model_copy(update={"cells": cells}))
    about = {"plan_sha256": "", "benchbrief": "0", "spec": "", "profile": None, "controller_pid": 1}
    view.apply(j.RunStarted.model_validate({"at": NOW - 30, "run_id": run_id, "simulated": simulated, **about}))
    readings = []
    for n, cell in enumerate(cells):
        view.apply(j.CellStarted(at=NOW - 20, cell=cell.id, hash="", attempt=1))
        view.apply(j.StepStarted(at=NOW - 12, cell=cell.id, attempt=1, step="measure", seconds=30))
        load = {"ops_per_s": 15_203.0, "latency_s": 0.00123, "latency_of": "p99 read"}
        readings.append(JobReading(cell=cell.id, host=f"host-{n}", at=NOW, **load))
        measures = {"cpu.utilisation": 0.43, "power": 231.0}
        readings.append(JobReading(cell=cell.id, host=f"host-{n}", at=NOW, measures=measures))
    return view, readings


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 10), (20, 4), (80, 2)], ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("hosts", [1, *longer(3, 11), 1000])
@pytest.mark.parametrize("kind", [UNICODE, *longer(ASCII)], ids=["unicode", "ascii"])
def test_the_screen_never_leaves_the_terminal(size: tuple[int, int], hosts: int, kind: object) -> None:
    view, readings = going_on(hosts)
    assert kind in (UNICODE, ASCII)
    chosen = ASCII if kind is ASCII else UNICODE
    shown = screen(view, readings, NOW, size, chosen).plain
    lines = shown.split("\n")
    assert len(lines) <= size[1] - 1
    assert max(map(len, lines)) <= size[0]
    assert shown.isascii() or chosen is UNICODE
    assert ("cell" if hosts == 1 else "cells") in lines[0] or size[0] < 40


def test_a_small_run_shows_each_cell_with_its_numbers_and_each_host_with_its_probes() -> None:
    view, readings = going_on(2)
    lines = screen(view, readings, NOW, (120, 30), UNICODE).plain.split("\n")
    assert lines[1] == "  ramp/group/workload/threads=0/r1  measure  12 s of about 30 s  15,203 ops/s  p99 read 1.23 ms"
    assert lines[3] == "  host-0  measure  cpu  43 %  231 W"
    narrow = screen(view, readings, NOW, (44, 30), UNICODE).plain.split("\n")
    assert narrow[1:3] == ["  ramp/group/workload/threads=0/r1", "    measure  12 s of about 30 s  15,203 ops…"]


def test_a_load_shows_its_rate_in_records_and_the_time_left() -> None:
    plan = compile_spec(EXAMPLES / "quickstart.bench")
    cell = next(cell for cell in plan.cells if cell.dataset and cell.dataset.records == 2000)
    view = LiveRun(plan)
    view.apply(j.CellStarted(at=NOW - 20, cell=cell.id, hash="", attempt=1))
    view.apply(j.StepStarted(at=NOW - 10, cell=cell.id, attempt=1, step="load", seconds=30))
    reading = JobReading(cell=cell.id, host="local", at=NOW, ops_per_s=1234.4, done=1000)
    text = screen(view, [reading], NOW, (140, 24), UNICODE).plain
    assert "load  10 s of about 30 s  1,234 records/s, loaded in about 10 s" in text
    assert view.load_left_s(cell.id, load_of(cell.id, [reading]), NOW) == 10
    for silent in (reading.model_copy(update={"done": None}), reading.model_copy(update={"done": 0})):
        assert "1,234 ops/s" in screen(view, [silent], NOW, (140, 24), UNICODE).plain
    view.apply(j.StepStarted(at=NOW, cell=cell.id, attempt=1, step="measure", seconds=30))
    assert "1,234 ops/s" in screen(view, [reading], NOW, (140, 24), UNICODE).plain


def test_a_simulated_run_says_so_on_the_screen() -> None:
    view, readings = going_on(2, simulated=j.Simulated())
    assert "SIMULATED" in screen(view, readings, NOW, (80, 24), UNICODE).plain.split("\n")[0]


def test_many_hosts_are_reported_in_one_line() -> None:
    view, readings = going_on(1000)
    lines = screen(view, readings, NOW, (100, 24), UNICODE).plain.split("\n")
    assert lines[-1] == "  1000 hosts: 1000 measure; cpu 43 % on average; 231.0 kW of 1000 together"
    assert re.fullmatch(r"  and \d+ more cells running", lines[-2])
    assert host_summary({"a": "", "b": "load"}, {}) == "2 hosts: 1 idle, 1 load"


def test_names_are_cut_in_their_middle() -> None:
    assert shorten("ramp/one/fill/threads=1/r1", 12) == "ramp/…s=1/r1"
    assert shorten("ramp/one", 12) == "ramp/one"


def test_what_all_names_begin_with_is_cut_before_what_tells_them_apart() -> None:
    names = [f"matrix/box/rr/codec={codec},vsize=1000/threads=1/r1" for codec in ("none", "zstd")]
    assert shared_start(names) == "matrix/box/rr/"
    assert shorten(names[0], 40, shared=shared_start(names)) == "…codec=none,vsize=1000/threads=1/r1"
    assert shorten(names[0], 50, shared=shared_start(names)) == names[0]
    assert shorten(names[0], 20, shared=shared_start(names)) == "…codec=no…reads=1/r1"
    assert shared_start(names[:1]) == shared_start([*names, "cold/box/rr/threads=1/r1"]) == shared_start([]) == ""


def test_marks_are_those_that_the_terminal_can_show() -> None:
    assert marks("ascii") is ASCII
    assert marks("latin-1") is ASCII
    assert marks("utf-8") is UNICODE


def test_quantities_have_three_digits_and_their_unit() -> None:
    assert [duration(s) for s in (45, 200, 7500, 273_600)] == ["45 s", "3 min 20 s", "2 h 05 min", "3 d 04 h"]
    times = (6.6e-06, 0.000812, 0.0009996, 0.00123, 2.5)
    assert [latency(s) for s in times] == ["6.6 us", "812 us", "1 ms", "1.23 ms", "2.5 s"]
    assert [rate(r) for r in (15_203.4, 4.21, 0)] == ["15,203 ops/s", "4.2 ops/s", "0 ops/s"]


def test_where_nothing_is_live_a_long_cell_says_now_and_then_that_it_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not sys.stderr.isatty()
    plan = compile_spec(EXAMPLES / "quickstart.bench")
    cell = plan.cells[0].id
    numbers = JobReading(cell=cell, host="local", at=NOW, ops_per_s=15_203.0, latency_s=0.00123, latency_of="p99 read")
    said = ""

    def heard(pattern: str) -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return re.search(pattern, said) is not None

    progress = Progress(heartbeat_s=(0.1, 0.2, 60))
    with progress.of(plan, readings=lambda: [numbers]):
        at = time.time()
        progress.record(j.CellStarted(at=at, cell=cell, hash="", attempt=1))
        progress.record(j.StepStarted(at=at, cell=cell, attempt=1, step="measure", seconds=1200))
        line = rf"\.\.\. {re.escape(cell)}: measure \d s of about 20 min 00 s, 15,203 ops/s, p99 read 1.23 ms; about "
        until(lambda: heard(line), 60)
        until(lambda: said.count("...") == 2 or heard("never"), 60)
    assert said.count("...") == 2, "ever more rarely"


def test_openmetrics_text_is_valid_whatever_names_hold() -> None:
    odd = 'a "quoted" \\ name\nof two lines'
    view, readings = going_on(1, odd)
    parsed = {
        family.name: family
        for family in text_string_to_metric_families(text(view, readings, "running", NOW))  # type: ignore[no-untyped-call]
    }
    latency_family = parsed["benchbrief_current_latency_seconds"]
    assert latency_family.unit == "seconds"
    (sample,) = latency_family.samples
    assert (sample.labels["run"], sample.labels["of"], sample.value) == (odd, "p99 read", 0.00123)
    assert parsed["benchbrief_host_power_watts"].samples[0].value == 231
    assert parsed["benchbrief_attempts"].samples[0].name == "benchbrief_attempts_total"
    assert {family.type for family in parsed.values()} == {"gauge", "counter"}, "what a textfile collector knows"
    assert all(sample.timestamp is None for family in parsed.values() for sample in family.samples)


def test_a_simulated_run_is_marked_in_every_sample() -> None:
    assert "simulated" not in text(*going_on(1), "running", NOW)
    view, readings = going_on(1, simulated=j.Simulated())
    samples = [line for line in text(view, readings, "running", NOW).splitlines() if not line.startswith("#")]
    assert samples
    assert all('simulated="true"' in line for line in samples)


def test_failures_that_differ_in_numbers_alone_have_one_reason() -> None:
    early = {
        cell: say.ended_early(tool="ycsb", seconds=figure(seconds, ".1f"), wanted=20, said=f"see {cell}")
        for cell, seconds in (("c/1", 3.2), ("c/2", 4.1))
    }
    failed = {**early, "c/3": "no space left"}
    assert [cells for cells, _ in grouped(failed)] == [["c/1", "c/2"], ["c/3"]]


def test_failures_that_differ_in_where_their_output_is_have_one_reason() -> None:
    cells = [f"ramp/box/rr/threads={threads}/r1" for threads in (1, 2, 8)]
    failed = {
        cell: f"db_bench ended with code 1: no (its output is in out/raw/{cell.replace('/', '_')}/1/load-local)"
        for cell in cells
    }
    assert [cells for cells, _ in grouped(failed)] == [cells]


def test_a_broken_promise_is_no_failure_on_the_live_screen() -> None:
    plan = compile_spec(EXAMPLES / "promise.bench")
    view, cell = LiveRun(plan), plan.cells[0]
    view.apply(j.CellStarted(at=NOW - 20, cell=cell.id, hash=cell.hash, attempt=1))
    ended = j.CellEnded(at=NOW, cell=cell.id, hash=cell.hash, attempt=1, status="failed", refused="system", reason="x")
    view.apply(ended)
    shown = [screen(view, (), NOW, (80, 24), UNICODE).plain]
    view.apply(j.CellSkipped(at=NOW, cell=cell.id, hash=cell.hash, reason=say.rate_broken(said="x")))
    shown.append(screen(view, (), NOW, (80, 24), UNICODE).plain)
    assert all("1 refused" in each and "failed" not in each and "skipped" not in each for each in shown)
    assert view.votes == {cell.id: "broken"}
    assert (view.finished, view.failures) == (1, 0)
