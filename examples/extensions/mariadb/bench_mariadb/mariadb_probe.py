"""The probe, which maps counters of the server's status to measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bench_mariadb.spec import PROBE
from benchbrief.extend.probes import StatusProbe
from benchbrief.extend.spec import ProbeSpec

_ASKED, _MISSED = "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads"


class MariadbProbe(StatusProbe):
    name: ClassVar[str] = "mariadb"
    spec: ClassVar[ProbeSpec] = PROBE
    rates: ClassVar[Mapping[str, str]] = {
        "mariadb.log_written": "Innodb_os_log_written",
        "mariadb.data_written": "Innodb_data_written",
        "mariadb.fsyncs": "Innodb_data_fsyncs",
        "mariadb.lock_waits": "Innodb_row_lock_waits",
        "mariadb.deadlocks": "Innodb_deadlocks",
    }
    gauges: ClassVar[Mapping[str, str]] = {
        "mariadb.dirty": "Innodb_buffer_pool_bytes_dirty",
        "mariadb.checkpoint_age": "Innodb_checkpoint_age",
    }
    counted: ClassVar[tuple[str, ...]] = (_ASKED, _MISSED)

    def of_whole(self, grew: Mapping[str, float]) -> Mapping[str, float]:
        known = _MISSED in grew and grew.get(_ASKED)
        return {"mariadb.buffer_hits": 1 - grew[_MISSED] / grew[_ASKED]} if known else {}
