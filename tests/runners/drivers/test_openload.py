"""What openload's output proves: recorded from the real program, on the stand-in server and on no server."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from scipy.stats import kstest

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.plan import Arrivals, Event, Origin, Promise, PromiseLimit, UntilSteady
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.runners.drivers.openload import openload_flags, openload_invariants
from benchbrief.runners.drivers.openload.openload import Openload
from benchbrief.runners.drivers.openload.openload_flags import run_flags
from benchbrief.runners.drivers.openload.openload_log import LOG, Log, read_log
from benchbrief.runners.drivers.openload.openload_measurement import asked_of, measurement_of
from benchbrief.runners.drivers.openload.openload_record import read_run
from benchbrief.runners.drivers.openload.spec import SPEC
from benchbrief.runners.errors import BadOutput, GeneratorLate
from benchbrief.runners.execution.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics
from tests.support.cells import attached, context, recorded, ycsb
from tests.support.measurements import rendered
from tests.support.plans import compile_text
from tests.support.tools import REPOSITORY

OUTPUTS = Path(__file__).parent / "outputs" / "openload"
DRIVER = Openload()
REFUSED, GAVE_UP, INTERRUPTED = 1, 4, 130
ANY_LAG = Arrivals(kind="poisson", lag=1.0)


def cell(
    target: float | None = 300.0,
    arrivals: Arrivals | None = ANY_LAG,
    *,
    benchmark: str = "a",
    uri: str = "mongodb://h/ycsb",
    **more: Any,
) -> CellContext:
    settings: dict[str, Any] = {"threads": 8, "warm_up_s": 1.0, "measure_s": 3.0} | more
    made = context(ycsb(benchmark), attached(uri), driver="openload", target=target, **settings)
    experiment = made.experiment.model_copy(update={"arrivals": arrivals})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, made.cell, "/opt/openload-mongodb", Endpoint(uri=Secret(uri)))


def poisson_cell() -> CellContext:
    return cell(400.0, threads=16, warm_up_s=2.0, measure_s=5.0)


def constant_cell() -> CellContext:
    return cell(arrivals=Arrivals(kind="constant", lag=1.0))


def steps_cell() -> CellContext:
    steps = Arrivals(kind="steps", rates=(100.0, 300.0, 600.0), each_s=2.0, lag=1.0)
    return cell(None, steps, measure_s=6.0, phases=3)


def steady_cell(within: float = 0.5, from_s: float = 50.0) -> CellContext:
    made = cell(100.0, warm_up_s=2.0, measure_s=120.0)
    rule = UntilSteady(within=within, from_s=from_s)
    experiment = made.experiment.model_copy(update={"until_steady": rule})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, made.cell, made.tool_path, made.endpoint)


def closed_cell() -> CellContext:
    return cell(None, None, benchmark="f", threads=4)


def output(name: str, exit_code: int | None = 0) -> JobOutput:
    return recorded(OUTPUTS / name, exit_code=exit_code)


@cache
def recorded_log(name: str) -> Log:
    """The histograms of a recording: reading those of 40 s takes one."""
    return read_log(OUTPUTS / name / "histograms.hlog")


def changed_record(to: Path, of: str, change: Callable[[dict[str, Any]], None], exit_code: int = 0) -> JobOutput:
    """A recorded output whose record was changed afterwards."""
    shutil.copytree(OUTPUTS / of, to, dirs_exist_ok=True)
    record = json.loads((to / "record.json").read_text())
    change(record)
    (to / "record.json").write_text(json.dumps(record))
    return recorded(to, exit_code=exit_code)


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
    assert openload_invariants.problems(read_run(folder), recorded_log(name)) == []


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
    told = {each.measure: each.value for each in measurement.samples}
    names = ("drops", "lag", "lag_share", "queue", "hiccup", "stalls", "cpu_per_operation", "pauses")
    assert set(told) == {f"openload.{name}" for name in names}
    assert told["openload.drops"] == 0.0
    assert 0 < told["openload.lag_share"] < 1
    assert told["openload.hiccup"] > 0
    assert measurement.due is not None
    assert measurement.total.count == pytest.approx(measurement.due, rel=0.02), "those that came, and not the mean rate"
    assert measurement.dropped == 0
    assert 0 < told["openload.lag"] < 1
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


# --- what is no measurement --------------------------------------------------------------------------------------


def test_numbers_that_openload_refuses_are_refused() -> None:
    with pytest.raises(BadOutput, match=r"refuses its own numbers \(lag\): p99: operations were started \d+ us late"):
        DRIVER.parse(cell(2000.0, Arrivals(kind="poisson")), output("refused", REFUSED))


LATE = {"code": "lag", "value": 0.9, "limit": 0.1, "percentile": 99, "text": "p99: operations were started late"}


def _promising(most_s: float) -> CellContext:
    made = constant_cell()
    limits = (PromiseLimit(measure="latency", statistic="p99", most=most_s, text=""),)
    promise = Promise(limits=limits, within=0.03, judged=5, held_out=3, usual=20, most=80)
    experiment = made.experiment.model_copy(update={"promise": promise})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, made.cell, made.tool_path, made.endpoint)


def _late(to: Path, *more: dict[str, Any]) -> JobOutput:
    return changed_record(to, "constant", lambda record: record["refusals"].extend([LATE, *more]), REFUSED)


def test_a_promise_that_is_kept_with_the_lateness_included_is_kept(tmp_path: Path) -> None:
    measured = DRIVER.parse(_promising(10.0), _late(tmp_path))
    assert measured.dropped == measured.total.errors == 0
    told = [str(each) for each in measured.warnings if "was itself late, and the promise is kept" in str(each)]
    assert len(told) == 1
    assert "they are upper bounds (p99: operations were started late)" in told[0]


def _lateness(code: str, statistic: str, operation: str, late_us: float, latency_us: float) -> dict[str, Any]:
    told = {"code": code, "value": late_us / latency_us, "limit": 0.1, "percentile": None, "text": "its own words"}
    held = {"statistic": statistic, "operation": operation, "late_us": late_us, "intended_us": latency_us}
    return {**told, **held, "advice": "give it idle cores", "count": None, "of": None}


def test_several_reasons_to_be_late_are_reported_by_the_worst_and_without_the_advice_that_each_repeats(
    tmp_path: Path,
) -> None:
    more = [
        _lateness("lag", "p99", "read", 32_522.0, 40_000.0),
        _lateness("hiccups", "p99.9", "all operations", 2_100_000.0, 1_050_000.0),
    ]
    late = _late(tmp_path, *more)
    (told,) = (each for each in DRIVER.parse(_promising(10.0), late).warnings if "upper bounds" in str(each))
    worst = (
        "p99.9 of all operations: openload was itself late by 2,100 ms, as its threads woke late, where latency is "
        "1,050 ms, and 10.0 % of it is accepted"
    )
    assert str(told).endswith(f"they are upper bounds ({worst})")
    assert isinstance(told, Text)
    japanese = told.in_words(CATALOGUES["ja"])
    assert "全操作 の p99.9 では openload 自身がスレッドの起床の遅れにより 2,100 ms 遅れ" in japanese
    with pytest.raises(GeneratorLate) as caught:
        DRIVER.parse(constant_cell(), late)
    assert "give it idle cores" not in str(caught.value), "the hint says it"
    assert "; p99 of read: openload was itself late by 32.5 ms, where latency is 40 ms, and" in str(caught.value)


def test_a_record_from_before_advice_stood_apart_is_shown_in_its_own_words(tmp_path: Path) -> None:
    late = _late(tmp_path, LATE | {"value": 2.5, "text": "late by 2 us: give it idle cores, or offer less"})
    with pytest.raises(GeneratorLate, match=r"started late; late by 2 us: give it idle cores, or offer less"):
        DRIVER.parse(constant_cell(), late)


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ({"code": "drops", "value": 0.25, "count": 1000, "of": 4000}, "1,000 of 4,000 operations found the queue full"),
        ({"code": "errors", "value": 0.25, "count": 1, "of": 4}, "1 of 4 operations failed"),
        ({"code": "not-found", "value": 0.25, "count": 1, "of": 4}, "1 of 4 operations found no record"),
        (
            {"code": "hiccups", "value": 0.25},
            "no thread of openload ran for 25.0 % of the time, and 10.0 %",
        ),
        ({"code": "cpu", "value": 0.95}, "openload used 95.0 % of the processor time that it can have"),
        ({"code": "pauses", "value": 0.25}, "openload stood still to collect garbage for 25.0 % of the time"),
        ({"code": "clock", "value": -3600.3}, "the wall clock was set by -3600.300 s during the run"),
        ({"code": "nothing", "value": 0.0}, "no operation of the measured time succeeded"),
        ({"code": "of-tomorrow", "value": 0.0}, "its own words"),
    ],
)
def test_each_refusal_is_worded_by_the_driver(tmp_path: Path, refusal: dict[str, Any], said: str) -> None:
    told = {"limit": 0.1, "percentile": None, "text": "its own words", "advice": "", **refusal}
    made = changed_record(tmp_path, "constant", lambda record: record["refusals"].append(told), REFUSED)
    with pytest.raises(BadOutput, match=re.escape(f"({refusal['code']}): {said}")):
        DRIVER.parse(constant_cell(), made)


def test_a_late_run_above_the_limit_or_outside_a_search_says_nothing_of_the_system(tmp_path: Path) -> None:
    late = _late(tmp_path)
    for made in (_promising(1e-6), constant_cell()):
        with pytest.raises(GeneratorLate, match=r"refuses its own numbers \(lag\)"):
            DRIVER.parse(made, late)


@pytest.mark.parametrize(
    ("lag", "advised"), [(0.1, "higher `lag`"), (0.49, "higher `lag`"), (0.5, "lower rate"), (1.0, "lower rate")]
)
def test_a_higher_lag_is_advised_only_where_less_is_accepted(tmp_path: Path, lag: float, advised: str) -> None:
    with pytest.raises(GeneratorLate) as caught:
        DRIVER.parse(cell(arrivals=Arrivals(kind="poisson", lag=lag)), _late(tmp_path))
    assert advised in caught.value.hint
    assert ("lag" in caught.value.hint) is (lag < 0.5)


@pytest.mark.parametrize("lacking", ["drops", "clock"])
def test_a_late_run_that_was_refused_for_more_keeps_no_promise(tmp_path: Path, lacking: str) -> None:
    more = {"code": lacking, "value": 1.0, "limit": 0.0, "percentile": None, "text": lacking}
    with pytest.raises(BadOutput, match="refuses its own numbers"):
        DRIVER.parse(_promising(10.0), _late(tmp_path, more))


def test_a_run_that_gave_up_is_no_measurement() -> None:
    with pytest.raises(BadOutput, match=r"no operation succeeded for 2 s, so openload cut the run") as caught:
        DRIVER.parse(cell(measure_s=8.0), output("gaveup", GAVE_UP))
    assert caught.value.refused_by == ""


def _failing(record: dict[str, Any]) -> None:
    text = "123 operations of 438 failed, and at most 0 % may"
    record["refusals"] = [{"code": "errors", "value": 0.3, "limit": 0.0, "percentile": None, "text": text}]
    record["errors"] = [{"text": "connection refused", "count": 123}]


@pytest.mark.parametrize("exit_code", [GAVE_UP, REFUSED])
def test_an_outage_is_no_verdict_on_the_rate_whatever_else_was_refused(tmp_path: Path, exit_code: int) -> None:
    cut = changed_record(tmp_path, "gaveup", _failing, exit_code)
    with pytest.raises(BadOutput, match="so openload cut the run: connection refused") as caught:
        DRIVER.parse(cell(measure_s=8.0), cut)
    assert caught.value.refused_by == ""


def test_a_queue_too_long_to_be_done_in_time_is_a_verdict_on_the_rate(tmp_path: Path) -> None:
    def served_to_the_end(record: dict[str, Any]) -> None:
        _failing(record)
        record["settings"]["give-up"] = "30"

    cut = changed_record(tmp_path, "gaveup", served_to_the_end, GAVE_UP)
    with pytest.raises(BadOutput, match=r"refuses its own numbers \(errors\)") as caught:
        DRIVER.parse(cell(measure_s=8.0), cut)
    assert caught.value.refused_by == "system"


def test_an_interrupted_run_is_no_verdict_on_the_rate(tmp_path: Path) -> None:
    cut = changed_record(tmp_path, "interrupted", _failing, REFUSED)
    with pytest.raises(BadOutput, match="ended the run early") as caught:
        DRIVER.parse(cell(measure_s=8.0), cut)
    assert caught.value.refused_by == ""


@pytest.mark.parametrize("code", [INTERRUPTED, 143, 2, 3, 5, -9, None])
def test_a_run_that_did_not_end_by_itself_is_an_error(code: int | None) -> None:
    with pytest.raises(BadOutput):
        DRIVER.parse(cell(measure_s=8.0), output("interrupted", code))


def test_an_interrupted_run_with_code_0_is_no_measurement() -> None:
    with pytest.raises(BadOutput, match="ended the run early"):
        DRIVER.parse(cell(measure_s=8.0), output("interrupted", 0))


def test_refusals_count_also_with_code_0() -> None:
    with pytest.raises(BadOutput, match="refuses its own numbers"):
        DRIVER.parse(cell(2000.0, Arrivals(kind="poisson")), output("refused", 0))


def test_a_killed_run_has_no_record(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "constant", tmp_path, dirs_exist_ok=True)
    (tmp_path / "record.json").unlink()
    with pytest.raises(BadOutput, match=r"there is no record\.json"):
        DRIVER.parse(constant_cell(), recorded(tmp_path))


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.999])
def test_a_record_that_was_cut_is_no_record(tmp_path: Path, kept: float) -> None:
    shutil.copytree(OUTPUTS / "constant", tmp_path, dirs_exist_ok=True)
    record = tmp_path / "record.json"
    text = record.read_bytes().rstrip()
    record.write_bytes(text[: int(len(text) * kept)])
    with pytest.raises(BadOutput, match=r"record\.json is not whole"):
        DRIVER.parse(constant_cell(), recorded(tmp_path))


@pytest.mark.parametrize("lines", [0, 3, 20, -1])
def test_a_log_that_was_cut_does_not_prove_the_record(tmp_path: Path, lines: int) -> None:
    shutil.copytree(OUTPUTS / "constant", tmp_path, dirs_exist_ok=True)
    log = tmp_path / "histograms.hlog"
    kept = log.read_text().splitlines(keepends=True)[:lines]
    log.write_text("".join(kept))
    with pytest.raises(BadOutput, match=r"contradicts itself|histogram log can't be read"):
        DRIVER.parse(constant_cell(), recorded(tmp_path))


def test_a_log_that_was_cut_inside_a_line_is_refused(tmp_path: Path) -> None:
    shutil.copytree(OUTPUTS / "constant", tmp_path, dirs_exist_ok=True)
    log = tmp_path / "histograms.hlog"
    log.write_text(log.read_text()[:-40])
    with pytest.raises(BadOutput, match="histogram log can't be read"):
        DRIVER.parse(constant_cell(), recorded(tmp_path))


def _read(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = record["operations"]["read"]
    return found


def _plus(*path: str, by: float = 1) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        for name in path[:-1]:
            record = record[name]
        record[path[-1]] += by

    return change


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "900 started, 0 dropped": _plus("offered"),
    "dropped, 0 abandoned": _plus("dropped"),
    "completed, ": _plus("completed"),
    "the warm-up has": _plus("warm_up", "offered"),
    "and its operations": _plus("operations", "read", "offered"),
    "values in the log": _plus("operations", "read", "completed"),
    "intended latencies": _plus("operations", "read", "intended_us", "count"),
    "and its log one of": _plus("operations", "read", "service_us", "p99", by=1e6),
    "its buckets allow": _plus("operations", "update", "intended_us", "mean", by=1e6),
    "the bucket at that end": _plus("all", "intended_us", "max", by=1e6),
    "its throughput makes": _plus("throughput_per_s", by=100),
    "a second for 3 s are": _plus("window_s", by=-1),
    "above the hour": _plus("self", "clamped"),
    "it tells of": _plus("self", "lag_us", "count"),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_record_that_was_changed_contradicts_itself(tmp_path: Path, said: str) -> None:
    changed = changed_record(tmp_path, "constant", CHANGES[said])
    run, log = read_run(tmp_path), recorded_log("constant")
    problems = openload_invariants.problems(run, log)
    if said == "a second for 3 s are":
        assert any("it offered" in each for each in problems), problems
    else:
        assert any(said in each for each in problems), problems
    with pytest.raises(BadOutput, match="contradicts itself"):
        DRIVER.parse(constant_cell(), changed)


STEADY_CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "it says steady = false": lambda record: record["steady"].update(steady=False),
    "are a transient, and its batches": _plus("steady", "cut_s", by=5),
    "what it says of the throughput": _plus("steady", "throughput_per_s", "half_width_share", by=0.001),
    "what it says of the latency": _plus("steady", "intended_us", "mean", by=-1),
    "and the log has": lambda record: record["steady"]["completed"].__setitem__(3, 999),
    "and its batches last": _plus("steady", "seen_s", by=5),
    "and its record does not say": lambda record: record.update(steady=None),
    "steady-within=0,": lambda record: record["settings"].update({"steady-within": "0"}),
    "and went on for": lambda record: record["steady"].update(
        completed=[*record["steady"]["completed"], 500], intended_ns=[*record["steady"]["intended_ns"], 2_000_000]
    ),
    "batches of operations, and": lambda record: record["steady"]["completed"].pop(),
}


@pytest.mark.parametrize("said", STEADY_CHANGES)
def test_a_decision_that_does_not_follow_from_its_batches_is_no_evidence(tmp_path: Path, said: str) -> None:
    changed_record(tmp_path, "steady", STEADY_CHANGES[said])
    problems = openload_invariants.problems(read_run(tmp_path), recorded_log("steady"))
    assert any(said in each for each in problems), problems


def test_a_run_that_ended_before_its_time_was_steady(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["settings"]["steady-within"] = "0.000001"
        record["steady"]["steady"] = False

    changed_record(tmp_path, "steady", change)
    problems = openload_invariants.problems(read_run(tmp_path), recorded_log("steady"))
    assert any("it was not steady, and it ended" in each for each in problems), problems


def test_a_complete_run_has_nothing_out(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        for of in (record, _read(record)):
            of["completed"] -= 1
            of["unfinished"] += 1

    changed_record(tmp_path, "constant", change)
    problems = openload_invariants.problems(read_run(tmp_path), recorded_log("constant"))
    assert any("it is complete, and the window has 0 abandoned, 1 unfinished" in each for each in problems)


@pytest.mark.parametrize(
    ("flag", "value"), [("rate", "301"), ("workers", "9"), ("record-count", "999"), ("target", "null"), ("seed", "2")]
)
def test_an_output_of_another_cell_is_refused(tmp_path: Path, flag: str, value: str) -> None:
    def change(record: dict[str, Any]) -> None:
        record["settings"][flag] = value

    changed = changed_record(tmp_path, "constant", change)
    with pytest.raises(BadOutput, match=f"ran with --{flag}={value}, and the cell asks for|contradicts itself"):
        DRIVER.parse(constant_cell(), changed)


def test_a_record_of_a_later_format_is_not_read(tmp_path: Path) -> None:
    changed = changed_record(tmp_path, "constant", _plus("format"))
    with pytest.raises(BadOutput, match="has format 2, and this benchbrief reads format 1"):
        DRIVER.parse(constant_cell(), changed)


# --- loading -----------------------------------------------------------------------------------------------------


def test_a_load_proves_its_records() -> None:
    assert DRIVER.check_load(cell(), output("load")) == 1000


def test_a_load_into_a_database_with_these_records_failed() -> None:
    with pytest.raises(BadOutput, match="1000 of 1000 inserts failed while loading"):
        DRIVER.check_load(cell(), output("load_again", REFUSED))


def test_a_load_that_was_cut_is_no_load(tmp_path: Path) -> None:
    changed = changed_record(tmp_path, "load", lambda record: record.update(complete=False))
    with pytest.raises(BadOutput, match=r"did not finish|finish"):
        DRIVER.check_load(cell(), changed)


# --- what is run -------------------------------------------------------------------------------------------------


def words(made: CellContext) -> dict[str, str]:
    command = DRIVER.measure(made).command
    assert all(isinstance(word, str) for word in command.words), "no secret is an argument"
    found = (str(word).removeprefix("--").partition("=") for word in command.words[2:])
    return {name: value for name, _, value in found}


def test_the_server_is_named_in_the_environment_alone() -> None:
    job = DRIVER.measure(cell(uri="mongodb://u:secret@h/ycsb"))
    assert "secret" not in " ".join(map(str, job.command.words))
    assert job.command.env["OPENLOAD_URI"] == Secret("mongodb://u:secret@h/ycsb")


def test_only_percentiles_that_the_spec_asks_for_are_judged() -> None:
    assert words(cell())["judge"] == "99"


@pytest.mark.parametrize(
    ("asked", "judged"),
    [
        (("p99.9 read", "throughput", "p50", "p99"), ("50", "99", "99.9")),
        (("max", "mean read", "p95"), ("mean", "95", "max")),
        (("mean",), ("mean",)),
        (("throughput",), ("99",)),
    ],
)
def test_each_latency_that_the_spec_asks_for_is_judged(
    asked: tuple[str, ...], judged: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AskedStatistics, "of", lambda *_: asked)
    assert openload_flags.judged(cell()) == judged


def test_bounds_that_the_spec_sets_are_given_and_no_others() -> None:
    bounds = ("accept-stalls", "timeout", "give-up")
    assert not {*bounds} & words(cell()).keys()
    said = words(cell(arrivals=Arrivals(kind="poisson", timeout_s=2.5, give_up_s=60.0)))
    assert [said.get(name) for name in bounds] == [None, "2.5", "60"]
    closed = words(cell(None, Arrivals(kind="closed", stalls=0.2, timeout_s=1.0)))
    assert closed["arrivals"] == "closed"
    assert [closed.get(name) for name in bounds] == ["0.2", "1", None]


def test_constant_arrivals_of_several_load_generators_take_turns() -> None:
    constant = [_with(each, Arrivals(kind="constant")) for each in _parts(4)]
    assert [_flag(each, "phase") for each in constant] == ["0", "0.25", "0.5", "0.75"]
    assert "phase" not in words(cell(arrivals=Arrivals(kind="constant"))), "one by itself begins at time 0"
    poisson = [word for each in _parts(4) for word in run_flags(each, {})]
    assert not any("--phase" in word for word in poisson), "they are apart by their seeds"


def _with(context: CellContext, arrivals: Arrivals) -> CellContext:
    experiment = context.experiment.model_copy(update={"arrivals": arrivals})
    plan = context.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, context.cell, context.tool_path, context.endpoint, context.load_host)


def test_each_repeat_has_a_schedule_of_its_own() -> None:
    assert [words(cell(repeat=repeat))["seed"] for repeat in (1, 2)] == ["1", "2"]


def _parts(hosts: int, repeat: int = 1) -> list[CellContext]:
    made = cell(300.0, threads=8 * hosts)
    names = tuple(f"load{number}" for number in range(hosts))
    split = made.cell.model_copy(update={"load_hosts": names, "repeat": repeat})
    return [CellContext(made.plan, split, made.tool_path, made.endpoint, name) for name in names]


def _flag(of: CellContext, name: str) -> str:
    return next(word.partition("=")[2] for word in run_flags(of, {}) if word.startswith(f"--{name}="))


def _poisson(seed: int, rate: float, seconds: float) -> list[float]:
    """When openload's operations are due: SplitMix64, as `loadgen/internal/random` and `arrivals` have it."""
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    due: list[float] = []
    state, at = mix((seed ^ 0xA5A5A5A5A5A5A5A5) + golden & mask), 0.0
    while True:
        state = state + golden & mask
        at -= math.log(1 - (mix(state) >> 11) / 2**53) / rate
        if at > seconds:
            return due
        due.append(at)


