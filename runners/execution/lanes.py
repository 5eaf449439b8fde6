"""Lanes: which cells run in parallel, and how the cells of one lane run.

Cells that share a host or equipment, directly or through others, form a lane. A lane's cells run one after another in
the plan's order, and lanes run in parallel. A failed cell does not stop the others, except in a search, which needs
each of its cells, or when its experiment says so. A cell that takes a number from a search waits for that search, even
in another lane. Searches come first in the plan, so two lanes never wait for each other."""

from __future__ import annotations

import hashlib
import json
import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Literal

from benchbrief.model import events as j
from benchbrief.model.achieved_load import load_of
from benchbrief.model.budgets import chooses, is_budgeted
from benchbrief.model.cell_history import Left
from benchbrief.model.measurement import Measurement
from benchbrief.model.plan import Cell, Experiment
from benchbrief.model.run_messages import say
from benchbrief.model.text import Text, figure, joined, share_figure
from benchbrief.runners.checks.unsupported import meters_of
from benchbrief.runners.errors import HostError, HostFull, Interrupted, NotKept, RunnerError, TeardownFailed
from benchbrief.runners.execution.attempt import Attempt, NotWhole
from benchbrief.runners.execution.cell_run import CellRun, started_event
from benchbrief.runners.execution.run_state import RunState, one_line
from benchbrief.runners.execution.takeover import end_jobs, note_resumed
from benchbrief.runners.hosts.facts.declared_facts import find_contradictions
from benchbrief.runners.hosts.fan_out import look_at_each
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import cell_directory, server_directory
from benchbrief.runners.journal.secret_masking import hide
from benchbrief.runners.measurement.steady_verdicts import measuring_ended
from benchbrief.runners.scheduling.knee_search import latency_of
from benchbrief.runners.scheduling.promise_search import refused
from benchbrief.runners.seams import Engine, OutlivesController, ShapesData
from benchbrief.runners.world_seams import OpenHosts


def off_schedule(cell: Cell, measurement: Measurement, experiment: Experiment | None = None) -> str:
    """Return a sentence for a cell that fell behind its offered load or caught up; "" for one on time, or without
    one.

    A load generator with a fixed number of threads falls behind when it waits for replies. From then on it is a
    closed loop, and only intended latency counts that wait. One that was behind when its measurement began catches
    up: it sends more than was offered, as fast as it can.
    """
    if cell.target is None:
        return ""
    total = measurement.total
    done = total.count + total.errors
    load = load_of(total.ops_per_s, done, measurement.due, total.seconds, cell.target, experiment)
    if not load.is_short and not load.is_ahead:
        return ""
    intended = any(operation.kind == "intended" for operation in measurement.operations)
    late = say.behind_intended if intended else say.behind_closed
    what = (say.caught_up if load.is_ahead else late)(
        achieved=figure(load.achieved, ",.0f"), offered=figure(load.offered, ",.0f"), share=share_figure(load.share)
    )
    return say.in_cell(cell=cell.id, what=what)


