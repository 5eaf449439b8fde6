"""The PostgreSQL engine: a server that already runs, queried with psql. See `benchbrief.runners.seams.Engine`.

The data set is noted in the comment of the table `pgbench_accounts`, so that the note disappears with the table.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal

from bench_postgres.pgbench_driver import BUILTIN
from bench_postgres.postgres_client import Client
from bench_postgres.postgres_messages import say_pg
from bench_postgres.written_tables import written_tables
from benchbrief.extend.common import (
    Cell,
    Database,
    Dataset,
    Endpoint,
    GoesOn,
    Hardware,
    Hosts,
    Interrupted,
    LoadShort,
    Message,
    Plan,
    RunnerError,
    Secret,
    ServerFailed,
    Stopping,
    Workload,
    figure,
    now,
    say,
)
from benchbrief.extend.directories import warn_of_aged
from benchbrief.extend.engines import Size, command_files, resolve_uri, run_hooks, writes

_TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers")
_NOTE = """SELECT json_build_object(
    'note', obj_description(to_regclass('pgbench_accounts'), 'pg_class'),
    'there', to_regclass('pgbench_accounts') IS NOT NULL)"""
_ROWS = "SELECT json_build_object('rows', (SELECT count(*) FROM pgbench_accounts))"
_SIZE = "SELECT json_build_object('size', pg_database_size(current_database()))"
_CHECKPOINTS = {
    True: "SELECT num_timed AS timed, num_requested AS requested, buffers_written AS buffers FROM pg_stat_checkpointer",
    False: "SELECT checkpoints_timed AS timed, checkpoints_req AS requested, buffers_checkpoint AS buffers "
    "FROM pg_stat_bgwriter",
}
"""The queries for checkpoints: one for version 17 and later, which have a separate view, and one for earlier versions.
"""
_CHECKPOINTER = 170_000
_COUNTERS = ("wal_bytes", "commits", "rollbacks", "deadlocks", "blocks_hit", "blocks_read", "temp_bytes")
_TIDY = ("VACUUM pgbench_branches", "VACUUM pgbench_tellers", "TRUNCATE pgbench_history")
"""The statements that pgbench itself runs before a built-in script, unless it is called with `--no-vacuum`:
https://www.postgresql.org/docs/15/pgbench.html."""
_LONG_S = 3600.0
"""How many seconds counting all accounts, or a checkpoint, may take."""
_CATCH_UP_S = 60.0
"""How many seconds standbys may take to come within the allowed lag, in addition to that lag."""
_RESTART_SLACK_S = 2.0
_LOOK_EVERY_S = 0.2


def _sql(name: str) -> str:
    return files("bench_postgres").joinpath(name).read_text(encoding="utf-8")