def test_load_generators_of_one_cell_do_not_send_in_lockstep() -> None:
    def gaps(due: list[float]) -> list[float]:
        return [after - before for before, after in pairwise(sorted(due))]

    parts = _parts(3)
    union = [at for each in parts for at in _poisson(int(_flag(each, "seed")), float(_flag(each, "rate")), 100.0)]
    assert len(union) == pytest.approx(30_000, rel=0.03)
    assert kstest(gaps(union), "expon", args=(0, 1 / 300)).pvalue > 0.01
    lockstep = 3 * _poisson(1, 100.0, 100.0)
    assert kstest(gaps(lockstep), "expon", args=(0, 1 / 300)).pvalue < 1e-9
    seeds = [_flag(each, "seed") for repeat in (1, 2, 3) for each in _parts(3, repeat)]
    assert len(set(seeds)) == 9, "no repeat has the schedule of another part"


def test_a_run_goes_on_while_an_event_stops_the_system() -> None:
    stop = Event(
        at_s=60, label="Stopped", line="true", hosts=("h",), timeout_s=1, window_s=30, within=0.1, steady_s=10,
        outage=0.1, origin=Origin(file="x.bench", line=1, column=1),
    )  # fmt: skip
    made = cell(300.0, measure_s=300.0)
    beside = CellContext(made.plan, made.cell.model_copy(update={"events": (stop,)}), made.tool_path, made.endpoint)
    flags = run_flags(beside, {})
    assert {"--give-up=301", "--queue=90000"} <= set(flags), "it goes on to the end, and queues what is due"
    assert not [flag for flag in run_flags(made, {}) if flag.startswith(("--give-up", "--queue"))]
    bounded = cell(300.0, Arrivals(kind="poisson", queue=500), measure_s=300.0)
    beside = CellContext(bounded.plan, beside.cell, made.tool_path, made.endpoint)
    assert "--queue=500" in run_flags(beside, {}), "as the spec says"


