"""Tests that a run rarely reads its journal. Everything read is summed up in one record that all of the code shares."""

from __future__ import annotations

from tests.support.bench import Bench

SPEC = """\
hardware box "Box" { hosts = local }
database rocks { engine = rocksdb  path = "/var/tmp/benchbrief/reads" }
workload rr from db_bench.readrandom { records = 2k  value_size = 400 B }
experiment ramp { hardware = box  workloads = [rr]  threads = [1, 2]  measure = 4 s }
report r "R" { figure "F" { line = throughput by threads } }
"""
COUNTED = """\
import os
from benchbrief.runners.journal import journal_file

lines, count = journal_file._lines, 0

def counted(*args, **named):
    global count
    count += 1
    return lines(*args, **named)

journal_file._lines = counted
end = os._exit
def report_and_end(code):
    os.write(2, b"reads: %d" % count)
    end(code)
os._exit = report_and_end
"""


def reads(bench: Bench, *words: str) -> int:
    done = bench(*words, before=COUNTED)
    assert "reads: " in done.err, done.text
    return int(done.err.rpartition("reads: ")[2])


def test_a_run_reads_no_journal_and_a_resumed_one_reads_it_once(bench: Bench) -> None:
    bench.spec(SPEC, "a.bench")
    assert reads(bench, "run", "a.bench", "--simulate", "--failing", "local=100%", "--no-report", "--quiet") == 0
    assert reads(bench, "resume", bench.run_dir.name, "--no-report", "--quiet") == 1
