"""Tests power that is read from a log written by the meter itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from benchbrief.model.measurement import Sample
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.metering import PROBE, meter, nodes

NOW = 1_790_000_000.0
WINDOW = (NOW, NOW + 10)


def by_csv(path: Path | str, *columns: str, shared: bool = False, **options: Any) -> Node:
    made = meter("csv", [str(path)] * max(1, len(columns)), columns, shared=shared, **{"wait": 0.0, **options})
    return cells.node(made)


def log(path: Path, row: Callable[[float], str], head: str = "time,watts", start: float = -3, end: float = 14) -> Path:
    rows = [row(NOW + at) for at in range(int(start), int(end))]
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def taken(node: Node, here: Transport, into: Path, window: tuple[float, float] = WINDOW) -> JobOutput:
    return cells.run_job(here, Power().job_after(PROBE, node, window), into)


def values(output: JobOutput) -> list[tuple[float, float]]:
    samples: tuple[Sample, ...] = Power().parse(PROBE, output, WINDOW)
    return [(round(sample.time, 3), sample.value) for sample in samples]


def test_the_measured_window_is_cut_out(here: Transport, tmp_path: Path) -> None:
    log(tmp_path / "meter.csv", lambda at: f"{at:.0f},{at - NOW + 100:.1f}", start=-5000, end=5000)
    output = taken(by_csv(tmp_path / "meter.csv"), here, tmp_path / "kept")
    assert values(output) == [(float(n), 100.0 + n) for n in range(11)]
    assert output.stdout.stat().st_size < 5000, "what is kept is about the window alone"


@pytest.mark.parametrize(
    ("row", "head", "options"),
    [
        (lambda at: f"{at * 1000:.0f},212", "time,watts", {}),
        (lambda at: datetime.fromtimestamp(at, ZoneInfo("UTC")).isoformat() + ",212", "time,watts", {}),
        (lambda at: datetime.fromtimestamp(at, ZoneInfo("Asia/Tokyo")).isoformat() + ",212 W", "time,watts", {}),
        (
            lambda at: f'"{datetime.fromtimestamp(at, ZoneInfo("Europe/Berlin")):%d.%m.%Y %H:%M:%S}";"0,212"',
            "\ufeffZeit;Leistung (kW)",
            {"time": "Zeit", "zone": "Europe/Berlin", "format": "%d.%m.%Y %H:%M:%S", "scale": 1000.0},
        ),
    ],
    ids=["milliseconds", "ISO in UTC", "ISO with an offset", "local time and a decimal comma"],
)
def test_times_are_read_as_meters_write_them(
    row: Callable[[float], str], head: str, options: dict[str, Any], here: Transport, tmp_path: Path
) -> None:
    path = log(tmp_path / "meter.csv", row, head)
    columns = ["Leistung (kW)"] if "Zeit" in head else []
    found = values(taken(by_csv(path, *columns, **options), here, tmp_path / "kept"))
    assert [at for at, _ in found] == list(range(11))
    assert [watts for _, watts in found] == pytest.approx([212.0] * 11)


def test_columns_are_each_of_a_host_or_together_of_the_hardware(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at},10,20,", "time,a,b,note")
    each = meter("csv", [str(path)] * 2, ["a", "b"], wait=0.0)
    outputs = [taken(node, here, tmp_path / node.host.id) for node in nodes(2, each)]
    assert [{watts for _, watts in values(output)} for output in outputs] == [{10.0}, {20.0}]
    both = taken(by_csv(path, "a", "b", shared=True), here, tmp_path / "both")
    assert {watts for _, watts in values(both)} == {30.0}


def test_a_row_without_a_number_is_a_gap(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at},{'overload' if at == NOW + 4 else 50}")
    output = taken(by_csv(path), here, tmp_path / "kept")
    assert [at for at, _ in values(output)] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert Power().gaps(PROBE, output, WINDOW).startswith("1 of 11 readings of power of local failed")


def test_a_line_that_is_none_of_the_log_s_is_a_gap_in_the_window_and_nothing_outside_of_it(
    here: Transport, tmp_path: Path
) -> None:
    """A log may have lines that are not readings, because a logger writes its header again when it restarts."""
    again = (-2, 4, 12)
    path = log(
        tmp_path / "meter.csv", lambda at: f"{at},50" + ("\ntime,watts\ntime,watts" if at - NOW in again else "")
    )
    output = taken(by_csv(path), here, tmp_path / "kept")
    assert values(output) == [(float(at), 50.0) for at in range(11)]
    text = Power().gaps(PROBE, output, WINDOW)
    assert text.startswith("2 of 13 readings of power of local failed: ")
    assert f"{path}:13: `time` is not a time of ISO 8601" in text
    assert try_meter(by_csv(path), here) == 50


def test_a_log_that_covers_nothing_of_the_window_gives_no_samples(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at},50", start=-20, end=-2)
    output = taken(by_csv(path), here, tmp_path / "kept")
    with pytest.raises(BadOutput, match=r"of the measurement, which took 10\.0 s"):
        Power().parse(PROBE, output, WINDOW)
    path.write_text("time,watts\n")
    with pytest.raises(BadOutput, match="has no row yet"):
        Power().parse(PROBE, taken(by_csv(path), here, tmp_path / "none"), WINDOW)


def test_of_a_log_that_ends_too_early_there_is_what_it_has(here: Transport, tmp_path: Path) -> None:
    """As for every probe, the coverage shows how much of the window the log covers."""
    path = log(tmp_path / "meter.csv", lambda at: f"{at},50", end=5)
    assert [at for at, _ in values(taken(by_csv(path), here, tmp_path / "kept"))] == [0, 1, 2, 3, 4]


def test_files_are_read_together_and_waited_for(here: Transport, tmp_path: Path) -> None:
    """The second file appears during the wait for the end of the window."""
    log(tmp_path / "meter-1.csv", lambda at: f"{at},50", end=5)
    late = Timer(0.7, lambda: log(tmp_path / "meter-2.csv", lambda at: f"{at},60", start=5))
    late.start()
    try:
        began = time.monotonic()
        output = taken(by_csv(tmp_path / "meter-*.csv", wait=20.0), here, tmp_path / "kept")
    finally:
        late.join()
    assert 0.5 < time.monotonic() - began < 15
    assert [watts for _, watts in values(output)] == [50.0] * 5 + [60.0] * 6


def test_a_log_is_tried_before_the_run_by_its_last_row(here: Transport, tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    assert try_meter(by_csv(path), here) is None, "it may come with the run"
    log(path, lambda at: f"{at},{at - NOW + 100}")
    assert try_meter(by_csv(path), here) == 113


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("when,watts\n1,2\n", {}, "has no column `time`: it has `when`, `watts`"),
        ("time,watts\n2026-11-21 10:00:00,2\n", {}, "names no time zone: say which by `zone:`"),
        ("time,watts\n21/11/26,2\n", {}, "is not a time of ISO 8601, nor seconds: say its `format:`"),
        ("time,watts\n21/11/26,2\n", {"format": "%Y"}, 'is not a time as `format: "%Y"` says'),
        ("time,watts\n1790000000,none\n", {}, "can't be read by csv"),
    ],
)
def test_a_log_of_another_kind_than_declared_is_reported(
    text: str, options: dict[str, Any], why: str, here: Transport, tmp_path: Path
) -> None:
    (tmp_path / "meter.csv").write_text(text)
    with pytest.raises(RunnerError) as caught:
        try_meter(by_csv(tmp_path / "meter.csv", **options), here)
    assert why in str(caught.value)
    assert "brief.bench:1:1" in caught.value.hint


def test_a_clock_that_steps_back_in_the_window_is_refused(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at - (3 if at >= NOW + 5 else 0)},{at - NOW + 100}")
    output = taken(by_csv(path), here, tmp_path / "kept")
    with pytest.raises(BadOutput, match=r"meter.csv:10: its times go back by 2.000 s: when its watts were measured"):
        values(output)


def test_a_log_without_a_row_in_the_window_says_how_near_it_comes_and_where_its_clock_stepped_back(
    here: Transport, tmp_path: Path
) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at + (80 if at < NOW + 5 else 75)},100")
    output = taken(by_csv(path), here, tmp_path / "kept")
    near = "has no row in the measured time, and one 67.0 s after it; its times go back by 4.000 s in line 10"
    with pytest.raises(BadOutput, match=near):
        values(output)


def test_a_clock_that_stepped_back_long_before_says_nothing_of_the_window(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at + (50 if at < NOW - 400 else 0)},100", start=-500)
    assert len(values(taken(by_csv(path), here, tmp_path / "kept"))) == 11


def test_a_log_may_have_its_newest_row_first(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at},{at - NOW + 100}")
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert values(taken(by_csv(path), here, tmp_path / "kept")) == [(float(n), 100.0 + n) for n in range(11)]


def test_two_powers_of_one_time_are_none(here: Transport, tmp_path: Path) -> None:
    path = log(tmp_path / "meter.csv", lambda at: f"{at},100" + (f"\n{at},150\n{at},100" if at == NOW + 4 else ""))
    output = taken(by_csv(path), here, tmp_path / "kept")
    assert [at for at, _ in values(output)] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert "two rows of the time 1790000004.000 have other watts" in Power().gaps(PROBE, output, WINDOW)