def test_without_a_target_the_loop_is_closed() -> None:
    said = words(closed_cell())
    assert (said["arrivals"], said["workers"]) == ("closed", "4")
    assert "rate" not in said


def test_a_target_is_offered_with_poisson_arrivals_where_nothing_else_is_said() -> None:
    assert words(cell(arrivals=None))["arrivals"] == "poisson"


def test_the_warm_up_of_a_staircase_is_at_the_rate_of_its_first_step() -> None:
    said = words(steps_cell())
    assert (said["steps"], said["warm-up"], said["duration"]) == ("100x1,100x2,300x2,600x2", "1", "6")


def test_a_burst_has_the_target_between_bursts() -> None:
    burst = Arrivals(kind="burst", burst_rate=900.0, every_s=10.0, lasting_s=2.0, spacing="constant")
    said = words(cell(arrivals=burst))
    assert (said["rate"], said["burst-rate"], said["burst-every"], said["burst-length"]) == ("300", "900", "10", "2")
    assert said["spacing"] == "constant"


def test_a_trace_goes_with_the_job() -> None:
    job = DRIVER.measure(cell(None, Arrivals(kind="trace", trace="0.1\n0.2\n", file="mine.txt")))
    assert [(file.name, file.content) for file in job.files] == [("trace.txt", ("0.1\n0.2\n",))]
    assert "--trace=trace.txt" in job.command.words


