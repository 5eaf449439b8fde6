"""Reads a server's address and login from a URI such as `mariadb://user:password@host:3306/database`."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bench_mariadb.messages import say_mariadb
from benchbrief.extend.common import Database, RunnerError, Secret

USER = DATABASE = "sbtest"
"""The name that sysbench uses by default for both the user and the database."""


class Login(NamedTuple):
    host: str
    port: int
    user: str
    password: Secret
    database: str


def read_login(uri: Secret | None, database: Database) -> Login:
    """Parse the URI. Raises RunnerError with a message that does not show the URI."""
    try:
        parts = urlsplit(uri.value if uri else "")
        host, port = parts.hostname, parts.port or 3306
    except ValueError:
        host = None
    if uri is None or not host:
        raise RunnerError(
            say_mariadb.mariadb_uri(database=database.name), say_mariadb.mariadb_hint_uri(origin=database.origin)
        )
    # The programs of MariaDB take `localhost` for a socket of the host that they run on.
    host = "127.0.0.1" if host == "localhost" else host
    password = Secret(unquote(parts.password or ""), uri.name, of=uri.of)
    return Login(host, port, unquote(parts.username or USER), password, unquote(parts.path[1:]) or DATABASE)
