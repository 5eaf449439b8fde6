"""What a MongoDB server tells of itself: facts for the disclosure, and counters that only rise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from benchbrief.runners.engines.mongo_client import Connection, Refused
from benchbrief.runners.engines.mongo_cluster import part, shards
from benchbrief.runners.engines.mongo_data import Data

_WIRED_TIGER = {
    ("cache", "bytes read into cache"): "cache.read_bytes",
    ("cache", "bytes written from cache"): "cache.written_bytes",
    ("block-manager", "bytes read"): "block.read_bytes",
    ("block-manager", "bytes written"): "block.written_bytes",
    ("log", "log sync operations"): "log.syncs",
}


def facts_of(connection: Connection, data: Data) -> dict[str, str]:
    """`stand_in` is the product's name, for what is no MongoDB."""
    build = connection.command("buildInfo")
    found = part(connection.hello())
    facts = {"server": "MongoDB", "version": str(build.get("version", "unknown")), "topology": found.text}
    if engine := connection.command("serverStatus").get("storageEngine", {}).get("name"):
        facts["storage engine"] = str(engine)
    if found.topology == "sharded":
        with suppress(Refused):  # a login for the data alone may not ask
            facts["shards"] = str(len(shards(connection)))
            facts["shard key"] = data.sharding()
    if found.primary:
        facts["primary"] = found.primary
    if product := build.get("benchbriefStandIn"):
        facts["stand_in"] = str(product)
    return facts


def counters_of(status: Mapping[str, Any]) -> dict[str, float]:
    """From serverStatus."""
    found: dict[str, float] = {}
    for section in ("opcounters", "network"):
        found |= _numbers(section, status.get(section, {}))
    found |= _numbers("connections", {k: v for k, v in status.get("connections", {}).items() if k == "totalCreated"})
    found |= _numbers("document", status.get("metrics", {}).get("document", {}))
    tiger = status.get("wiredTiger", {})
    for (section, key), name in _WIRED_TIGER.items():
        found |= _numbers("wiredtiger", {name: tiger.get(section, {}).get(key)})
    return found


def status_of(status: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Counters and gauges of serverStatus, and the lag of the secondary that is furthest behind, from the `members` of
    replSetGetStatus (none: not a replica set). What the server does not tell is not there."""
    queue, clients = (status.get("globalLock", {}).get(key, {}) for key in ("currentQueue", "activeClients"))
    cache = status.get("wiredTiger", {}).get("cache", {})
    evicted = [cache.get(f"{kind} pages evicted") for kind in ("unmodified", "modified")]
    return {
        **counters_of(status),
        **_numbers("connections", {"current": status.get("connections", {}).get("current")}),
        **_numbers("memory", {"resident_mib": status.get("mem", {}).get("resident")}),
        **_plain({"queued": queue.get("total"), "active": clients.get("total")}),
        **_numbers(
            "wiredtiger.cache",
            {
                "used_bytes": cache.get("bytes currently in the cache"),
                "dirty_bytes": cache.get("tracked dirty bytes in the cache"),
                "evicted_pages": None if None in evicted else sum(evicted),
                "evicted_by_operations": cache.get("pages evicted by application threads"),
            },
        ),
        **_plain({"replication_lag_s": _lag(members)}),
    }


def _lag(members: Sequence[Mapping[str, Any]]) -> float | None:
    """Seconds, as whole as the optimes are; None without a primary, or without a secondary."""
    primary, secondary = (
        [member["optimeDate"] for member in members if member.get("stateStr") == state and "optimeDate" in member]
        for state in ("PRIMARY", "SECONDARY")
    )
    if not primary or not secondary:
        return None
    return float(max(0.0, (max(primary) - min(secondary)).total_seconds()))


def _plain(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


def _numbers(section: str, values: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"{section}.{name}": float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