class Postgresql:
    """The PostgreSQL engine. Implements `seams.Engine`, `Restores`, `Settles`, `ShapesData`, `TellsSize`,
    `OutlivesController` and `engines.TellsStatus`."""

    name: ClassVar[str] = "postgresql"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._plan, self._database, self._hardware, self._hosts = plan, database, hardware, hosts
        self._entered = False
        self._client: Client | None = None
        self._started_at: float | None = None
        """When the server started, by its own clock."""
        self._running_since = 0.0
        self._version_num = 0

    # --- reaching it ---

    def start(self) -> Endpoint:
        if self._client is None:
            try:
                if not self._entered:
                    self._entered = True
                    self._hooks("prepare")
                self._reach()
                self._require_connections()
            except BaseException:
                self._client = None
                raise
        else:
            self.healthy()
        return Endpoint(uri=self._uri())

    def look(self) -> None:
        self._reach()
        self._require_connections()

    def describe(self) -> dict[str, str]:
        found = self._facts()
        standbys, synchronous = int(found["standbys"]), int(found["synchronous_standbys"])
        facts = {
            "server": "PostgreSQL",
            "version": str(found["version"]),
            "topology": say_pg.pg_primary(standbys=standbys, synchronous=synchronous) if standbys else "standalone",
            "settings": ", ".join(f"{name} = {value}" for name, value in found["settings"].items()),
        }
        return facts | command_files(self._database, self._hardware, self._hosts)

    def build(self) -> str:
        return ""

    def shaping(self) -> dict[str, str]:
        """Implement `seams.ShapesData`: the server's version, block size and checksums, and the files of commands."""
        found = self._facts()
        shaping = {name: str(found[name]) for name in ("version", "block_size", "data_checksums")}
        return shaping | command_files(self._database, self._hardware, self._hosts)

    def healthy(self) -> None:
        """Raise ServerFailed if the server does not answer, was restarted, or no longer takes writes."""
        found = self._facts()
        if found["started"] != self._started_at:
            raise ServerFailed(
                say.server_restarted(database=self._database.name, seconds=figure(float(found["up_s"]), ".0f")),
                say.hint_server_log(),
            )
        self._require_primary(found)

    def stop(self) -> None:
        entered, self._entered = self._entered, False
        self._client = None
        if entered:
            self._hooks("teardown")

    def take_over(self) -> None:
        """Implement `seams.OutlivesController`. The prepare commands will not run again."""
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        return {}

    def require_running_since(self, at: float) -> None:
        if self._running_since > at + _RESTART_SLACK_S:
            raise ServerFailed(say.server_anew(database=self._database.name), say.hint_server_log())

    # --- the data set ---

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self._database.reset == "command":
            return True
        writers = self._writers(cell.dataset)
        if writers is None or (writers and self._database.reset != "reuse"):
            return False
        return self._rows() == cell.dataset.records

    def reset(self, cell: Cell) -> None:
        del cell  # every data set is in the same tables
        self._reached().do(f"DROP TABLE IF EXISTS {', '.join(_TABLES)}", timeout_s=_LONG_S)

    def restore(self, cell: Cell) -> str:
        """Implement `seams.Restores` by the user's own command, and check the number of rows afterwards."""
        self._hooks("reset")
        self._client = None  # the command may have restarted the server
        self._reach()
        if cell.dataset:
            self._require_rows(cell.dataset)
        return say_pg.pg_restored()

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise self._short(cell.dataset, records)
        self._require_rows(cell.dataset)
        self._note(cell.dataset, 0)

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.CountsWriters`, with a note in the table's comment. Warns of earlier writers."""
        if cell.dataset is None or self._database.reset not in ("reuse", "after_writes"):
            return ()
        writers = self._writers(cell.dataset)
        if writers is None:
            return ()
        if writes(self._plan.workload_of(cell), cell.events):
            self._note(cell.dataset, writers + 1)
        return warn_of_aged(writers)

    def settle(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.Settles`. The accounts are not read, so that the measurement finds unchanged caches."""
        workload = self._plan.workloads[cell.workload]
        remarks: tuple[str, ...] = ()
        if workload.benchmark in BUILTIN:
            self._reached().do(*_TIDY, timeout_s=_LONG_S)
        remarks += self._left_by_reset(workload)
        if self._database.settings.get("checkpoint"):
            self._reached().do("CHECKPOINT", timeout_s=_LONG_S)
        self._wait_for_standbys()
        if settings := self._facts()["not_durable"]:
            remarks += (say_pg.pg_not_durable(settings=settings, database=self._database.name),)
        return remarks

    def size(self, cell: Cell) -> Size:
        """Implement `seams.TellsSize`. The size is that of the whole database, including other tables."""
        del cell  # other tables in its database count as well
        found = self._reached().ask(_SIZE)
        return Size(float(found["size"]), None, why_no_logical=say_pg.pg_size_of_database())

    # --- what it counts ---

    def counters(self) -> dict[str, float]:
        return {name: value for name, value in self.status().items() if name in _COUNTERS}

    def status(self) -> Mapping[str, float]:
        """Implement `engines.TellsStatus`. Values that are not numbers are left out."""
        view = _CHECKPOINTS[self._version_num >= _CHECKPOINTER]
        found = self._reached().ask(_sql("server_status.sql").replace("CHECKPOINTS", view))
        return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}

    # --- within ---

    def _uri(self) -> Secret:
        return resolve_uri(self._database.uri, self._database)

    def _reach(self) -> None:
        self._client = Client(self._plan, self._database, self._hardware, self._hosts, self._uri())
        found = self._facts()
        self._require_primary(found)
        wanted = self._database.version
        if wanted is not None and not f"{found['version']} ".startswith((f"{wanted}.", f"{wanted} ")):
            raise RunnerError(
                say_pg.pg_version(database=self._database.name, found=found["version"], wanted=wanted),
                say_pg.pg_hint_version(origin=self._database.origin),
            )
        self._started_at = found["started"]
        self._version_num = int(found["version_num"])
        self._running_since = now() - float(found["up_s"])

    def _require_primary(self, found: Mapping[str, Any]) -> None:
        if found["standby"]:
            raise ServerFailed(
                say_pg.pg_standby(database=self._database.name),
                say_pg.pg_hint_standby(origin=self._database.origin),
            )

    def _require_connections(self) -> None:
        """Raise RunnerError if the server has too few connections for a cell's threads and for our own queries."""
        own = [cell for cell in self._plan.cells if self._plan.databases[cell.database] == self._database]
        threads = max((cell.threads or 0 for cell in own), default=0)
        free = int(self._facts()["free_connections"])
        if threads + 1 > free:
            raise RunnerError(
                say_pg.pg_few_connections(database=self._database.name, free=free, threads=threads),
                say_pg.pg_hint_connections(),
            )

    def _wait_for_standbys(self) -> None:
        """Wait until the standbys have replayed everything that the server has written so far. Raises RunnerError if
        they take too long.

        The server's `replay_lag` can't be used for this: it keeps its last value if a standby falls silent.
        """
        most = self._database.max_lag_s
        deadline = time.monotonic() + _CATCH_UP_S + most
        written: int | None = None
        while True:
            found = self._facts()
            behind, lag = found["behind_bytes"] or 0, found["lag_s"]
            written = found["wal_bytes"] if written is None else written
            if found["wal_bytes"] - behind >= written:
                return
            if self.stopping.is_set():
                raise Interrupted
            if time.monotonic() > deadline:
                about = {"database": self._database.name, "size": figure(behind, ",.0f"), "most": figure(most, "g")}
                said = say_pg.pg_behind(**about)
                if lag is not None and lag > most:
                    said = say_pg.pg_lagging(**about, lag=figure(lag, ".1f"))
                raise RunnerError(said, say_pg.pg_hint_lagging())
            threading.Event().wait(_LOOK_EVERY_S)

    def _writers(self, dataset: Dataset) -> int | None:
        """Return the noted number of cells that have written to the data set since its load. Returns None if there is
        no note, or only a note about another data set."""
        found = self._reached().ask(_NOTE)
        try:
            note = json.loads(found["note"] or "{}")
        except ValueError:
            return None
        if not isinstance(note, dict) or note.get("benchbrief") != dataset.hash:
            return None
        return int(note.get("writers", 0))

    def _left_by_reset(self, workload: Workload) -> tuple[str, ...]:
        """Return a remark on the tables that a user's own script changes and a load does not create again."""
        if self._database.reset not in ("drop_and_load", "after_writes"):
            return ()
        tables = [each for each in written_tables(workload.files.get("file", "")) if each not in _TABLES]
        if not tables:
            return ()
        return (say_pg.pg_left(workload=workload.name, tables=", ".join(tables), database=self._database.name),)

    def _note(self, dataset: Dataset, writers: int) -> None:
        note = json.dumps({"benchbrief": dataset.hash, "writers": writers})
        self._reached().do(f"COMMENT ON TABLE pgbench_accounts IS '{note}'")

    def _rows(self) -> int:
        return int(self._reached().ask(_ROWS, _LONG_S)["rows"])

    def _require_rows(self, dataset: Dataset) -> None:
        if not self._reached().ask(_NOTE)["there"]:
            raise LoadShort(say_pg.pg_no_tables(database=self._database.name), say_pg.pg_hint_rows())
        found = self._rows()
        if found != dataset.records:
            raise self._short(dataset, found)

    def _short(self, dataset: Dataset, found: int) -> LoadShort:
        said: Message = say_pg.pg_rows(n=dataset.records, database=self._database.name, found=found)
        return LoadShort(said, say_pg.pg_hint_rows())

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self._database, self._hardware, self._hosts, self.keep, self.stopping)

    def _facts(self) -> Mapping[str, Any]:
        return self._reached().ask(_sql("server_facts.sql"))

    def _reached(self) -> Client:
        if self._client is None:
            raise ServerFailed(say.not_started(database=self._database.name), say.hint_start())
        return self._client
