"""Tests what the journal says about the cells of an interrupted run: which are done, and how far the others have
come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from benchbrief.model import events as j
from benchbrief.model.plan import Cell
from benchbrief.model.run_record import NOWHERE, Left, Pauses, RunRecord
from benchbrief.runners.journal.journal_file import Journal, read_run
from tests.results.making import a_cell, a_plan

ONE, TWO = a_cell(threads=1), a_cell(threads=2)


def test_each_method_for_a_record_is_for_one_that_there_is() -> None:
    (union, _) = get_args(j.AnyRecord)
    types = {kind.model_fields["type"].default for kind in get_args(union)}
    assert {name.removeprefix("_on_") for name in vars(RunRecord) if name.startswith("_on_")} <= types


def ended(cell: Cell, status: str, *, of: str = "") -> j.CellEnded:
    return j.CellEnded.model_validate(
        {"at": 2.0, "cell": cell.id, "hash": of or cell.hash, "attempt": 1, "status": status}
    )


def skipped(cell: Cell, *, of: str = "") -> j.CellSkipped:
    return j.CellSkipped(at=2.0, cell=cell.id, hash=of or cell.hash, reason="the knee was found")


def started(attempt: int = 1, cell: str = "c") -> j.CellStarted:
    return j.CellStarted(at=1.0, cell=cell, hash="h", attempt=attempt)


def step(name: str, attempt: int = 1) -> j.StepStarted:
    return j.StepStarted(at=2.0, cell="c", attempt=attempt, step=name, seconds=1.0)


def over(name: str, attempt: int = 1) -> j.StepEnded:
    return j.StepEnded(at=3.0, cell="c", attempt=attempt, step=name, seconds=1.0)


def finished(tmp_path: Path, *records: j.AnyRecord) -> set[str]:
    journal = Journal(tmp_path)
    for record in records:
        journal.write(record)
    journal.close()
    return read_run(tmp_path).finished(a_plan([ONE, TWO]))


def left_of(records: Sequence[j.AnyRecord]) -> dict[str, Left]:
    return {left.cell: left for left in RunRecord.of(records).left_behind.attempts}


def test_cells_that_ended_well_and_those_not_needed_are_done(tmp_path: Path) -> None:
    assert read_run(tmp_path).finished(a_plan([ONE])) == set()
    assert finished(tmp_path, ended(ONE, "ok"), skipped(TWO)) == {ONE.id, TWO.id}


def test_a_failed_cell_is_not_done_and_its_last_verdict_decides(tmp_path: Path) -> None:
    assert finished(tmp_path, ended(ONE, "ok"), ended(ONE, "failed"), ended(TWO, "failed"), ended(TWO, "ok")) == {
        TWO.id
    }


def test_a_verdict_on_another_definition_of_the_cell_does_not_count(tmp_path: Path) -> None:
    assert finished(tmp_path, ended(ONE, "ok", of="another"), skipped(TWO, of="another")) == set()


def test_an_attempt_is_left_until_it_has_a_verdict() -> None:
    (left,) = left_of([started(), step("measure"), over("measure")]).values()
    assert (left.attempt, left.current, left.over, left.until) == (1, "collect", {"measure"}, 3.0)
    assert left_of([started(cell=ONE.id), ended(ONE, "failed")]) == {}


def test_a_step_is_under_way_until_it_ends() -> None:
    assert left_of([started()])["c"].current is None
    assert left_of([started(), step("load")])["c"].current == "load"
    assert left_of([started(), step("load"), over("load")])["c"].current is None


def test_records_of_an_earlier_attempt_say_nothing_of_the_last() -> None:
    left = left_of([started(1), started(2), step("load", attempt=2), step("measure", attempt=1), over("load")])["c"]
    assert (left.attempt, left.current) == (2, "load")


def test_an_attempt_is_of_the_version_that_it_was_begun_under() -> None:
    begun = [
        j.RunStarted(
            at=0.0,
            run_id="r",
            plan_sha256="p",
            benchbrief="1",
            spec="s",
            profile=None,
            controller_pid=1,
            measurement=version,
        )
        for version in (3, 4)
    ]
    assert left_of([begun[0], started(), begun[1]])["c"].start == begun[0]
    assert left_of([begun[0], begun[1], started()])["c"].start == begun[1]
    assert left_of([started()])["c"].start is None


def test_cells_are_warm_in_the_order_of_their_last_attempts_until_they_cooled_down() -> None:
    assert list(RunRecord.of([started(1, "a"), started(1, "b"), started(2, "a")]).warm.items()) == [("b", 1), ("a", 2)]
    assert RunRecord.of([started(1), over("cool_down")]).warm == {}
    assert RunRecord.of([started(1), over("measure")]).warm == {"c": 1}


def test_what_was_left_stays_as_it_was_while_the_record_goes_on() -> None:
    record = RunRecord.of([started(), step("load")])
    (left,) = record.left_behind.attempts
    for following in (over("load"), step("measure")):
        record.add(NOWHERE, following)
    assert (left.current, left.over, left.until) == ("load", set(), 2.0)
    assert left_of([started(), step("load"), over("load"), step("measure")])["c"].current == "measure"


def test_engines_and_taken_over_cells_are_of_the_last_controller() -> None:
    engine = j.EngineFacts(at=1.0, database="rocks", facts={})
    begun = j.RunStarted(
        at=0.0, run_id="r", plan_sha256="p", benchbrief="1", spec="s", profile=None, controller_pid=1, measurement=1
    )
    resumed = j.CellResumed(at=2.0, cell="c", hash="h", attempt=1, step="load", away_since=0.0, began_at=1.0)
    first = RunRecord.of([begun, engine, resumed]).left_behind
    assert (first.engines, first.resumed) == (frozenset({"rocks"}), frozenset({"c"}))
    second = RunRecord.of([begun, engine, resumed, begun]).left_behind
    assert (second.engines, second.resumed) == (frozenset(), frozenset())


def test_a_journal_extends_the_record_and_does_not_take_one_that_lacks_something(tmp_path: Path) -> None:
    before = read_run(tmp_path)
    journal = Journal(tmp_path)
    journal.write(started())
    record = journal.extend(before)
    assert record is not before
    assert journal.extend(record) is record
    for each in (step("measure"), over("measure"), ended(ONE, "ok")):
        journal.write(each)
    journal.close()
    assert record == read_run(tmp_path)


def test_a_job_that_went_on_alone_is_no_pause_whatever_its_hosts_clock_says() -> None:
    """The host is an hour ahead. By the controller's clock, its job ran from 100 to 130, and the controller was away
    from 110 to 150."""
    pauses = Pauses()
    pauses.read(
        j.ClockRead(at=90, cell="c", attempt=1, host="h", when="before", offset_s=3600, uncertainty_s=0.1, booted=1)
    )
    pauses.away(110, 150)
    pauses.collected(
        j.JobCollected(
            at=151, cell="c", attempt=1, step="measure", job="measure", host="h", directory="raw", exit_code=0,
            started_at=3700, ended_at=3730, files={},
        )
    )  # fmt: skip
    assert pauses.spans == [(130, 150)]
    assert pauses.seconds == 20