def test_bounds_of_the_spec_are_the_program_s() -> None:
    said = words(cell(arrivals=Arrivals(kind="poisson", queue=50, drops=0.02, lag=0.25)))
    assert (said["queue"], said["accept-drops"], said["accept-lag"]) == ("50", "0.02", "0.25")


def test_a_spec_may_ask_for_the_longest_queue_of_the_program_and_no_longer(tmp_path: Path) -> None:
    (most,) = re.findall(r"mostQueued\s+= ([0-9_]+)", (REPOSITORY / "loadgen/internal/program/flags.go").read_text())
    spec = """
        hardware box { hosts = "box.lab" }
        client load { hosts = "load.lab"  tool = openload }
        database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
        workload b from ycsb.b { records = 1k }
        experiment e {
          hardware = box  workloads = b  threads = 4  target = 1k ops/s  measure = 1 min  arrivals = poisson(queue: @)
        }
    """
    plan = compile_text(spec.replace("@", str(int(most))), tmp_path)
    assert plan.experiments["e"].arrivals == Arrivals(kind="poisson", queue=int(most))
    with pytest.raises(SpecError, match="`queue` must be at most 5,000,000"):
        compile_text(spec.replace("@", str(int(most) + 1)), tmp_path)


def test_the_current_numbers_are_those_of_the_last_whole_second() -> None:
    text = (OUTPUTS / "poisson" / "stdout").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    last = [line for line in lines if line["kind"] == "second"][-1]
    now = DRIVER.interim(cell(), text)
    assert now is not None
    assert now.ops_per_s == last["completed"]
    assert DRIVER.interim(cell(), text[:50]) is None
    assert DRIVER.interim(cell(), '{"kind":"second"}\n{"second":\n') is None
    load = DRIVER.interim(cell(), '{"kind":"second","second":3,"phase":"load","records":81,"rate_per_s":27.5}\n')
    assert load is not None
    assert (load.ops_per_s, load.done) == (27.5, 81)


