"""MongoDB connection strings, taken apart and put together as text: looking their hosts up is for other machines."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from benchbrief.compiler.plan import Database, Template
from benchbrief.runners.seams import RunnerError, Secret

DEFAULT_PORT = 27017
DEFAULT_DATABASE = "ycsb"
_URI = re.compile(r"(mongodb(?:\+srv)?://)(?:(.*)@)?([^/?@]+)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)


@dataclass(frozen=True)
class MongoUri:
    """`user` is the part before the @ ("" when there is none), `hosts` pairs names with ports."""

    scheme: str
    user: str
    hosts: tuple[tuple[str, int], ...]
    database: str
    options: tuple[str, ...]

    @property
    def looked_up(self) -> bool:
        """Whether the hosts are found by DNS (mongodb+srv)."""
        return self.scheme == "mongodb+srv://"

    @property
    def text(self) -> str:
        user = f"{self.user}@" if self.user else ""
        hosts = ",".join(name if self.looked_up else f"{_bracketed(name)}:{port}" for name, port in self.hosts)
        options = f"?{'&'.join(self.options)}" if self.options else ""
        return f"{self.scheme}{user}{hosts}/{self.database}{options}"

    def direct(self, host: str, port: int) -> MongoUri:
        """The same credentials for one server at another address, without looking for the rest of its replica set."""
        dropped = ("replicaset=", "directconnection=", "loadbalanced=")
        kept = tuple(option for option in self.options if not option.lower().startswith(dropped))
        return replace(self, hosts=((host, port),), options=(*kept, "directConnection=true"))


def parse(uri: str) -> MongoUri:
    """Raises RunnerError, without showing the text, for what is no connection string."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise RunnerError("the database's uri is not a MongoDB connection string", 'it is like "mongodb://host/ycsb"')
    scheme, user, hosts, database, options = match.groups()
    return MongoUri(
        scheme,
        user or "",
        tuple(_host(part) for part in hosts.split(",")),
        database or DEFAULT_DATABASE,
        tuple(option for option in (options or "").split("&") if option),
    )


def _host(text: str) -> tuple[str, int]:
    name, colon, port = text.rpartition(":")
    if text.startswith("[") and text.endswith("]"):
        return text[1:-1], DEFAULT_PORT
    if not colon:
        return text, DEFAULT_PORT
    if not port.isdigit():
        raise RunnerError("a port in the database's uri is not a number", 'it is like "mongodb://host:27017/ycsb"')
    return name.strip("[]"), int(port)


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def resolved(template: Template, database: Database) -> Secret:
    """The connection string with its references read from this process's environment. Raises RunnerError."""
    parts = []
    for part in template:
        if isinstance(part, str):
            parts.append(part)
            continue
        value = os.environ.get(part.name)
        if not value:
            raise RunnerError(
                f"the uri of database {database.name} needs the {_KINDS[part.kind]} {part.name}, which is not set",
                f"set it in the environment of `bench`: export {part.name}=...",
            )
        parts.append(value)
    return Secret("".join(parts), name=f"uri of {database.name}")


_KINDS = {"env": "environment variable", "secret": "secret"}
