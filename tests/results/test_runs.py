"""Tests how runs are found, and how the progress of a run is determined."""

import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchbrief.commands.running.status import read_all
from benchbrief.history.many_runs import FolderOfRuns, SiteRun
from benchbrief.history.series_cache import Fetched, RunFolder
from benchbrief.model import events as j
from benchbrief.model import plan as p
from benchbrief.model.measurement import Operation
from benchbrief.progress.follow_run import Follower
from benchbrief.progress.run_view import LiveRun
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.find_runs import (
    find_run,
    last_interrupted,
    last_run,
    last_unended,
    list_runs,
    require_folder,
    run_state,
)
from benchbrief.results.runs.run_summary import CellState, RunStatus, remaining_s, summarise
from benchbrief.results.runs.times_taken import Pace
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal.journal_file import JOURNAL, Journal, wait_for_lock
from benchbrief.runners.journal.run_identity import IDENTITY, new_identity
from tests.results.making import T0, RunMaker, a_cell, a_plan, measurement

READ = measurement([Operation("read", 100)])


def a_run(out: Path, name: str, *, at: float = T0, end: str | None = "done") -> Path:
    cell = a_cell()
    run = RunMaker(out / name, a_plan([cell]), now=at)
    if end:
        run.end(end)
    return run.run_dir


def test_runs_are_listed_from_the_oldest_to_the_last_by_when_they_began(tmp_path: Path) -> None:
    a_run(tmp_path, "b", at=T0)
    a_run(tmp_path, "a", at=T0 + 60)
    (tmp_path / "no-run").mkdir()
    assert list_runs(tmp_path) == [tmp_path / "b", tmp_path / "a"]
    assert last_run(tmp_path) == tmp_path / "a"


def test_a_run_is_found_by_id_by_its_start_and_by_its_folder(tmp_path: Path) -> None:
    for name in ("20260301-1-x", "20260301-1-x-2", "20260302-1-y"):
        a_run(tmp_path, name)
    assert find_run(tmp_path, "20260302") == tmp_path / "20260302-1-y"
    assert find_run(tmp_path, "20260301-1-x") == tmp_path / "20260301-1-x"  # though another begins so
    assert find_run(Path("elsewhere"), str(tmp_path / "20260302-1-y")) == tmp_path / "20260302-1-y"
    with pytest.raises(ResultsError, match=r"2 runs in .* begin with 20260301") as raised:
        find_run(tmp_path, "20260301")
    assert "20260301-1-x, 20260301-1-x-2" in raised.value.hint
    with pytest.raises(ResultsError, match="no run 2027 in ") as raised:
        find_run(tmp_path, "2027")
    assert raised.value.hint.startswith("the last ones are ")
    assert "20260302-1-y" in raised.value.hint


def test_runs_that_end_like_a_name_are_offered_for_it(tmp_path: Path) -> None:
    for name in ("20260301-1-small", "20260301-2-too-small", "20260302-1-large", "20260303-1-larger"):
        a_run(tmp_path, name)
    with pytest.raises(ResultsError, match="no run large in ") as raised:
        find_run(tmp_path, "large")
    assert raised.value.hint == "did you mean 20260302-1-large?"
    with pytest.raises(ResultsError, match="no run small in ") as raised:
        find_run(tmp_path, "small")
    assert raised.value.hint == "these end so: 20260301-1-small, 20260301-2-too-small"


@contextmanager
def as_plain_user() -> Iterator[None]:
    """Become another user during the block, because root may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shared() -> Iterator[Path]:
    """Yield a folder that another user can reach."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-shared-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_run_that_can_not_be_read_is_named_and_no_earlier_one_taken(shared: Path) -> None:
    earlier, last = (a_run(shared, f"2026030{n}-120000-x", at=T0 + n) for n in (1, 2))
    last.chmod(0)
    try:
        with as_plain_user():
            for name in ("last", last.name, "20260302"):
                with pytest.raises(ResultsError, match=f"{last} can't be read: Permission denied") as raised:
                    find_run(shared, name)
                assert f"ls -ld {last}" in raised.value.hint
            assert find_run(shared, earlier.name) == earlier
    finally:
        last.chmod(0o755)
    assert find_run(shared, "last") == last


