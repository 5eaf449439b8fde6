"""Tests tools that do a given number of operations: how many to ask for, and which of their runs counts."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.drivers.counted_runs import COUNT, counted_from, counted_job, counted_run
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support.plans import compile_text

SPEC = """
hardware h { hosts = local }
database d { engine = rocksdb  path = "/data" }
workload w from db_bench.readrandom { records = 1000 }
experiment e { hardware = h  workloads = w  threads = 4  measure = 1 s }
"""


_SLOW_START = """\
import sys, time
with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:  # however long Python takes to start
    began, now = int(stat.read().rpartition(")")[2].split()[19]) / 100, float(uptime.read().split()[0])
time.sleep(max(0, began + 1.1 + int(sys.argv[1][3:]) / 1e7 - now))
"""


def ran(folder: Path, script: str, measure: str = "1 s") -> tuple[CellContext, JobOutput]:
    """Run a Python script as a tool that gets the number of operations as an argument."""
    plan = compile_text(SPEC.replace("1 s", measure), folder)
    context = CellContext(plan, plan.cells[0], "", Endpoint())
    job = counted_job(context, ("python3", "-c", script, f"-n={COUNT}"))
    words = [str(word) for word in job.command.words]
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        start = time.time()
        done = subprocess.run(words, cwd=folder, stdout=out, stderr=err, check=False)
    return context, JobOutput(folder, done.returncode, start, time.time(), "here")


def test_a_counted_run_lasts_about_as_long_as_the_plan_says(tmp_path: Path) -> None:
    each = "import sys, time; n = int(sys.argv[1][3:]); time.sleep(n / 20000); print(n, 'done')"
    context, output = ran(tmp_path, each)
    found = counted_run(context, output, "tool")
    assert output.stdout.read_text() == f"{found.count} done\n"
    assert 0.8 <= found.seconds <= output.ended_at - output.started_at
    assert found.count <= 20000 * found.seconds
    start, end = counted_run(context, replace(output, booted=1000.0), "tool").window
    assert counted_from(output.stderr.read_text()) == pytest.approx(start - 1000)
    assert end - start == pytest.approx(found.seconds)
    assert "about 1 s" in found.described


@pytest.mark.long
def test_a_tool_whose_start_and_end_take_a_while_soon_has_enough_to_do(tmp_path: Path) -> None:
    """redis-benchmark with several threads behaves like this, because it checks only every 250 ms whether it is
    done."""
    context, output = ran(tmp_path, _SLOW_START, "2 s")
    assert output.exit_code == 0, (tmp_path / "stderr").read_text()
    assert counted_run(context, output, "tool").count > 100_000


def test_a_tool_that_fails_has_no_counted_run(tmp_path: Path) -> None:
    context, output = ran(tmp_path, "print('no server'); raise SystemExit(3)")
    assert output.exit_code == 3
    with pytest.raises(BadOutput, match="no server"):
        counted_run(context, output, "tool")
