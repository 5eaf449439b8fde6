"""Where MongoDB servers are placed on hosts, and their command lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote as percent_encode

from benchbrief.extend.common import Database, Host, OptionValue, PlanRefused
from benchbrief.extend.engines import ServerStart
from benchbrief.extensions.engines.mongodb.mongo_client import say

DEFAULT_PORT = 27017
DEFAULT_DATABASE = "ycsb"
_TLS = ("tls=true", "ssl=true", "tlscafile=", "tlscertificatekeyfile=")
"""Prefixes of the options that turn on TLS. An option that names a TLS file also turns it on."""
_URI = re.compile(r"(mongodb(?:\+srv)?://)(?:(.*)@)?([^/?@]+)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)


@dataclass(frozen=True)
class MongoUri:
    """A connection string. `user` is the part before the @ ("" if there is none). `hosts` are pairs of name and
    port."""

    scheme: str
    user: str
    hosts: tuple[tuple[str, int], ...]
    database: str
    options: tuple[str, ...]

    @property
    def looked_up(self) -> bool:
        """Return whether the hosts are looked up in DNS (mongodb+srv)."""
        return self.scheme == "mongodb+srv://"

    @property
    def encrypted(self) -> bool:
        """Return whether the connection uses TLS. If so, only the host names in the string match the certificates."""
        return any(option.lower().startswith(_TLS) for option in self.options)

    @property
    def text(self) -> str:
        user = f"{self.user}@" if self.user else ""
        hosts = ",".join(name if self.looked_up else at_port(name, port) for name, port in self.hosts)
        options = f"?{'&'.join(self.options)}" if self.options else ""
        return f"{self.scheme}{user}{hosts}/{self.database}{options}"

    @property
    def replica_set(self) -> str:
        """Return the replica set that the string names, or "" if it names none."""
        return next((each.partition("=")[2] for each in self.options if each.lower().startswith("replicaset=")), "")

    def having(self, options: Mapping[str, OptionValue]) -> MongoUri:
        """Return the string with additional options, which are named as in connection strings."""
        return replace(self, options=(*self.options, *(f"{name}={_written(value)}" for name, value in options.items())))

    def direct(self, host: str, port: int) -> MongoUri:
        """Return the string for a single server at another address, with the credentials but without the replica
        set."""
        dropped = ("replicaset=", "directconnection=", "loadbalanced=")
        kept = tuple(option for option in self.options if not option.lower().startswith(dropped))
        return replace(self, hosts=((host, port),), options=(*kept, "directConnection=true"))


def _written(value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return percent_encode(value, safe=",") if isinstance(value, str) else f"{value:.0f}"


def parse(uri: str) -> MongoUri:
    """Parse a connection string. Raises RunnerError for any other text, which the error message does not show."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise PlanRefused(say.no_mongo_uri(), say.hint_mongo_uri(uri="mongodb://host/ycsb"))
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
        raise PlanRefused(say.no_mongo_port(), say.hint_mongo_uri(uri="mongodb://host:27017/ycsb"))
    return name.strip("[]"), int(port)