@pytest.mark.parametrize("unreadable", ["folder", "journal"])
def test_a_run_that_can_not_be_read_is_named_among_all_and_hides_no_other(shared: Path, unreadable: str) -> None:
    names = [f"2026030{n}-120000-x" for n in (1, 2)]
    run, other = (a_run(shared, name, at=T0 + n) for n, name in enumerate(names))
    closed = run if unreadable == "folder" else run / JOURNAL

    def read() -> tuple[list[RunStatus], list[str], dict[str, SiteRun], dict[str, Fetched]]:
        place, source = FolderOfRuns(shared), RunFolder(shared)
        with tempfile.TemporaryDirectory() as folder:
            site = {each.id: each for each in place.read(sorted(place.stamps()))}
            fetched = {each.run_id: each for each in source.fetch(sorted(source.stamps()), Path(folder))}
        return *read_all(shared), site, fetched

    whole = read()  # it also imports what another user may not read
    assert (len(whole[0]), whole[1]) == (2, [])
    closed.chmod(0)
    try:
        with as_plain_user():
            runs, problems, site, fetched = read()
    finally:
        closed.chmod(0o755)
    assert [each.run_id for each in runs] == [other.name]
    for problem in (*problems, site[run.name].problem, fetched[run.name].problem):
        assert f"{run.name}" in problem
        assert "can't be read: Permission denied" in problem
    assert len(problems) == 1
    assert (site[other.name].problem, fetched[other.name].problem) == ("", "")
    assert not fetched[run.name].is_final, "it may be read once its rights are other ones"
    assert site[run.name].stamp != FolderOfRuns(shared).stamps()[run.name]


def test_a_folder_of_runs_that_can_not_be_read_is_not_taken_for_one_without_runs(shared: Path) -> None:
    out = shared / "bench-out"
    a_run(out, "20260301-120000-x")
    out.chmod(0)
    try:
        with as_plain_user(), pytest.raises(ResultsError, match="bench-out can't be read: Permission denied"):
            last_run(out)
    finally:
        out.chmod(0o755)
    (shared / "a file").write_text("")
    for find in (last_run, require_folder):
        with pytest.raises(ResultsError, match="a file is no folder"):
            find(shared / "a file")
    with pytest.raises(ResultsError, match="there is no folder"):
        require_folder(shared / "nowhere")


def test_the_last_run_and_those_before_it_are_found_by_any_command_that_takes_a_run(tmp_path: Path) -> None:
    a_run(tmp_path, "20260301-1-x", at=T0)
    a_run(tmp_path, "20260302-1-y", at=T0 + 60)
    assert find_run(tmp_path, "last") == tmp_path / "20260302-1-y"
    assert find_run(tmp_path, "last~1") == tmp_path / "20260301-1-x"
    with pytest.raises(ResultsError, match="has no run last~2: 2 were measured"):
        find_run(tmp_path, "last~2")


@pytest.mark.parametrize("out", ["missing", "."])
def test_a_folder_without_runs_says_how_to_start_one(tmp_path: Path, out: str) -> None:
    assert list_runs(tmp_path / out) == []
    for look in (last_run, last_interrupted, lambda folder: find_run(folder, "x")):
        with pytest.raises(ResultsError, match="no run in ") as raised:
            look(tmp_path / out)
        assert "bench run" in raised.value.hint


def test_the_last_interrupted_run_is_found_behind_later_ones(tmp_path: Path) -> None:
    a_run(tmp_path, "a", at=T0, end="interrupted")
    a_run(tmp_path, "b", at=T0 + 1, end=None)  # killed
    a_run(tmp_path, "c", at=T0 + 2, end="failed")
    assert last_interrupted(tmp_path) == tmp_path / "b"


def test_without_an_interrupted_run_the_last_one_is_named(tmp_path: Path) -> None:
    a_run(tmp_path, "a", end="failed")
    with pytest.raises(ResultsError, match=r"no run in .* was interrupted") as raised:
        last_interrupted(tmp_path)
    assert "a (failed)" in raised.value.hint


def test_a_run_is_running_as_long_as_a_process_holds_its_journal(tmp_path: Path) -> None:
    run_dir = a_run(tmp_path, "a", end="interrupted")
    assert run_state(run_dir) == "interrupted"
    journal = Journal(run_dir)
    assert run_state(run_dir) == "running"
    with pytest.raises(ResultsError, match=r"no run in .* was interrupted, and a goes on") as raised:
        last_interrupted(tmp_path)
    assert raised.value.hint == f"follow it: bench watch {run_dir}"
    journal.close()
    assert run_state(run_dir) == "interrupted"


