"""The cluster of a MongoDB server: whether it matches the spec, which server takes writes, and how far the other
servers lag."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchbrief.extend.common import (
    Database,
    Interrupted,
    PlanRefused,
    RunnerError,
    ServerFailed,
    Stopping,
    figure,
    joined,
)
from benchbrief.extensions.engines.mongodb.mongo_client import Connection, RefusedByServer, say

MONGODB = "MongoDB"
_LONGEST = 60
_SERVICES = {
    ".docdb.amazonaws.com": "Amazon DocumentDB",
    ".docdb-elastic.amazonaws.com": "Amazon DocumentDB",
    ".cosmos.azure.com": "Azure Cosmos DB",
    ".documents.azure.com": "Azure Cosmos DB",
    ".firestore.goog": "Google Firestore",
    ".oraclecloudapps.com": "Oracle Database",
}
"""Hosted services, each with the suffix of the addresses that its servers report in `hello`."""
_OWN_BUILD = ("gitVersion", "allocator")
"""Fields of `buildInfo` in mongod and mongos since version 2.4. Other products lack them."""


@dataclass(frozen=True)
class Product:
    """A server's product. `name` is "" if unknown, and `version` is "" if not reported. `speaks` is the MongoDB version
    that the server claims to be."""

    name: str
    version: str
    speaks: str

    @property
    def is_mongodb(self) -> bool:
        return self.name == MONGODB

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}".rstrip()


def product_of(build: Mapping[str, Any], hello: Mapping[str, Any]) -> Product:
    """Return the product that gave these answers to `buildInfo` and `hello`."""
    speaks = _told(build.get("version")) or "unknown"
    name, version = _named(build, hello)
    if not name and all(key in build for key in _OWN_BUILD):
        name, version = MONGODB, speaks
    return Product(name, version, speaks)


def _named(build: Mapping[str, Any], hello: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and the version of a server that is not MongoDB. Each is "" if the server does not report it."""
    ferret = build.get("ferretdb")
    if "ferretdbVersion" in build or isinstance(ferret, Mapping):
        told = build.get("ferretdbVersion") or (ferret.get("version") if isinstance(ferret, Mapping) else "")
        return "FerretDB", _told(told).removeprefix("v")
    if "psmdbVersion" in build:
        return "Percona Server for MongoDB", _told(build["psmdbVersion"])
    if "maxscale" in build:
        return "MariaDB MaxScale", _told(build["maxscale"])
    addresses = tuple(_addresses(hello))
    service = next((name for end, name in _SERVICES.items() if any(each.endswith(end) for each in addresses)), "")
    internal = hello.get("internal")
    if isinstance(internal, Mapping) and "documentdb_versions" in internal:
        own = "Azure DocumentDB" if internal.get("kind") == "azuredocumentdb" else "DocumentDB"
        return service or own, _first(internal["documentdb_versions"])
    if isinstance(internal, Mapping) and "cosmos_versions" in internal:
        return "Azure Cosmos DB", _first(internal["cosmos_versions"])
    return service or ("Azure Cosmos DB" if "_t" in build else ""), ""


def _addresses(hello: Mapping[str, Any]) -> list[str]:
    told = [hello.get("me"), hello.get("primary")]
    for key in ("hosts", "passives"):
        told += each if isinstance(each := hello.get(key), list) else []
    return [each.rpartition(":")[0].casefold() for each in told if isinstance(each, str)]


def _first(versions: object) -> str:
    return _told(versions[0] if isinstance(versions, list) and versions else versions)


def _told(value: object) -> str:
    """Return a server's text on one line, cut to the length of a version. Returns "" if the text is missing or
    "unknown"."""
    said = " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
    return "" if said == "unknown" else said


_CAUGHT_UP_TIMEOUT_S = 600.0
_LOOK_EVERY_S = 0.25
_NOT_ALLOWED = 13
_ARBITER = 7


@dataclass(frozen=True)
class Part:
    """A server's own description of its place in a cluster. `members` are the members that hold data, and `primary` is
    the primary's address among them."""

    topology: str
    members: tuple[str, ...]
    primary: str

    @property
    def text(self) -> str:
        return say.has_members(topology=self.topology, members=len(self.members)) if self.members else self.topology


def part(hello: Mapping[str, Any]) -> Part:
    if hello.get("msg") == "isdbgrid":
        return Part("sharded", (), "")
    if name := hello.get("setName"):
        members = (*hello.get("hosts", ()), *hello.get("passives", ()))
        return Part(f"replica_set({name})", members, str(hello.get("primary", "")))
    return Part("standalone", (), "")


