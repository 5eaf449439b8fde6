"""Tests earlier results that replace cells of a plan, and the copies that are made of them."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Arrivals, Cell, Expect, Host, Knee, KneeSearch, Plan, Query, Read, Reference
from benchbrief.results.build_store import rebuild
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.reusable_results import Reuse, blocks, find_reusable
from benchbrief.runners.journal.journal_file import JOURNAL, START, read_journal, write_line
from benchbrief.runners.journal.measurement_versions import SHARED, Recorded, tool_version, way_now, way_of
from benchbrief.runners.journal.run_folder import create_run
from benchbrief.runners.reuse import carry
from tests.results.making import HERE, MEASUREMENT, T0, RunMaker, a_cell, a_plan, a_query, measurement

READ = measurement([Operation("read", 100)])
OF_YCSB = [a_cell(repeat=repeat, driver="ycsb") for repeat in (1, 2)]
PAIR = [a_cell(hardware=hardware, repeat=repeat) for hardware in ("nvme", "ssd") for repeat in (1, 2)]


def planned(cells: Sequence[Cell], **experiment: Any) -> Plan:
    plan = a_plan(cells)
    ramp = plan.experiments["ramp"].model_copy(update=experiment)
    return plan.model_copy(update={"experiments": {"ramp": ramp}})


def an_earlier_run(out: Path, name: str, plan: Plan, *, failing: Sequence[str] = (), at: float = T0) -> RunMaker:
    run = RunMaker(out / name, plan, now=at)
    for cell in plan.cells:
        if cell.id in failing:
            run.failed(cell, "no such device")
        else:
            run.ok(cell, {"load-1": READ})
    run.end("failed" if failing else "done")
    return run


def an_expect(query: Query) -> Expect:
    return Expect(text="expect", label="expect", query=query, origin=HERE)


def taken(reuse: Reuse) -> dict[str, str]:
    return {each.cell.id: each.run_id for each in reuse.carried}


def test_every_good_result_is_taken_from_the_newest_run_that_has_it(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path, "old", plan)
    an_earlier_run(tmp_path, "new", plan, at=T0 + 1000)
    assert taken(find_reusable(plan, tmp_path)) == {cell.id: "new" for cell in PAIR}


def test_the_repeats_of_a_point_are_taken_together_or_not_at_all(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path, "old", plan, failing=[PAIR[1].id])
    assert taken(find_reusable(plan, tmp_path)) == {cell.id: "old" for cell in PAIR[2:]}


def test_the_repeats_of_a_point_are_not_put_together_from_two_runs(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path, "one", plan, failing=[PAIR[0].id])
    an_earlier_run(tmp_path, "two", plan, failing=[PAIR[1].id], at=T0 + 1000)
    assert taken(find_reusable(plan, tmp_path)) == {cell.id: "two" for cell in PAIR[2:]}


def test_measured_by_turns_all_hardware_of_a_point_is_taken_together(tmp_path: Path) -> None:
    plan = planned([*PAIR, a_cell(threads=8), a_cell(hardware="ssd", threads=8)], order="interleaved")
    an_earlier_run(tmp_path, "old", plan, failing=[PAIR[0].id])
    assert sorted(taken(find_reusable(plan, tmp_path))) == [cell.id for cell in plan.cells[4:]]


def test_the_repeats_of_a_point_are_not_put_together_from_two_experiments(tmp_path: Path) -> None:
    other = PAIR[1].model_copy(update={"experiment": "other", "id": PAIR[1].id.replace("ramp", "other")})
    before = planned([PAIR[0], other])
    ramp = before.experiments["ramp"]
    an_earlier_run(tmp_path, "old", before.model_copy(update={"experiments": {"ramp": ramp, "other": ramp}}))
    assert taken(find_reusable(planned(PAIR[:2]), tmp_path)) == {}


def test_an_experiment_in_random_order_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    plan = planned([*PAIR, a_cell(threads=8)], order="random", seed=7)
    an_earlier_run(tmp_path, "old", plan, failing=[PAIR[0].id])
    assert taken(find_reusable(plan, tmp_path)) == {}


@pytest.mark.parametrize("order", ["grouped", "interleaved", "random"])
def test_every_cell_is_in_one_block(order: str) -> None:
    plan = planned([*PAIR, a_cell(threads=8), a_cell(workload="b")], order=order)
    inside = [cell.id for block in blocks(plan) for cell in block]
    assert sorted(inside) == sorted(cell.id for cell in plan.cells)


def test_a_search_is_one_block_with_all_that_waits_for_it() -> None:
    search = KneeSearch(latency="p99", rise=0.5, gain=0.1)
    tried = [a_cell(hardware=hardware, threads=threads) for hardware in ("nvme", "ssd") for threads in (1, 2)]
    knee = Knee(experiment="ramp", hardware="ssd", workload="a")
    waits = a_cell(hardware="ssd", workload="b").model_copy(
        update={"id": "found/ssd", "experiment": "found", "threads": None, "threads_from": knee}
    )
    plan = planned([*tried, waits], search=search)
    found = plan.experiments["ramp"].model_copy(update={"name": "found", "search": None})
    plan = plan.model_copy(update={"experiments": {**plan.experiments, "found": found}})
    assert [[cell.id for cell in block] for block in blocks(plan)] == [
        [cell.id for cell in tried[:2]],
        [cell.id for cell in (*tried[2:], waits)],
    ]


TRIED = [a_cell(threads=threads) for threads in (1, 2)]
BY_P99 = KneeSearch(latency="p99", rise=0.5, gain=0.1)


@pytest.mark.parametrize("before", [None, KneeSearch(latency="p50", rise=0.5, gain=0.1)], ids=["no search", "by p50"])
def test_a_search_takes_no_cells_of_which_its_latency_was_not_noted(tmp_path: Path, before: KneeSearch | None) -> None:
    an_earlier_run(tmp_path, "old", planned(TRIED, search=before, points=(1.0, 2.0)))
    found = find_reusable(planned(TRIED, search=BY_P99, points=(1.0, 2.0)), tmp_path)
    assert found.carried == ()
    assert found.passed_over == ("run old did not note the p99 latency, by which the search ramp is decided",)


@pytest.mark.parametrize("after", [None, KneeSearch(latency="p99", rise=0.2, gain=0.1)], ids=["no search", "by p99"])
def test_cells_of_a_search_stand_where_its_latency_will_do(tmp_path: Path, after: KneeSearch | None) -> None:
    an_earlier_run(tmp_path, "old", planned(TRIED, search=BY_P99, points=(1.0, 2.0)))
    found = find_reusable(planned(TRIED, search=after, points=(1.0, 2.0)), tmp_path)
    assert taken(found) == {cell.id: "old" for cell in TRIED}
    assert found.passed_over == ()


@pytest.mark.parametrize("change", [{"points": (4.0, 8.0)}, {"repeats": 2}], ids=["points", "repeats"])
def test_a_point_that_another_search_did_not_need_may_be_needed_now(tmp_path: Path, change: dict[str, Any]) -> None:
    above = [a_cell(threads=threads) for threads in (4, 8)]
    old = RunMaker(tmp_path / "old", planned([*TRIED, *above], search=BY_P99, points=(1.0, 2.0, 4.0, 8.0), repeats=1))
    for cell in TRIED:
        old.ok(cell, {"load-1": READ})
    for cell in above:
        old.write(j.CellSkipped(at=T0, cell=cell.id, hash=cell.hash, reason="the knee was found at 1 thread"))
    old.end("done")
    same: dict[str, Any] = {"search": BY_P99, "points": (1.0, 2.0, 4.0, 8.0), "repeats": 1}
    assert find_reusable(planned([*TRIED, *above], **same), tmp_path).measured == ()
    assert find_reusable(planned(above, **{**same, **change}), tmp_path).carried == ()


BUDGET: dict[str, Any] = {"repeats": 3, "budget_s": 3600.0}
POINTS = [a_cell(threads=threads, repeat=repeat) for threads in (1, 2) for repeat in (1, 2, 3)]
ENOUGH, OVER = "each interval is narrow enough", "the budget has no room"


def a_budgeted_run(out: Path, plan: Plan, left_out: Mapping[str, j.NoRoom]) -> None:
    run = RunMaker(out / "old", plan)
    for cell in plan.cells:
        if cell.id in left_out:
            room = left_out[cell.id]
            run.write(j.CellSkipped(at=T0, cell=cell.id, hash=cell.hash, reason=OVER if room else ENOUGH, no_room=room))
        else:
            run.ok(cell, {"load-1": READ})
    run.end("done")


@pytest.mark.parametrize("room", ["", "repeat"])
def test_repeats_that_a_budget_left_out_stay_out_under_the_same_budget(tmp_path: Path, room: j.NoRoom) -> None:
    plan = planned(POINTS, **BUDGET)
    a_budgeted_run(tmp_path, plan, {POINTS[2].id: room})
    found = find_reusable(plan, tmp_path)
    assert [each.cell.id for each in found.carried] == [cell.id for cell in POINTS]
    assert [each.cell.id for each in found.carried if each.skipped] == [POINTS[2].id]
    assert found.measured == ()


@pytest.mark.parametrize("budget_s", [7200.0, None], ids=["another", "none"])
def test_a_point_is_measured_anew_when_its_repeats_ended_by_another_budget(
    tmp_path: Path, budget_s: float | None
) -> None:
    a_budgeted_run(tmp_path, planned(POINTS, **BUDGET), {POINTS[2].id: "repeat"})
    found = find_reusable(planned(POINTS, **{**BUDGET, "budget_s": budget_s}), tmp_path)
    assert list(found.measured) == POINTS[:3]
    shown = ("run old had no room for all repeats in its budget, which is another now",)
    assert found.passed_over == (shown if budget_s else ())


def test_repeats_that_were_not_needed_are_not_by_any_budget(tmp_path: Path) -> None:
    a_budgeted_run(tmp_path, planned(POINTS, **BUDGET), {POINTS[2].id: ""})
    assert find_reusable(planned(POINTS, **{**BUDGET, "budget_s": 60.0}), tmp_path).measured == ()


def test_a_point_of_which_more_is_asked_for_now_is_measured_anew(tmp_path: Path) -> None:
    def asking(*statistics: str) -> Plan:
        reads = [Read(measure="latency", view="latency", statistic=each, keys={"threads": (1,)}) for each in statistics]
        expects = tuple(an_expect(a_query("SELECT 1", reads=(each,))) for each in reads)
        return planned(POINTS, **BUDGET).model_copy(update={"expects": expects})

    a_budgeted_run(tmp_path, asking("p99"), {POINTS[2].id: ""})
    assert find_reusable(asking("p99"), tmp_path).measured == ()
    assert list(find_reusable(asking("p99", "p50"), tmp_path).measured) == POINTS[:3]


def test_a_point_that_is_compared_in_another_way_now_is_measured_anew(tmp_path: Path) -> None:
    def comparing(*sides: str) -> Plan:
        read = Read(measure="throughput", view="throughput", keys={"threads": (2,)})
        repeats = tuple(a_query(side, reads=(read,)) for side in sides)
        expect = an_expect(a_query("SELECT 1", reads=(read,))).model_copy(update={"repeats": repeats})
        return planned(POINTS, **BUDGET).model_copy(update={"expects": (expect,)})

    a_budgeted_run(tmp_path, comparing("SELECT 1", "SELECT 2"), {POINTS[5].id: ""})
    assert find_reusable(comparing("SELECT 1", "SELECT 2"), tmp_path).measured == ()
    assert list(find_reusable(comparing("SELECT 1", "SELECT 3"), tmp_path).measured) == POINTS[3:]


def test_a_point_that_had_no_room_is_measured_by_the_next_run(tmp_path: Path) -> None:
    plan = planned(POINTS, **BUDGET)
    a_budgeted_run(tmp_path, plan, {POINTS[0].id: "point", POINTS[1].id: "repeat", POINTS[2].id: "repeat"})
    assert list(find_reusable(plan, tmp_path).measured) == POINTS[:3]


def test_one_measurement_stands_for_one_cell(tmp_path: Path) -> None:
    cell = a_cell()
    an_earlier_run(tmp_path, "old", planned([cell]))
    twin = cell.model_copy(update={"id": "ramp/twin", "workload": "b"})
    # The namesake is later in the plan; either may have it, and not both.
    assert len(find_reusable(planned([twin, cell]), tmp_path).carried) == 1


def recorded_as(run_dir: Path, **recorded: object) -> None:
    """Change fields of a run's first record, such as the versions of its measurements. None removes a field."""
    path = run_dir / "journal.jsonl"
    first, *others = path.read_text().splitlines(keepends=True)
    left_out = {key for key, value in recorded.items() if value is None}
    start = {key: value for key, value in (json.loads(first) | recorded).items() if key not in left_out}
    path.write_text(json.dumps(start, separators=(",", ":")) + "\n" + "".join(others))