def test_without_a_name_no_other_run_is_stopped_than_the_one_that_is_meant(tmp_path: Path) -> None:
    a_run(tmp_path, "left-before", at=T0, end=None)
    journal = Journal(a_run(tmp_path, "healthy", at=T0 + 1, end=None))
    assert last_unended(tmp_path) == tmp_path / "healthy"
    a_run(tmp_path, "left", at=T0 + 2, end=None)
    shown = r"could be meant: healthy \(goes on\), left \(left by its controller\)"
    with pytest.raises(ResultsError, match=shown) as raised:
        last_unended(tmp_path)
    assert raised.value.hint == "name the run"
    journal.close()
    assert last_unended(tmp_path) == tmp_path / "left"
    going = [Journal(tmp_path / name) for name in ("healthy", "left-before")]
    with pytest.raises(ResultsError, match=r"left-before \(goes on\), healthy \(goes on\)"):
        last_unended(tmp_path)
    for each in going:
        each.close()


def test_a_run_whose_brief_is_being_made_is_the_one_that_goes_on(tmp_path: Path) -> None:
    a_run(tmp_path, "left", at=T0, end=None)
    run_dir = a_run(tmp_path, "rendering", at=T0 + 1)
    a_run(tmp_path, "ended", at=T0 + 2)
    assert last_unended(tmp_path) == tmp_path / "left"
    assert not summarise(run_dir).making_brief
    (run_dir / IDENTITY).write_bytes(new_identity(run_dir))
    with (run_dir / IDENTITY).open("r+") as identity:
        assert wait_for_lock(identity.fileno(), run_dir / IDENTITY)
        assert last_unended(tmp_path) == run_dir
        status = summarise(run_dir)
        assert (status.status, status.making_brief) == ("done", True)
        journal = Journal(tmp_path / "left")
        with pytest.raises(ResultsError, match=r"left \(goes on\), rendering \(its brief is being made\)"):
            last_unended(tmp_path)
        journal.close()
    assert last_unended(tmp_path) == tmp_path / "left"


def test_a_torn_last_line_does_not_hide_how_the_run_ended(tmp_path: Path) -> None:
    run_dir = a_run(tmp_path, "a", end="done")
    with (run_dir / "journal.jsonl").open("a") as file:
        file.write('{"at": 1')
    assert run_state(run_dir) == "done"


def test_a_run_resumed_after_its_end_is_interrupted_until_it_ends_again(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "a", a_plan([cell]))
    run.end("interrupted")
    run.now += 1000  # nobody at work
    run.write(started_again(run))
    run.now += 5
    run.start(cell)
    assert run_state(run.run_dir) == "interrupted"
    status = summarise(run.run_dir)
    assert status.elapsed_s == 5.0
    assert (status.cells[0].status, status.cells[0].reason) == ("interrupted", "attempt 1 was interrupted")
    run.end("interrupted")
    (verdict,) = read_evidence(run.run_dir).verdicts
    assert verdict.reason == "attempt 1 was interrupted", "as the run has ended, it does not go on"
    run.write(started_again(run))
    run.now += 5
    run.ended(cell, 1, "ok", ops_per_s=3.0)
    run.end("done")
    assert summarise(run.run_dir).elapsed_s == 10.0
    assert run_state(run.run_dir) == "done"


def started_again(run: RunMaker) -> j.RunStarted:
    return j.RunStarted(
        at=run.now,
        run_id=run.run_dir.name,
        plan_sha256="0" * 64,
        benchbrief="0.1.0",
        spec="brief.bench",
        profile=None,
        controller_pid=1,
        resumed=True,
    )


def test_a_running_run_is_shown_cell_by_cell_with_the_time_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [a_cell(threads=t) for t in (1, 2, 3, 4)]
    run = RunMaker(tmp_path / "a", a_plan(cells))
    run.ok(cells[0], {"load-1": READ})  # took 12 s, planned 10 s
    run.failed(cells[1], "the server went away")
    run.start(cells[2])
    monkeypatch.setattr("time.time", lambda: run.now + 4)
    journal = Journal(run.run_dir)
    status = summarise(run.run_dir)
    journal.close()
    assert (status.status, status.done, status.failed, status.total) == ("running", 1, 1, 4)
    assert [(c.status, c.step, c.ops_per_s, c.reason, c.seconds) for c in status.cells] == [
        ("ok", None, 10.0, None, 12.0),
        ("failed", None, None, "the server went away", 3.0),
        ("running", "measure", None, None, 4.0),
        ("waiting", None, None, None, None),
    ]
    assert status.elapsed_s == 12 + 3 + 4
    # Planned 10 s each, a fifth slower so far: 12 s less the 4 s gone, and 12 s.
    assert status.remaining_s == pytest.approx(12 - 4 + 12)
    assert json.loads(json.dumps(dataclasses.asdict(status)))["cells"][1]["origin"] == "brief.bench:7:3"


