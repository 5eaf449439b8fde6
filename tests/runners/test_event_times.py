"""Tests that the times of a cell's events count from the beginning of the measurement."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.drivers.counted_runs import counted_from
from benchbrief.runners.errors import EventFailed
from benchbrief.runners.execution.cell_events import CellEvents
from benchbrief.runners.hosts.host_clocks import ClockReading
from tests.support.plans import compile_text

SPEC = """
hardware h { hosts = local }
database d { engine = rocksdb  path = "/data" }
workload w from db_bench.readrandom { records = 1000 }
experiment e {
  hardware = h  workloads = w  threads = 4  warm_up = 1 min  measure = 2 min
  at 1 min "Stopped" { command("true", on: first) }
}
"""


class Tool:
    """A tool with a warm-up of unknown length."""

    def measured_from(self, context: CellContext, text: str) -> float | None:
        return counted_from(text)


@pytest.mark.parametrize(("said", "expected"), [("measured from 100.00\n", 5100.0 - 7.0), ("nothing yet", None)])
def test_events_count_from_when_the_tool_says_that_it_began(tmp_path: Path, said: str, expected: float | None) -> None:
    """The host's clock is 7 s ahead, and by this clock the host booted at 5000. If a tool ends without reporting that
    it began to measure, there are no events."""
    plan = compile_text(SPEC, tmp_path)
    (cell,) = plan.cells
    looks = iter(("", said))
    job: Any = SimpleNamespace(wait=lambda _: said == "nothing yet", tail=lambda _: next(looks))
    world = SimpleNamespace(clock=lambda _: ClockReading(7.0, 0.001, 5000.0))
    attempt: Any = SimpleNamespace(cell=cell, world=world, hosts=dict.fromkeys(cell.load_hosts))
    driver: Any = Tool()
    context = CellContext(plan, cell, "", Endpoint())
    events = CellEvents(attempt, driver, {})
    if expected is None:
        with pytest.raises(EventFailed):
            events._measured_from(context, job, 0.0)
    else:
        assert events._measured_from(context, job, 0.0) == pytest.approx(expected)