def test_a_result_is_taken_while_its_own_tool_measures_as_it_did(tmp_path: Path) -> None:
    plan = planned(OF_YCSB)
    run = an_earlier_run(tmp_path, "old", plan)
    ours = tool_version("ycsb")
    for recorded in ({"measurements": {"ycsb": ours}}, {"measurements": {"ycsb": ours, "fio": 99}}):
        recorded_as(run.run_dir, **recorded)
        assert set(taken(find_reusable(plan, tmp_path)).values()) == {"old"}
    for other in ({"measurements": {"ycsb": ours - 1}}, {"measurements": {"ycsb": ours + 1}}, {"measurement": 99}):
        recorded_as(run.run_dir, **{"measurement": SHARED[-1], "measurements": {"ycsb": ours}, **other})
        found = find_reusable(plan, tmp_path)
        assert found.carried == ()
        assert found.passed_over == ("run old is of a benchbrief that measured in another way",)


@pytest.mark.parametrize(("version", "stands"), [(None, False), (3, False), (4, True), (5, True), (6, True)])
def test_a_result_of_when_all_tools_had_one_version_stands_if_its_tool_has_not_changed_since(
    tmp_path: Path, version: int | None, stands: bool
) -> None:
    plan = planned(OF_YCSB)
    recorded_as(an_earlier_run(tmp_path, "old", plan).run_dir, measurement=version, measurements=None)
    found = find_reusable(plan, tmp_path)
    assert bool(found.carried) == stands
    # What the next run says of it is read by the same rules.
    again = tmp_path / "again"
    (again / "plan.json").parent.mkdir()
    (again / "plan.json").write_bytes(plan.model_dump_json().encode())
    carry(again, plan, found.carried, ())
    if stands:
        reused = next(record for record in read_journal(again / JOURNAL) if isinstance(record, j.CellReused))
        assert (reused.measurement, reused.tool_measurement) == (version, None)


