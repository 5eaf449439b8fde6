"""The MariaDB engine. Its server is started by benchbrief for the run or already runs, and is accessed through the
program `mariadb`.

The data set is noted in the first table's comment, so that the note disappears with the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from bench_mariadb.mariadb_login import DATABASE, USER, read_login
from bench_mariadb.messages import say_mariadb
from benchbrief.extend.common import (
    Cell,
    Command,
    CommandWord,
    Completed,
    LoadShort,
    ServerFailed,
    ToolMissing,
    figure,
    now,
    printable,
    read_script,
    run_persistently,
    say,
    with_values,
)
from benchbrief.extend.engines import StartedServer, writes

_NOT_FOUND = 127
_LONG_S = 3600.0
"""How many seconds counting all rows may take."""
_SLACK_S = 2.0
"""How many seconds a computed start time may be off, since the server reports its uptime in whole seconds."""
_MAKE_DATA = read_script(__file__, "make_data.sh")
_SQL = f"""FLUSH PRIVILEGES;
CREATE DATABASE {DATABASE};
CREATE USER {USER}@'%';
GRANT ALL ON {DATABASE}.* TO {USER}@'%';"""
_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'sbtest%'"
)
_NOTE = "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'sbtest1'"
_SETTINGS = """SELECT LOWER(variable_name), global_value FROM information_schema.system_variables
WHERE variable_name IN ('innodb_buffer_pool_size', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite',
'innodb_flush_method', 'innodb_log_file_size', 'sync_binlog', 'log_bin')
OR (variable_name LIKE 'innodb%' AND global_value_origin IN ('CONFIG', 'SQL')) ORDER BY 1"""


class Mariadb(StartedServer):
    """The MariaDB engine. It also implements `engines.CountsWriters` and `engines.TellsStatus`."""

    name: ClassVar[str] = "mariadb"
    _since = 0.0
    """When the server started, in epoch seconds, or 0 before the first query."""

    # --- its life ---

    def arguments(self) -> Sequence[CommandWord]:
        return (
            f"--defaults-file={self.config}" if self.config else "--no-defaults",
            f"--datadir={self.directory}",
            f"--user={self.run('id', '-un').stdout.strip()}",
            f"--port={self.port}",
            f"--bind-address={self.address}",
            "--socket=mariadb.sock",
            "--pid-file=mariadb.pid",
            *(f"--{name}={value}".removesuffix(".0") for name, value in self.database.options.items()),
        )

    def make_directory(self) -> None:
        script = with_values(_MAKE_DATA, program=self.program, directory=self.directory, sql=_SQL)
        done = self.run("sh", "-c", script, timeout_s=300.0)
        if done.exit_code:
            raise _refused(done)

    def ready(self) -> str:
        try:
            self._ask("SELECT 1")
        except ServerFailed as error:
            return str(error)
        return ""

    def uri(self) -> str:
        return f"mariadb://{USER}@{self.address}:{self.port}/{DATABASE}"

    def healthy(self) -> None:
        """Raise ServerFailed if the server does not run or has been restarted since the last check."""
        super().healthy()
        up = self.status()["Uptime"]
        since = now() - up
        if self._since and since > self._since + _SLACK_S:
            said = say.server_restarted(database=self.database.name, seconds=figure(up, ".0f"))
            raise ServerFailed(said, say.hint_server_log())
        self._since = self._since or since

    def require_running_since(self, at: float) -> None:
        self.healthy()
        super().require_running_since(at)
        if self._since > at + _SLACK_S:
            raise ServerFailed(say.server_anew(database=self.database.name), say.hint_server_log())

    def describe(self) -> dict[str, str]:
        settings = ", ".join(f"{name} = {value}" for name, value in self._ask(_SETTINGS))
        version = self._ask("SELECT VERSION()")[0][0]
        return {"server": "MariaDB", "version": version, "topology": "standalone", "settings": settings}

    # --- the data set ---

    def holds(self, cell: Cell) -> bool:
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        return [cell.dataset.hash] in self._ask(_NOTE) and self._rows() == cell.dataset.records

    def reset(self, cell: Cell) -> None:
        if tables := self._tables():
            self._ask(f"DROP TABLE {', '.join(tables)}", _LONG_S)

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if (found := self._rows()) != cell.dataset.records:
            raise LoadShort(say_mariadb.mariadb_rows(n=cell.dataset.records, found=found))
        self._note(cell.dataset.hash)

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Before a cell that writes, overwrite the note, so that the next cell loads again."""
        written = writes(self.plan.workload_of(cell), cell.events)
        if cell.dataset is not None and written and self.database.reset != "reuse":
            self._note("written")
        return ()

    # --- what it counts ---

    def status(self) -> Mapping[str, float]:
        rows = self._ask("SHOW GLOBAL STATUS")
        return {name: float(value) for name, value in rows if value.isdecimal()}

    # --- within ---

    def _tables(self) -> list[str]:
        return [name for (name,) in self._ask(_TABLES)]

    def _rows(self) -> int:
        counts = " UNION ALL ".join("SELECT COUNT(*) FROM " + table for table in self._tables())  # noqa: S608
        return sum(int(count) for (count,) in self._ask(counts, _LONG_S)) if counts else 0

    def _note(self, text: str) -> None:
        self._ask(f"ALTER TABLE sbtest1 COMMENT = '{text}'")

    def _ask(self, sql: str, timeout_s: float = 60.0) -> list[list[str]]:
        """Run a query and return its rows. Raises ServerFailed, or ToolMissing if there is no program `mariadb`."""
        to = read_login(self.endpoint().uri, self.database)
        words = ("--no-defaults", "--batch", "--skip-column-names", "--protocol=tcp", "--connect-timeout=10")
        at = (f"--host={to.host}", f"--port={to.port}", f"--user={to.user}", f"--database={to.database}")
        command = Command(("mariadb", *words, *at, f"--execute={sql}"), env={"MYSQL_PWD": to.password})
        done = run_persistently(self.host, command, timeout_s=timeout_s)
        if done.exit_code == _NOT_FOUND:
            raise ToolMissing(say_mariadb.mariadb_no_client(host=self.host.host.id))
        if done.exit_code:
            raise _refused(done)
        return [line.split("\t") for line in done.stdout.splitlines()]


def _refused(done: Completed) -> ServerFailed:
    return ServerFailed(say_mariadb.mariadb_refused(said=" ".join(printable(done.stderr).split())[-300:]))
