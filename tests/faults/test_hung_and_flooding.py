"""Tests tools that never end, and tools that never stop printing, on a host reached by SSH."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import rocks
from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.sshd import sshd
from tests.support.tools import system_tool

_FLOOD = 160 << 20
"""How many bytes a tool prints. This is far more than the controller may hold or a driver reads."""
_PEAK_KIB = 220 << 10
"""The memory limit of the controller. It needs about 180 MiB, mostly to build the tables."""
_MEASURING_KIB = 120 << 10
"""The memory limit of the controller while it measures and fetches the flood. Measuring takes about 80 MiB."""


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_flood_is_kept_in_bounded_memory_and_a_hung_tool_is_ended_with_all_that_it_started(bench: Bench) -> None:
    system_tool("sshd")
    hung = f"{3600}.{os.getpid()}"
    cases = (
        f'*/floods\\ *) yes "a line of no use, again and again" | head -c {_FLOOD};;\n'
        f"*/hangs\\ *) trap : TERM INT HUP; sleep {hung} & wait; wait; wait;;"
    )
    tool = wrapped.db_bench(bench.folder / "tool", cases)
    hardware = (
        'hardware box { hosts = "box"  variant floods { kind = "floods" }  variant hangs { kind = "hangs" } }\n'
        'hardware here { hosts = local  kind = "good" }'
    )
    # A busy machine takes its time to write the flood.
    spec = rocks(hardware, ["box.floods", "here"], tool=f'tool = db_bench("{tool}")').replace(
        "1 s }", "1 s  timeout = 2 min }"
    )
    hangs = "experiment h { hardware = box.hangs  workloads = [load]  threads = [1]  measure = 1 s  timeout = 3 s }\n"
    bench.spec(spec + hangs)
    with sshd() as server:
        bench.env["HOME"] = str(server.home)
        bench.env["PYTHONPATH"] = str(_without_pandas(bench.folder / "hidden"))
        with bench.started("run", "brief.bench", "--no-report", anew=True) as run:  # whose memory is looked at
            peak = measuring = 0
            while run.process.poll() is None:
                peak = max(peak, _peak_kib(run.process.pid))
                journals = (bench.folder / "bench-out").glob("*/journal.jsonl")
                if not any('"run_ended"' in each.read_text() for each in journals):
                    measuring = peak
                time.sleep(0.05)
            faulty = FaultyRun(bench, run.wait())
    faulty.fails_only("/(floods|hangs)/")
    faulty.says_why("/floods/", "stdout has", "bytes: that is no benchmark's output")
    faulty.says_why("/hangs/", "did not end within")
    assert 0 < measuring < _MEASURING_KIB
    assert peak < _PEAK_KIB
    [kept] = (bench.run_dir / "raw").glob("*floods*/1/measure-box/stdout")
    assert kept.stat().st_size > _FLOOD


def _without_pandas(folder: Path) -> Path:
    """Return a folder for PYTHONPATH that hides pandas. Only notebooks need pandas, but pyarrow imports it (40 MB) if
    it can."""
    folder.mkdir()
    (folder / "pandas.py").write_text('raise ModuleNotFoundError("hidden", name="pandas")\n')
    return folder


def _peak_kib(pid: int) -> int:
    """Return the highest memory use of a process so far, or 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
