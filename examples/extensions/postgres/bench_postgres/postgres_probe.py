"""The probe: which number of the server's status each measure is, and numbers of the whole measured time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bench_postgres.probe_spec import PROBE
from benchbrief.extend.probes import StatusProbe


class PostgresProbe(StatusProbe):
    name: ClassVar[str] = "postgresql"
    spec = PROBE
    gauges = {  # noqa: RUF012
        "postgresql.active": "active",
        "postgresql.lock_waits": "lock_waits",
        "postgresql.lag": "lag_s",
        "postgresql.lag_bytes": "lag_bytes",
    }
    rates = {  # noqa: RUF012
        "postgresql.wal": "wal_bytes",
        "postgresql.checkpoint_written": "checkpoint_bytes",
        "postgresql.blocks_read": "bytes_read",
        "postgresql.temporary": "temp_bytes",
        "postgresql.commits": "commits",
        "postgresql.rollbacks": "rollbacks",
        "postgresql.deadlocks": "deadlocks",
    }
    counted = ("checkpoints_timed", "checkpoints_requested", "blocks_hit", "blocks_read")

    def of_whole(self, grew: Mapping[str, float]) -> Mapping[str, float]:
        asked = grew["blocks_hit"] + grew["blocks_read"]
        found = {f"postgresql.{name}": grew[name] for name in ("checkpoints_timed", "checkpoints_requested")}
        return {**found, **({"postgresql.buffer_hits": grew["blocks_hit"] / asked} if asked else {})}
