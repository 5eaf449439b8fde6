"""Tests a server's counters at the ends of the measured window, between readings."""

from __future__ import annotations

import pytest

from benchbrief.model import events as j
from benchbrief.results.ingest.cell_rows import around_window

Readings = tuple[tuple[float, dict[str, float]], ...]


def job(began: float, ended: float) -> j.JobCollected:
    return j.JobCollected(
        at=0, cell="c", attempt=1, step="measure", job="measure", host="h", directory="d", exit_code=0,
        started_at=began, ended_at=ended, files={},
    )  # fmt: skip


def counters(samples: Readings) -> j.Counters:
    return j.Counters(
        at=0, cell="c", attempt=1, node="n", before={"reads": 0.0}, after={"reads": 99.0}, samples=samples
    )


EVEN: Readings = tuple((at, {"reads": 10 * at}) for at in (0.0, 10.0, 20.0, 30.0))


def test_counters_are_on_a_line_between_the_readings_around_each_end() -> None:
    span = around_window(counters(EVEN), [job(1.0, 29.0)], (2.0, 28.0))
    assert (span.before, span.after, span.reason) == ({"reads": 20.0}, {"reads": 280.0}, None)


def test_readings_far_from_an_end_are_reported() -> None:
    assert around_window(counters(EVEN), [job(1.0, 29.0)], (5.0, 25.0)).reason == (
        "no reading is nearer than 5.0 s to an end of the measured window"
    )


def test_a_counter_that_went_back_or_is_in_one_reading_alone_keeps_the_outer_value() -> None:
    readings: Readings = (
        (0.0, {"reads": 50.0, "old": 1.0}),
        (10.0, {"reads": 10.0}),
        (20.0, {"reads": 20.0}),
        (30.0, {"reads": 30.0, "new": 7.0}),
    )
    span = around_window(counters(readings), [job(1.0, 29.0)], (5.0, 25.0))
    assert span.before == {"reads": 50.0, "old": 1.0}
    assert span.after == {"reads": 25.0, "new": 7.0}


@pytest.mark.parametrize("ahead", [0.0, 1000.0, -1000.0])
def test_a_controller_s_clock_that_fits_the_readings_is_taken_as_it_is(ahead: float) -> None:
    """The first reading was taken before the jobs, and the last one after them. A clock whose times contradict this is
    not the same clock."""
    readings: Readings = tuple((at + ahead, each) for at, each in EVEN)
    span = around_window(counters(readings), [job(4.0, 28.0)], (10.0, 20.0))
    middle = 0.0 if not ahead else (-4.0 + 2.0) / 2
    assert span.before["reads"] == pytest.approx(100.0 + 10 * middle)


@pytest.mark.parametrize(("job_s", "reason"), [(10.5, None), (30.0, "over 30.0 s, of which 10.0 s were measured")])
def test_without_readings_between_counters_are_of_the_whole_jobs(job_s: float, reason: str | None) -> None:
    span = around_window(counters(()), [job(0.0, job_s)], (0.0, 10.0))
    assert (span.before, span.after, span.reason) == ({"reads": 0.0}, {"reads": 99.0}, reason)
