"""Tests what openload's output proves. Uses recordings of the real program with the stand-in server and without a
server."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from benchbrief.extensions.tools.openload import openload_invariants
from benchbrief.extensions.tools.openload.openload_measurement import asked_of, measurement_of
from benchbrief.extensions.tools.openload.openload_record import LOG, read_run
from benchbrief.extensions.tools.openload.spec import SPEC
from benchbrief.extensions.tools.openload.tests.openload_runs import (
    DRIVER,
    OUTPUTS,
    cell,
    changed_record,
    closed_cell,
    constant_cell,
    output,
    poisson_cell,
    recorded_log,
    steady_cell,
    steps_cell,
)
from benchbrief.model.plan import Event, Origin
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput
from tests.support.measurements import rendered

# --- what is measured ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "made"),
    [("poisson", poisson_cell), ("constant", constant_cell), ("steps", steps_cell), ("closed", closed_cell)],
)
def test_a_recorded_run_is_read_to_its_last_number(
    name: str, made: Callable[[], CellContext], golden: Callable[[Path, str], None]
) -> None:
    golden(OUTPUTS / name / "measurement.txt", rendered(DRIVER.parse(made(), output(name))))


@pytest.mark.parametrize(
    "name", ["poisson", "constant", "steps", "closed", "steady", "refused", "gaveup", "interrupted"]
)
def test_no_real_output_breaks_a_rule(name: str) -> None:
    folder = OUTPUTS / name
    assert openload_invariants.find_problems(read_run(folder), recorded_log(name)) == []


def test_an_output_is_read_again_without_its_server() -> None:
    made = constant_cell()
    known = DRIVER.parse(made, output("constant"))
    assert DRIVER.parse(CellContext(made.plan, made.cell, "", Endpoint()), output("constant")) == known


def test_each_operation_has_the_latencies_of_both_clocks() -> None:
    measurement = DRIVER.parse(constant_cell(), output("constant"))
    kinds = {(each.operation, each.kind) for each in measurement.operations}
    assert kinds == {(name, kind) for name in ("read", "update") for kind in ("intended", "service")}
    for name in ("read", "update"):
        due, sent = (
            next(each for each in measurement.operations if (each.operation, each.kind) == (name, kind))
            for kind in ("intended", "service")
        )
        assert due.count == sent.count
        assert due.mean_s is not None
        assert sent.mean_s is not None
        assert due.mean_s >= sent.mean_s
        assert (due.in_total, sent.in_total) == (False, True)


def test_each_second_beside_an_event_has_the_tail_of_its_latencies() -> None:
    made = constant_cell()
    stop = Event(
        at_s=1, label="Stopped", line="true", hosts=("h",), timeout_s=1, window_s=1, within=0.1, steady_s=1, outage=0.1,
        origin=Origin(file="x.bench", line=1, column=1),
    )  # fmt: skip
    beside = CellContext(made.plan, made.cell.model_copy(update={"events": (stop,)}), made.tool_path, made.endpoint)
    measurement = DRIVER.parse(beside, output("constant"))
    tails = [each.p99_s for each in measurement.intervals]
    whole = [each.max_s for each in measurement.operations if each.kind == "intended"]
    assert len(tails) == 3
    assert all(tail is not None and 1e-5 < tail <= max(filter(None, whole)) for tail in tails)
    assert {each.p99_s for each in DRIVER.parse(made, output("constant")).intervals} == {None}


def test_a_staircase_gives_a_point_for_each_step() -> None:
    measurement = DRIVER.parse(steps_cell(), output("steps"))
    rates = {each.phase: each.ops_per_s for each in measurement.throughput}
    assert set(rates) == {None, 1, 2, 3}
    for phase, rate in ((1, 100), (2, 300), (3, 600)):
        assert rates[phase] == pytest.approx(rate, rel=0.2), "Poisson arrivals over two seconds"
    assert {each.phase for each in measurement.operations} == {None, 1, 2, 3}


def test_a_closed_loop_tells_service_latency_as_both_and_has_no_lag() -> None:
    measurement = DRIVER.parse(closed_cell(), output("closed"))
    assert {each.operation for each in measurement.operations} == {"read", "read_modify_write"}
    assert not {"openload.lag", "openload.drops", "openload.queue"} & {each.measure for each in measurement.samples}
    assert "schedule lag" not in dict(measurement.properties)


def test_the_generator_tells_of_itself() -> None:
    measurement = DRIVER.parse(poisson_cell(), output("poisson"))
    samples = {each.measure: each.value for each in measurement.samples}
    names = ("drops", "lag", "lag_share", "queue", "hiccup", "stalls", "cpu_per_operation", "pauses")
    assert set(samples) == {f"openload.{name}" for name in names}
    assert samples["openload.drops"] == 0.0
    assert 0 < samples["openload.lag_share"] < 1
    assert samples["openload.hiccup"] > 0
    assert measurement.due is not None
    assert measurement.total.count == pytest.approx(measurement.due, rel=0.02), "those that came, and not the mean rate"
    assert measurement.dropped == 0
    assert 0 < samples["openload.lag"] < 1
    properties = dict(measurement.properties)
    assert re.fullmatch(
        r"p99 of all operations: \S+ \w+ from when they were due, \S+ \w+ from when they were sent",
        properties["coordinated omission"],
    )
    assert properties["arrivals"] == "Poisson, with independent, exponential gaps"
    assert properties["queue"].startswith("at most 10,000 operations wait for a thread")


def test_shares_and_times_of_several_generators_are_not_added_up() -> None:
    assert {name for name, said in SPEC.measures.items() if said.across_nodes == "sum"} == {"openload.queue"}
    worst = {"openload.lag", "openload.lag_share", "openload.hiccup"}
    assert {name for name, said in SPEC.measures.items() if said.across_nodes == "largest"} == worst, (
        "no percentile is averaged"
    )


# --- until it is steady ----------------------------------------------------------------------------------------------


@cache
def slices_by_another_reader() -> tuple[tuple[str, float, int], ...]:
    """Return each slice of the recorded log: its tag, its middle in seconds from the start, and its values."""
    log, found = HistogramLogReader(str(OUTPUTS / "steady" / LOG), HdrHistogram(1, 3_600_000_000_000, 3)), []
    while (each := log.get_next_interval_histogram()) is not None:
        middle = (each.get_start_time_stamp() + each.get_end_time_stamp()) / 2000 - STEADY_STARTED
        found.append((each.get_tag(), middle, each.get_total_count()))
    log.close()
    return tuple(found)


def values_between(tags: tuple[str, ...], start_s: float, end_s: float) -> int:
    return sum(count for tag, middle, count in slices_by_another_reader() if tag in tags and start_s <= middle < end_s)


STEADY_STARTED = 1795449576.6421914
CUT_S, LASTED_S = 27.0, 53.0
"""When the transient and the run ended, in seconds after the start of the warm-up, which lasts 2 s."""


def test_what_is_measured_begins_where_the_transient_is_cut_off() -> None:
    measurement = DRIVER.parse(steady_cell(), output("steady"))
    assert measurement.window == pytest.approx((STEADY_STARTED + CUT_S, STEADY_STARTED + LASTED_S), abs=1e-6)
    done = values_between(("read", "update"), CUT_S, LASTED_S)
    batches = (530, 506, 521, 507, 529)
    assert done == pytest.approx(sum(batches) + 100, abs=40), "with the second after the last look"
    total = measurement.total
    assert total.count == done
    assert (total.seconds, total.ops_per_s) == pytest.approx((26, done / 26))
    for name in ("read", "update"):
        for kind, tag in (("intended", name), ("service", f"{name}-service")):
            (found,) = (op for op in measurement.operations if (op.operation, op.kind) == (name, kind))
            assert found.histogram is not None
            assert found.count == found.histogram.count == values_between((tag,), CUT_S, math.inf)
    slowest = max(op.max_s or 0.0 for op in measurement.operations)
    assert slowest < 0.2, "the latency of 206 ms is of the transient"
    assert sum(each.count for each in measurement.intervals) == done
    assert {round(each.seconds, 6) for each in measurement.samples} == {26}
    assert measurement.due is None, "nothing says when each of them was due"


def test_what_ends_after_the_end_has_its_latency_and_is_no_throughput() -> None:
    run, log = read_run(OUTPUTS / "steady"), recorded_log("steady")
    late = {tag: (*of, replace(of[-1], start=of[-1].end + 1, end=of[-1].end + 2)) for tag, of in log.slices.items()}
    asked = asked_of(steady_cell())
    before, after = (measurement_of(asked, run, each) for each in (log, replace(log, slices=late)))
    assert after.total.count == before.total.count
    more = {
        (of.operation, of.kind): of.count - was.count
        for of, was in zip(after.operations, before.operations, strict=True)
    }
    assert more["read", "intended"] == log.slices["read"][-1].histogram.count > 0
    assert more["read", "service"] == log.slices["read-service"][-1].histogram.count > 0


def test_it_tells_how_the_measurement_ended() -> None:
    end = DRIVER.parse(steady_cell(), output("steady")).steady
    assert end is not None
    assert (end.steady, end.lasted_s, end.cut_s) == (True, 51, 25)
    assert (end.throughput_half_width, end.latency_half_width) == pytest.approx((0.02773796, 0.42953919))


def test_a_set_time_is_measured_as_a_whole(tmp_path: Path) -> None:
    made = cell(100.0, warm_up_s=2.0, measure_s=51.0)

    def change(record: dict[str, Any]) -> None:
        record["settings"] |= {"duration": "51"}

    measurement = DRIVER.parse(made, changed_record(tmp_path, "steady", change))
    assert (measurement.steady, measurement.total.seconds, measurement.due) == (None, 51, 5217)


def test_a_measurement_that_is_never_steady_counts_and_is_reported(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["settings"] |= {"steady-within": "0.02", "duration": "51"}
        record["steady"]["steady"] = False

    made = steady_cell(within=0.02)
    made = replace(made, cell=made.cell.model_copy(update={"measure_s": 51.0}))
    measurement = DRIVER.parse(made, changed_record(tmp_path, "steady", change))
    assert measurement.steady is not None
    assert not measurement.steady.steady
    assert measurement.total.seconds == pytest.approx(26), "a transient that is known is cut off all the same"
    (warning,) = (each for each in measurement.warnings if "not steady within 2 % after 51 s" in each)
    assert "half the 95 % interval of the mean latency is 43.0 % of it" in warning


@pytest.mark.parametrize(("made", "flag"), [(steady_cell(within=0.1), "within"), (steady_cell(from_s=60.0), "from")])
def test_an_output_of_another_rule_is_of_another_cell(made: CellContext, flag: str) -> None:
    with pytest.raises(BadOutput, match=f"steady-{flag}"):
        DRIVER.parse(made, output("steady"))


def test_the_rule_is_passed_on_and_only_where_there_is_one() -> None:
    words = {str(word) for word in DRIVER.measure(steady_cell()).command.words}
    assert {"--steady-within=0.5", "--steady-from=50", "--duration=120"} <= words
    assert not any("steady" in str(word) for word in DRIVER.measure(cell()).command.words)
