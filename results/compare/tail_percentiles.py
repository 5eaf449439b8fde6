"""How many operations are beyond a percentile. When these are few, chance decides its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from benchbrief.model.plan import Read
from benchbrief.model.points import Point
from benchbrief.model.precision import FEWEST, are_few, share_beyond
from benchbrief.results.compare.comparison import Comparison
from benchbrief.results.compare.contender import Contender
from benchbrief.results.store.searched_doubts import Answering

__all__ = ["FEWEST", "Beyond", "resting_on_few"]


class _Counted(NamedTuple):
    cell_id: str
    phase: int | None
    operation: str
    kind: str
    operations: int


class Beyond:
    """Counts operations beyond percentiles. Reads the counts of a store once, and only for a percentile."""

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
        """Return whether fewer than `FEWEST` operations of some kind are beyond a percentile (`p99`) of these cells
        together.

        Returns False for other statistics, and without counts. `operations` limits it to these, when any are named.
        """
        share = share_beyond(statistic)
        if share is None:
            return False
        wanted, found = set(operations), dict[tuple[str, str, int | None], int]()
        for cell in cells:
            for each in self._counted.get(cell, ()):
                # The counts without a phase are those of all phases together.
                if (not wanted or each.operation in wanted) and (by_phase or each.phase is None):
                    key = (each.operation, each.kind, each.phase)
                    found[key] = found.get(key, 0) + each.operations
        return any(are_few(count * share) for count in found.values())


def resting_on_few(side: Contender, rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of percentiles, or of values made of some, that have few operations beyond one in a
    repeat."""
    metrics = {each.name: each.query.reads or () for each in side.plan.metrics}
    reading = [(row, reads) for row in rows if (reads := _latencies(row.quantity, metrics))]
    if not reading:
        return []
    beyond = Beyond(side.store)
    cells = side.store.sql("SELECT cell_id, experiment, hardware, workload, threads, target FROM main.cells").rows
    known = [(str(id_), dict(zip(Point._fields, keys, strict=True))) for id_, *keys in cells]

    def behind(row: Comparison, read: Read) -> list[str]:
        at = {**dict(row.point), **({"hardware": side.hardware} if side.hardware else {})}
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
    """Return the latencies that a compared quantity reads: an operation's percentile, or what its metric is made of."""
    if found := _LATENCY.fullmatch(quantity):
        return [
            Read(measure="latency", view="latency", statistic=_statistic(found[1]), keys={"operation": (found[2],)})
        ]
    return [read for read in metrics.get(quantity, ()) if read.view == "latency"]


_LATENCY = re.compile(r"latency\.(p\d+)\[(.+)\]")


def _statistic(name: str) -> str:
    """Convert p999 to p99.9, the store's name."""
    return name if len(name) <= len("p99") else f"{name[:3]}.{name[3:]}"
