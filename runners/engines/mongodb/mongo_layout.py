"""Which MongoDB servers start on which hosts, with which command lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbrief.model.plan import Database, Host, ServerStart
from benchbrief.runners.engines.mongodb.mongo_uri import at_port
from benchbrief.runners.errors import PlanRefused

CONFIG_FILE = "mongod.conf"
KEY_FILE = "keyfile"
_CONFIG_SERVERS = 3
_CONFIG_SET = "config"


@dataclass(frozen=True)
class Member:
    """One server. `name` identifies it, `address` is its host for the others, `folder` is below the database's
    path.

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
    """The servers of a database. `sets` hold data, by replica set; one server alone is a set of its own.

    The set with the cluster's configuration comes first. Only a sharded cluster has `routers`.
    """

    sets: tuple[tuple[Member, ...], ...]
    routers: tuple[Member, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """Return all servers, those first that others need."""
        return (*(member for members in self.sets for member in members), *self.routers)

    @property
    def shards(self) -> tuple[tuple[Member, ...], ...]:
        return tuple(each for each in self.sets if each[0].role == "data")

    @property
    def config(self) -> tuple[Member, ...]:
        return next((each for each in self.sets if each[0].role == "config"), ())

    def seeds(self) -> str:
        """Return the hosts of a connection string."""
        return ",".join(member.where for member in self.routers or self.shards[0])


def layout(database: Database, hosts: Sequence[Host], port: int) -> Layout:
    """Place a server on each host. Routers come first, so that they listen at `port`. Raises RunnerError."""
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
        raise PlanRefused(f"database {database.name} is one server, and has {len(hosts)} hosts", "declare a topology")
    return Layout(((member("mongod", "data", hosts[0]),),), ())


def warn_of_unguarded(start: ServerStart, made: Layout) -> tuple[str, ...]:
    """Return a remark on servers without access control: one sentence, or none."""
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
    """Return the arguments of a server. Its files are in its working directory."""
    return list(_words(start, member, directory, config, sharded))


def _words(
    start: ServerStart, member: Member, directory: str, config: Sequence[Member], sharded: bool
) -> Iterator[str]:
    if start.config and member.role == "data":  # its storage settings apply only to these
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
