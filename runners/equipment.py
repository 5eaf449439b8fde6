"""What the cells of a lane are run with: the engine that is up, and the tools that were found."""

from __future__ import annotations

import time
from contextlib import suppress

from benchbrief.compiler.plan import Cell
from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError, TeardownFailed
from benchbrief.runners.run_state import RunState
from benchbrief.runners.rundir import server_directory
from benchbrief.runners.seams import Engine, OutlivesController
from benchbrief.runners.world import OpenHosts


class Equipment:
    """One lane's engine and tools."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._engine: Engine | None = None
        self._engine_of = ""
        self._tools: dict[tuple[str, str, str | None], str] = {}

    def engine(self, cell: Cell, before: bool = False) -> Engine:
        """The cell's engine. Another one of the lane is stopped first: two servers on one host disturb each other.

        `before`: as an earlier controller had it, which has disclosed it; what is measured there is not disturbed.
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
            # Not before: an engine that is known here has been disclosed in the journal.
            self._engine, self._engine_of = engine, cell.database
        return self._engine

    def _disclose(self, cell: Cell, engine: Engine) -> None:
        known = j.EngineFacts(at=time.time(), database=cell.database, facts=engine.describe(), sha256=engine.build())
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
                text = f"{error} ({error.hint})"
                self._run.journal.write(j.Remark(at=time.time(), severity="warning", text=text))
            except RunnerError:
                pass  # the server may be gone already, which is then the reason of the cell that failed

    def tool(self, host_id: str, cell: Cell, before: bool = False) -> str:
        """Where the cell's tool is. `before`: where an earlier controller found it, if its journal leaves no doubt."""
        known = self._run.tools_before.get((host_id, cell.tool.driver), set())
        if before and len(known) == 1:
            return next(iter(known))
        key = (host_id, cell.tool.driver, cell.tool.path)
        if key not in self._tools:
            world, at = self._run.world, self._hosts[host_id]
            found = world.tool(at, world.driver(cell.tool.driver), cell.tool.path)
            self._tools[key] = found.path
            self._run.journal.write(
                j.ToolFound(
                    at=time.time(),
                    host=host_id,
                    driver=cell.tool.driver,
                    path=found.path,
                    version=found.version,
                    sha256=world.digest(at, found.path),
                )
            )
        return self._tools[key]