def at_port(host: str, port: int) -> str:
    """Return a server's address for a connection string, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


CONFIG_FILE = "mongod.conf"
KEY_FILE = "keyfile"
_CONFIG_SERVERS = 3
_CONFIG_SET = "config"


@dataclass(frozen=True)
class Member:
    """One server. Its folder in the database's path is also called `name`. Other hosts reach it at `address`.

    `replica_set` is "" for a standalone server and for a router.
    """

    name: str
    role: Literal["data", "config", "router"]
    host: str
    address: str
    port: int
    replica_set: str = ""

    @property
    def where(self) -> str:
        return at_port(self.address, self.port)


@dataclass(frozen=True)
class Layout:
    """The servers of a database. Each of `sets` is a replica set or a single server.

    Only a sharded cluster has `routers`, and its first set holds the cluster's configuration.
    """

    sets: tuple[tuple[Member, ...], ...]
    routers: tuple[Member, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """Return all servers. Servers that others depend on come first."""
        return (*(member for members in self.sets for member in members), *self.routers)

    @property
    def shards(self) -> tuple[tuple[Member, ...], ...]:
        return tuple(each for each in self.sets if each[0].role == "data")

    @property
    def config(self) -> tuple[Member, ...]:
        return next((each for each in self.sets if each[0].role == "config"), ())

    def seeds(self) -> str:
        """Return the hosts for a connection string."""
        return ",".join(member.where for member in self.routers or self.shards[0])


def layout(database: Database, hosts: Sequence[Host], port: int) -> Layout:
    """Place a server on each host. Routers are placed first, so that they get `port`. Raises RunnerError."""
    taken: Counter[str] = Counter()

    def member(name: str, role: Literal["data", "config", "router"], host: Host, replica_set: str = "") -> Member:
        taken[host.name] += 1
        return Member(name, role, host.id, host.name, port + taken[host.name] - 1, replica_set)

    if database.topology == "sharded":
        routers = tuple(member(f"router-{n}", "router", host) for n, host in enumerate(hosts, 1))
        count = database.shards or len(hosts)
        size = len(hosts) // count
        sets = [
            tuple(
                member(f"shard{s}-{n}", "data", host, f"shard{s}")
                for n, host in enumerate(hosts[size * (s - 1) : size * s], 1)
            )
            for s in range(1, count + 1)
        ]
        config = tuple(
            member(f"{_CONFIG_SET}-{n}", "config", host, _CONFIG_SET)
            for n, host in enumerate(hosts[:_CONFIG_SERVERS], 1)
        )
        return Layout((config, *sets), routers)
    if database.topology and database.topology.startswith("replica_set("):
        name = database.topology.removeprefix("replica_set(").removesuffix(")")
        return Layout((tuple(member(f"{name}-{n}", "data", host, name) for n, host in enumerate(hosts, 1)),), ())
    if len(hosts) != 1:
        raise PlanRefused(say.too_many_hosts(database=database.name, hosts=len(hosts)), say.hint_topology())
    return Layout(((member("mongod", "data", hosts[0]),),), ())


def warn_of_unguarded(start: ServerStart, made: Layout) -> tuple[str, ...]:
    """Return a remark if other machines can reach servers without access control. Otherwise returns no remark."""
    open_at = sorted({each.address for each in made.members if not _near(each)})
    if start.auth or not open_at:
        return ()
    return (say.unguarded(places=", ".join(open_at)),)


def _near(member: Member) -> bool:
    return member.address in ("127.0.0.1", "localhost")


def words(start: ServerStart, member: Member, directory: str, config: Sequence[Member], sharded: bool) -> list[str]:
    """Return a server's command-line arguments. Its configuration and key are in its working directory."""
    return list(_words(start, member, directory, config, sharded))


def _words(
    start: ServerStart, member: Member, directory: str, config: Sequence[Member], sharded: bool
) -> Iterator[str]:
    if start.config and member.role == "data":  # the file's storage settings apply only to data servers
        yield from ("--config", CONFIG_FILE)
    if member.role == "router":
        yield from ("--configdb", f"{_CONFIG_SET}/{','.join(each.where for each in config)}")
    else:
        yield from ("--dbpath", directory)
    yield from (
        "--port",
        str(member.port),
        "--bind_ip",
        "127.0.0.1" if _near(member) else f"127.0.0.1,{member.address}",
    )
    if member.replica_set:
        yield from ("--replSet", member.replica_set)
    if member.role == "config":
        yield "--configsvr"
    elif sharded and member.role == "data":
        yield "--shardsvr"
    if start.auth:
        if member.replica_set or member.role == "router":
            yield from ("--keyFile", KEY_FILE)
        else:
            yield "--auth"
    if start.tls:
        yield from ("--tlsMode", "requireTLS", "--tlsCertificateKeyFile", start.tls.certificate)
        yield from ("--tlsCAFile", start.tls.ca, "--tlsAllowConnectionsWithoutCertificates")
