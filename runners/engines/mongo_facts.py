"""What a MongoDB server tells of itself: facts for the disclosure, and counters that only rise."""

from __future__ import annotations

from collections.abc import Mapping
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


def _numbers(section: str, values: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"{section}.{name}": float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
