"""Reasons to doubt a run's numbers, found in its tables: probes that sampled too little of the measured time, other
programs that ran on the load generators' hosts, and percentiles with too few operations beyond them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from benchbrief.model.plan import Plan, Read
from benchbrief.model.points import Point
from benchbrief.model.precision import COMPLETE, are_few, share_beyond
from benchbrief.results.compare.comparison import Comparison
from benchbrief.results.compare.contender import Contender
from benchbrief.results.store.measure_views import at_levels
from benchbrief.results.store.searched_doubts import Answering

BUSY = 0.90
"""The share of a load generator's processors above which it may limit the throughput."""


class BusyGenerator(NamedTuple):
    """A measured cell whose load generator's host was busy: on average, a `share` of its processors was in use."""

    cell: str
    host: str
    share: float


def busy_generators(plan: Plan, store: Answering) -> list[BusyGenerator]:
    """Return the load generators whose hosts had busy processors according to a probe, the busiest first. This includes
    hosts that both generate the load and run the database, as with RocksDB."""
    loads = {cell.id: cell.load_hosts for cell in plan.cells if cell.client is not None}
    if not loads:  # reading all samples takes long
        return []
    rows = store.sql(
        "SELECT cell_id, node, measure.over_time(value, from_s, to_s) AS busy "  # noqa: S608  # a constant
        "FROM samples JOIN cells USING (run_id, cell_id) "
        "WHERE measure = 'cpu.utilisation' AND status = 'ok' AND value IS NOT NULL "
        f"GROUP BY cell_id, node HAVING busy >= {BUSY} ORDER BY busy DESC, cell_id, node"
    ).rows
    return [BusyGenerator(cell, node, busy) for cell, node, busy in rows if node in loads.get(cell, ())]


def limited_points(plan: Plan, busy: Iterable[BusyGenerator]) -> frozenset[Point]:
    """Return the points where the load generator may have been the bottleneck, because its host was busy although no
    server ran there."""
    serving = {host for hardware in plan.hardware.values() for host in hardware.hosts}
    cells = {each.cell for each in busy if each.host not in serving}
    return frozenset(Point.of(cell) for cell in plan.cells if cell.id in cells)


class Patchy(NamedTuple):
    """A probe that took too few samples. `of` is the number of cells that were measured with the probe. `cells` is the
    number of cells with too few samples, including the `without` cells that have no samples at all.

    `share` is the lowest coverage, and `cell` is the cell that has it. In a cell with several hosts, the lowest
    coverage counts.
    """

    probe: str
    cells: int
    of: int
    without: int
    share: float
    cell: str


def shares(store: Answering) -> dict[tuple[str, str], float]:
    """Return each coverage below `COMPLETE`, by probe and measured cell. Each probe's lowest coverage comes first.

    A probe without a note on a gap counts as complete, because a late reading is not a gap.
    """
    rows: Sequence[Sequence[Any]] = store.sql(
        "SELECT probe, cell_id, "  # noqa: S608  # our own number
        "min(CASE WHEN share = 0 OR noted.origin IS NOT NULL THEN share ELSE 1.0 END) AS least "
        "FROM coverage JOIN cells USING (run_id, cell_id) "
        "LEFT JOIN (SELECT DISTINCT cell_id AS of_cell, origin FROM notes WHERE severity <> 'info') AS noted "
        "ON of_cell = cell_id AND noted.origin = concat('probe:', probe, ':', node) "
        f"WHERE status = 'ok' GROUP BY probe, cell_id HAVING least < {COMPLETE} ORDER BY probe, least, cell_id"
    ).rows
    return {(str(probe), str(cell)): float(share) for probe, cell, share in rows}


def patchy(store: Answering) -> list[Patchy]:
    """Return, by name, the probes that sampled less than 95 % of the window of at least one measured cell."""
    by_probe: dict[str, list[tuple[float, str]]] = {}
    for (probe, cell), share in shares(store).items():
        by_probe.setdefault(probe, []).append((share, cell))
    of = (
        "SELECT probe, count(DISTINCT cell_id) FROM coverage JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' GROUP BY probe"
    )
    measured: dict[str, int] = {str(probe): count for probe, count in store.sql(of).rows} if by_probe else {}
    return [
        Patchy(probe, len(known), measured[probe], sum(share == 0.0 for share, _ in known), *known[0])
        for probe, known in by_probe.items()
    ]


