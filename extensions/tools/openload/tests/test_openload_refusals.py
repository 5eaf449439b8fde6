"""Tests outputs of openload that do not prove a measurement, and the reasons given for this."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbrief.extensions.tools.openload import openload_invariants
from benchbrief.extensions.tools.openload.openload_record import read_run
from benchbrief.extensions.tools.openload.tests.openload_runs import (
    DRIVER,
    GAVE_UP,
    INTERRUPTED,
    OUTPUTS,
    REFUSED,
    cell,
    changed_record,
    constant_cell,
    output,
    recorded_log,
)
from benchbrief.model.message import Message
from benchbrief.model.plan import Arrivals, Promise, PromiseLimit
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput, GeneratorLate
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics
from tests.support.cells import recorded


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
    late = [str(each) for each in measured.warnings if "was itself late, and the promise is kept" in str(each)]
    assert len(late) == 1
    assert "they are upper bounds (p99: operations were started late)" in late[0]


def _lateness(code: str, statistic: str, operation: str, late_us: float, latency_us: float) -> dict[str, Any]:
    refused = {"code": code, "value": late_us / latency_us, "limit": 0.1, "percentile": None, "text": "its own words"}
    held = {"statistic": statistic, "operation": operation, "late_us": late_us, "intended_us": latency_us}
    return {**refused, **held, "advice": "give it idle cores", "count": None, "of": None}


def test_lateness_counts_only_against_latencies_that_the_spec_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [_lateness("lag", "p99", "update", 32_522.0, 40_000.0), _lateness("hiccups", "p99", "read", 500.0, 900.0)]
    refused = changed_record(tmp_path, "constant", lambda record: record["refusals"].extend(more), REFUSED)
    monkeypatch.setattr(AskedStatistics, "of", lambda *_: ("throughput", "p99", "p50 read"))
    assert DRIVER.parse(constant_cell(), refused).total.count > 0
    monkeypatch.setattr(AskedStatistics, "of", lambda *_: ("throughput", "p99 update"))
    with pytest.raises(GeneratorLate, match="p99 of update: openload was itself late") as caught:
        DRIVER.parse(constant_cell(), refused)
    assert "of read" not in str(caught.value)


def test_several_reasons_to_be_late_are_reported_by_the_worst_and_without_the_advice_that_each_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [
        _lateness("lag", "p99", "read", 32_522.0, 40_000.0),
        _lateness("hiccups", "p99.9", "all operations", 2_100_000.0, 1_050_000.0),
    ]
    late = _late(tmp_path, *more)
    monkeypatch.setattr(AskedStatistics, "of", lambda *_: ("p99 read", "p99.9"))
    (warning,) = (each for each in DRIVER.parse(_promising(10.0), late).warnings if "upper bounds" in str(each))
    worst = (
        "p99.9 of all operations: openload was itself late by 2,100 ms, as its threads woke late, where latency is "
        "1,050 ms, and 10.0 % of it is accepted"
    )
    assert str(warning).endswith(f"they are upper bounds ({worst})")
    with pytest.raises(BadOutput, match=r"\(lag\): p99: operations were .*; p99 of read: .*; p99\.9 of all "):
        DRIVER.parse(constant_cell(), late)
    assert isinstance(warning, Message)
    japanese = warning.in_words(CATALOGUES["ja"])
    assert "全操作 の p99.9 では openload 自身がスレッドの起床の遅れにより 2,100 ms 遅れ" in japanese
    with pytest.raises(GeneratorLate) as caught:
        DRIVER.parse(constant_cell(), late)
    assert "give it idle cores" not in str(caught.value), "the hint says it"
    assert "; p99 of read: openload was itself late by 32.5 ms, where latency is 40 ms, and" in str(caught.value)


def test_a_record_from_before_advice_stood_apart_is_shown_in_its_own_words(tmp_path: Path) -> None:
    late = _late(tmp_path, LATE | {"value": 2.5, "text": "late by 2 us: give it idle cores, or offer less"})
    with pytest.raises(GeneratorLate, match=r"late by 2 us: give it idle cores, or offer less; p99: .* started late"):
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
    refused = {"limit": 0.1, "percentile": None, "text": "its own words", "advice": "", **refusal}
    made = changed_record(tmp_path, "constant", lambda record: record["refusals"].append(refused), REFUSED)
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
    "it has": _plus("self", "lag_us", "count"),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_record_that_was_changed_contradicts_itself(tmp_path: Path, said: str) -> None:
    changed = changed_record(tmp_path, "constant", CHANGES[said])
    run, log = read_run(tmp_path), recorded_log("constant")
    problems = openload_invariants.find_problems(run, log)
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
    problems = openload_invariants.find_problems(read_run(tmp_path), recorded_log("steady"))
    assert any(said in each for each in problems), problems


def test_a_run_that_ended_before_its_time_was_steady(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["settings"]["steady-within"] = "0.000001"
        record["steady"]["steady"] = False

    changed_record(tmp_path, "steady", change)
    problems = openload_invariants.find_problems(read_run(tmp_path), recorded_log("steady"))
    assert any("it was not steady, and it ended" in each for each in problems), problems


def test_a_complete_run_has_nothing_out(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        for of in (record, _read(record)):
            of["completed"] -= 1
            of["unfinished"] += 1

    changed_record(tmp_path, "constant", change)
    problems = openload_invariants.find_problems(read_run(tmp_path), recorded_log("constant"))
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