def test_keys_are_those_of_ycsb() -> None:
    assert DRIVER.key(0) == "user6284781860667377211"
    assert DRIVER.key(7, ordered=True, padding=3) == "user007"


def test_a_lateness_at_a_percentile_that_nobody_asks_for_is_reported(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["settings"]["accept-lag"] = "0.1"

    made = replace(constant_cell())
    strict = made.experiment.model_copy(update={"arrivals": Arrivals(kind="constant")})
    made = replace(made, plan=made.plan.model_copy(update={"experiments": {"e": strict}}))
    changed = changed_record(tmp_path, "constant", change)
    late = [text for text in DRIVER.parse(made, changed).warnings if "was itself late" in text]
    lag, due = read_run(tmp_path).own.lag_us, read_run(tmp_path).all.intended_us
    assert lag is not None
    assert due is not None
    woke = read_run(tmp_path).own.hiccup_us or {}
    expected = [
        f"{name} of all operations: openload was itself late by {max(lag[name], woke[name]) / 1000:.3g} ms, where"
        for name in ("p50", "p90", "p95", "p99.9", "p99.99")
        if max(lag[name], woke[name]) > 0.1 * due[name]
    ]
    assert [text for text, said in zip(late, expected, strict=True) if text.startswith(said)] == late != []


def test_the_share_that_lag_limits_is_of_what_openload_judges(tmp_path: Path) -> None:
    """Its operations may have been on time while its threads woke late: both are held against one limit."""

    def change(record: dict[str, Any]) -> None:
        record["self"]["hiccup_us"] |= {"p99": 0.4 * record["all"]["intended_us"]["p99"], "max": 1e9}

    changed = DRIVER.parse(constant_cell(), changed_record(tmp_path, "constant", change))
    (share,) = (each.value for each in changed.samples if each.measure == "openload.lag_share")
    assert share == pytest.approx(0.4), "and not the longest hiccup, which may have held up no operation"


# --- until it is steady ------------------------------------------------------------------------------------------


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
"""The end of the transient and that of the run, with the warm-up of 2 s before."""


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
    (told,) = (each for each in measurement.warnings if "not steady within 2 % after 51 s" in each)
    assert "half the 95 % interval of the mean latency is 43.0 % of it" in told


@pytest.mark.parametrize(("made", "flag"), [(steady_cell(within=0.1), "within"), (steady_cell(from_s=60.0), "from")])
def test_an_output_of_another_rule_is_of_another_cell(made: CellContext, flag: str) -> None:
    with pytest.raises(BadOutput, match=f"steady-{flag}"):
        DRIVER.parse(made, output("steady"))


def test_the_rule_is_passed_on_and_only_where_there_is_one() -> None:
    words = {str(word) for word in DRIVER.measure(steady_cell()).command.words}
    assert {"--steady-within=0.5", "--steady-from=50", "--duration=120"} <= words
    assert not any("steady" in str(word) for word in DRIVER.measure(cell()).command.words)
