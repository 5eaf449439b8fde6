"""The `database` probe: a server's own counters, read by the controller over the engine's connection.

For MongoDB, the counters come from `serverStatus` (https://www.mongodb.com/docs/manual/reference/command/serverStatus/)
and, for a replica set, `replSetGetStatus`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from benchbrief.extend.probes import StatusProbe
from benchbrief.extend.spec import ProbeSpec
from benchbrief.extensions.probes.database.spec import SPEC


class Database(StatusProbe):
    """Measures from a server's counters. Missing counters are left out."""

    name: ClassVar[str] = "database"
    spec: ClassVar[ProbeSpec] = SPEC
    gauges: ClassVar[Mapping[str, str]] = {
        "database.connections": "connections.current",
        "database.active": "active",
        "database.queued": "queued",
        "database.memory": "memory.resident_bytes",
        "database.cache_used": "wiredtiger.cache.used_bytes",
        "database.cache_dirty": "wiredtiger.cache.dirty_bytes",
        "database.replication_lag": "replication_lag_s",
    }
    rates: ClassVar[Mapping[str, str]] = {
        "database.inserts": "opcounters.insert",
        "database.queries": "opcounters.query",
        "database.updates": "opcounters.update",
        "database.deletes": "opcounters.delete",
        "database.getmores": "opcounters.getmore",
        "database.commands": "opcounters.command",
        "database.received": "network.bytesIn",
        "database.sent": "network.bytesOut",
        "database.cache_read": "wiredtiger.cache.read_bytes",
        "database.cache_written": "wiredtiger.cache.written_bytes",
        "database.evictions": "wiredtiger.cache.evicted_pages",
        "database.evictions_by_operations": "wiredtiger.cache.evicted_by_operations",
    }

    def as_now(self, status: Mapping[str, float]) -> Mapping[str, float]:
        mib = status.get("memory.resident_mib")
        return status if mib is None else {**status, "memory.resident_bytes": mib * 2**20}
