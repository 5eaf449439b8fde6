"""The cluster of a MongoDB server: whether it is what the spec says, who takes writes, and how far others lag."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchbrief.model.message import figure
from benchbrief.model.plan import Database
from benchbrief.runners.engines.mongodb.mongo_client import Connection, Refused
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.engines.mongodb.mongo_product import product_of
from benchbrief.runners.errors import Interrupted, PlanRefused, RunnerError, ServerFailed
from benchbrief.runners.seams import Stopping

_CAUGHT_UP_TIMEOUT_S = 600.0
_LOOK_EVERY_S = 0.25
_NOT_ALLOWED = 13
_ARBITER = 7
_NOT_KNOWN = (
    "whether the secondaries had caught up is not known: the login may not ask for the state of the replica set "
    "(the role clusterMonitor would allow it)"
)
SHARDS_NOT_KNOWN = (
    "whether the secondaries of the shards had caught up is not known: a router does not tell, and the shards of a "
    "cluster that is attached to are not asked"
)


@dataclass(frozen=True)
class Part:
    """A server's description of itself. `members` hold data. `primary` is the address that its members use for it."""

    topology: str
    members: tuple[str, ...]
    primary: str

    @property
    def text(self) -> str:
        return f"{self.topology}, {len(self.members)} members" if self.members else self.topology


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
    """Raises PlanRefused for a server that clients which ask for this replica set would wait for in vain.

    One that has no configuration yet may become a member.
    """
    its = str(hello.get("setName") or "")
    if asked and its != asked and not hello.get("isreplicaset"):
        about = {"database": database.name, "asked": asked, "at": at}
        why = say.in_other_set(**about, its=its) if its else say.in_no_set(**about)
        raise PlanRefused(why, say.hint_set(origin=database.origin))


def list_shards(router: Connection) -> tuple[str, ...]:
    """Return each shard as its router knows it: `rs0/host:port,host:port`."""
    return tuple(str(shard.get("host", "")) for shard in router.command("listShards").get("shards", ()))


def check_declared(database: Database, connection: Connection) -> None:
    """Raises RunnerError for a server that differs from what the spec declares."""
    hello = connection.hello()
    found = part(hello)
    if database.topology and database.topology != found.topology:
        raise _other(database, database.topology, found.text, "topology")
    if database.members is not None and database.members != len(found.members):
        raise _other(database, f"{database.topology} with {database.members} members", found.text, "members")
    if database.shards is not None and (count := len(list_shards(connection))) != database.shards:
        raise _other(database, f"sharded over {database.shards}", f"sharded over {count}", "shards")
    if database.version is not None:
        build = connection.command("buildInfo")
        product = product_of(build, hello)
        version = product.version or product.speaks
        if not f"{version}.".startswith(f"{database.version.rstrip('.')}."):
            is_own = product.is_mongodb or not product.version
            found_text = f"version {version}" if is_own else product.text
            raise _other(database, f"version {database.version}", found_text, "version")


def _other(database: Database, declared: str, found: str, attribute: str) -> RunnerError:
    return RunnerError(
        f"database {database.name} is declared as {declared}, and the server is {found}",
        f"mend `{attribute}` or the uri ({database.origin})",
    )


def wait_caught_up(database: Database, primaries: Sequence[Connection], stopping: Stopping) -> tuple[str, ...]:
    """Wait until each replica set's secondaries have everything older than `max_lag_s`.

    Returns remarks when that can't be checked. Raises ServerFailed for one that stays behind, and Interrupted when
    the run must stop.
    """
    deadline = time.monotonic() + _CAUGHT_UP_TIMEOUT_S
    for primary in primaries:
        if not part(primary.hello()).members:
            continue
        while True:
            try:
                behind = find_lagging(primary.command("replSetGetStatus"), database.max_lag_s)
            except Refused as error:
                if error.server_code != _NOT_ALLOWED:
                    raise
                return (_NOT_KNOWN,)
            if not behind:
                break
            if time.monotonic() > deadline:
                raise ServerFailed(
                    say.not_caught_up(
                        database=database.name, seconds=figure(_CAUGHT_UP_TIMEOUT_S, ".0f"), said=", ".join(behind)
                    ),
                    say.hint_lag(origin=database.origin),
                )
            if stopping.is_set():
                raise Interrupted
            threading.Event().wait(_LOOK_EVERY_S)
    return ()


def find_lagging(status: Mapping[str, Any], max_lag_s: float) -> list[str]:
    """Return the members that are not within `max_lag_s` of their primary, each with why; from replSetGetStatus.

    A lag is the time between the last operations that primary and member have applied.
    """
    members = [each for each in status.get("members", ()) if each.get("state") != _ARBITER]
    newest = next((_applied(each) for each in members if each.get("stateStr") == "PRIMARY"), None)
    if newest is None:
        return ["there is no primary"]
    found = []
    for each in members:
        applied, state = _applied(each), each.get("stateStr", "unknown")
        if state == "PRIMARY":
            continue
        if state != "SECONDARY" or applied is None:
            found.append(f"{each.get('name')} is {state}")
        elif (lag := (newest - applied).total_seconds()) > max_lag_s:
            found.append(f"{each.get('name')} lags {lag:.0f} s behind")
    return found


def _applied(member: Mapping[str, Any]) -> datetime | None:
    at = member.get("optimeDate")
    return at if isinstance(at, datetime) else None
