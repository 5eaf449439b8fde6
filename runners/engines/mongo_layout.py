"""Which MongoDB servers are started on which hosts, and with which words on their command lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.plan import Database, Host, ServerStart
from benchbrief.runners.errors import RunnerError

CONFIG_FILE = "mongod.conf"
KEY_FILE = "keyfile"
_CONFIG_SERVERS = 3
_CONFIG_SET = "config"


@dataclass(frozen=True)
class Member:
    """A server: `name` tells it apart, `address` is what the others know its host by, `folder` is below the database's
    path. `replica_set` is "" for a standalone server and for a router."""

    name: str
    role: Literal["data", "config", "router"]
    host: str
    address: str
    port: int
    replica_set: str = ""

    @property
    def where(self) -> str:
        return f"{self.address}:{self.port}"


@dataclass(frozen=True)
class Layout:
    """`sets` are the servers that hold data, by replica set (one server alone is a set of its own), those with the
    cluster's configuration first; `routers` are none but in a sharded cluster."""

    sets: tuple[tuple[Member, ...], ...]
    routers: tuple[Member, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """All servers, those first that others need."""
        return (*(member for members in self.sets for member in members), *self.routers)

    @property
    def shards(self) -> tuple[tuple[Member, ...], ...]:
        return tuple(each for each in self.sets if each[0].role == "data")

    @property
    def config(self) -> tuple[Member, ...]:
        return next((each for each in self.sets if each[0].role == "config"), ())

    def seeds(self) -> str:
        """The hosts of a connection string."""
        return ",".join(member.where for member in self.routers or self.shards[0])


def layout(database: Database, hosts: Sequence[Host], port: int) -> Layout:
    """A server on each host; routers first, so that it is they who listen at `port`. Raises RunnerError."""
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
        raise RunnerError(f"database {database.name} is one server, and has {len(hosts)} hosts", "declare a topology")
    return Layout(((member("mongod", "data", hosts[0]),),), ())


def unguarded(start: ServerStart, made: Layout) -> tuple[str, ...]:
    """What is to be told of servers that let everybody in who reaches them: one sentence, or none."""
    open_at = sorted({each.address for each in made.members if not _near(each)})
    if start.auth or not open_at:
        return ()
    text = (
        f"the MongoDB servers were started without access control, and listened at {', '.join(open_at)}: who could "
        "reach them could read and change all of it (`user` and `password` of the database would prevent that)"
    )
    return (text,)


def _near(member: Member) -> bool:
    return member.address in ("127.0.0.1", "localhost")


def words(start: ServerStart, member: Member, directory: str, config: Sequence[Member], sharded: bool) -> list[str]:
    """The arguments of a server; its files are in its working directory."""
    return list(_words(start, member, directory, config, sharded))


def _words(
    start: ServerStart, member: Member, directory: str, config: Sequence[Member], sharded: bool
) -> Iterator[str]:
    if start.config and member.role == "data":  # what it says of storage is for these alone
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
