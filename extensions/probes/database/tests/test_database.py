"""Tests the database probe: the measures that it computes from a server's status are compared with MongoDB's
documentation and with a real server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchbrief.extensions.engines.mongodb.mongo_facts import status_of
from benchbrief.extensions.probes.database.server_probe import Database
from benchbrief.model.plan import Probe
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support import cells
from tests.support.bench import fresh_bench
from tests.support.tools import built_tool

PROBE = Probe(name="database", every_s=1, hosts=("node1",), on="controller", origin=cells.ORIGIN)
SPEC = """\
hardware here { hosts = local }
client load { hosts = local  tool = go_ycsb }
database mongo { engine = mongodb  server = embedded }
workload a from ycsb.a { records = 200 }
experiment documents {
  hardware = here  workloads = [a]  threads = [2]  measure = 3 s  probes = [database every 0.5 s]
}
metric queries in 1/s = mean(database.queries over time)
metric updates in 1/s = mean(database.updates over time)
metric dirty in B = mean(database.cache_dirty over time)
"""


def server_status(seconds: int) -> Mapping[str, Any]:
    """Return a server status in the form shown in MongoDB 7.0's manual."""
    return {
        "opcounters": {
            "insert": 10 * seconds,
            "query": 100 * seconds,
            "update": 0,
            "delete": 0,
            "getmore": 0,
            "command": 5,
        },
        "connections": {"current": 17, "available": 800, "totalCreated": 40},
        "globalLock": {"currentQueue": {"total": 3, "readers": 3}, "activeClients": {"total": 8, "readers": 8}},
        "mem": {"bits": 64, "resident": 512, "virtual": 1700},
        "network": {"bytesIn": 1000 * seconds, "bytesOut": 3000 * seconds, "numRequests": 4},
        "wiredTiger": {
            "cache": {
                "bytes currently in the cache": 4096,
                "tracked dirty bytes in the cache": 1024,
                "bytes read into cache": 2048 * seconds,
                "bytes written from cache": 0,
                "unmodified pages evicted": 4 * seconds,
                "modified pages evicted": 2 * seconds,
                "pages evicted by application threads": seconds,
            }
        },
    }


def recorded(directory: Path, *statuses: Mapping[str, Any], members: Any = ()) -> JobOutput:
    lines = [
        f"= {100 + at}.000000 {5000 + at}.00\n{Database().reading(status_of(status, members))}\n.\n"
        for at, status in enumerate(statuses)
    ]
    (directory / "stdout").write_text("".join(lines))
    (directory / "stderr").write_text("")
    return JobOutput(directory, None, 0.0, 0.0, "node1")


def test_gauges_are_taken_as_they_are_and_counters_become_rates(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    members = [
        {"stateStr": "PRIMARY", "optimeDate": now},
        {"stateStr": "SECONDARY", "optimeDate": now - timedelta(seconds=1)},
        {"stateStr": "SECONDARY", "optimeDate": now - timedelta(seconds=4)},
        {"stateStr": "ARBITER"},
    ]
    output = recorded(tmp_path, server_status(1), server_status(2), members=members)
    samples = Database().parse(PROBE, output, (100.0, 101.0))
    assert {s.measure.removeprefix("database."): (s.value, s.unit) for s in samples if s.time == 1.0} == {
        "connections": (17.0, ""),
        "active": (8.0, ""),
        "queued": (3.0, ""),
        "memory": (512.0 * 1024 * 1024, "B"),
        "cache_used": (4096.0, "B"),
        "cache_dirty": (1024.0, "B"),
        "replication_lag": (4.0, "s"),
        "inserts": (10.0, "1/s"),
        "queries": (100.0, "1/s"),
        "updates": (0.0, "1/s"),
        "deletes": (0.0, "1/s"),
        "getmores": (0.0, "1/s"),
        "commands": (0.0, "1/s"),
        "received": (1000.0, "B/s"),
        "sent": (3000.0, "B/s"),
        "cache_read": (2048.0, "B/s"),
        "cache_written": (0.0, "B/s"),
        "evictions": (6.0, "1/s"),
        "evictions_by_operations": (1.0, "1/s"),
    }


def test_what_a_server_does_not_tell_is_missing_and_a_restart_is_a_gap(tmp_path: Path) -> None:
    counts = [{"opcounters": {"query": count}} for count in (5, 9, 2, 4)]
    samples = Database().parse(PROBE, recorded(tmp_path, *counts), (100.0, 103.0))
    assert [(s.measure, s.time, s.value) for s in samples] == [
        ("database.queries", 1.0, 4.0),
        ("database.queries", 3.0, 2.0),
    ]


def test_a_reading_of_an_earlier_version_and_one_with_nothing_known_are_read(tmp_path: Path) -> None:
    output = recorded(tmp_path, {}, {})
    assert Database().parse(PROBE, output, (100.0, 101.0)) == ()
    output.stdout.write_text(output.stdout.read_text().replace("{}", '{"memory.resident_mib": 2.0, "asserts": 1}'))
    assert {each.value for each in Database().parse(PROBE, output, (100.0, 101.0))} == {2.0 * 2**20}


@pytest.mark.parametrize(("resident", "found"), [(512, 512.0 * 2**20), (0.5, 2.0**19), (True, None), ("1", None)])
def test_memory_is_a_number_of_mebibytes(resident: object, found: float | None) -> None:
    assert status_of({"mem": {"resident": resident}}, ()).get("memory.resident_bytes") == found


def test_a_damaged_reading_is_an_error(tmp_path: Path) -> None:
    output = recorded(tmp_path, server_status(1), server_status(2))
    output.stdout.write_text(output.stdout.read_text().replace("{", "["))
    with pytest.raises(BadOutput, match="not an object of JSON"):
        Database().parse(PROBE, output, (100.0, 101.0))


@pytest.mark.timeout(120)
def test_a_real_server_s_counters_agree_with_the_load_generator(tmp_path: Path) -> None:
    built_tool("mongo-stand-in")
    built_tool("go-ycsb")
    with fresh_bench(tmp_path) as bench:
        bench.spec(SPEC)
        ended = bench("run", "brief.bench", "--no-report", timeout=100)
        assert ended.code == 0, ended.text
        (verdict,) = bench.journal("cell_ended")
        rows = bench("query", "SELECT measure, avg(value) AS mean FROM samples GROUP BY ALL", "--json").json
        shares = bench("query", "SELECT share FROM coverage WHERE probe = 'database'", "--json").json
    means = {row["measure"]: row["mean"] for row in rows}
    both = means["database.queries"] + means["database.updates"]
    # An update of go-ycsb is one of the server's; the rates are of intervals that lie within the window.
    assert both == pytest.approx(verdict["ops_per_s"], rel=0.5)
    assert "database.cache_dirty" not in means, "the stand-in has no WiredTiger"
    assert shares[0]["share"] > 0.6, "a busy machine may be late with one of five"