@pytest.mark.parametrize(
    ("kind", "hosts", "stands"), [("constant", 2, False), ("constant", 1, True), ("poisson", 2, True)]
)
def test_only_constant_arrivals_of_several_hosts_of_openload_are_measured_anew_since_6(
    kind: str, hosts: int, stands: bool
) -> None:
    cell = a_cell(load_hosts=tuple(f"load-{n}" for n in range(hosts)), driver="openload")
    plan = planned([cell], arrivals=Arrivals.model_validate({"kind": kind}))
    now = way_now(plan, cell)
    assert (way_of(plan, cell, Recorded(5)) == now) == stands
    assert way_of(plan, cell, Recorded(6)) == now
    assert way_of(plan, cell, Recorded(4)) != now


@pytest.mark.parametrize(("benchmark", "stands"), [("readwhilewriting", False), ("readrandom", True)])
def test_only_benchmarks_of_db_bench_with_a_background_writer_are_measured_anew_since_7(
    benchmark: str, stands: bool
) -> None:
    cell = a_cell(driver="db_bench")
    plan = planned([cell])
    workload = plan.workload_of(cell).model_copy(update={"benchmark": benchmark})
    plan = plan.model_copy(update={"workloads": {cell.workload: workload}})
    now = way_now(plan, cell)
    for earlier in (Recorded(6), Recorded(SHARED[-1], 5)):
        assert (way_of(plan, cell, earlier) == now) == stands
    assert way_of(plan, cell, Recorded(SHARED[-1], 7)) == now