def read_other_work(store: Answering, condition: str = "true") -> dict[str, dict[str, float]]:
    """For each measured cell, return how many cores other programs used on average on the hosts of its load generators.

    A host is left out if the number was small or could not be judged. `condition` is an SQL condition on the rows `c`
    of cells.
    """
    rows = store.sql(
        "SELECT c.cell_id, host, max(cores) FROM "  # noqa: S608  # a condition of our own
        f"{at_levels('cells')} AS c LEFT JOIN (SELECT n.cell_id AS of_cell, message::JSON ->> '$.args.host' AS host, "
        "(message::JSON ->> '$.args.amount.value')::DOUBLE AS cores FROM main.notes AS n "
        "JOIN main.sentences USING (run_id, text) WHERE code = 'busy_meanwhile') ON of_cell = c.cell_id "
        f"WHERE status = 'ok' AND {condition} GROUP BY ALL ORDER BY ALL"
    ).rows
    found: dict[str, dict[str, float]] = {cell: {} for cell, _, _ in rows}
    for cell, host, cores in rows:
        if cores is not None:
            found[cell][host] = cores
    return found


class _Counted(NamedTuple):
    cell_id: str
    phase: int | None
    operation: str
    kind: str
    operations: int


class Beyond:
    """Counts the operations beyond a percentile. The store is read only once, when the first count is requested."""

    def __init__(self, store: Answering) -> None:
        self._store = store

    @cached_property
    def _counted(self) -> dict[str, list[_Counted]]:
        rows = self._store.sql(
            "SELECT cell_id, phase, operation, kind, sum(count)::BIGINT FROM operations WHERE count > 0 GROUP BY ALL"
        ).rows
        found: dict[str, list[_Counted]] = {}
        for row in rows:
            found.setdefault(str(row[0]), []).append(_Counted(*row))
        return found

    def few(
        self, statistic: str, cells: Iterable[str], *, operations: Iterable[object] = (), by_phase: bool = False
    ) -> bool:
        """Return whether a percentile (such as `p99`) has fewer than `FEWEST` operations beyond it, in all `cells`
        together, for any kind of operation.

        Returns False for other statistics, and if there are no counts. `operations` limits the check to some kinds of
        operations. If it is empty, all kinds are checked.
        """
        share = share_beyond(statistic)
        if share is None:
            return False
        wanted, found = set(operations), dict[tuple[str, str, int | None], int]()
        for cell in cells:
            for each in self._counted.get(cell, ()):
                # Counts without a phase belong to all phases together.
                if (not wanted or each.operation in wanted) and (by_phase or each.phase is None):
                    key = (each.operation, each.kind, each.phase)
                    found[key] = found.get(key, 0) + each.operations
        return any(are_few(count * share) for count in found.values())


def resting_on_few(side: Contender, rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of percentiles that have few operations beyond them in at least one repeat."""
    metrics = {each.name: each.query.reads or () for each in side.plan.metrics}
    reading = [(row, reads) for row in rows if (reads := _latencies(row.quantity, metrics))]
    if not reading:
        return []
    beyond = Beyond(side.store)
    cells = side.store.sql(f"SELECT cell_id, {side.columns} FROM {at_levels('cells')} AS c").rows  # noqa: S608  # quoted
    known = [(str(id_), dict(zip(side.plan.point_dims, keys, strict=True))) for id_, *keys in cells]

    def behind(row: Comparison, read: Read) -> list[str]:
        at = {**dict(row.point), **side.selected}
        here = ((id_, keys) for id_, keys in known if all(keys.get(dim) == key for dim, key in at.items()))
        return [id_ for id_, keys in here if read.covers(keys)]

    return [
        row
        for row, reads in reading
        if any(
            beyond.few(read.statistic, [cell], operations=read.keys.get("operation", ()))
            for read in reads
            for cell in behind(row, read)
        )
    ]


def _latencies(quantity: str, metrics: Mapping[str, Sequence[Read]]) -> list[Read]:
    """Return the latencies that a compared quantity reads: an operation's percentile, or the latencies in a metric."""
    if found := _LATENCY.fullmatch(quantity):
        return [
            Read(measure="latency", view="latency", statistic=_statistic(found[1]), keys={"operation": (found[2],)})
        ]
    return [read for read in metrics.get(quantity, ()) if read.view == "latency"]


_LATENCY = re.compile(r"latency\.(p\d+)\[(.+)\]")


def _statistic(name: str) -> str:
    """Convert p999 to p99.9, as the store calls it."""
    return name if len(name) <= len("p99") else f"{name[:3]}.{name[3:]}"
