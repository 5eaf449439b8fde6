"""Cautions on a shown number: the kind of latency, a percentile of few operations, a missed load, a partly sampled
window.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.model.plan import Experiment, Query
from benchbrief.model.points import DimKey, Point
from benchbrief.model.precision import FEWEST, to_digits
from benchbrief.reports.data.imported_briefs import cells_of_unknown_kind, is_imported
from benchbrief.reports.data.report_data import CellRow, Results, reads_of
from benchbrief.reports.notices.open_searches import open_searches
from benchbrief.reports.text.number_format import duration, percent
from benchbrief.results.compare.tail_percentiles import Beyond
from benchbrief.results.ingest.sample_coverage import COMPLETE, shares

ALIKE = 1.1
"""How many times longer an imported measurement may be than another one without a caution."""


class Cautions:
    """Reads the store once; `of` and `at` give the cautions of single numbers."""

    def __init__(self, results: Results) -> None:
        self._results = results
        rows = results.store.sql("SELECT DISTINCT cell_id FROM operations WHERE kind = 'intended'").rows
        self._from_due = {str(cell) for (cell,) in rows}
        self._of_unknown_kind = cells_of_unknown_kind(results)
        self._short = {cell for cell, load in results.loads.items() if load.is_short}
        lasted = "SELECT cell_id, measured_s FROM cells WHERE measured_s > 0"
        rows = results.store.sql(lasted).rows if is_imported(results) else ()
        self._lasted = {str(cell): float(seconds) for cell, seconds in rows}
        """The measured seconds of each cell of an import."""
        self._shares = shares(results.store)
        self._beyond = Beyond(results.store)
        beside = "SELECT DISTINCT cell_id FROM properties WHERE name = 'background thread'"
        self._beside = {str(cell) for (cell,) in results.store.sql(beside).rows}
        """The cells with a thread whose operations no total has."""
        self._said: set[str] = set()
        notes = "SELECT cell_id, text FROM notes WHERE origin = 'import' AND cell_id IS NOT NULL"
        self._noted: dict[str, list[str]] = {}
        for cell_id, text in results.store.sql(notes).rows:
            self._noted.setdefault(str(cell_id), []).append(results.words.said(str(text)))

    def of(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Return what holds for all values of a query: how it counts latency at an offered load, and whose operations
        a throughput leaves out."""
        yield from self._without_background(query, **where)
        yield from self._of_time(query, **where)
        kinds = {read.counted for read in reads_of(query) if read.view == "latency"}
        if not kinds:
            return
        words = self._results.words
        cells = self._measured(query, **where)
        # The steps of a staircase have a rate, and their cell has no target.
        offered = [cell for cell in cells if cell.target is not None or cell.cell_id in self._from_due]
        from_due = [cell for cell in offered if cell.cell_id in self._from_due]
        if from_due and kinds != {"service"}:
            yield words["c_intended"]
        others = {cell.cell_id in self._of_unknown_kind for cell in offered if cell.cell_id not in self._from_due}
        if False in others or (from_due and "service" in kinds):
            yield words["c_service"]
        if True in others:
            yield words["c_unknown_kind"]

    def at(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Return what holds for the values at these keys."""
        words, cells = self._results.words, self._measured(query, **where)
        for cell in cells:
            yield from self._noted.get(cell.cell_id, ())  # from a row of a table of published figures
        # Rates that were not served are a search's answers, and no fault of the one that it found.
        searched = all(read.view == "sustained" for read in reads_of(query))
        if not searched and any(cell.cell_id in self._short for cell in cells):
            yield words["c_short"]
        yield from open_searches(self._results, query, where)
        yield from self.few(query, **where)
        yield from self._lengths(cells)
        for probe in dict.fromkeys(read.probe for read in reads_of(query) if read.probe):
            known = [self._shares[probe, cell.cell_id] for cell in cells if (probe, cell.cell_id) in self._shares]
            if known and 0 < min(known) < COMPLETE:
                share = percent(min(known), unlike=COMPLETE)
                yield words["c_sampled"].format(probe=probe, share=share)

    def in_text(self, query: Query) -> Iterator[str]:
        """Return the cautions on a number in running text, the gravest first."""
        yield from open_searches(self._results, query, {})
        yield from self.few(query)
        yield from self._lengths(self._measured(query))
        yield from self._without_background(query)
        yield from self._of_time(query)

    def _of_time(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Return that a size is that of what a closed loop of writes left, which is larger the faster they were."""
        if not any(read.measure in ("database.size", "database.space_amplification") for read in reads_of(query)):
            return
        workloads = self._results.plan.workloads
        if any(cell.target is None and workloads[cell.workload].writes for cell in self._measured(query, **where)):
            yield self._results.words["c_size_of_time"]

    def _without_background(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Return of which workloads the throughput leaves a background thread out, where each first stands."""
        totals = any(
            read.view == "throughput" and set(read.keys.get("operation", ("all",))) == {"all"}
            for read in reads_of(query)
        )
        if not self._beside or not totals:
            return
        behind = dict.fromkeys(cell.workload for cell in self._measured(query, **where) if cell.cell_id in self._beside)
        for workload in behind:
            if workload not in self._said:
                self._said.add(workload)
                label = self._results.plan.workloads[workload].label
                yield self._results.words["c_without_background"].format(workload=label)

    def _lengths(self, cells: list[CellRow]) -> Iterator[str]:
        """Return that measurements of one number differ in their warm-up or measured time, which may explain the
        number."""
        words, experiments = self._results.words, self._results.plan.experiments
        if is_imported(self._results):  # it was not measured as the spec's experiments say
            lasted = sorted(self._lasted[cell.cell_id] for cell in cells if cell.cell_id in self._lasted)
            if lasted and lasted[-1] > ALIKE * lasted[0]:
                least, most = (duration(to_digits(seconds, 3)) for seconds in (lasted[0], lasted[-1]))
                yield words["c_durations"].format(least=least, most=most)
            return
        named = dict.fromkeys(cell.experiment for cell in cells)
        found = {name: experiments[name] for name in named if name in experiments}
        if len({(each.warm_up_s, each.measure_s, each.until_steady) for each in found.values()}) < 2:
            return
        lengths = (
            words["c_length"].format(
                label=each.label, warm_up=duration(each.warm_up_s), measured=self._measured_for(each)
            )
            for each in found.values()
        )
        yield words["c_lengths"].format(lengths=words.locale.listed(lengths))

    def _measured_for(self, experiment: Experiment) -> str:
        if experiment.until_steady is None:
            return duration(experiment.measure_s)
        times = {"low": duration(experiment.until_steady.from_s), "high": duration(experiment.measure_s)}
        return self._results.words["d_until_times"].format(**times)

    def few(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Return that few operations lie beyond a percentile of the values."""
        if self._rests_on_few(query, self._measured(query, **where)):
            yield self._results.words["c_few"].format(n=FEWEST)

    def _rests_on_few(self, query: Query, cells: list[CellRow]) -> bool:
        """Return whether few operations lie beyond a percentile of a point's repeats together, or of each."""
        points: dict[tuple[object, ...], list[CellRow]] = {}
        for cell in cells:
            repeat = cell.repeat if "repeat" in query.dims else None
            point = (Point.of(cell), repeat)
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

    def _measured(self, query: Query, **where: DimKey) -> list[CellRow]:
        return [cell for cell in self._results.cells_behind(query, **where) if cell.status == "ok"]


def _place(cell: CellRow) -> dict[str, object]:
    place = {dim: getattr(cell, dim) for dim in ("experiment", "hardware", "workload", "threads", "target")}
    return {dim: key for dim, key in place.items() if key is not None}
