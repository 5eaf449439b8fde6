"""What a cell asks of its load generator on a host, such as a kind of I/O, tried out by `bench doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from benchbrief.model.plan import Database, Plan, Workload
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import Requirement


@runtime_checkable
class TriesOut(Protocol):
    """A driver that can try out on a host what a cell asks of it."""

    def trials(self, path: str, workload: Workload, database: Database) -> tuple[Requirement, ...]:
        """Return what to try with the tool at `path`. A trial leaves nothing behind, and changes no data."""
        ...


def trials_of(plan: Plan, host_id: str, name: str, configured: str | None, path: str) -> Iterator[Requirement]:
    """Yield, each once, what the cells of a host ask of a tool that was found at `path`."""
    tool = driver(name)
    if not isinstance(tool, TriesOut):
        return
    cells = (cell for cell in plan.cells if host_id in cell.load_hosts)
    asked = dict.fromkeys(
        (cell.workload, cell.database) for cell in cells if (cell.tool.driver, cell.tool.path) == (name, configured)
    )
    wanted = (tool.trials(path, plan.workloads[workload], plan.databases[key]) for workload, key in asked)
    yield from {trial.check.words: trial for trials in wanted for trial in trials}.values()
