"""The probe that reads Redis' counters from the INFO command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from bench_redis.spec import PROBE
from benchbrief.extend.probes import StatusProbe
from benchbrief.extend.spec import ProbeSpec


class RedisInfo(StatusProbe):
    name: ClassVar[str] = "redis_info"
    spec: ClassVar[ProbeSpec] = PROBE
    rates: ClassVar[Mapping[str, str]] = {
        "redis_info.commands": "total_commands_processed",
        "redis_info.evictions": "evicted_keys",
    }
    gauges: ClassVar[Mapping[str, str]] = {"redis_info.memory": "used_memory"}
    counted: ClassVar[tuple[str, ...]] = ("keyspace_hits", "keyspace_misses")

    def of_whole(self, grew: Mapping[str, float]) -> Mapping[str, float]:
        asked = sum(grew.get(name, math.nan) for name in self.counted)
        return {"redis_info.hits": grew["keyspace_hits"] / asked} if asked > 0 else {}
