"""How often a run reads its journal: what was read is folded into a record that all rooms share."""

from __future__ import annotations

import subprocess
import sys

from tests.support.bench import Bench

SPEC = """\
hardware box "Box" { hosts = local }
database rocks { engine = rocksdb  path = "/var/tmp/benchbrief/reads" }
workload rr from db_bench.readrandom { records = 2k  value_size = 400 B }
experiment ramp { hardware = box  workloads = [rr]  threads = [1, 2]  measure = 4 s }
report r "R" { figure "F" { line = throughput by threads } }
"""
COUNTED = """\
import sys
from benchbrief.cli.command_line import main
from benchbrief.runners.journal import journal_file

lines, count = journal_file._lines, 0

def counted(*args, **named):
    global count
    count += 1
    return lines(*args, **named)

journal_file._lines = counted
try:
    main()
finally:
    print("reads:", count, file=sys.stderr)
"""


def reads(bench: Bench, *words: str) -> int:
    command = [sys.executable, "-c", COUNTED, *words]
    done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, timeout=120, check=False)
    assert "reads: " in done.stderr, done.stderr
    return int(done.stderr.rpartition("reads: ")[2])


def test_a_run_reads_no_journal_and_a_resumed_one_reads_it_once(bench: Bench) -> None:
    bench.spec(SPEC, "a.bench")
    assert reads(bench, "run", "a.bench", "--simulate", "--failing", "local=100%", "--no-report", "--quiet") == 0
    assert reads(bench, "resume", bench.run_dir.name, "--no-report", "--quiet") == 1
