"""Converts a connection string to environment variables for libpq's programs, so that no process argument contains a
secret.

https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING describes connection strings, and
https://www.postgresql.org/docs/15/libpq-envars.html describes the variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from bench_postgres.postgres_messages import say_pg
from benchbrief.extend.common import CommandWord, Database, RunnerError, Secret

_URI = re.compile(r"postgres(?:ql)?://(?:([^@/?]*)@)?([^/?]*)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)
_VARIABLES = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "application_name": "PGAPPNAME",
    "channel_binding": "PGCHANNELBINDING",
    "client_encoding": "PGCLIENTENCODING",
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "gssencmode": "PGGSSENCMODE",
    "options": "PGOPTIONS",
    "passfile": "PGPASSFILE",
    "sslcert": "PGSSLCERT",
    "sslcompression": "PGSSLCOMPRESSION",
    "sslcrl": "PGSSLCRL",
    "sslkey": "PGSSLKEY",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "ssl_min_protocol_version": "PGSSLMINPROTOCOLVERSION",
    "ssl_max_protocol_version": "PGSSLMAXPROTOCOLVERSION",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}
_USUAL = {"PGAPPNAME": "benchbrief", "PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}
"""The defaults for variables that the connection string does not set. The locale C keeps programs from translating
their output."""


def environment(uri: Secret, database: Database) -> Mapping[str, CommandWord]:
    """Return the variables for a connection string. Raises RunnerError with a message that does not show the string."""
    match = _URI.fullmatch(uri.value)
    if match is None:
        raise _unreadable(database, "postgresql://")
    login, hosts, name, parameters = (part or "" for part in match.groups())
    user, _, password = login.partition(":")
    found = {"user": user, "password": password, "dbname": name, **_addresses(hosts)}
    for part in parameters.split("&") if parameters else ():
        key, _, value = part.partition("=")
        if key not in _VARIABLES:
            raise _unreadable(database, say_pg.pg_parameter(name=key[:40]))
        found[key] = value
    plain = {_VARIABLES[key]: unquote(value) for key, value in found.items() if value}
    return {**_USUAL, **{name: _word(name, value, uri) for name, value in plain.items()}}


def _addresses(hosts: str) -> dict[str, str]:
    """Return the variables for hosts and ports, which libpq takes as two lists of the same length."""
    pairs = [re.fullmatch(r"\[?(.*?)\]?(?::(\d{1,5}))?", each) for each in hosts.split(",")]
    names = [each[1] if each else "" for each in pairs]
    ports = [(each[2] if each else "") or "5432" for each in pairs]
    has_ports = any(each and each[2] for each in pairs)
    return {"host": ",".join(names), "port": ",".join(ports) if has_ports else ""}


def _word(name: str, value: str, uri: Secret) -> CommandWord:
    secret = name == "PGPASSWORD" or any(part in value for part in uri.of)
    return Secret(value, name=f"{name} of the {uri.name}", of=uri.of) if secret else value


def _unreadable(database: Database, why: str) -> RunnerError:
    return RunnerError(say_pg.pg_bad_uri(database=database.name, why=why), say_pg.pg_hint_uri(origin=database.origin))
