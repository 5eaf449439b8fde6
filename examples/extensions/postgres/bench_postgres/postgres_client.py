"""Queries a PostgreSQL server with psql from the load generator's host, over the same route as the load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from bench_postgres.libpq_environment import environment
from bench_postgres.postgres_messages import say_pg
from benchbrief.extend.common import (
    Command,
    Database,
    Hardware,
    Hosts,
    Plan,
    RunnerError,
    Secret,
    ServerFailed,
    printable,
    run_persistently,
)

_NOT_FOUND = (126, 127)
_NO_CONNECTION = 2
"""psql's exit code for a broken connection: https://www.postgresql.org/docs/15/app-psql.html (Exit Status)."""
_QUOTE = 300
_TIMEOUT_S = 60.0


class Client:
    """A client of the server. Every method raises ServerFailed, or RunnerError if there is no psql."""

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts, uri: Secret) -> None:
        cells = [cell for cell in plan.cells if plan.databases[cell.database] == database]
        own = [cell for cell in cells if cell.hardware == hardware.key] or cells
        self._at = hosts[own[0].load_hosts[0] if own else hardware.hosts[0]]
        self._psql = _beside(own[0].tool.path if own else None)
        self._database = database
        self._environment = environment(uri, database)

    def ask(self, sql: str, timeout_s: float = _TIMEOUT_S) -> Mapping[str, Any]:
        """Return the JSON object in the only row and column that the query returns."""
        said = self.do(sql, timeout_s=timeout_s)
        try:
            found = json.loads(said)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ServerFailed(
                say_pg.pg_answer(database=self._database.name, said=said[:_QUOTE]), say_pg.pg_hint_refused()
            )
        return found

    def do(self, *statements: str, timeout_s: float = _TIMEOUT_S) -> str:
        """Run statements one by one, and return their output."""
        words = [word for sql in statements for word in ("-c", sql)]
        command = Command((*self._psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *words), env=self._environment)
        done = run_persistently(self._at, command, timeout_s=timeout_s)
        if done.exit_code == 0:
            return done.stdout.strip()
        name, said = self._database.name, _last(done.stderr)
        if done.exit_code in _NOT_FOUND:
            raise RunnerError(say_pg.pg_no_psql(host=self._at.host.id), say_pg.pg_hint_psql())
        if done.exit_code == _NO_CONNECTION:
            raise ServerFailed(
                say_pg.pg_unreachable(database=name, host=self._at.host.id, said=said),
                say_pg.pg_hint_unreachable(origin=self._database.origin),
            )
        raise ServerFailed(say_pg.pg_refused(database=name, said=said), say_pg.pg_hint_refused())


def _beside(tool: str | None) -> tuple[str, ...]:
    """Return the places to look for psql: pgbench's folder if the spec names it, otherwise the PATH."""
    if tool is None:
        return ("psql",)
    path = PurePosixPath(tool)
    folder = path.parent if path.name == "pgbench" else path
    # The folder may be that of the programs, or the one above.
    look = 'for f in "$1/psql" "$1/bin/psql" psql; do command -v "$f" >/dev/null && break; done; shift; exec "$f" "$@"'
    return ("sh", "-c", look, "sh", str(folder))


def _last(text: str) -> str:
    """Return the error line of psql's output, without the name of the program."""
    lines = [line.strip() for line in printable(text).splitlines() if line.strip()]
    wrong = [line for line in lines if "FATAL" in line or "ERROR" in line or "error:" in line]
    said = (wrong or lines or ["it said nothing"])[-1]
    return said.removeprefix("psql: ").removeprefix("error: ")[:_QUOTE]
