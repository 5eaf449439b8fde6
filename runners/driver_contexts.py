"""Everything that a driver knows about a cell, from the plan and from the run so far."""

from __future__ import annotations

from benchbrief.compiler.registry import TOOL_SPECS, accepted_errors
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Cell, Client, Database, Experiment, Hardware, Plan, Workload, share_of
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.secret_masking import Secret

_LEAST_RECORDS = 1000
"""If each host would load fewer records than this, one host loads the whole data set."""


@dataclass(frozen=True)
class Endpoint:
    """How the load reaches the system under test: by a URI (MongoDB), or in a directory on the load generator's host
    (RocksDB)."""

    uri: Secret | None = None
    path: str | None = None


@dataclass(frozen=True)
class CellContext:
    """A cell as seen by one of its load generators. It has the objects of the plan that the cell names, and facts that
    were found at run time.

    `load_host` is that load generator's host, or None if the cell has only one load generator.
    """

    plan: Plan
    cell: Cell
    tool_path: str
    endpoint: Endpoint
    load_host: str | None = None

    @property
    def threads(self) -> int:
        """Return this load generator's number of threads. Raises RunnerError if a search has not found the number
        yet."""
        return self._threads_of(self.part)

    @property
    def target(self) -> float | None:
        """Return this load generator's offered load in ops/s. If there are several load generators, it is a whole
        number."""
        if self.cell.target is None or len(self.cell.load_hosts) == 1:
            return self.cell.target
        return float(len(self.range_of(round(self.cell.target))))

    def range_of(self, total: int) -> range:
        """Return this load generator's part of `total` records or operations, in proportion to its threads.

        The parts of all load generators are adjacent, and together they cover the total.
        """
        parts = [self._threads_of(part) for part in range(len(self.cell.load_hosts))]
        before, all_threads = sum(parts[: self.part]), sum(parts)
        return range(total * before // all_threads, total * (before + parts[self.part]) // all_threads)

    def loaded_range(self, unit: int = 1) -> range:
        """Return the records of the data set that this load generator loads.

        The parts of all `loading_hosts` are adjacent, and together they cover the data set. The size of every part
        except the last is a multiple of `unit`, unless the data set has less than one `unit` for each host.
        """
        hosts = loading_hosts(self.cell)
        total = self.cell.dataset.records if self.cell.dataset else 0
        part = hosts.index(self.load_host) if self.load_host in hosts else 0
        unit = unit if total >= unit * len(hosts) else 1
        begin = total * part // len(hosts) // unit * unit
        end = total * (part + 1) // len(hosts) // unit * unit if part < len(hosts) - 1 else total
        return range(begin, end)

    @property
    def part(self) -> int:
        """Return this load generator's number, counted from 0, among the load generators of the cell."""
        return self.cell.load_hosts.index(self.load_host) if self.load_host is not None else 0

    def _threads_of(self, part: int) -> int:
        if self.cell.threads is None:
            raise RunnerError(say.threads_unknown(cell=self.cell.id))
        return share_of(self.cell.threads, part, len(self.cell.load_hosts))

    @property
    def hardware(self) -> Hardware:
        return self.plan.hardware[self.cell.hardware]

    @property
    def database(self) -> Database:
        return self.plan.databases[self.cell.database]

    @property
    def workload(self) -> Workload:
        return self.plan.workload_of(self.cell)

    @property
    def experiment(self) -> Experiment:
        return self.plan.experiments[self.cell.experiment]

    @property
    def accepted_errors(self) -> float:
        """Return the share of operations that may fail, according to the spec and the load generator."""
        return accepted_errors(self.experiment.max_error_share, self.cell.tool.driver)

    @property
    def client(self) -> Client | None:
        return self.plan.clients[self.cell.client] if self.cell.client else None


def loading_hosts(cell: Cell) -> tuple[str, ...]:
    """Return the hosts that load a cell's data set: all its load generators if the tool can share the load, otherwise
    only the first one."""
    tool, records = TOOL_SPECS.usable(cell.tool.driver), cell.dataset.records if cell.dataset else 0
    together = tool is not None and tool.loads_in_parts and records >= _LEAST_RECORDS * len(cell.load_hosts)
    return cell.load_hosts if together else cell.load_hosts[:1]
