"""Tests openload's command lines, and how openload proves a load."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kstest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.extensions.tools.openload import openload_flags, openload_messages
from benchbrief.extensions.tools.openload.openload_flags import run_flags
from benchbrief.extensions.tools.openload.openload_record import read_run
from benchbrief.extensions.tools.openload.openload_refusals import milliseconds
from benchbrief.extensions.tools.openload.tests.openload_runs import (
    DRIVER,
    OUTPUTS,
    REFUSED,
    cell,
    changed_record,
    closed_cell,
    constant_cell,
    output,
    steps_cell,
)
from benchbrief.model.message import PrintedNumber
from benchbrief.model.plan import Arrivals, Event, Origin
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics
from tests.support.plans import compile_text
from tests.support.tools import REPOSITORY

# --- loading ---------------------------------------------------------------------------------------------------------


def test_a_load_proves_its_records() -> None:
    assert DRIVER.check_load(cell(), output("load")) == 1000


def test_a_load_into_a_database_with_these_records_failed() -> None:
    with pytest.raises(BadOutput, match="1000 of 1000 inserts failed while loading"):
        DRIVER.check_load(cell(), output("load_again", REFUSED))


def test_a_load_that_was_cut_is_no_load(tmp_path: Path) -> None:
    changed = changed_record(tmp_path, "load", lambda record: record.update(complete=False))
    with pytest.raises(BadOutput, match=r"did not finish|finish"):
        DRIVER.check_load(cell(), changed)


# --- what is run -----------------------------------------------------------------------------------------------------


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
    """Return the due times of openload's operations, by SplitMix64 as in `loadgen/internal/random` and `arrivals`."""
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
    share = {name: max(lag[name], woke[name]) / due[name] for name in ("p50", "p90", "p95", "p99.9", "p99.99")}
    beyond = [name for name in share if share[name] > 0.1]
    (said,) = late
    ends = f"{beyond[0]} the lowest of them and {beyond[-1]} the highest"
    by = f"{share[beyond[-1]] * due[beyond[-1]] / 1000:.3g} ms"
    assert said.startswith(f"openload was itself late at percentiles of all operations, {ends}, there by {by}, where")


def test_lateness_at_several_percentiles_of_several_cells_is_one_remark_of_a_run() -> None:
    cells = [
        openload_messages.say.openload_late_beside(
            lowest=PrintedNumber(low, f"p{low}"),
            highest=PrintedNumber(99.9, "p99.9"),
            late=milliseconds(late),
            latency=milliseconds(9e3),
        )
        for low, late in ((50, 1e3), (90, 4e3))
    ]
    (merged,) = merge_remarks(("warning", text, 1) for text in cells)
    assert merged[1].startswith(
        "openload was itself late at percentiles of all operations, p50–p90 the lowest of them and p99.9 the highest, "
        "there by 1 ms–4 ms, where latency is 9 ms: "
    )
    assert merged[2] == 2


def test_the_share_that_lag_limits_is_of_what_openload_judges(tmp_path: Path) -> None:
    """Operations may be on time even if threads wake late. One limit applies to both."""

    def change(record: dict[str, Any]) -> None:
        record["self"]["hiccup_us"] |= {"p99": 0.4 * record["all"]["intended_us"]["p99"], "max": 1e9}

    changed = DRIVER.parse(constant_cell(), changed_record(tmp_path, "constant", change))
    (share,) = (each.value for each in changed.samples if each.measure == "openload.lag_share")
    assert share == pytest.approx(0.4), "and not the longest hiccup, which may have held up no operation"
