"""The probe. It converts numbers of the server's status to measures, and adds numbers about the whole measured time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from bench_postgres.probe_spec import PROBE
from benchbrief.extend.probes import StatusProbe
from benchbrief.extend.spec import ProbeSpec

_CHECKPOINTS = ("checkpoints_timed", "checkpoints_requested")
_BLOCKS = ("blocks_hit", "blocks_read")


class PostgresProbe(StatusProbe):
    name: ClassVar[str] = "postgresql"
    spec: ClassVar[ProbeSpec] = PROBE
    gauges: ClassVar[Mapping[str, str]] = {
        "postgresql.active": "active",
        "postgresql.lock_waits": "lock_waits",
        "postgresql.lag": "lag_s",
        "postgresql.lag_bytes": "lag_bytes",
    }
    rates: ClassVar[Mapping[str, str]] = {
        "postgresql.wal": "wal_bytes",
        "postgresql.checkpoint_written": "checkpoint_bytes",
        "postgresql.blocks_read": "bytes_read",
        "postgresql.temporary": "temp_bytes",
        "postgresql.commits": "commits",
        "postgresql.rollbacks": "rollbacks",
        "postgresql.deadlocks": "deadlocks",
    }
    counted: ClassVar[tuple[str, ...]] = (*_CHECKPOINTS, *_BLOCKS)

    def of_whole(self, grew: Mapping[str, float]) -> Mapping[str, float]:
        found = {f"postgresql.{name}": grew[name] for name in _CHECKPOINTS if name in grew}
        asked = sum(grew.get(name, math.nan) for name in _BLOCKS)
        return {**found, **({"postgresql.buffer_hits": grew["blocks_hit"] / asked} if asked > 0 else {})}

    def as_now(self, status: Mapping[str, float]) -> Mapping[str, float]:
        """Convert blocks to bytes. Readings by earlier versions count blocks."""
        size = status.get("block_size", math.nan)
        bytes_of = {"checkpoint_bytes": "checkpoint_buffers", "bytes_read": "blocks_read"}
        of_blocks = {name: status[blocks] * size for name, blocks in bytes_of.items() if blocks in status}
        return {**of_blocks, **status}
