"""Tests the example packages' probes of a server's status: each measure that they know is reported, even if others are
unknown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from bench_mariadb.mariadb_probe import MariadbProbe
from bench_postgres.postgres_probe import PostgresProbe
from bench_redis.redis_probe import RedisInfo

from benchbrief.extend.probes import StatusProbe
from benchbrief.model.plan import Probe
from tests.support import cells

PROBE = Probe(name="server", every_s=1, hosts=("local",), on="controller", origin=cells.ORIGIN)


def parsed(probe: StatusProbe, folder: Path, *readings: Mapping[str, float]) -> dict[str, float]:
    """Return the last value of each measure. The readings are 1 s apart."""
    said = (f"= {100 + at}.0 {5000 + at}.00\n{json.dumps(each)}\n.\n" for at, each in enumerate(readings))
    (folder / "stdout").write_text("".join(said))
    (folder / "stderr").write_text("")
    found = probe.parse(PROBE, cells.recorded(folder), (100.0, 99.0 + len(readings)))
    return {each.measure: each.value for each in found}


def test_a_total_is_told_though_another_is_not_known(tmp_path: Path) -> None:
    before, after = {"checkpoints_timed": 1, "blocks_hit": 5}, {"checkpoints_timed": 3, "blocks_hit": 9}
    assert parsed(PostgresProbe(), tmp_path, before, after) == {"postgresql.checkpoints_timed": 2.0}
    before, after = {"blocks_hit": 5, "blocks_read": 1}, {"blocks_hit": 8, "blocks_read": 2}
    assert parsed(PostgresProbe(), tmp_path, before, after) == {"postgresql.buffer_hits": 0.75}


@pytest.mark.parametrize("probe", [MariadbProbe(), PostgresProbe(), RedisInfo()], ids=lambda each: str(each.name))
def test_no_total_is_told_of_which_nothing_is_known(probe: StatusProbe, tmp_path: Path) -> None:
    assert parsed(probe, tmp_path, {}, {}) == {}
    for name in probe.counted:
        assert not any("hits" in measure for measure in parsed(probe, tmp_path, {name: 1}, {name: 2}))


def test_readings_of_postgresql_that_count_blocks_are_bytes(tmp_path: Path) -> None:
    before = {"checkpoint_buffers": 10, "blocks_read": 4, "block_size": 8192}
    after = {"checkpoint_buffers": 13, "blocks_read": 5, "block_size": 8192}
    assert parsed(PostgresProbe(), tmp_path, before, after) == {
        "postgresql.checkpoint_written": 3 * 8192.0,
        "postgresql.blocks_read": 8192.0,
    }