def find_writable(hello: Mapping[str, Any]) -> bool:
    return bool(hello.get("isWritablePrimary", hello.get("ismaster")))


def refuse_other_set(database: Database, asked: str, hello: Mapping[str, Any], at: str) -> None:
    """Raise PlanRefused if the server does not belong to the replica set that clients ask for (`asked`). They would
    wait for that set in vain. A server that is not configured yet may still become a member."""
    its = str(hello.get("setName") or "")
    if asked and its != asked and not hello.get("isreplicaset"):
        about = {"database": database.name, "asked": asked, "at": at}
        why = say.in_other_set(**about, its=its) if its else say.in_no_set(**about)
        raise PlanRefused(why, say.hint_set(origin=database.origin))


def list_shards(router: Connection) -> tuple[str, ...]:
    """Return each shard as the router lists it, such as `rs0/host:port,host:port`."""
    return tuple(str(shard.get("host", "")) for shard in router.command("listShards").get("shards", ()))


def check_declared(database: Database, connection: Connection) -> None:
    """Raise RunnerError for a server that differs from the spec's description of it."""
    hello = connection.hello()
    found = part(hello)
    if database.topology and database.topology != found.topology:
        raise _other(database, database.topology, found.text, "topology")
    if database.members is not None and database.members != len(found.members):
        raise _other(
            database, say.with_members(topology=database.topology, members=database.members), found.text, "members"
        )
    if database.shards is not None and (count := len(list_shards(connection))) != database.shards:
        raise _other(database, say.sharded_over(shards=database.shards), say.sharded_over(shards=count), "shards")
    if database.version is not None:
        build = connection.command("buildInfo")
        product = product_of(build, hello)
        version = product.version or product.speaks
        if not f"{version}.".startswith(f"{database.version.rstrip('.')}."):
            is_own = product.is_mongodb or not product.version
            found_text = say.version_of(version=version) if is_own else product.text
            raise _other(database, say.version_of(version=database.version), found_text, "version")


def _other(database: Database, declared: str, found: str, attribute: str) -> RunnerError:
    return RunnerError(
        say.declared_otherwise(database=database.name, declared=declared, found=found),
        say.hint_declared(attribute=attribute, origin=database.origin),
    )


def wait_caught_up(database: Database, primaries: Sequence[Connection], stopping: Stopping) -> tuple[str, ...]:
    """Wait until the secondaries of each replica set have everything older than `max_lag_s`.

    Returns remarks on replica sets that can't be checked. Raises ServerFailed if a secondary stays behind, and
    Interrupted if the run must stop.
    """
    deadline = time.monotonic() + _CAUGHT_UP_TIMEOUT_S
    for primary in primaries:
        if not part(primary.hello()).members:
            continue
        while True:
            try:
                behind = find_lagging(primary.command("replSetGetStatus"), database.max_lag_s)
            except RefusedByServer as error:
                if error.server_code != _NOT_ALLOWED:
                    raise
                return (say.secondaries_unknown(),)
            if not behind:
                break
            if time.monotonic() > deadline:
                raise ServerFailed(
                    say.not_caught_up(
                        database=database.name,
                        seconds=figure(_CAUGHT_UP_TIMEOUT_S, ".0f"),
                        said=joined(behind, say.comma),
                    ),
                    say.hint_lag(origin=database.origin),
                )
            if stopping.is_set():
                raise Interrupted
            threading.Event().wait(_LOOK_EVERY_S)
    return ()


def find_lagging(status: Mapping[str, Any], max_lag_s: float) -> list[str]:
    """Return the members that lag more than `max_lag_s` behind their primary, each with the reason. `status` is from
    replSetGetStatus.

    A member's lag is the time between the last operation that the primary has applied and the last one that the member
    has applied.
    """
    members = [each for each in status.get("members", ()) if each.get("state") != _ARBITER]
    newest = next((_applied(each) for each in members if each.get("stateStr") == "PRIMARY"), None)
    if newest is None:
        return [say.there_is_no_primary()]
    found: list[str] = []
    for each in members:
        applied, state = _applied(each), each.get("stateStr", "unknown")
        if state == "PRIMARY":
            continue
        if state != "SECONDARY" or applied is None:
            found.append(say.member_is(member=each.get("name"), state=state))
        elif (lag := (newest - applied).total_seconds()) > max_lag_s:
            found.append(say.member_lags(member=each.get("name"), seconds=figure(lag, ".0f")))
    return found


def _applied(member: Mapping[str, Any]) -> datetime | None:
    at = member.get("optimeDate")
    return at if isinstance(at, datetime) else None
