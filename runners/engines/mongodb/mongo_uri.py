"""MongoDB connection strings, parsed and built as text, without DNS: only the machines that connect look hosts up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote as percent_encode

from benchbrief.model.plan import Option
from benchbrief.runners.errors import PlanRefused

DEFAULT_PORT = 27017
DEFAULT_DATABASE = "ycsb"
_TLS = ("tls=true", "ssl=true", "tlscafile=", "tlscertificatekeyfile=")
"""Options that ask for TLS. Those that name a file imply it."""
_URI = re.compile(r"(mongodb(?:\+srv)?://)(?:(.*)@)?([^/?@]+)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)


@dataclass(frozen=True)
class MongoUri:
    """A connection string. `user` is the part before the @ ("" when there is none). `hosts` are pairs of name and
    port."""

    scheme: str
    user: str
    hosts: tuple[tuple[str, int], ...]
    database: str
    options: tuple[str, ...]

    @property
    def looked_up(self) -> bool:
        """Return whether DNS gives the hosts (mongodb+srv)."""
        return self.scheme == "mongodb+srv://"

    @property
    def encrypted(self) -> bool:
        """Return whether the server shows a certificate, which fits only the name in the string."""
        return any(option.lower().startswith(_TLS) for option in self.options)

    @property
    def text(self) -> str:
        user = f"{self.user}@" if self.user else ""
        hosts = ",".join(name if self.looked_up else at_port(name, port) for name, port in self.hosts)
        options = f"?{'&'.join(self.options)}" if self.options else ""
        return f"{self.scheme}{user}{hosts}/{self.database}{options}"

    @property
    def replica_set(self) -> str:
        """Return the name of the replica set that the string asks for; "" when it asks for none."""
        return next((each.partition("=")[2] for each in self.options if each.lower().startswith("replicaset=")), "")

    def having(self, options: Mapping[str, Option]) -> MongoUri:
        """Add options, by the connection string's names for them."""
        return replace(self, options=(*self.options, *(f"{name}={_written(value)}" for name, value in options.items())))

    def direct(self, host: str, port: int) -> MongoUri:
        """Return the same credentials for one server at another address, without its replica set."""
        dropped = ("replicaset=", "directconnection=", "loadbalanced=")
        kept = tuple(option for option in self.options if not option.lower().startswith(dropped))
        return replace(self, hosts=((host, port),), options=(*kept, "directConnection=true"))


def _written(value: Option) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return percent_encode(value, safe=",") if isinstance(value, str) else f"{value:.0f}"


def parse(uri: str) -> MongoUri:
    """Parse a connection string. Raises RunnerError for anything else, without showing the text."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise PlanRefused("the database's uri is not a MongoDB connection string", 'it is like "mongodb://host/ycsb"')
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
        raise PlanRefused("a port in the database's uri is not a number", 'it is like "mongodb://host:27017/ycsb"')
    return name.strip("[]"), int(port)


def at_port(host: str, port: int) -> str:
    """Return a server's address as strings have it, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
