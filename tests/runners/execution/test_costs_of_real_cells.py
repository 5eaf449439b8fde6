"""Tests what a measured cell costs apart from its load generator. Costs are counted, not timed. For times, see `python
-m benchmarks overhead`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.bench import fresh_bench
from tests.support.tools import system_tool

SPEC = """\
hardware here { hosts = local }
database rocks { engine = rocksdb  tool = @TOOL@  path = "@DATA@/rocks"  reset = reuse }
workload rr from db_bench.readrandom { records = 2k  value_size = 100 B }
experiment e {
  hardware = here  workloads = [rr]  threads = @THREADS@  measure = 1 s  probes = [cpu every 1 s, disk every 1 s]
}
"""
COUNT = """
import os, sys
from benchbrief.runners.jobs.detached_jobs import DetachedJob

file = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def count(event, _):
    if event == "subprocess.Popen":
        os.write(file, b"script\\n")

def flush(descriptor, fsync=os.fsync):
    os.write(file, b"flush\\n")
    fsync(descriptor)

sys.addaudithook(count)
os.fsync = flush
DetachedJob.tail = lambda self, limit=2000: ""  # what is shown meanwhile depends on how long it takes
"""


def counted(folder: Path, threads: list[int]) -> Counter[str]:
    """Return how many scripts a run starts, and how often it flushes files to disk."""
    folder.mkdir()
    path = folder / "counted"
    with fresh_bench(folder) as bench:
        bench.spec(SPEC, THREADS=threads)
        ended = bench("run", "brief.bench", "--no-report", before=COUNT.format(path=str(path)))
        assert ended.code == 0, ended.text
        assert [status for status, _ in bench.verdicts().values()] == ["ok"] * len(threads)
    return Counter(path.read_text().split())


@pytest.mark.long
def test_a_further_cell_starts_13_scripts_and_flushes_26_times(tmp_path: Path) -> None:
    """One script makes the claim, and three look at the data, their size and the list of their files. Two start the
    probes (in one job) and the load generator. Four wait for the load generator, stop the probes, and remove both jobs.
    The last three look at the data again.
    """
    system_tool("db_bench")
    few, many = counted(tmp_path / "few", [1]), counted(tmp_path / "many", [1, 2, 4, 8, 16])
    more = {kind: (many[kind] - few[kind]) / 4 for kind in ("script", "flush")}
    assert 12 < more["script"] < 14, "another sign of life may be sent meanwhile"
    assert 25 < more["flush"] < 28
