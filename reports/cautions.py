"""What is to be known of a number shown: which latency it is, a percentile of few operations, a load not reached, a
window sampled in part."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.offered import KEEPS_UP
from benchbrief.compiler.plan import Query
from benchbrief.reports.source import CellRow, Key, Results, reads_of
from benchbrief.reports.values import NBSP
from benchbrief.results.beyond import FEWEST, Beyond
from benchbrief.results.coverage import TOLD, shares


class Cautions:
    """Reads what it needs of the store once; `of` and `at` then tell of single numbers."""

    def __init__(self, results: Results) -> None:
        self._results = results
        rows = results.store.sql("SELECT DISTINCT cell_id FROM operations WHERE kind = 'intended'").rows
        self._from_due = {str(cell) for (cell,) in rows}
        rates = results.store.sql(
            "SELECT cell_id, ops_per_s FROM throughput "
            "WHERE phase IS NULL AND operation = 'all' AND ops_per_s IS NOT NULL"
        ).rows
        achieved = {str(cell): float(rate) for cell, rate in rates}
        offered = [cell for cell in results.cells if cell.target and cell.cell_id in achieved and not results.published]
        self._short = {c.cell_id for c in offered if achieved[c.cell_id] < KEEPS_UP * (c.target or 0.0)}
        self._shares = shares(results.store)
        self._beyond = Beyond(results.store)
        notes = "SELECT cell_id, text FROM notes WHERE origin = 'import' AND cell_id IS NOT NULL"
        self._noted: dict[str, list[str]] = {}
        for cell_id, text in results.store.sql(notes).rows:
            self._noted.setdefault(str(cell_id), []).append(str(text))

    def of(self, query: Query, **where: Key) -> Iterator[str]:
        """What holds of all values of a query: how its latency at an offered load is counted."""
        if not any(read.view == "latency" for read in reads_of(query)):
            return
        words = self._results.words
        offered = [cell for cell in self._measured(query, **where) if cell.target is not None]
        from_due = [cell for cell in offered if cell.cell_id in self._from_due]
        if from_due:
            yield words["c_intended"]
        if len(from_due) < len(offered):
            yield words["c_service"]

    def at(self, query: Query, **where: Key) -> Iterator[str]:
        """What holds of the values where the dims have these values."""
        words, cells = self._results.words, self._measured(query, **where)
        for cell in cells:
            yield from self._noted.get(cell.cell_id, ())  # what a table of published figures says of a row
        if any(cell.cell_id in self._short for cell in cells):
            yield words["c_short"]
        yield from self.few(query, **where)
        for probe in dict.fromkeys(read.probe for read in reads_of(query) if read.probe):
            known = [self._shares[probe, cell.cell_id] for cell in cells if (probe, cell.cell_id) in self._shares]
            if known and 0 < min(known) < TOLD:
                share = f"{100 * min(known):.0f}{NBSP}%"
                yield words["c_sampled"].format(probe=probe, share=share)

    def few(self, query: Query, **where: Key) -> Iterator[str]:
        """That few operations lie beyond a percentile which the values rest on."""
        if self._rests_on_few(query, self._measured(query, **where)):
            yield self._results.words["c_few"].format(n=FEWEST)

    def _rests_on_few(self, query: Query, cells: list[CellRow]) -> bool:
        """Whether few operations lie beyond a percentile of it: of a point's repeats together, or of each."""
        points: dict[tuple[object, ...], list[CellRow]] = {}
        for cell in cells:
            repeat = cell.repeat if "repeat" in query.dims else None
            point = (cell.experiment, cell.hardware, cell.workload, cell.threads, cell.target, repeat)
            points.setdefault(point, []).append(cell)
        by_phase = "phase" in query.dims
        return any(
            self._beyond.few(
                read.statistic,
                [cell.cell_id for cell in of_point if read.covers(_place(cell))],
                operations=read.keys.get("operation", ()),
                by_phase=by_phase,
            )
            for read in reads_of(query)
            if read.view == "latency"
            for of_point in points.values()
        )

    def _measured(self, query: Query, **where: Key) -> list[CellRow]:
        return [cell for cell in self._results.cells_behind(query, **where) if cell.status == "ok"]


def _place(cell: CellRow) -> dict[str, object]:
    place = {dim: getattr(cell, dim) for dim in ("experiment", "hardware", "workload", "threads", "target")}
    return {dim: key for dim, key in place.items() if key is not None}
