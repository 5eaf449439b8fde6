"""Running one cell: its steps in order, each written to the journal before the next begins.

    prepare -> load -> warm up -> measure (probes beside it) -> collect

Where the load itself is measured, the database is made empty in `prepare`, and there is no load or warm-up before.

A cell is good only when its output proved it: every error on the way is a RunnerError, and makes the cell failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.plan import Cell, Database, Plan
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt
from benchbrief.runners.caches import drop_page_cache
from benchbrief.runners.clock import aligned, clocks
from benchbrief.runners.commands import shell_line
from benchbrief.runners.measurement import Measurement, Together
from benchbrief.runners.probing import probes
from benchbrief.runners.seams import (
    BadOutput,
    CellContext,
    Driver,
    Engine,
    JobOutput,
    Restores,
    RunnerError,
    ServerFailed,
    Settles,
)
from benchbrief.runners.server_status import server_status
from benchbrief.runners.step_jobs import run_jobs


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
        """Raises RunnerError when the cell fails, Interrupted when the run is to stop."""
        with self.attempt.step("prepare"):
            self._prepare()
            endpoint = self.engine().start()
            if self._plan.workloads[self._cell.workload].phase == "load":
                self.engine().reset(self._cell)
            contexts = {
                host: CellContext(self._plan, self._cell, self.tool_path(host), endpoint, host)
                for host in self._cell.load_hosts
            }
            if not self._cell.dataset:
                self._settle()
        if self._cell.dataset:
            self._load(contexts[self._cell.load_hosts[0]])
        warm_ups = {host: job for host, context in contexts.items() if (job := self.driver.warm_up(context))}
        if warm_ups:
            with self.attempt.step("warm_up"):
                run_jobs(self.attempt, warm_ups, "warm_up")
        with self.attempt.step("measure"):
            outputs, offsets = self._measure(contexts)
        with self.attempt.step("collect"):
            try:
                measured = tuple(
                    aligned(self.driver.parse(contexts[host], output), offsets.get(host, 0.0))
                    for host, output in outputs.items()
                )
            except BadOutput as error:
                self._blame_the_server(error)
                raise
            self.engine().healthy()
            load = self._plan.workloads[self._cell.workload].phase == "load"
            return Together(measured, load).measurement()

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

    def _prepare(self) -> None:
        hardware = self._plan.hardware[self._cell.hardware]
        timeout_s = self.attempt.step_of("prepare").timeout_s
        for line in hardware.prepare:
            for host_id in hardware.hosts:
                done = self.attempt.hosts[host_id].run(shell_line(line), timeout_s=timeout_s)
                if done.exit_code != 0:
                    raise RunnerError(
                        f"on {host_id}, prepare command `{line}` ended with code {done.exit_code}: "
                        f"{done.stderr.strip()[-300:]}",
                        f"it is declared for hardware {hardware.key} at {hardware.origin}",
                    )

    def _load(self, context: CellContext) -> None:
        engine = self.engine()
        if engine.holds(self._cell):
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
                drop_page_cache(self.attempt.hosts[host_id], self._database)
            self._remark("info", f"the page cache was dropped on {', '.join(hosts)} before the measurement")

    @property
    def _database(self) -> Database:
        return self._plan.databases[self._cell.database]

    def _remark(self, severity: Literal["info", "warning"], text: str) -> None:
        self.attempt.journal.write(j.Remark(at=time.time(), severity=severity, text=text, cell=self._cell.id))

    def _measure(self, contexts: Mapping[str, CellContext]) -> tuple[dict[str, JobOutput], Mapping[str, float]]:
        """The outputs by host, and by how much each host's clock is ahead of the controller's."""
        node = self._plan.hardware[self._cell.hardware].hosts[0]
        readings = self.attempt.world.readings(self.engine(), self._cell.measure_s)
        status = server_status(self.attempt, self.engine())
        with clocks(self.attempt) as offsets, probes(self.attempt), status, readings:
            jobs = {host: self.driver.measure(each) for host, each in contexts.items()}
            outputs = run_jobs(self.attempt, jobs, "measure")
        if readings.samples or readings.problem:
            self.attempt.journal.write(
                j.Counters(
                    at=time.time(),
                    cell=self._cell.id,
                    attempt=self.attempt.number,
                    node=node,
                    before=readings.before,
                    after=readings.after,
                    samples=readings.samples,
                    problem=readings.problem,
                )
            )
        return outputs, offsets
