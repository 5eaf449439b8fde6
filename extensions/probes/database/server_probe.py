"""The `database` probe: a server's own counters, read by the controller over the engine's connection.

For MongoDB that is `serverStatus` (https://www.mongodb.com/docs/manual/reference/command/serverStatus/) and, for a
replica set, `replSetGetStatus`."""

from __future__ import annotations

from typing import ClassVar

from benchbrief.extend.probes import StatusProbe
from benchbrief.extensions.probes.database.spec import SPEC


class Database(StatusProbe):
    """Numbers that a server lacks are left out."""

    name: ClassVar[str] = "database"
    spec = SPEC
    gauges = {  # noqa: RUF012
        "database.connections": "connections.current",
        "database.active": "active",
        "database.queued": "queued",
        "database.memory": "memory.resident_bytes",
        "database.cache_used": "wiredtiger.cache.used_bytes",
        "database.cache_dirty": "wiredtiger.cache.dirty_bytes",
        "database.replication_lag": "replication_lag_s",
    }
    rates = {  # noqa: RUF012
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