def test_a_quick_load_does_not_shorten_the_estimate_of_measurements() -> None:
    def planned(threads: int, load_s: float) -> p.Cell:
        steps = (
            p.Step(kind="load", seconds=load_s, timeout_s=9999.0, reset="load"),
            p.Step(kind="measure", seconds=100.0, timeout_s=9999.0),
        )
        return a_cell(threads=threads).model_copy(update={"steps": steps})

    cells = [planned(1, 1000.0), planned(2, 0.0), planned(3, 1000.0)]
    pace = Pace()
    pace.note(cells[0], "load", 10.0)
    pace.note(cells[0], "measure", 110.0)
    states: list[tuple[p.Cell, CellState, float | None]] = [
        (cells[0], "ok", 120.0),
        (cells[1], "waiting", None),
        (cells[2], "waiting", None),
    ]
    assert remaining_s(states, pace) == pytest.approx(110 + (10 + 110))
    pace.begin(cells[1].id)
    pace.note(cells[1], "load", 0.0)
    pace.note(cells[1], "measure", 110.0)
    # A tenth more than its steps: what lies between them.
    assert remaining_s([*states[:1], (cells[1], "ok", 143.0), states[2]], pace) == pytest.approx(120 * 263 / 230)


def test_cells_on_different_hosts_are_expected_side_by_side(tmp_path: Path) -> None:
    cells = [a_cell(hardware=h, threads=t, load_hosts=(f"load-{h}",)) for h in ("a", "b") for t in (1, 2)]
    run = RunMaker(tmp_path / "a", a_plan(cells))
    assert summarise(run.run_dir).remaining_s == 20.0


@pytest.mark.parametrize(
    ("more", "seconds"),
    [({}, 320.0), ({"shares": ("switch r4",)}, 640.0), ({"turn": "ramp"}, 440.0)],
)
def test_shared_equipment_and_turns_of_groups_count_in_the_time_left(more: dict[str, object], seconds: float) -> None:
    steps = (
        p.Step(kind="load", seconds=50.0, timeout_s=9999.0),
        p.Step(kind="warm_up", seconds=10.0, timeout_s=9999.0),
        p.Step(kind="measure", seconds=100.0, timeout_s=9999.0),
    )
    cells = [
        a_cell(hardware=h, threads=t, load_hosts=(f"load-{h}",)).model_copy(update={"steps": steps, **more})
        for h in ("a", "b")
        for t in (1, 2)
    ]
    assert remaining_s([(cell, "waiting", None) for cell in cells], Pace()) == seconds
    # Of a cell that is running, no more is left than its last steps.
    running: list[tuple[p.Cell, CellState, float | None]] = [(cells[0], "running", 150.0)]
    rest = remaining_s([*running, *((cell, "waiting", None) for cell in cells[1:])], Pace())
    assert rest == {320.0: 320.0, 640.0: 490.0, 440.0: 340.0}[seconds]
    # A budget ends each lane.
    plan = a_plan(cells)
    ramp = plan.experiments["ramp"].model_copy(update={"budget_s": 300.0})
    plan = plan.model_copy(update={"experiments": {"ramp": ramp}})
    assert remaining_s([(cell, "waiting", None) for cell in cells], Pace(), plan) == 300.0


def test_a_finished_run_has_nothing_left(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "a", a_plan([cell]))
    run.ok(cell, {"load-1": READ})
    run.end("done", "1 cells")
    status = summarise(run.run_dir)
    assert (status.status, status.message, status.remaining_s, status.elapsed_s) == ("done", "1 cells", None, 12.0)


def test_a_run_that_never_began_is_shown_as_waiting(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "a", a_plan([a_cell()]))
    (run.run_dir / "journal.jsonl").unlink()
    status = summarise(run.run_dir)
    assert (status.status, status.elapsed_s, status.cells[0].status) == ("interrupted", 0.0, "waiting")
    assert list_runs(tmp_path) == [tmp_path / "a"]


def set_clock(monkeypatch: pytest.MonkeyPatch, by_s: float) -> None:
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + by_s)


