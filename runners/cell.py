"""Running one cell: its steps in order, each written to the journal before the next begins.

    prepare -> load -> warm up -> measure (probes beside it) -> collect

Where the load itself is measured, the database is made empty in `prepare`, and there is no load or warm-up before.

A cell is good only when its output proved it: every error on the way is a RunnerError, and makes the cell failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.plan import Cell, Database, Plan
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, NotWhole, StepJob
from benchbrief.runners.attended_jobs import run_to_end
from benchbrief.runners.caches import drop_page_cache
from benchbrief.runners.clock import Offset, aligned, clocks, offset_of
from benchbrief.runners.commands import as_at_login
from benchbrief.runners.contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput, DiskFull, RunnerError, ServerFailed
from benchbrief.runners.history import Left
from benchbrief.runners.measurement import Measurement, Together
from benchbrief.runners.probing import probes
from benchbrief.runners.seams import Driver, Engine, KnowsWhy, OutlivesController, Restores, Settles
from benchbrief.runners.server_status import server_status
from benchbrief.runners.step_jobs import run_jobs
from benchbrief.runners.tasks import Job, JobOutput
from benchbrief.runners.world import Readings


@dataclass(frozen=True)
class CellRun:
    """One attempt at one cell, with all that it needs.

    `engine` gives the cell's engine, started; `tool_path` where the load generator is on a host.
    """

    attempt: Attempt
    engine: Callable[[], Engine]
    driver: Driver
    tool_path: Callable[[str], str]

    def run(self) -> Measurement:
        """Raises RunnerError when the cell fails, Interrupted when the run is to stop.

        An attempt that an earlier controller left is gone on with in the step that it had come to. Raises NotWhole
        when that can't be.
        """
        contexts = self._prepared() if self.attempt.left is None else self._taken_over(self.attempt.left)
        if self._cell.dataset and self.attempt.is_due("load"):
            self._load(contexts[self._cell.load_hosts[0]])
        if self.attempt.is_due("warm_up"):
            warm_ups = {host: job for host, context in contexts.items() if (job := self.driver.warm_up(context))}
            if warm_ups:
                with self.attempt.step("warm_up"):
                    run_jobs(self.attempt, warm_ups, "warm_up")
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
        """Raises NotWhole when the server is not the one that the attempt began with."""
        if left.current == "collect":
            # Nothing is run: what there is is read again, for which no server is needed.
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
        """Parsed and judged. After a resume in this very step, nothing is known of the server since the measurement."""
        try:
            measured = tuple(
                aligned(self.driver.parse(contexts[host], output), offsets.get(host, Offset()))
                for host, output in outputs.items()
            )
        except BadOutput as error:
            if self.attempt.is_due("measure"):
                self._blame_the_server(error)
            raise
        if self.attempt.is_due("measure"):
            self.engine().healthy()
        return Together(measured, self._phase_is_load).measurement()

    @property
    def _phase_is_load(self) -> bool:
        return self._plan.workloads[self._cell.workload].phase == "load"

    @property
    def _plan(self) -> Plan:
        return self.attempt.plan

    @property
    def _cell(self) -> Cell:
        return self.attempt.cell

    def _blame_the_server(self, error: BadOutput) -> None:
        """Raises ServerFailed when the bad output has that reason: a server that died says why its client failed."""
        try:
            self.engine().healthy()
        except ServerFailed as failure:
            raise ServerFailed(f"{failure}; {error}", failure.hint) from error
        engine, why = self.engine(), ""
        if isinstance(engine, KnowsWhy):
            with suppress(RunnerError):  # then it is not known
                why = engine.why_failed()
        if why:
            raise BadOutput(f"{why}: {error}", error.hint) from error

    def _prepare(self) -> None:
        hardware = self._plan.hardware[self._cell.hardware]
        timeout_s = self.attempt.step_of("prepare").timeout_s
        if self.attempt.world.simulated:
            return  # there is nothing to be prepared
        for line in hardware.prepare:
            for host_id in hardware.hosts:
                at = self.attempt.hosts[host_id]
                job = Job("prepare", as_at_login(line, at.host.transport == "local"), timeout_s=timeout_s)
                ran = run_to_end(at, job, self.attempt.stopping)
                if ran.exit_code != 0:
                    in_time = ran.exit_code is not None
                    how = f"ended with code {ran.exit_code}" if in_time else f"did not end within {timeout_s:g} s"
                    raise RunnerError(
                        f"on {host_id}, prepare command `{line}` {how}: {ran.said or 'it said nothing'}",
                        f"it is declared for hardware {hardware.key} at {hardware.origin}",
                    )

    def _load(self, context: CellContext) -> None:
        engine = self.engine()
        goes_on = self.attempt.began("load") is not None
        if not goes_on and engine.holds(self._cell):
            if not isinstance(engine, Restores) or self._database.reset not in ("snapshot", "command"):
                self.attempt.skip("load", "data set reused")
                self._settle()
                return
            with self.attempt.step("load"):
                self._remark("info", f"the data set was {engine.restore(self._cell)} before the measurement")
                self._settle()
            return
        job = self.driver.load(context)
        if job is None:
            self._settle()
            return
        with self.attempt.step("load"):
            if not goes_on:
                engine.reset(self._cell)
            host = self._cell.load_hosts[0]
            outputs = run_jobs(self.attempt, {host: job}, "load")
            engine.loaded(self._cell, self.driver.check_load(context, outputs[host]))
            self._settle()

    def _settle(self) -> None:
        """What is left to be done when the data are there, and nothing but the warm-up comes before the measurement."""
        engine = self.engine()
        if isinstance(engine, Settles):
            for text in engine.settle(self._cell):
                self._remark("warning", text)
        if self._database.drop_caches:
            hosts = self._plan.hardware[self._cell.hardware].hosts
            for host_id in hosts:
                drop_page_cache(self.attempt.hosts[host_id], self._database, self.attempt.stopping)
            self._remark("info", f"the page cache was dropped on {', '.join(hosts)} before the measurement")

    @property
    def _database(self) -> Database:
        return self._plan.databases[self._cell.database]

    def _remark(self, severity: Literal["info", "warning"], text: str) -> None:
        self.attempt.journal.write(j.Remark(at=time.time(), severity=severity, text=text, cell=self._cell.id))

    def _measure(self, contexts: Mapping[str, CellContext]) -> tuple[dict[str, JobOutput], Mapping[str, Offset]]:
        """The outputs by host, and by how much each host's clock is ahead of the controller's."""
        left = self.attempt.left if self.attempt.began("measure") is not None else None
        readings = self.attempt.world.readings(self.engine(), self._cell.measure_s, self._keep_reading)
        status = server_status(self.attempt, self.engine())
        with clocks(self.attempt) as offsets, probes(self.attempt), status, readings:
            jobs = {host: self.driver.measure(each) for host, each in contexts.items()}
            outputs = run_jobs(self.attempt, jobs, "measure")
        if left is None:
            self._count(readings, readings.before, readings.samples)
        elif not left.counted:
            earlier = tuple((reading.at, reading.counters) for reading in left.readings)
            self._count(readings, earlier[0][1] if earlier else {}, (*earlier, *readings.samples))
        return outputs, offsets

    def _count(
        self, readings: Readings, before: dict[str, float], samples: tuple[tuple[float, dict[str, float]], ...]
    ) -> None:
        if not samples and not readings.problem:
            return
        self.attempt.journal.write(
            j.Counters(
                at=time.time(),
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
        with suppress(DiskFull):  # the next record fails too, where it is heard
            self.attempt.journal.write(
                j.CounterReading(at=at, cell=self._cell.id, attempt=self.attempt.number, counters=counters)
            )

    def _kept(self, left: Left | None) -> tuple[dict[str, JobOutput], Mapping[str, Offset]]:
        """What was measured before."""
        found = {host: self.attempt.kept("measure", StepJob("measure", host, host)) for host in self._cell.load_hosts}
        outputs = {host: output for host, output in found.items() if output is not None}
        return outputs, {host: offset_of(read) for host, read in left.clocks.items()} if left else {}
