"""A MongoDB server's facts for the disclosure, its counters, and its status."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from benchbrief.extend.engines import Size
from benchbrief.extensions.engines.mongodb.mongo_client import Connection, RefusedByServer, say
from benchbrief.extensions.engines.mongodb.mongo_cluster import MONGODB, list_shards, part, product_of
from benchbrief.extensions.engines.mongodb.mongo_data import Data

_WIRED_TIGER = {
    ("cache", "bytes read into cache"): "cache.read_bytes",
    ("cache", "bytes written from cache"): "cache.written_bytes",
    ("block-manager", "bytes read"): "block.read_bytes",
    ("block-manager", "bytes written"): "block.written_bytes",
    ("log", "log sync operations"): "log.syncs",
}


def facts_of(connection: Connection, data: Data) -> dict[str, str]:
    """Return the server's facts. `stand_in` is the product's name if the server is our stand-in for MongoDB.
    `other_server` is a sentence about the server if it is another product."""
    build, hello = connection.command("buildInfo"), connection.hello()
    found, product = part(hello), product_of(build, hello)
    stand_in = build.get("benchbriefStandIn")
    if product.is_mongodb or stand_in:
        facts = {"server": MONGODB, "version": product.speaks}
    else:
        facts = {"server": product.name or say.unknown_server(), "version": product.version}
        facts["protocol"] = f"{MONGODB} {product.speaks}"
        facts["other_server"] = (
            say.other_server(product=product.text, speaks=product.speaks)
            if product.name
            else say.nameless_server(speaks=product.speaks)
        )
        facts = {name: value for name, value in facts.items() if value}
    facts["topology"] = found.text
    if engine := connection.command("serverStatus").get("storageEngine", {}).get("name"):
        facts["storage engine"] = str(engine)
    if found.topology == "sharded":
        with suppress(RefusedByServer):  # a login for the data alone may not ask
            facts["shards"] = str(len(list_shards(connection)))
            facts["shard key"] = data.sharding()
    if found.primary:
        facts["primary"] = found.primary
    if stand_in:
        facts["stand_in"] = str(stand_in)
    return facts


def storage_of(connection: Connection) -> dict[str, str]:
    """Return the facts that affect the server's files: its version, storage engine and settings. Settings that our
    login may not read are left out."""
    build = connection.command("buildInfo")
    found = {key: str(build[key]) for key in ("version", "gitVersion", "modules") if key in build}
    engine = connection.command("serverStatus").get("storageEngine", {})
    if isinstance(engine, Mapping) and "name" in engine:
        found["storage engine"] = str(engine["name"])
    with suppress(RefusedByServer):  # a login for the data alone may not ask
        settings = connection.command("getCmdLineOpts").get("parsed", {}).get("storage", {})
        shaping = {key: value for key, value in settings.items() if key != "dbPath"}  # each member has its own
        found["storage settings"] = json.dumps(shaping, sort_keys=True, default=str)
    return found


def size_of(connection: Connection, database: str) -> Size:
    """Return two sizes from `dbStats`: that of the files, with those of the indexes, and that of the uncompressed
    documents.

    For a replica set, these are the sizes of one copy. The file sizes date from the server's last checkpoint.
    """
    stats = connection.command("dbStats", on=database)
    files, indexes, data = (_positive(stats.get(key)) for key in ("storageSize", "indexSize", "dataSize"))
    no_files = "" if files is not None else say.size_not_told(name="storageSize")
    no_data = "" if data is not None else say.size_not_told(name="dataSize")
    return Size(None if files is None else files + (indexes or 0.0), data, no_files, no_data)


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def counters_of(status: Mapping[str, Any]) -> dict[str, float]:
    """Return the counters of serverStatus, by names such as `opcounters.insert`."""
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
    """Return the known counters and gauges of serverStatus, and the largest lag of a secondary.

    The lag is computed from the `members` of replSetGetStatus, which are empty without a replica set.
    """
    queue, clients = (status.get("globalLock", {}).get(key, {}) for key in ("currentQueue", "activeClients"))
    cache = status.get("wiredTiger", {}).get("cache", {})
    mib = _number(status.get("mem", {}).get("resident"))
    evicted = [cache.get(f"{kind} pages evicted") for kind in ("unmodified", "modified")]
    return {
        **counters_of(status),
        **_numbers("connections", {"current": status.get("connections", {}).get("current")}),
        **_plain({"memory.resident_bytes": None if mib is None else mib * 2**20}),
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
    """Return the largest lag of a secondary in seconds, or None if there is no primary or no secondary."""
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
    known = ((name, _number(value)) for name, value in values.items())
    return {f"{section}.{name}": number for name, number in known if number is not None}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