def running_since(run: RunMaker, seconds: float) -> j.RunStarted:
    at, up = controller_clock.now() - seconds, controller_clock.since_boot() - seconds
    known = {"at": at, "boot": controller_clock.this_boot(), "since_boot": up}
    return started_again(run).model_copy(update=known)


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_a_clock_that_is_set_does_not_change_how_long_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float
) -> None:
    run = RunMaker(tmp_path / "a", a_plan([a_cell()]), now=controller_clock.now() - 100)
    run.write(running_since(run, 20))
    set_clock(monkeypatch, step)
    journal = Journal(run.run_dir)
    try:
        status = summarise(run.run_dir)
    finally:
        journal.close()
    assert status.status == "running"
    assert 20 <= status.elapsed_s < 60


def test_a_start_of_another_boot_goes_by_the_clock(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "a", a_plan([a_cell()]))
    start = running_since(run, 20)
    assert controller_clock.now_in_run(start) == pytest.approx(controller_clock.now(), abs=1)
    elsewhere = start.model_copy(update={"boot": "another", "since_boot": 0.0})
    for each in (elsewhere, start.model_copy(update={"boot": "", "since_boot": None}), None):
        assert controller_clock.now_in_run(each) == pytest.approx(time.time(), abs=1)


def test_a_follower_waits_for_the_brief_of_a_run_whose_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunMaker(tmp_path / "a", a_plan([a_cell()]), now=controller_clock.now() - 100)
    set_clock(monkeypatch, -5)
    with Monitor(run.run_dir) as monitor:
        monitor.begin()
        run.write(running_since(run, 20))
        run.write(j.RunEnded(at=controller_clock.now(), status="done", message=""))
        monitor.enter("reports")
        follower = Follower(run.run_dir)
        found = follower.look()
        assert (found.phase, found.code) == ("reports", None)
        monitor.ended(4)
    found = follower.look()
    assert (found.phase, found.code) == ("ended", 4)


def test_the_time_left_ends_with_the_budgets_of_the_experiments_and_of_the_run() -> None:
    def planned(experiment: str, repeat: int) -> p.Cell:
        cell = a_cell(repeat=repeat)
        steps = (p.Step(kind="measure", seconds=100.0, timeout_s=9999.0),)
        return cell.model_copy(update={"id": f"{experiment}{repeat}", "experiment": experiment, "steps": steps})

    cells = [planned("ramp", number) for number in range(1, 7)] + [planned("plain", 1)]
    plan = a_plan(cells)
    ramp = plan.experiments["ramp"].model_copy(update={"repeats": 6, "budget_s": 350.0})
    plain = plan.experiments["ramp"].model_copy(update={"name": "plain"})
    plan = plan.model_copy(update={"experiments": {"ramp": ramp, "plain": plain}})
    states: list[tuple[p.Cell, CellState, float | None]] = [
        (cells[0], "ok", 100.0),
        (cells[1], "running", 40.0),
        *((cell, "waiting", None) for cell in cells[2:]),
    ]
    assert remaining_s(states, Pace()) == pytest.approx(60 + 4 * 100 + 100)
    assert remaining_s(states, Pace(), plan) == pytest.approx(350 - 140 + 100)
    assert remaining_s(states, Pace(), plan, {cells[0].id}) == pytest.approx(350 - 40 + 100)
    whole = plan.model_copy(update={"budget_s": 200.0})
    assert remaining_s(states, Pace(), whole) == pytest.approx(200 - 140)


def test_cells_without_room_in_the_budget_are_counted_apart_from_those_not_needed(tmp_path: Path) -> None:
    cells = [a_cell(threads=threads, repeat=repeat) for threads in (1, 2) for repeat in (1, 2, 3)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(cells[0], {"load-1": measurement([Operation("read", 100)])})
    rooms: tuple[j.NoRoom, ...] = ("", "repeat", "point", "repeat", "repeat")
    for cell, room in zip(cells[1:], rooms, strict=True):
        run.write(j.CellSkipped(at=T0, cell=cell.id, hash=cell.hash, reason="why", no_room=room))
    run.end("failed")
    shown = summarise(run.run_dir)
    assert (shown.done, shown.failed, shown.no_room, shown.skipped, shown.unrepeated) == (1, 0, 1, 4, 3)
    assert [cell.status for cell in shown.cells] == ["ok", "skipped", "skipped", "no_room", "skipped", "skipped"]
    evidence = read_evidence(run.run_dir)
    view = LiveRun(evidence.plan)
    for record in evidence.records:
        view.apply(record)
    assert view.finished == 6
    assert (view.counts["no_room"], view.counts["skipped"]) == (1, 4)
    with open_store(run.run_dir) as store:
        rows = store.sql("SELECT status, reason FROM cells ORDER BY cell_id").rows
    assert rows.count(("missing", "why")) == 1
    assert rows.count(("skipped", "why")) == 4