class Equipment:
    """One lane's engine and tools."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._engine: Engine | None = None
        self._engine_of = ""
        self._tools: dict[tuple[str, str, str | None], str] = {}
        self._builds: dict[tuple[str, str], str] = {}
        """What is known of each load generator's build, by host and path."""
        self._disclosed: dict[str, str] = {}
        """What shapes the data of the current engine, as last disclosed."""

    def engine(self, cell: Cell, before: bool = False) -> Engine:
        """Return the cell's engine. Stops the lane's other engine first: two servers on one host disturb each
        other.

        `before`: an earlier controller started and disclosed the engine, and a measurement there must not be
        disturbed.
        """
        if self._engine is None or self._engine_of != cell.database:
            self.stop_engine()
            engine = self._new_engine(cell)
            if before and isinstance(engine, OutlivesController):
                engine.take_over()
            try:
                engine.start()
                if not before:
                    self._disclose(cell, engine)
            except BaseException:
                with suppress(RunnerError):
                    engine.stop()
                raise
            # Not earlier: an engine that is set here has been disclosed in the journal.
            self._engine, self._engine_of = engine, cell.database
        return self._engine

    def with_data_set(self, cell: Cell) -> Cell:
        """Return the cell with its data set as a load on these hosts makes it.

        The plan knows only what the spec says of the data set. The load generator's build, contents of files and
        facts
        from the engine also shape its bytes. A data set that was loaded under other conditions is another data set.
        """
        if cell.dataset is None:
            return cell
        engine = self.engine(cell)
        shaping = engine.shaping() if isinstance(engine, ShapesData) else {}
        if shaping != self._disclosed:  # for example, a script changed after the previous cell began
            self._disclose(cell, engine)
        host_id = cell.load_hosts[0]
        build = self._builds[host_id, self.tool(host_id, cell)]
        content = json.dumps([cell.dataset.hash, build, shaping], sort_keys=True)
        known = cell.dataset.model_copy(update={"hash": hashlib.sha256(content.encode()).hexdigest()})
        return cell.model_copy(update={"dataset": known})

    def _disclose(self, cell: Cell, engine: Engine) -> None:
        self._disclosed = engine.shaping() if isinstance(engine, ShapesData) else {}
        facts = {name: hide(text) for name, text in engine.describe().items()}
        known = j.EngineFacts(at=now(), database=cell.database, facts=facts, sha256=engine.build())
        self._run.journal.write(known)

    def _new_engine(self, cell: Cell) -> Engine:
        plan = self._run.plan
        database = plan.databases[cell.database]
        engine = self._run.world.engine(plan, database, plan.hardware[cell.hardware], self._hosts)
        engine.keep = self._run.run_dir / server_directory(cell.database)
        engine.stopping = self._run.stopping
        return engine

    def stop_engine(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            try:
                engine.stop()
            except TeardownFailed as error:
                text = one_line(error)
                self._run.journal.write(j.Remark(at=now(), severity="warning", text=text))
            except RunnerError:
                pass  # the server may be gone already, and then this is why the cell failed

    def tool(self, host_id: str, cell: Cell, before: bool = False) -> str:
        """Return the tool's path for this cell. `before`: where an earlier controller found it, if its journal is
        clear."""
        known = self._run.tools_before.get((host_id, cell.tool.driver), set())
        if before and len(known) == 1:
            return next(iter(known))
        key = (host_id, cell.tool.driver, cell.tool.path)
        if key not in self._tools:
            world, at = self._run.world, self._hosts[host_id]
            found = self._run.tools.get(key) or world.tool(at, world.driver(cell.tool.driver), cell.tool.path)
            self._tools[key] = found.path
            build = world.digest(at, found.path)
            self._builds[host_id, found.path] = build or found.version
            self._run.journal.write(
                j.ToolFound(
                    at=now(),
                    host=host_id,
                    driver=cell.tool.driver,
                    path=found.path,
                    version=found.version,
                    sha256=build,
                )
            )
        return self._tools[key]


_LOOK_EVERY_S = 3.0
_LOOK_AGAIN_S = 60.0
"""How long, in seconds, cells fail without another look at a host that nobody waits for any more."""
_PATIENCE_S = 600.0
"""In seconds, for an experiment that does not say how long its jobs may run alone. Same as in `tasks.Job`."""


@dataclass(frozen=True)
class PutOff:
    """The next attempt at a cell, and the `last` one that it may have. `before` says how the previous one ended."""

    cell: Cell
    attempt: int
    last: int
    before: str = ""


class LostHosts:
    """The hosts that a lane has lost. `have_back` brings a host that answers again to its state at the start.

    `have_back` raises HostError or HostFull.
    """

    def __init__(self, run: RunState, hosts: OpenHosts, have_back: Callable[[str], None]) -> None:
        self._run = run
        self._hosts = hosts
        self._have_back = have_back
        self.put_off: list[PutOff] = []
        self._lost: dict[str, RunnerError] = {}
        self._never_seen: set[str] = set()
        self._until: dict[str, float] = {}
        """When the wait for each host ends, by the monotonic clock."""
        self._looked: dict[str, float] = {}
        """When each host was last found to be away, by the monotonic clock."""
        self._given_up: set[str] = set()
        """Hosts whose wait is over, as the journal says."""

    def lose(self, host_id: str, error: RunnerError) -> None:
        """Mark a host as lost from the start: it can't be reached, or has no room even to be observed."""
        self._lost[host_id] = error
        self._never_seen.add(host_id)
        self._looked[host_id] = time.monotonic()

    def note(self, cell: Cell, error: HostError) -> None:
        """Mark those hosts of the cell as lost that can't be reached now, after the cell failed for a host."""
        for host_id in cell.locks:
            if not self._is_lately_away(host_id) and not self._is_reachable(host_id):
                self._lost[host_id] = error

    def of(self, cell: Cell) -> list[str]:
        """Return the lost hosts that the cell needs."""
        return [host_id for host_id in cell.locks if host_id in self._lost]

    def for_good(self, cell: Cell) -> bool:
        """Return whether one of the cell's hosts will not come back by itself: it refuses us, or has no room."""
        errors = [self._lost[host_id] for host_id in self.of(cell)]
        return any(not isinstance(error, HostError) or error.lasting for error in errors)

    def may_return(self, cell: Cell, *, retried: bool) -> bool:
        """Return whether the cell needs lost hosts, and the wait for them is not over.

        Only cells that are `retried` wait for a host that could not be reached at the start.
        """
        lost = self.of(cell)
        if not lost or self.for_good(cell) or not (retried or self._never_seen.isdisjoint(lost)):
            return False
        return not any(map(self._is_past, lost))

    def refuse(self, cell: Cell) -> None:
        """Bring the cell's hosts back. Raises HostError or HostFull for one that is still away, or can't be used."""
        for host_id in self.of(cell):
            if self._is_lately_away(host_id) or not self._is_reachable(host_id):
                raise self._lost[host_id]
            try:
                self._have_back(host_id)
            except (HostError, HostFull) as error:
                self._lost[host_id] = error
                raise
            del self._lost[host_id]
            self._never_seen.discard(host_id)
            self._given_up.discard(host_id)
            self._until.pop(host_id, None)

    def wait_for_each(self) -> Iterator[PutOff]:
        """Yield what was put off, each when its hosts answer again or the wait for them is over. Ends with the run."""
        while self.put_off and (cell := self.wait([each.cell for each in self.put_off])) is not None:
            found = next(each for each in self.put_off if each.cell is cell)
            self.put_off.remove(found)
            yield found

    def wait(self, cells: Sequence[Cell]) -> Cell | None:
        """Wait for a cell whose hosts answer again or whose wait is over, and return the first. None: the run must
        end."""
        while not self._run.ending.is_set():
            for cell in cells:
                if self._is_over(cell) or all(map(self._is_reachable, self.of(cell))):
                    return cell
            away = list(dict.fromkeys(host_id for cell in cells for host_id in self.of(cell)))
            with self._run.monitor.waiting(f"{', '.join(away)} can't be reached, and is tried again"):
                if self._run.world.pause(_LOOK_EVERY_S, self._run.ending):
                    break
        return None

    def _is_reachable(self, host_id: str) -> bool:
        if self._hosts.reachable(host_id):
            self._looked.pop(host_id, None)
            return True
        self._looked[host_id] = time.monotonic()
        return False

    def _is_lately_away(self, host_id: str) -> bool:
        return time.monotonic() - self._looked.get(host_id, -math.inf) < _LOOK_AGAIN_S

    def _is_past(self, host_id: str) -> bool:
        return time.monotonic() > self._until.get(host_id, math.inf)

    def _is_over(self, cell: Cell) -> bool:
        """Return whether the wait for a host of the cell is over. Begins the wait for newly lost hosts."""
        patience_s = self._run.plan.experiments[cell.experiment].unattended_s or _PATIENCE_S
        for host_id in self.of(cell):
            if host_id not in self._until:
                self._until[host_id] = time.monotonic() + patience_s
                self._say(say.host_away(host=host_id, seconds=figure(patience_s, "g")))
        over = [host_id for host_id in self.of(cell) if self._is_past(host_id)]
        for host_id in over:
            if host_id not in self._given_up:
                self._given_up.add(host_id)
                self._say(say.host_not_back(host=host_id))
        return bool(over)

    def _say(self, text: Text) -> None:
        self._run.journal.write(j.Remark(at=now(), severity="info", text=text))


_LONG_S = 5.0
"""Hosts are checked for other load before a lane's first cell and before cells that measure this long, in seconds."""


class Lane:
    """One lane: its equipment, its lost hosts, and the cells to try again when those hosts are back."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._equipment = Equipment(run, hosts)
        self._lost = LostHosts(run, hosts, self._have_back)
        self._cells: Sequence[Cell] = ()
        self._load_checked = False
        self._warm: tuple[Cell, int] | None = None
        """The last cell that ran, with its attempt. It must cool down before the next one."""

    def observe(self, cells: Sequence[Cell]) -> None:
        """Collect the facts of each host of the lane, and report where they contradict the spec."""
        self._cells = cells
        for host_id, found in look_at_each((host for cell in cells for host in cell.locks), self._claim_and_look):
            if isinstance(found, NotKept):
                raise found
            if isinstance(found, RunnerError):
                self._lost.lose(host_id, found)
                continue
            self._disclose(host_id, found)

    def _claim_and_look(self, host_id: str) -> dict[str, str]:
        self._claim(host_id)
        return self._look(host_id)

    def _look(self, host_id: str) -> dict[str, str]:
        databases = self._run.plan.databases
        paths = dict.fromkeys(
            path for cell in self._cells if host_id in cell.locks and (path := databases[cell.database].path)
        )
        host = self._run.plan.hosts[host_id]
        given = {"node": host.name} if host.asked and not host.is_open else {}
        return self._run.world.facts(self._hosts[host_id], list(paths)) | given

    def _disclose(self, host_id: str, found: dict[str, str]) -> None:
        self._run.journal.write(j.HostFacts(at=now(), host=host_id, facts=found))
        for key in dict.fromkeys(cell.hardware for cell in self._cells):
            hardware = self._run.plan.hardware[key]
            if host_id in hardware.hosts:
                for text in find_contradictions(hardware, found):
                    self.remark("warning", say.at(group=hardware.label, host=host_id, what=text), str(hardware.origin))

    def _claim(self, host_id: str) -> None:
        """Claim a host for the run before anything is done there, unless it is claimed. Raises RunnerError."""
        said = self._hosts[host_id].claim()
        with self._run.lock:
            if host_id not in self._run.claimed:
                self._run.claimed.append(host_id)
        if said:
            self.remark("info", said)

    def remark(
        self, severity: Literal["info", "warning"], text: str, origin: str = "", cell: str | None = None
    ) -> None:
        self._run.journal.write(j.Remark(at=now(), severity=severity, text=text, origin=origin, cell=cell))

    def run_cell(self, cell: Cell, left: Left | None = None) -> None:
        """Run a cell, with as many attempts as its experiment allows. Skips it when it is not needed.

        First waits for the searches that the cell takes numbers from. With `left`, resumes that attempt first.
        Raises NotWhole when that attempt can't be resumed.
        """
        run = self._run
        if left is None and (reason := run.not_needed(cell)):
            self._skip(cell, reason, run.budgets.no_room(cell))
            return
        attempt = left.attempt if left else run.attempts.get(cell.id, 0) + 1
        last = attempt + run.plan.experiments[cell.experiment].retries
        try:
            with run.workers.waiting() if run.searches.awaits(cell) else nullcontext():
                known = run.searches.resolved(cell, run.ending)
        except RunnerError as error:
            if left is not None:
                raise NotWhole(str(error)) from error
            run.begin(cell)
            run.journal.write(started_event(cell, attempt))
            self._failed(cell, attempt, error)
            return
        if known is not None:
            self._try(PutOff(known, attempt, last), left)

    def try_later(self) -> None:
        """Try cells again whose hosts were away, each when its hosts are back or the wait for them has timed out."""
        for later in self._lost.wait_for_each():
            if not later.before and (reason := self._run.not_needed(later.cell)):
                self._skip(later.cell, reason, self._run.budgets.no_room(later.cell))
            else:
                self._try(later, waited=True)

    def _try(self, what: PutOff, left: Left | None = None, *, waited: bool = False) -> None:
        """Attempt a cell until an attempt is good, is the last one, or needs hosts that have to come back first.

        `waited`: the wait for its hosts has ended.
        """
        run, known, attempt, last, before = self._run, what.cell, what.attempt, what.last, what.before
        if left is None and (untried := run.why_not_tried(known)):
            run.begin(known)
            run.journal.write(started_event(known, attempt))
            self._failed(known, attempt, untried)
            return
        if left is None and not waited and self._is_put_off(what):
            return
        while left is not None or self._cooled():
            run.begin(known)
            if left is None:
                run.journal.write(started_event(known, attempt))
            else:
                note_resumed(run, known, left)
            if before:
                self.remark("warning", say.of_cell(cell=known.id, what=before), cell=known.id)
            problem = self._attempt(known, attempt, left)
            left = None
            if problem is None:
                return
            self._take_note(known, problem)
            if problem.is_tried_once_more and last == what.last:
                last += 1
            again = attempt < last and self._may_go_well(known, problem) and not run.ending.is_set()
            self._failed(known, attempt, problem, again=again)
            if not again:
                return
            before = say.tried_again(n=attempt, said=one_line(problem))
            attempt += 1
            if self._is_put_off(PutOff(known, attempt, what.last, before)):
                return

    def _is_put_off(self, what: PutOff) -> bool:
        """Put off a cell whose lost hosts may return, or wait for them now. Returns whether it can't be tried now."""
        if not self._lost.may_return(what.cell, retried=bool(what.before)):
            return False
        if self._is_waited_for(what.cell):
            return self._lost.wait([what.cell]) is None
        self._lost.put_off.append(what)
        return True

    def _is_waited_for(self, cell: Cell) -> bool:
        """Return whether later cells depend on this one: points that are chosen, or repeats that end by themselves."""
        experiment = self._run.plan.experiments[cell.experiment]
        return chooses(experiment) or experiment.confident is not None or is_budgeted(self._run.plan, experiment)

    def go_on(self, cell: Cell, left: Left) -> bool:
        """Resume an attempt that an earlier controller left. Returns False when it must run again instead."""
        try:
            self.run_cell(cell, left)
        except NotWhole as reason:
            end_jobs(self._run, self._hosts, cell, left)
            self.remark("info", say.run_again(n=left.attempt, cell=cell.id, said=reason))
            return False
        finally:
            self._run.turns.give_up(cell)
        self._run.taken_over(cell)
        return True

    def _skip(self, cell: Cell, reason: str, no_room: j.NoRoom) -> None:
        run = self._run
        run.begin(cell)
        run.journal.write(j.CellSkipped(at=now(), cell=cell.id, hash=cell.hash, reason=reason, no_room=no_room))
        run.repeats.skipped(cell)
        run.searches.skipped(cell)
        run.left_out(cell, reason, no_room)

    def remember_warm(self, cells: Sequence[Cell]) -> None:
        """Let the last cell of an earlier controller on these hosts cool down, if it has not."""
        hosts = {host for cell in cells for host in cell.locks}
        planned = {cell.id: cell for cell in self._run.plan.cells}
        for cell_id, attempt in self._run.warm.items():
            if (cell := planned.get(cell_id)) is not None and hosts.intersection(cell.locks):
                self._warm = cell, attempt

    def _cooled(self) -> bool:
        """Let the previous cell cool down. Returns False when the run ends meanwhile."""
        run = self._run
        (cell, attempt), self._warm = self._warm or (None, 0), None
        if cell is None or (step := next((step for step in cell.steps if step.kind == "cool_down"), None)) is None:
            return True
        named = {"cell": cell.id, "attempt": attempt, "step": step.kind}
        run.journal.write(j.StepStarted.model_validate({"at": now(), "seconds": step.seconds, **named}))
        began = time.monotonic()
        if run.world.pause(step.seconds, run.ending):
            return False
        taken = time.monotonic() - began
        run.journal.write(j.StepEnded.model_validate({"at": now(), "seconds": taken, **named}))
        return True

    def _attempt(self, cell: Cell, attempt: int, left: Left | None) -> RunnerError | None:
        """Make one attempt, up to a good verdict. Returns a failed one's error; an interrupted one has no verdict.
        Raises NotWhole when the attempt in `left` can't be resumed."""
        run = self._run
        try:
            with self._kept_evidence(cell, attempt):
                if left is None:
                    run.searches.refuse_undecided(cell)
                    self._lost.refuse(cell)
                    # Claim again: if this controller was cut off for long, another run may have taken its hosts.
                    for host_id in cell.locks:
                        self._claim(host_id)
                    self._refuse_silent_meters(cell)
                    self._report_other_load(cell)
                self._warm = cell, attempt
                measurement = CellRun(
                    attempt=Attempt(
                        plan=run.plan,
                        cell=cell,
                        number=attempt,
                        run_dir=run.run_dir,
                        journal=run.journal,
                        hosts=self._hosts,
                        world=run.world,
                        stopping=run.stopping,
                        monitor=run.monitor,
                        left=left,
                        turns=run.turns,
                    ),
                    engine=lambda: self._equipment.engine(cell, before=left is not None),
                    with_data_set=self._equipment.with_data_set,
                    driver=run.world.driver(cell.tool.driver),
                    tool_path=lambda host: self._equipment.tool(host, cell, before=left is not None),
                ).run()
        except Interrupted:
            return None
        except NotKept:
            raise
        except RunnerError as error:
            return error
        run.first_failures.good(cell)
        experiment = run.plan.experiments[cell.experiment]
        if measurement.steady and experiment.until_steady and not (left and left.ended):
            run.journal.write(measuring_ended(cell, attempt, experiment.until_steady, measurement.steady))
        for text in measurement.warnings:
            if left is None or text not in left.said:
                self.remark("warning", text, cell=cell.id)
        if (text := off_schedule(cell, measurement, experiment)) and (left is None or text not in left.said):
            self.remark("info", text, cell=cell.id)
        criterion, rate = run.searches.criterion(cell), measurement.total.ops_per_s
        latency_s = latency_of(measurement, criterion.latency) if criterion else None
        asked = run.budgets.asked_values(cell, measurement) | run.promises.values(cell, measurement)
        self._ended(cell, attempt, ops_per_s=rate, latency_s=latency_s, asked=asked)
        return None

    def _ended(
        self,
        cell: Cell,
        attempt: int,
        *,
        ops_per_s: float | None = None,
        latency_s: float | None = None,
        asked: Mapping[str, float] | None = None,
        failed: RunnerError | None = None,
        retried: bool = False,
    ) -> None:
        """Record the verdict on an attempt: what it measured, or why it `failed`."""
        verdict = j.CellEnded(
            at=now(),
            cell=cell.id,
            hash=cell.hash,
            attempt=attempt,
            status="failed" if failed else "ok",
            reason=one_line(failed) if failed else "",
            origin=str(cell.origin) if failed else "",
            ops_per_s=ops_per_s,
            latency_s=latency_s,
            asked=dict(asked or {}),
            retried=retried,
            by_plan=bool(failed and failed.by_plan),
            by_host=bool(failed and failed.by_host),
            refused=failed.refused_by if failed else "",
        )
        self._run.journal.write(verdict)
        if not verdict.retried:
            with self._run.lock:
                self._run.judged.add(cell.id)
            self._run.repeats.ended(cell, verdict)
            self._run.searches.ended(cell, verdict)

    @contextmanager
    def _kept_evidence(self, cell: Cell, attempt: int) -> Iterator[None]:
        """Turn an internal error into a failed cell with one line, and keep the traceback beside its raw output."""
        try:
            yield
        except (RunnerError, Interrupted, NotWhole):
            raise
        except Exception as error:
            path = self._run.run_dir / cell_directory(cell.id, attempt) / "internal-error.txt"
            write_durably(path, hide(traceback.format_exc()).encode(errors="backslashreplace"))
            raise RunnerError(say.internal_error(said=repr(error)), say.hint_report(path=path)) from error

    def _take_note(self, cell: Cell, error: RunnerError) -> None:
        """Record what a failed attempt lost: hosts, and the engine."""
        if isinstance(error, HostError):
            self._lost.note(cell, error)
        if error.is_server_lost:
            self._equipment.stop_engine()

    def _may_go_well(self, cell: Cell, error: RunnerError) -> bool:
        """Return whether another attempt may succeed: not with a wrong definition, or a host that refuses us.

        A failure that answers its search has done so: another attempt would let the lucky one decide.
        """
        if error.by_plan or self._run.promises.learns_from(cell, error):
            return False
        return error.is_worth_another_attempt and not self._lost.for_good(cell)

    def _failed(self, cell: Cell, attempt: int, error: RunnerError, *, again: bool = False) -> None:
        """Record the verdict on a failed attempt. With `again`, it is not the cell's last one."""
        is_answer = not again and self._run.promises.learns_from(cell, error)
        if not again and not is_answer:
            self._run.fail(cell, error)
        self._ended(cell, attempt, failed=error, retried=again)
        if is_answer:  # the run lacks nothing
            self._skip(cell, refused(error, one_line(error)), "")

    def _refuse_silent_meters(self, cell: Cell) -> None:
        """Raises the error of a silent power meter. Tries the meter first, as it may have been fixed."""
        run, mine = self._run, meters_of(cell)
        if mine.isdisjoint(run.silent_meters):
            return
        silent = run.world.silent_meters(run.plan, [cell], self._hosts)
        with run.lock:
            mended = [meter for meter in mine if run.silent_meters.pop(meter, None) and meter not in silent]
            run.silent_meters.update(silent)
        for _, host_id in mended:
            self.remark("info", say.meter_back(host=host_id))
        for error in silent.values():
            raise error

    def _report_other_load(self, cell: Cell) -> None:
        """Report each host that other load keeps busy, when the check takes little of the cell's time."""
        if self._run.world.simulated or (self._load_checked and cell.measure_s < _LONG_S):
            return
        self._load_checked = True
        for host_id, said in look_at_each(cell.locks, lambda host_id: self._run.world.other_load(self._hosts[host_id])):
            if isinstance(said, str) and said:
                self.remark("warning", say.busy(host=host_id, cell=cell.id, what=said), cell=cell.id)

    def _have_back(self, host_id: str) -> None:
        """Bring a host back to its state at the start: claimed, observed, and without remains of a lost attempt."""
        host = self._hosts[host_id]
        taken_over = host.claim()
        with self._run.lock:
            self._run.claimed.append(host_id)
        self._equipment.stop_engine()
        host.end_leftovers()
        self._disclose(host_id, self._look(host_id))
        self.remark("info", joined((say.reached(host=host_id), taken_over), say.both))

    def close(self) -> None:
        self._equipment.stop_engine()