def test_how_the_command_of_an_event_ran_comes_with_the_result(tmp_path: Path) -> None:
    """A recovery is timed from the command, and not from the time for which the event was planned."""
    plan = planned(PAIR[:1])
    run = RunMaker(tmp_path / "old", plan)
    attempt = run.start(PAIR[0])
    run.collect(PAIR[0], attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(READ), "stderr": b""})
    ran = j.EventRan(
        at=T0, cell=PAIR[0].id, attempt=attempt, number=1, label="kill", host="nvme-1", began_at=T0 + 104, seconds=2,
        exit_code=0,
    )  # fmt: skip
    run.write(ran)
    run.ended(PAIR[0], attempt, "ok")
    run.end("done")
    (each,) = find_reusable(plan, tmp_path).carried
    assert [record for record in each.own_records() if isinstance(record, j.EventRan)] == [ran]


def test_a_result_whose_server_the_environment_names_is_not_taken(tmp_path: Path) -> None:
    plan = planned(PAIR[:2])
    uri = ("mongodb://", Reference(kind="env", name="DB_HOST"), "/ycsb")
    databases = {key: database.model_copy(update={"uri": uri}) for key, database in plan.databases.items()}
    plan = plan.model_copy(update={"databases": databases})
    an_earlier_run(tmp_path, "old", plan)
    found = find_reusable(plan, tmp_path)
    assert found.carried == ()
    assert found.passed_over == ("which server mongo is depends on DB_HOST of the environment",)


