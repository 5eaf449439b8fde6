"""The engine: a folder with one file. See `benchbrief.runners.seams.Engine`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from benchbrief.extend.common import (
    Cell,
    Command,
    Completed,
    Database,
    Endpoint,
    GoesOn,
    Hardware,
    Hosts,
    LoadShort,
    Plan,
    ServerFailed,
    Stopping,
)


class Sqlite:
    name: ClassVar[str] = "sqlite"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._database = database
        self._host = hosts[hardware.hosts[0]]

    def start(self) -> Endpoint:
        self._run('mkdir -p "$1"')
        return Endpoint(path=self._database.path)

    def look(self) -> None:
        """Do nothing, because there is no server."""

    def describe(self) -> dict[str, str]:
        return {"server": "none: SQLite is a library", "path": self._database.path or "", "durability": "full"}

    def build(self) -> str:
        return ""

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        return self._run('cat "$1/data_set"').stdout.strip() == cell.dataset.hash

    def reset(self, cell: Cell) -> None:
        self._run('rm -f "$1"/bench.sqlite* "$1/data_set"')

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise LoadShort(f"{cell.dataset.records} rows were to be loaded, and {records} were", "load again")
        self._run('printf %s "$2" > "$1/data_set"', cell.dataset.hash)

    def counters(self) -> dict[str, float]:
        return {}

    def healthy(self) -> None:
        if self._run('[ -f "$1/bench.sqlite" ]').exit_code != 0:
            raise ServerFailed(f"the database in {self._database.path} has gone", "look at its device")

    def stop(self) -> None:
        """Do nothing, because the data remain for the next run."""

    def _run(self, script: str, *arguments: str) -> Completed:
        return self._host.run(Command(("sh", "-c", script, "sh", self._database.path or "", *arguments)))
