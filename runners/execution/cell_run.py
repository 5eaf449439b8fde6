"""Runs the steps of one cell in order. Each step is in the journal before the next one begins.

prepare -> load -> warm up -> measure (with the probes) -> collect

With `overlap = loading`, the cell waits for its turn before the warm-up, and keeps the turn until it is measured.

If the load itself is measured, `prepare` empties the database, and there is no load or warm-up before the measurement.

A cell is good only if its output proves it. Every error on the way is a RunnerError, and fails the cell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import cached_property
from typing import Literal, TypeGuard

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.engine_spec import AFTER_WRITES, is_restored
from benchbrief.model.measurement import Measurement, Together
from benchbrief.model.message import figure
from benchbrief.model.plan import Cell, Database, Plan
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import Left
from benchbrief.runners.driver_contexts import CellContext, Endpoint, loading_hosts
from benchbrief.runners.errors import BadOutput, NotKept, RunnerError, ServerFailed
from benchbrief.runners.execution.attempt import Attempt, NotWhole, StepJob
from benchbrief.runners.execution.cell_events import CellEvents, require_events
from benchbrief.runners.execution.cell_probes import run_probes, server_status
from benchbrief.runners.execution.step_jobs import run_jobs
from benchbrief.runners.hosts.host_clocks import (
    ClockSet,
    Offset,
    clock_step,
    offsets_of,
    read_output,
    require_seconds,
    was_set,
)
from benchbrief.runners.hosts.host_connections import CONTROLLER, is_on_controller
from benchbrief.runners.hosts.quiet_host import MUCH, drop_page_cache
from benchbrief.runners.jobs.commands import as_at_login
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.seams import (
    CountsWriters,
    Driver,
    Engine,
    KnowsChanges,
    KnowsUnchanged,
    KnowsWhy,
    OutlivesController,
    Restores,
    Settles,
    Size,
    TellsSize,
    Undoes,
)
from benchbrief.runners.world.world_seams import ReadsCounters

_AT_ONCE = 16


@contextmanager
def read_clocks(attempt: Attempt) -> Iterator[Mapping[str, Offset]]:
    """Read the clocks of a cell's hosts before and after the block, and write the readings to the journal.

    Yields the offset of each host's clock. The offsets are filled in after the block. A resumed attempt uses the
    readings that were made before its measurement. It leaves out the controller's clock unless something of the cell
    ran on the controller, since the controller may have restarted.
    """
    cell = attempt.cell
    sampled = {host for probe in cell.probes if probe.on == "node" for host in probe.hosts}
    touched = {host for event in cell.events for host in event.hosts}
    hosts = [CONTROLLER.id, *sorted({*cell.load_hosts, *sampled, *touched} - {CONTROLLER.id})]
    if attempt.left is not None and attempt.began("measure") is not None:
        before = dict(attempt.left.clocks)
        if CONTROLLER.id not in {*cell.load_hosts, *sampled} and all(p.on != "controller" for p in cell.probes):
            hosts.remove(CONTROLLER.id)
    else:
        before = _read_all(attempt, hosts, "before")
    offsets: dict[str, Offset] = {}
    try:
        yield offsets
    except BadOutput as error:
        # A clock that was set may be the cause: a tool whose clock was set back ends late.
        after = _read_all(attempt, hosts, "after")
        for host in {*cell.load_hosts} & {*hosts} if not isinstance(error, ClockSet) else ():
            if step := clock_step(before.get(host), after.get(host)):
                raise ClockSet(say.because(why=was_set(host, step), what=error), error.hint) from error
        raise
    after = _read_all(attempt, hosts, "after")
    offsets.update(offsets_of(before, after))
    for host in hosts:
        step = clock_step(before.get(host), after.get(host))
        if step:
            text = say.because(why=was_set(host, step), what=say.samples_by_boot())
            attempt.journal.write(j.Remark(at=now(), severity="warning", text=text, cell=cell.id))


def _read_all(attempt: Attempt, hosts: Iterable[str], when: Literal["before", "after"]) -> dict[str, j.ClockRead]:
    """Read the clocks of all hosts that answer. If a host can't be reached, the cell's jobs will fail later."""
    hosts = tuple(hosts)
    found: dict[str, j.ClockRead] = {}

    def read(host: str) -> None:
        with contextlib.suppress(RunnerError):
            reading = attempt.world.clock(attempt.hosts[host])
            if reading is not None:
                found[host] = j.ClockRead(
                    at=now(),
                    cell=attempt.cell.id,
                    attempt=attempt.number,
                    host=host,
                    when=when,
                    offset_s=reading.offset_s,
                    uncertainty_s=reading.uncertainty_s,
                    booted=reading.booted,
                )

    others = [host for host in hosts if host != CONTROLLER.id]
    read(CONTROLLER.id)
    if len(others) == 1:  # threads would cost more than they save
        read(others[0])
    elif others:
        with ThreadPoolExecutor(min(_AT_ONCE, len(others)), thread_name_prefix="clock") as pool:
            list(pool.map(read, others))
    for host in hosts:
        if host in found:
            attempt.journal.write(found[host])
    return found


def started_event(cell: Cell, attempt: int) -> j.CellStarted:
    """Return the journal record that begins the cell. It contains the numbers that a search has found for the cell so
    far."""
    return j.CellStarted(
        at=now(),
        cell=cell.id,
        hash=cell.hash,
        attempt=attempt,
        threads=cell.threads if cell.threads_from else None,
        target=cell.target if cell.target_from else None,
    )


@dataclass(frozen=True)
class CellRun:
    """One attempt at a cell, with everything that the attempt needs.

    `engine` starts the cell's engine if necessary and returns it. `with_data_set` returns the cell with the identity
    that its data set has on its hosts. `tool_path` returns where the load generator is on a host.
    """

    attempt: Attempt
    engine: Callable[[], Engine]
    with_data_set: Callable[[Cell], Cell]
    driver: Driver
    tool_path: Callable[[str], str]
    events: list[j.EventRan] = field(default_factory=list)

    def run(self) -> Measurement:
        """Run the cell. Raises RunnerError if the cell fails, or Interrupted if the run must stop.

        If an earlier controller left the attempt unfinished, resumes it in the step that it had reached. Raises
        NotWhole if the attempt can't be resumed.
        """
        try:
            return self._run()
        finally:
            self.attempt.await_removals()

    def _run(self) -> Measurement:
        contexts = self._prepared() if self.attempt.left is None else self._taken_over(self.attempt.left)
        if self._cell.dataset and self.attempt.is_due("load"):
            self._load(contexts)
        with self.attempt.turn():
            if self.attempt.is_due("load"):
                self._begin()
            if self.attempt.is_due("warm_up"):
                self._warm_up(contexts)
            if self.attempt.is_due("measure"):
                with self.attempt.step("measure"):
                    outputs, offsets = self._measure(contexts)
            else:
                outputs, offsets = self._kept(self.attempt.left)
        with self.attempt.step("collect"):
            return self._collected(contexts, outputs, offsets)

    def _prepared(self) -> dict[str, CellContext]:
        with self.attempt.step("prepare"):
            self._prepare()
            endpoint = self.engine().start()
            if self._phase_is_load:
                self.engine().reset(self._cell)
            if not self._cell.dataset:
                self._settle()
            return self._contexts(endpoint)

    def _taken_over(self, left: Left) -> dict[str, CellContext]:
        """Return the contexts of a resumed attempt. Raises NotWhole if the server is not the one with which the attempt
        began."""
        if left.current == "collect":
            # No server is needed: this only reads kept outputs again.
            return self._contexts(Endpoint(path=self._database.path))
        try:
            engine = self.engine()
            endpoint = engine.start()
            if isinstance(engine, OutlivesController) and left.step is not None:
                engine.require_running_since(left.step.at)
        except RunnerError as error:
            raise NotWhole(str(error)) from error
        return self._contexts(endpoint)

    def _contexts(self, endpoint: Endpoint) -> dict[str, CellContext]:
        return {
            host: CellContext(self._plan, self._cell, self.tool_path(host), endpoint, host)
            for host in self._cell.load_hosts
        }

    def _collected(
        self, contexts: Mapping[str, CellContext], outputs: Mapping[str, JobOutput], offsets: Mapping[str, Offset]
    ) -> Measurement:
        """Parse and judge the outputs. If the attempt was resumed in this step, the server is not checked, because its
        state since the measurement is unknown."""
        try:
            measured = tuple(
                read_output(self.driver, contexts[host], output, offsets.get(host, Offset()))
                for host, output in outputs.items()
            )
        except BadOutput as error:
            if self.attempt.is_due("measure") and not error.by_plan:
                self._blame_the_server(error)
            raise
        if self.attempt.is_due("measure"):
            self.engine().healthy()
            self._note_size("measured")
            if isinstance(engine := self.engine(), KnowsChanges):
                engine.finish(self._known_cell)
        self._note_other_load(outputs.values())
        whole = Together(measured, self._phase_is_load).measurement()
        require_events(self._cell.events, self.events or (self.attempt.left.events if self.attempt.left else ()), whole)
        return whole

    @property
    def _phase_is_load(self) -> bool:
        return self._plan.workload_of(self._cell).phase == "load"

    @property
    def _plan(self) -> Plan:
        return self.attempt.plan

    @property
    def _cell(self) -> Cell:
        return self.attempt.cell

    def _blame_the_server(self, error: BadOutput) -> None:
        """Raise ServerFailed if the server's death explains the bad output."""
        try:
            self.engine().healthy()
        except ServerFailed as failure:
            raise ServerFailed(say.both(first=failure, then=error), failure.hint) from error
        engine, why = self.engine(), ""
        if isinstance(engine, KnowsWhy):
            with suppress(RunnerError):  # otherwise the reason stays unknown
                why = engine.why_failed()
        if why:
            raise BadOutput(say.because(why=why, what=error), error.hint) from error

    def _prepare(self) -> None:
        hardware = self._plan.hardware[self._cell.hardware]
        timeout_s = self.attempt.step_of("prepare").timeout_s
        if self.attempt.world.simulated:
            return  # nothing to prepare
        for line in hardware.prepare:
            for host_id in hardware.hosts:
                at = self.attempt.hosts[host_id]
                job = Job("prepare", as_at_login(line, is_on_controller(at.host)), timeout_s=timeout_s)
                ran = run_to_end(at, job, self.attempt.stopping)
                if ran.exit_code != 0:
                    in_time = ran.exit_code is not None
                    said = ran.said or say.said_nothing()
                    raise RunnerError(
                        say.prepare_ended(host=host_id, command=line, code=ran.exit_code, said=said)
                        if in_time
                        else say.prepare_late(host=host_id, command=line, seconds=figure(timeout_s, "g"), said=said),
                        say.hint_prepare(hardware=hardware.key, origin=hardware.origin),
                    )

    @cached_property
    def _known_cell(self) -> Cell:
        """Return the cell with the identity of its data set on the cell's hosts. The engine needs this identity."""
        return self.with_data_set(self._cell)

    def _load(self, contexts: Mapping[str, CellContext]) -> None:
        engine = self.engine()
        goes_on = self.attempt.began("load") is not None
        if not goes_on and engine.holds(self._known_cell):
            if not self._is_to_be_restored(engine):
                self.attempt.skip("load", say.dataset_reused())
                self._settle()
                return
            with self.attempt.step("load"):
                self._remark("info", engine.restore(self._known_cell))
                self._settle()
            return
        if not goes_on and isinstance(engine, KnowsChanges) and (why := engine.doubt(self._known_cell)):
            self._remark("warning", why)
        made = {host: self.driver.load(contexts[host]) for host in loading_hosts(self._cell)}
        jobs = {host: job for host, job in made.items() if job is not None}
        if not jobs:
            self._settle()
            return
        with self.attempt.step("load"):
            if not goes_on:
                if self._undone(engine):
                    self._settle()
                    return
                engine.reset(self._known_cell)
            outputs = run_jobs(self.attempt, jobs, "load")
            loaded = sum(self.driver.check_load(contexts[host], output) for host, output in outputs.items())
            engine.loaded(self._known_cell, loaded)
            self._settle()

    def _is_to_be_restored(self, engine: Engine) -> TypeGuard[Restores]:
        """Return whether the data set must be restored before the cell even though it is there."""
        if not isinstance(engine, Restores) or not is_restored(self._database.reset):
            return False
        if self._database.reset in AFTER_WRITES and isinstance(engine, KnowsUnchanged):
            return not engine.is_unchanged(self._known_cell)
        return True

    def _undone(self, engine: Engine) -> bool:
        """Delete the records that cells inserted, if the database is reset in this way. Returns whether the data set
        can then be used without a load."""
        if self._database.reset != "undo" or not isinstance(engine, Undoes) or not engine.can_undo(self._known_cell):
            return False
        done, text = engine.undo(self._known_cell)
        self._remark("info" if done else "warning", text)
        return done

    def _warm_up(self, contexts: Mapping[str, CellContext]) -> None:
        """Run the warm-up. Raises BadOutput if the warm-up was too short, because the tool's clock jumped forward or
        the tool died."""
        jobs = {host: job for host, context in contexts.items() if (job := self.driver.warm_up(context))}
        if not jobs:
            return
        with self.attempt.step("warm_up"):
            outputs = run_jobs(self.attempt, jobs, "warm_up")
            limited = "operations" in self._plan.workload_of(self._cell).properties
            for output in outputs.values():
                require_seconds(self.driver.name, output, 0.0 if limited else self._cell.warm_up_s)

    def _settle(self) -> None:
        """Let the engine finish its work on the loaded data. With `overlap = loading`, the cell then waits for its
        turn."""
        engine = self.engine()
        if self._cell.dataset:
            self._note_size("loaded")
        if isinstance(engine, Settles):
            for text in engine.settle(self._known_cell):
                self._remark("warning", text)
        if self._database.drop_caches:
            hosts = self._plan.hardware[self._cell.hardware].hosts
            for host_id in hosts:
                drop_page_cache(self.attempt.hosts[host_id], self._database, self.attempt.stopping)
            self._remark("info", say.caches_dropped(hosts=", ".join(hosts)))

    def _begin(self) -> None:
        """Tell the engine to count the cell as a writer. Between this call and the measurement there is only the
        warm-up, and no wait for a turn."""
        engine = self.engine()
        if isinstance(engine, CountsWriters):
            for text in engine.begin(self._known_cell):
                self._remark("warning", text)

    @property
    def _database(self) -> Database:
        return self._plan.databases[self._cell.database]

    def _note_other_load(self, outputs: Iterable[JobOutput]) -> None:
        """Report the load generators' hosts that were kept busy by other work.

        Leaves out hosts that also run a server, because it is unknown how much of their load is the server's.
        """
        servers = self._plan.hardware[self._cell.hardware].hosts if self._cell.client is not None else ()
        for output in outputs:
            host, cell, cores = output.host, self._cell.id, output.other_cores or 0.0
            if host not in servers and cores >= MUCH:
                self._remark("warning", say.busy_meanwhile(host=host, cell=cell, amount=figure(cores, ".1f")))

    def _note_size(self, when: Literal["loaded", "measured"]) -> None:
        """Record the database's size. A cell whose size is unknown is still good."""
        engine = self.engine()
        if not isinstance(engine, TellsSize):
            return
        try:
            size = engine.size(self._cell)
        except RunnerError as error:
            size = Size(None, None, str(error), str(error))
        self.attempt.journal.write(
            j.DatabaseSize(
                at=now(),
                cell=self._cell.id,
                attempt=self.attempt.number,
                node=self._plan.hardware[self._cell.hardware].hosts[0],
                when=when,
                on_disk=size.on_disk,
                logical=size.logical,
                why_no_disk=size.why_no_disk,
                why_no_logical=size.why_no_logical,
            )
        )

    def _remark(self, severity: Literal["info", "warning"], text: str) -> None:
        self.attempt.journal.write(j.Remark(at=now(), severity=severity, text=text, cell=self._cell.id))

    def _measure(self, contexts: Mapping[str, CellContext]) -> tuple[dict[str, JobOutput], Mapping[str, Offset]]:
        """Measure. Returns the outputs by host, and how far each host's clock is ahead of the controller's."""
        left = self.attempt.left if self.attempt.began("measure") is not None else None
        readings = self.attempt.world.readings(self.engine(), self._cell.measure_s, self._keep_reading)
        status = server_status(self.attempt, self.engine())
        events = CellEvents(self.attempt, self.driver, contexts)
        with read_clocks(self.attempt) as offsets, run_probes(self.attempt) as stop_probes, status, readings, events:
            jobs = {host: self.driver.measure(each) for host, each in contexts.items()}
            outputs = run_jobs(self.attempt, jobs, "measure", events.begin, stop_probes)
        self.events.extend(events.record_runs(offsets))
        if left is None:
            self._count(readings, readings.before, readings.samples)
        elif not left.counted:
            earlier = tuple((reading.at, reading.counters) for reading in left.readings)
            self._count(readings, earlier[0][1] if earlier else {}, (*earlier, *readings.samples))
        return outputs, offsets

    def _count(
        self, readings: ReadsCounters, before: dict[str, float], samples: tuple[tuple[float, dict[str, float]], ...]
    ) -> None:
        if not samples and not readings.problem:
            return
        self.attempt.journal.write(
            j.Counters(
                at=now(),
                cell=self._cell.id,
                attempt=self.attempt.number,
                node=self._plan.hardware[self._cell.hardware].hosts[0],
                before=before,
                after=readings.after,
                samples=samples,
                problem=readings.problem,
            )
        )

    def _keep_reading(self, at: float, counters: dict[str, float]) -> None:
        with suppress(NotKept):  # the next journal record fails too, and that error is handled
            self.attempt.journal.write(
                j.CounterReading(at=at, cell=self._cell.id, attempt=self.attempt.number, counters=counters)
            )

    def _kept(self, left: Left | None) -> tuple[dict[str, JobOutput], Mapping[str, Offset]]:
        """Return the outputs and clock offsets that an earlier controller kept."""
        found = {host: self.attempt.kept("measure", StepJob("measure", host, host)) for host in self._cell.load_hosts}
        outputs = {host: output for host, output in found.items() if output is not None}
        return outputs, offsets_of(left.clocks, left.clocks_after) if left else {}
