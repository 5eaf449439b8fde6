"""The engine and the load generators of a lane. They are found, started and recorded once for all its cells."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from benchbrief.model import events as j
from benchbrief.model.plan import Cell
from benchbrief.runners.errors import RunnerError, TeardownFailed
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.hosts.host_connections import fan_out
from benchbrief.runners.hosts.tool_discovery import FoundTool
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import server_directory
from benchbrief.runners.journal.secret_masking import hide
from benchbrief.runners.seams import Engine, OutlivesController, ShapesData
from benchbrief.runners.world.world_seams import OpenHosts


class Equipment:
    """One lane's engine and tools."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._engine: Engine | None = None
        self._engine_of = ""
        self._found: dict[tuple[str, str, str | None], tuple[FoundTool, str]] = {}
        """Each load generator and the digest of its build, by host, driver and the path in the spec."""
        self._tools: dict[tuple[str, str, str | None], str] = {}
        self._builds: dict[tuple[str, str], str] = {}
        """The digest of each load generator's build or, if that is unknown, its version. The keys are host and path."""
        self._disclosed: dict[str, str] = {}
        """The facts that shape the current engine's data, as last written to the journal."""

    def engine(self, cell: Cell, before: bool = False) -> Engine:
        """Return the cell's engine. Stops the lane's other engine first, since two servers on one host would disturb
        each other.

        With `before`, an earlier controller has started and recorded the engine, and a measurement in progress must not
        be disturbed. Otherwise the cell's load generators are searched for while the engine starts, unless the database
        declares commands, which may put other load generators there.
        """
        if self._engine is None or self._engine_of != cell.database:
            self.stop_engine()
            engine = self._new_engine(cell)
            if before and isinstance(engine, OutlivesController):
                engine.take_over()
            looked_at = () if before or self._run.plan.databases[cell.database].hooks else cell.load_hosts
            try:
                with ThreadPoolExecutor(1, thread_name_prefix="tools") as apart:
                    # A failure is repeated, and raised, where the load generator is used.
                    apart.submit(fan_out, looked_at, lambda host_id: self._find(host_id, cell))
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
        """Return the cell with the identity that its data set has once it is loaded on these hosts.

        The plan knows only what the spec says about the data set. The load generator's build, the contents of files and
        facts from the engine also determine its bytes. Data loaded under other conditions count as another data set.
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
                self._run.remark("warning", error.one_line)
            except RunnerError:
                pass  # the server may be gone already, and then this is why the cell failed

    def tool(self, host_id: str, cell: Cell, before: bool = False) -> str:
        """Return the tool's path for this cell. With `before`, returns the path at which an earlier controller found
        the tool, if its journal names only one path."""
        known = self._run.tools_before.get((host_id, cell.tool.driver), set())
        if before and len(known) == 1:
            return next(iter(known))
        key = (host_id, cell.tool.driver, cell.tool.path)
        if key not in self._tools:
            found, build = self._find(host_id, cell)
            self._tools[key] = found.path
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

    def _find(self, host_id: str, cell: Cell) -> tuple[FoundTool, str]:
        key = (host_id, cell.tool.driver, cell.tool.path)
        if key not in self._found:
            world, at = self._run.world, self._hosts[host_id]
            found = self._run.tools.get(key) or world.tool(at, world.driver(cell.tool.driver), cell.tool.path)
            self._found[key] = found, world.digest(at, found.path)
        return self._found[key]
