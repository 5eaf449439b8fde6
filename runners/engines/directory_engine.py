"""The base of engines without a server, whose data are in a directory of one host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from benchbrief.model.plan import Database, Hardware, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.declared_hooks import run_hooks
from benchbrief.runners.errors import PlanRefused, RunnerError
from benchbrief.runners.seams import GoesOn, Hosts, Stopping


class DirectoryEngine:
    """The common part of engines without a server. Implements a part of `seams.Engine`, and
    of `seams.OutlivesController`."""

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None  # there is no server with output
        self.stopping: Stopping = GoesOn()
        self._plan = plan
        self._database = database
        self._hardware = hardware
        self._hosts = hosts
        self._host = hardware.hosts[0]
        self._opened = False
        self._entered = False

    def look(self) -> None:
        """Do nothing: there is no server."""

    def counters(self) -> dict[str, float]:
        """Return no counters: there is no server, and a library has none after its process has ended."""
        return {}

    def take_over(self) -> None:
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        return {}

    def require_running_since(self, at: float) -> None:
        """Do nothing: there is no server."""

    def stop(self) -> None:
        """Run the teardown. The data stay for the next cell or run. Raises TeardownFailed."""
        entered, self._entered, self._opened = self._entered, False, False
        if entered:
            self._hooks("teardown")

    def _open_directory(self) -> None:
        """Make the directory ours. Raises RunnerError when it can't be used, or is not ours."""
        said = data_directories.open_directory(self._hosts[self._host], self._path())
        if said is not None:
            raise RunnerError(
                say.directory_unusable(database=self._database.name, host=self._host, said=said),
                say.hint_new_directory(origin=self._database.origin),
            )

    def _empty_directory(self, refused: str | None = None) -> None:
        """Empty the directory. Raises RunnerError when it is not ours, or with `refused`, the reason why it may not
        be emptied."""
        said = refused or data_directories.empty_directory(self._hosts[self._host], self._path())
        if said is not None:
            raise RunnerError(
                say.directory_not_emptied(database=self._database.name, host=self._host, said=said),
                say.hint_empty_directory(),
            )

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self._database, self._hardware, self._hosts, self.keep, self.stopping)

    def _path(self) -> str:
        path = self._database.path
        if not path:
            raise PlanRefused(
                say.database_pathless(database=self._database.name), say.hint_path(origin=self._database.origin)
            )
        return path
