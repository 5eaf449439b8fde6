"""Tests that outputs of redis-benchmark are refused if they belong to another cell, or contain something other than a
number."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_redis.redis_driver import RedisBenchmark

from benchbrief.model.plan import Database, Workload
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support import cells

PRINTED = """\
====== GET key:__rand_int__ ======
  1000 requests completed in 1.00 seconds
  2 parallel clients
  multi-thread: yes
  threads: 2

Summary:
  throughput summary: 1000.00 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.192     0.048     0.095     0.183     0.519     9.103
"""


def context(load_threads: int) -> CellContext:
    workload = Workload(
        name="reads",
        label="Reads",
        description="",
        family="redis_benchmark",
        benchmark="get",
        properties={"records": 2.0, "value": 100.0, "pipeline": 1.0, "load_threads": float(load_threads)},
        writes=False,
        operations=("read",),
        origin=cells.ORIGIN,
    )
    server = Database(name="cache", label="Cache", engine="redis", server="attach", reset="reuse", origin=cells.ORIGIN)
    return cells.context(workload, server, measure_s=1.0)


def printed(folder: Path, text: str) -> JobOutput:
    (folder / "stdout").write_text(text)
    (folder / "stderr").write_text("")
    (folder / "counted").write_text("1000 10.00 11.10\n")
    return cells.recorded(folder)


def test_a_report_of_the_cell_is_read(tmp_path: Path) -> None:
    found = RedisBenchmark().parse(context(2), printed(tmp_path, PRINTED))
    assert found.throughput[0].ops_per_s == 1000.0
    alone = PRINTED.replace("yes\n  threads: 2\n", "no\n")
    assert RedisBenchmark().parse(context(1), printed(tmp_path, alone)).operations[0].count == 1000


@pytest.mark.parametrize(
    ("load_threads", "old", "new", "said"),
    [
        (4, "", "", "its own threads are 2, and were to be 4"),
        (1, "", "", "its own threads are 2, and were to be 1"),
        (2, "  threads: 2\n", "", "its own threads are 1, and were to be 2"),
        (2, "  1000 requests", "  1000.5 requests", "no whole report"),
        (2, "  2 parallel", "  2.5 parallel", "no whole report"),
    ],
)
def test_a_report_of_another_cell_is_refused(tmp_path: Path, load_threads: int, old: str, new: str, said: str) -> None:
    with pytest.raises(BadOutput, match=said):
        RedisBenchmark().parse(context(load_threads), printed(tmp_path, PRINTED.replace(old, new) if old else PRINTED))
