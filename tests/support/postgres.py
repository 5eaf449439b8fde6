"""Starts a real PostgreSQL server for tests, which runs as an ordinary user, and a real standby that replicates from
it.

with postgres() as server, standby_of(server):
    psql(server, "SELECT 1")
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port
from tests.support.tools import system_tool
from tests.support.waiting import until

BIN = Path("/usr/lib/postgresql/15/bin")
USER, PASSWORD, DATABASE = "bench", "s3cret/+ %", "shop"
"""A role that may read the server's statistics and write to one database. Its password must be escaped wherever it is
used."""

_SETTINGS = """
fsync = off
listen_addresses = '127.0.0.1'
max_connections = 30
shared_buffers = 16MB
track_io_timing = on
unix_socket_directories = '{directory}'
"""


@dataclass(frozen=True)
class Postgres:
    directory: Path
    port: int

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def uri(self) -> str:
        """Return the URI in the form for a spec. The password is in the environment."""
        return f"postgresql://{USER}:{{secret(PG_PASSWORD)}}@127.0.0.1:{self.port}/{DATABASE}"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a new cluster on its own port. It has one role and an empty database."""
    system_tool(str(BIN / "pgbench"))
    with _folder() as directory:
        server = Postgres(directory, free_port())
        (directory / "password").write_text(PASSWORD)
        access = ("--username=postgres", "--auth-local=trust", "--auth-host=scram-sha-256")
        made = (*access, f"--pwfile={directory}/password", "--no-sync", "--locale=C.UTF-8", "--encoding=UTF8")
        run("initdb", *made, "-D", str(server.data))
        with (server.data / "postgresql.conf").open("a") as file:
            file.write(_SETTINGS.format(directory=directory))
        with _running(server):
            quoted = PASSWORD.replace("'", "''")
            as_owner(server, f"CREATE ROLE {USER} LOGIN PASSWORD '{quoted}'")
            as_owner(server, f"GRANT pg_monitor, pg_checkpoint TO {USER}")
            as_owner(server, f"CREATE DATABASE {DATABASE} OWNER {USER}")
            yield server


@contextmanager
def standby_of(primary: Postgres) -> Iterator[Postgres]:
    """Copy the primary, and let the copy replicate the primary's WAL."""
    with _folder() as directory:
        server = Postgres(directory, free_port())
        source = f"host={primary.directory} port={primary.port} user=postgres application_name=standby"
        run("pg_basebackup", "-d", source, "-D", str(server.data), "-R", "-X", "stream", "-c", "fast", "--no-sync")
        with (server.data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{directory}'\n")
        with _running(server):
            until(
                lambda: as_owner(primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1"
            )
            yield server


def as_owner(server: Postgres, sql: str) -> str:
    """Return the result of a statement that the owner of the cluster executes."""
    where = ("-h", str(server.directory), "-p", str(server.port), "-U", "postgres", "-d", "postgres")
    return run("psql", *where, "-X", "-A", "-t", "-c", sql).strip()


def run(program: str, *words: str) -> str:
    """Run one of PostgreSQL's programs as an ordinary user, because the server refuses root."""
    done = subprocess.run(
        [*_plain_user(), str(BIN / program), *words],
        cwd="/",
        env={"PATH": f"{BIN}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _plain_user() -> tuple[str, ...]:
    return ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups") if os.getuid() == 0 else ()


@contextmanager
def _folder() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="bb-pg-", dir="/tmp"))  # the path of a socket is short
    try:
        if os.getuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _running(server: Postgres) -> Iterator[None]:
    where = ("-D", str(server.data), "-w", "-s", "-l", str(server.directory / "log"))
    run("pg_ctl", "start", *where, "-o", f"-p {server.port}")
    try:
        yield
    finally:
        run("pg_ctl", "stop", "-D", str(server.data), "-m", "immediate", "-s")
