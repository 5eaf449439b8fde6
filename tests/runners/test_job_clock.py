"""Tests when a load generator's seconds are believed, given how long its job took."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model.events import ClockRead
from benchbrief.model.measurement import Measurement, PhaseThroughput
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.hosts.host_clocks import ClockSet, axis_step, offset_of, parse_trusted
from benchbrief.runners.jobs.tasks import JobOutput


def measured(seconds: float, tool_s: float | None = None) -> Measurement:
    total = PhaseThroughput(None, 1000, 0, seconds, 1000 / seconds)
    return Measurement(window=(100.0, 100.0 + seconds), throughput=(total,), operations=(), tool_s=tool_s)


def job(seconds: float) -> JobOutput:
    return JobOutput(Path(), 0, 100.0, 100.0 + seconds, "box")


@pytest.mark.parametrize(
    ("tool_s", "job_s"),
    [
        (10.0, 10.0),
        (10.2, 10.0),  # rounded
        (10.0, 310.0),  # a database that takes minutes to open and to close
        (1000.0, 996.0),  # a clock that is slewed
    ],
)
def test_a_tool_may_take_less_than_its_job_by_whatever_it_opens_and_closes(tool_s: float, job_s: float) -> None:
    assert parse_trusted("db_bench", lambda: measured(tool_s), job(job_s), 0.0) == measured(tool_s)


@pytest.mark.parametrize("of_tool", [None, 12.0])
def test_a_tool_can_t_take_longer_than_its_job(of_tool: float | None) -> None:
    """This applies to the seconds that the tool reports itself, too, and to a warm-up that is cut off."""
    with pytest.raises(ClockSet) as raised:
        parse_trusted("ycsb", lambda: measured(12.0 if of_tool is None else 8.0, of_tool), job(10.5), 0.0)
    assert str(raised.value) == (
        "the clock of box is not to be believed: ycsb, which times itself by it, says 12.00 s, "
        "and its job took 10.50 s by the time since boot"
    )


def test_a_clock_that_was_set_is_reported_with_what_else_is_wrong_with_the_output() -> None:
    def parse() -> Measurement:
        raise BadOutput("readrandom ended after 8.0 s of 10 s")

    with pytest.raises(ClockSet) as raised:
        parse_trusted("db_bench", parse, job(10.5), -2.0)
    assert str(raised.value) == (
        "the clock of box was set back by 2.0 s during the measurement, and its job took 10.50 s by the time since "
        "boot: readrandom ended after 8.0 s of 10 s"
    )
    with pytest.raises(BadOutput, match=r"^readrandom ended"):
        parse_trusted("db_bench", parse, job(10.5), 0.0)


def read(at: float, offset_s: float, booted: float, host: str = "box") -> ClockRead:
    known = {"cell": "c", "attempt": 1, "host": host, "when": "before", "uncertainty_s": 0.001}
    return ClockRead.model_validate({"at": at, "offset_s": offset_s, "booted": booted, **known})


@pytest.mark.parametrize("step", [3.0, -3.0, 3600.0])
def test_offsets_in_journals_by_the_controller_s_clock_are_brought_to_one_time(step: float) -> None:
    """The host's clock is 50 s ahead and gains one millisecond per second. The controller's clock is set between the
    readings."""
    ours = axis_step(read(1000.0, 0.0, 7.0, "local"), read(1020.0 + step, 0.0, 7.0 + step, "local"))
    offset = offset_of(read(1000.0, 50.0, 3.0), read(1020.0 + step, 50.02 - step, 3.02), ours)
    assert ours == step
    assert offset.at(1010.0) == pytest.approx(50.01)
    assert offset.ours(1060.01) == pytest.approx(1010.0)


def test_offsets_by_the_controller_s_time_are_left_alone_when_its_clock_is_set() -> None:
    assert axis_step(read(1000.0, 0.0, 7.0, "local"), read(1020.0, 3600.0, 3607.0, "local")) == 0.0
    assert axis_step(read(1000.0, 0.0, 7.0, "local"), read(1020.0, 0.0, 7.01, "local")) == 0.0
    assert axis_step(None, read(1020.0, 0.0, 7.0, "local")) == 0.0


def test_the_readings_around_a_job_tell_by_how_much_its_clock_was_set() -> None:
    assert offset_of(read(1000.0, 50.0, 3.0), read(1020.0, 52.0, 5.0)).set_s == 2.0
    assert offset_of(read(1000.0, 50.0, 3.0), read(1020.0, 50.02, 3.02)).set_s == 0.0