def test_a_run_that_is_spoiled_does_not_stand_in_the_way(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path, "old", plan)
    spoiled = an_earlier_run(tmp_path, "spoiled", plan, at=T0 + 1000)
    (spoiled.run_dir / "journal.jsonl").write_text('{"at":1e12,"type":"unheard_of"}\n')
    assert set(taken(find_reusable(plan, tmp_path)).values()) == {"old"}


def test_a_changed_raw_output_is_named_unless_an_older_run_has_it_whole(tmp_path: Path) -> None:
    plan = planned(PAIR[:2])
    new = an_earlier_run(tmp_path, "new", plan, at=T0 + 1000)
    stdout = next(new.run_dir.glob("raw/**/stdout"))
    stdout.write_bytes(b"")
    found = find_reusable(plan, tmp_path)
    assert found.carried == ()
    (text,) = found.passed_over
    assert text.startswith(f"run new: {stdout.relative_to(new.run_dir)} was changed")
    an_earlier_run(tmp_path, "old", plan)
    found = find_reusable(plan, tmp_path)
    assert set(taken(found).values()) == {"old"}
    assert found.passed_over == ()


# --- what travels ------------------------------------------------------------------------------------------------


def carried_over(tmp_path: Path, plan: Plan, earlier: Path) -> Path:
    found = find_reusable(plan, earlier)
    assert found.measured == ()
    return create_run(tmp_path / "later", plan, {}, lambda run_dir: carry(run_dir, plan, found.carried, ["a warning"]))


def test_facts_counters_and_remarks_travel_with_a_result(tmp_path: Path) -> None:
    cell = a_cell()
    plan = planned([cell])
    run = RunMaker(tmp_path / "earlier" / "old", plan)
    run.write(j.HostFacts(at=T0, host="nvme-1", facts={"kernel": "6.1"}))
    run.write(j.EngineFacts(at=T0, database="mongo@nvme", facts={"stand_in": "It is not MongoDB."}))
    run.write(j.ToolFound(at=T0, host="load-1", driver="plain", path="/opt/plain", version="2.1"))
    run.ok(cell, {"load-1": READ}, counters=({"ops": 1.0}, {"ops": 101.0}), remark="it was slow to start")
    run.write(j.EngineFacts(at=T0, database="mongo@nvme", facts={"version": "of a later cell"}))
    run.end("done")
    later = carried_over(tmp_path, plan, tmp_path / "earlier")
    rebuild(later)
    with open_store(later) as store:
        facts = store.sql("SELECT kind, name, value FROM facts WHERE origin = 'observed' ORDER BY ALL").rows
        assert [tuple(row) for row in facts] == [
            ("database", "stand_in", "It is not MongoDB."),
            ("host", "kernel", "6.1"),
            ("tool", "plain.path", "/opt/plain"),
            ("tool", "plain.version", "2.1"),
        ]
        assert [tuple(row) for row in store.sql("SELECT name, delta FROM counters").rows] == [("ops", 100.0)]
        notes = [row[0] for row in store.sql("SELECT text FROM notes ORDER BY text").rows]
        assert notes == ["a warning", "it was slow to start"]
        ((run_id, source),) = store.sql("SELECT run_id, reused_from FROM cells").rows
        assert (run_id, source) == (later.name, "old")


