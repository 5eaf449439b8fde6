"""What a driver knows: a cell with all that it names, and what was found at run time."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Cell, Client, Database, Experiment, Hardware, Plan, Workload, share_of
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.tasks import Secret


@dataclass(frozen=True)
class Endpoint:
    """How the load reaches the system under test: a URI (MongoDB), or a directory on the load's own host (RocksDB)."""

    uri: Secret | None = None
    path: str | None = None


@dataclass(frozen=True)
class CellContext:
    """A cell with all that it names, and what was found at run time, as one of its load generators sees it.

    `load_host` is that load generator, or None when the cell has only one.
    """

    plan: Plan
    cell: Cell
    tool_path: str
    endpoint: Endpoint
    load_host: str | None = None

    @property
    def threads(self) -> int:
        """Return this load generator's threads. Raises RunnerError when a search has not found them yet."""
        return self._threads_of(self._part)

    @property
    def target(self) -> float | None:
        """Return this load generator's offered load in ops/s: a whole number when there are several load generators."""
        if self.cell.target is None or len(self.cell.load_hosts) == 1:
            return self.cell.target
        return float(len(self.range_of(round(self.cell.target))))

    def range_of(self, total: int) -> range:
        """Return this load generator's part of so many records or operations, by its share of the threads.

        The parts of all load generators are adjacent, and together they are the whole.
        """
        parts = [self._threads_of(part) for part in range(len(self.cell.load_hosts))]
        before, all_threads = sum(parts[: self._part]), sum(parts)
        return range(total * before // all_threads, total * (before + parts[self._part]) // all_threads)

    @property
    def _part(self) -> int:
        return self.cell.load_hosts.index(self.load_host) if self.load_host is not None else 0

    def _threads_of(self, part: int) -> int:
        if self.cell.threads is None:
            raise RunnerError(f"the threads of {self.cell.id} are not known")
        return share_of(self.cell.threads, part, len(self.cell.load_hosts))

    @property
    def hardware(self) -> Hardware:
        return self.plan.hardware[self.cell.hardware]

    @property
    def database(self) -> Database:
        return self.plan.databases[self.cell.database]

    @property
    def workload(self) -> Workload:
        return self.plan.workloads[self.cell.workload]

    @property
    def experiment(self) -> Experiment:
        return self.plan.experiments[self.cell.experiment]

    @property
    def client(self) -> Client | None:
        return self.plan.clients[self.cell.client] if self.cell.client else None