def test_hosts_that_are_called_otherwise_now_are_called_so_in_what_is_taken(tmp_path: Path) -> None:
    cell = a_cell()
    plan = planned([cell])
    old = RunMaker(tmp_path / "earlier" / "old", plan)
    old.write(j.HostFacts(at=T0, host="load-1", facts={"kernel": "6.1"}))
    old.start(cell)
    ahead = {"load-1": -3.0, "nvme-1": 50.0}
    for host, offset in ahead.items():
        clock = {"cell": cell.id, "attempt": 1, "host": host, "when": "before", "offset_s": offset}
        old.write(j.ClockRead.model_validate({"at": T0, **clock, "uncertainty_s": 0.01, "booted": 1.0}))
    old.collect(cell, 1, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(READ), "stderr": b""})
    old.ended(cell, 1, "ok", ops_per_s=10.0)
    old.end("done")
    names = {"load-1": "me@load-1", "nvme-1": "me@nvme-1"}
    hardware = plan.hardware["nvme"].model_copy(update={"hosts": ("me@nvme-1", "nvme-2")})
    renamed = cell.model_copy(update={"load_hosts": ("me@load-1",), "locks": ("me@nvme-1", "me@load-1")})
    newer = plan.model_copy(
        update={
            "cells": (renamed,),
            "hardware": {"nvme": hardware},
            "hosts": {**plan.hosts, **{name: Host(id=name, transport="ssh", name=name) for name in names.values()}},
        }
    )
    later = carried_over(tmp_path, newer, tmp_path / "earlier")
    (verdict,) = read_evidence(later).verdicts
    assert {host: verdict.offset(host).before_s for host in names.values()} == {
        names[host]: by for host, by in ahead.items()
    }
    records = read_evidence(later).records
    assert {r.host for r in records if isinstance(r, j.JobCollected | j.HostFacts)} == {"me@load-1"}
    rebuild(later)
    with open_store(later) as store:
        assert store.sql("SELECT DISTINCT source FROM operations").rows[0][0] == "me@load-1"


def test_a_result_that_was_taken_is_known_by_the_run_that_measured_it(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path / "earlier", "old", plan)
    later = carried_over(tmp_path, plan, tmp_path / "earlier")
    found = find_reusable(plan, later.parent)
    assert set(taken(found).values()) == {"old"}
    assert {each.run_dir for each in found.carried} == {later}
    assert {each.measured_at for each in found.carried} == {
        each.measured_at for each in find_reusable(plan, tmp_path / "earlier").carried
    }


def test_a_block_is_measured_anew_when_hosts_of_its_cells_have_changed(tmp_path: Path) -> None:
    plan = planned(PAIR)
    an_earlier_run(tmp_path, "old", plan)
    left = find_reusable(plan, tmp_path).without({PAIR[0].id: "another disk"})
    assert taken(left) == {cell.id: "old" for cell in PAIR[2:]}
    assert left.measured == tuple(plan.cells[:2])
    assert left.passed_over == ("another disk",)


def test_a_cell_that_failed_after_its_measurement_is_measured_anew(tmp_path: Path) -> None:
    plan = planned(PAIR[:1])
    run = RunMaker(tmp_path / "old", plan)
    attempt = run.start(plan.cells[0])
    run.collect(plan.cells[0], attempt, "measure", "load-1", {"stdout": MEASUREMENT.dump_json(READ), "stderr": b""})
    run.ended(plan.cells[0], attempt, "failed", reason="the server was restarted meanwhile")
    run.end("failed")
    assert taken(find_reusable(plan, tmp_path)) == {}


def test_nothing_is_taken_from_a_run_that_goes_on(tmp_path: Path) -> None:
    plan = planned(PAIR)
    run = an_earlier_run(tmp_path, "old", plan)
    with (run.run_dir / "journal.jsonl").open("a") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        assert taken(find_reusable(plan, tmp_path)) == {}
    assert len(taken(find_reusable(plan, tmp_path))) == len(PAIR)


def test_a_run_whose_journal_was_changed_is_named_and_nothing_is_taken_from_it(tmp_path: Path) -> None:
    plan = planned(PAIR[:2])
    run = an_earlier_run(tmp_path, "new", plan)
    journal = run.run_dir / "journal.jsonl"
    lines, chain = [], START
    for record in read_journal(journal):
        line, chain = write_line(record, chain)
        lines.append(line)
    journal.write_bytes(b"".join(lines))
    assert set(taken(find_reusable(plan, tmp_path)).values()) == {"new"}
    journal.write_bytes(b"".join(lines).replace(b'"status":"ok"', b'"status":"OK"', 1))
    found = find_reusable(plan, tmp_path)
    assert found.carried == ()
    (text,) = found.passed_over
    assert text.startswith(f"nothing is taken from run new: {journal}:")
    an_earlier_run(tmp_path, "old", plan)
    assert set(taken(find_reusable(plan, tmp_path)).values()) == {"old"}
