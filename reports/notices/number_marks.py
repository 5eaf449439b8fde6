"""The marks beside numbers: letters of contenders that can't be told apart, remarks on points, and cautions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.model.budgets import strictest_level
from benchbrief.model.plan import DimKey, Experiment, Query
from benchbrief.model.points import Curve, Point, PointKeys
from benchbrief.model.precision import COMPLETE, FEWEST, to_digits
from benchbrief.reports.charts.chart import Chart
from benchbrief.reports.data.imported_briefs import cells_of_unknown_kind, is_imported
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.place_labels import key_label
from benchbrief.reports.data.report_data import ReportedCell, Results, reads_of
from benchbrief.reports.notices.open_searches import open_searches
from benchbrief.reports.notices.result_limits import failed_cells, failures
from benchbrief.reports.notices.run_validity import none_kept
from benchbrief.reports.text.number_format import duration, percent, points
from benchbrief.reports.words.brief_words import counted
from benchbrief.results.analysis.cautions import Beyond, shares
from benchbrief.results.compare.comparison import ComparedQuantity, PointValues
from benchbrief.results.compare.rankings import Pair, Ranking, rank

Place = tuple[p.Query, DimKey]
"""A query of a line, and a key of the table's dimension."""


BEST = "best"
"""The mark of the best of the compared values, and of all values that no test distinguishes from it."""


@dataclass(frozen=True)
class Letters:
    """The marks of a table. `of` has the letters of each ranked value, BEST, or "" if a value has no mark. `note`
    explains the marks."""

    of: Mapping[tuple[str, DimKey], str]
    note: str = ""


def letters_of(element: p.TableElement, results: Results) -> Letters:
    """Return the letters of a comparison, or the marks of a table that marks its best values. For other tables, return
    neither letters nor a note."""
    if element.mark:
        return _best_of(element, results)
    groups: dict[str, list[p.Line]] = {}
    for line in element.lines:
        if line.tested and line.query:
            groups.setdefault(line.tested.of, []).append(line)
    if not groups:
        return Letters({})
    found: dict[tuple[str, DimKey], str] = {}
    tests, places, unranked = 0, 0, 0
    for name, lines in groups.items():
        field = rank(_pairs(name, lines, element, results)) if len(lines) > 1 else None
        tests += sum(
            row.p is not None for each in (field.outcomes.values() if field else ()) for row in each.comparisons
        )
        ranked = {dict(each.point)[element.dim]: each for each in (field.rankings if field else ())}
        for key in element.keys:
            ranking = ranked.get(key.value)
            places += 1
            unranked += not (ranking and ranking.order)
            for place, line in enumerate(lines):
                if line.query:
                    found[line.query.sql, key.value] = ranking.letters[place] if ranking else ""
    words = results.words
    note = words["compared_none"] if not tests else counted(words, "compared", tests)
    if tests and unranked:
        note += " " + counted(words, "compared_unranked", unranked, of=places)
    return Letters(found, note)


def _best_of(element: p.TableElement, results: Results) -> Letters:
    """Return the marks of the best values, as judged by the repeats. If the repeats can't judge every compared value,
    return no marks."""
    grids: dict[str, dict[PointKeys, list[tuple[p.Line, DimKey]]]] = {}
    for place, line in enumerate(element.lines):
        for key in element.keys if line.tested and line.query else ():
            grid = grids.setdefault(line.tested.of if line.tested else "", {})
            at: PointKeys = (("line", str(place)),)
            if line.tested and not line.tested.along:
                at = ((element.dim, key.value), ("line", line.tested.at))
            grid.setdefault(at, []).append((line, key.value))
    found: dict[tuple[str, DimKey], str] = {}
    judged: list[bool] = []
    for name, grid in grids.items():
        ranked = {each.point: each for each in _rankings(name, grid, element, results)}
        for at, places in grid.items():
            shown = [results.at(line.query, **{element.dim: key}) if line.query else None for line, key in places]
            values = {place: value for place, value in enumerate(shown) if value is not None and math.isfinite(value)}
            if len(values) < 2:
                continue
            ranking = ranked.get(at)
            judged.append(ranking is not None and values.keys() <= {*ranking.order})
            for place in _best(places[0][0], values, ranking) if ranking and judged[-1] else ():
                line, at_key = places[place]
                found[line.query.sql if line.query else "", at_key] = BEST
    if not judged:
        return Letters(found)
    along = any(line.tested and line.tested.along for line in element.lines)
    which = "column" if along != element.transposed else "row"
    sure = "" if all(judged) else "_of_some" if any(judged) else "_of_none"
    return Letters(found, results.words[f"best_{which}{sure}"])


def _best(line: p.Line, values: Mapping[int, float], ranking: Ranking) -> set[int]:
    """Return the places of the best value and of all values that no test distinguishes from it."""
    sign = -1 if line.tested and line.tested.better == "lower" else 1
    top = max(sign * value for value in values.values())
    return {place for place, value in values.items() if sign * value == top} | {*ranking.leading}


def _rankings(
    name: str, grid: Mapping[PointKeys, list[tuple[p.Line, DimKey]]], element: p.TableElement, results: Results
) -> Sequence[Ranking]:
    """Return the ranking of the places at each point of a grid. The correction covers all pairs at all points
    together."""
    lines = [line for places in grid.values() for line, _ in places]
    unit = lines[0].query.unit if lines[0].query else ""
    better = lines[0].tested.better if lines[0].tested else None
    exact = all(line.query is not None and line.query.exact for line in lines)
    values = {at: [_values(line, element.dim, key, results) for line, key in places] for at, places in grid.items()}
    pairs = {}
    for one, other in combinations(range(max(map(len, values.values()))), 2):
        points = {at: (each[one], each[other]) for at, each in values.items() if other < len(each)}
        pairs[one, other] = [ComparedQuantity(name, unit, better, points, by_ratio=_are_by_ratio(lines), exact=exact)]
    return rank(pairs).rankings if pairs else ()


def letters_beside(line: p.Line, letters: str, *, marked: bool) -> Markup:
    """Return the letters beside a number, in capitals because footnotes have small letters. If there are none, return
    an equally wide space, which keeps the column aligned."""
    if line.tested is None or marked:
        return Markup("")
    return Markup(' <span class="letters">{}</span>').format(letters.upper())


def letters_in(elements: Iterable[p.Element], results: Results) -> Iterator[tuple[p.Query, dict[str, DimKey], str]]:
    """Yield each compared value that has letters: its query, its keys and its letters."""
    for element in elements:
        if isinstance(element, p.SectionElement):
            yield from letters_in(element.elements, results)
        elif isinstance(element, p.TableElement):
            of = letters_of(element, results).of
            for line in element.lines:
                for key in element.keys if line.query and line.tested else ():
                    if line.query and (letters := of.get((line.query.sql, key.value))):
                        yield line.query, {element.dim: key.value}, letters


def _pairs(
    name: str, lines: list[p.Line], element: p.TableElement, results: Results
) -> dict[Pair, list[ComparedQuantity]]:
    values = [[_values(line, element.dim, key.value, results) for key in element.keys] for line in lines]
    unit = lines[0].query.unit if lines[0].query else ""
    better = lines[0].tested.better if lines[0].tested else None
    exact = all(line.query is not None and line.query.exact for line in lines)
    found = {}
    for one, other in combinations(range(len(lines)), 2):
        points: dict[PointKeys, tuple[PointValues | None, PointValues | None]] = {
            ((element.dim, key.value),): (values[one][at], values[other][at]) for at, key in enumerate(element.keys)
        }
        found[one, other] = [ComparedQuantity(name, unit, better, points, by_ratio=_are_by_ratio(lines), exact=exact)]
    return found


def _are_by_ratio(lines: Iterable[p.Line]) -> bool:
    return all(line.tested and line.tested.repeats and line.tested.repeats.by_ratio for line in lines)


def _values(line: p.Line, dim: str, key: DimKey, results: Results) -> PointValues | None:
    """Return a contender's value with the values of its repeats. If a planned repeat has no value, the value is None
    and is not ranked, because the remaining repeats are not the planned sample."""
    if line.query is None or line.tested is None:
        return None
    value = results.at(line.query, **{dim: key})
    repeats: tuple[float, ...] = ()
    if of := line.tested.repeats:
        repeats = tuple(results.spread(of, **{dim: key}))
        if len(repeats) < len(results.keys(of, "repeat", **{dim: key})):
            value = None
    return PointValues(value, repeats, line.tested.percentile, level=strictest_level(results.plan))


_BRACKETS = re.compile(r"\[([^\]]*)\]")
_WORD = re.compile(r"\w+")


def table_remarks(element: p.TableElement, results: Results) -> Iterator[str]:
    shown = [line.query for line in element.lines if line.query]
    labels = [element.title, *(key.label for key in element.keys)]
    labels += [readable_label(label, results.words) for line in element.lines for label in (line.label, *line.heads)]
    if len(shown) == len(element.lines):
        yield from _fixed(shown, " ".join(labels), results)
    yield from not_chosen(shown, results)


def figure_remarks(element: p.FigureElement, charts: Iterable[Chart], results: Results) -> Iterator[str]:
    """Yield remarks on the values of a figure. If the axis marks the candidates that were not measured, they need no
    remark."""
    queries = [query for series in element.series for query in series.drawn]
    shown = [element.title, element.x_label, *(key.label for keys in element.keys.values() for key in keys)]
    shown += [readable_label(series.label, results.words) for series in element.series]
    yield from _fixed(queries, " ".join(shown), results)
    if not any(chart.x.open for chart in charts):
        yield from not_chosen(queries, results)


def _fixed(queries: Sequence[p.Query], shown: str, results: Results) -> Iterator[str]:
    """Yield a sentence on the point that all values share, unless `shown`, the text beside the values, already names
    it."""
    found = [*_loads(queries, results), *_places(queries, results)]
    if unshown := [text for text in found if _closed(text) not in _closed(shown)]:
        yield results.words["at_fixed"].format(points=results.words.locale.listed(unshown))


def _closed(text: str) -> str:
    """Return a text for comparison, without blanks, which Japanese may leave out."""
    return "".join(text.casefold().split())


def _loads(queries: Sequence[p.Query], results: Results) -> Iterator[str]:
    for dim in ("threads", "target"):
        keys = {tuple(read.keys.get(dim, ())) for query in queries for read in reads_of(query)}
        if len(keys) == 1 and len(only := next(iter(keys))) == 1:
            behind = {cell.experiment for query in queries for cell in results.cells_behind(query)}
            ramps = [results.plan.experiments[name] for name in behind]
            if any(ramp.axis == dim and len(ramp.points) > 1 for ramp in ramps):
                yield counted(results.words, f"at_{dim}", float(only[0]))


def _places(queries: Sequence[p.Query], results: Results) -> Iterator[str]:
    """Yield the hardware, workload and levels that every query names in its brackets."""
    plan = results.plan
    written = [set(_WORD.findall(" ".join(_BRACKETS.findall(query.text)))) for query in queries]
    several = {
        "hardware": len(plan.hardware) > 1,
        "workload": len({workload.name for workload in plan.workloads.values()}) > 1,
    }
    for dim in ("hardware", "workload", *plan.factors):
        keys = {tuple(read.keys.get(dim, ())) for query in queries for read in reads_of(query)}
        if len(keys) == 1 and len(only := next(iter(keys))) == 1 and several.get(dim, True):
            # A level that is a number has its factor's name before it: [vsize: 100 B].
            name = only[0].rpartition(".")[2] if isinstance(only[0], str) else dim
            if all(name in each for each in written) and (label := key_label(dim, only[0], plan)):
                yield label


def not_chosen(queries: Iterable[p.Query], results: Results) -> Iterator[str]:
    """Yield a sentence on the measured candidates of each adaptive ramp that left others unmeasured. A ramp is left out
    if all values of the queries come from a single point of it."""
    behind: dict[str, dict[str, ReportedCell]] = {}
    for query in queries:
        for cell in results.cells_behind(query):
            if results.plan.experiments[cell.experiment].adaptive:
                behind.setdefault(cell.experiment, {})[cell.cell_id] = cell
    for name, cells in behind.items():
        ramp = results.plan.experiments[name]
        curves: dict[Curve, dict[float, set[bool]]] = {}
        for cell in cells.values():
            point = float(getattr(cell, ramp.axis))
            curves.setdefault(Curve.of(cell), {}).setdefault(point, set()).add(cell.status != "skipped")
        of = {point for curve in curves.values() for point in curve}
        measured = {tuple(sorted(point for point in curve if any(curve[point]))) for curve in curves.values()}
        if len(of) < 2 or all(len(each) == len(of) for each in measured):
            continue
        axis = results.words.dimension_within(ramp.axis)
        same = len(measured) == 1
        listed = points(next(iter(measured))) if same else points(sorted({len(each) for each in measured}))
        key = "ramp_chosen" if same else "ramp_chosen_apart"
        yield results.words[key].format(axis=axis, points=listed, of=len(of))


ALIKE = 1.1
"""One imported measurement may last up to this many times as long as another without a caution."""


class Cautions:
    """Finds cautions about numbers. `of` finds those about all values of a query, and `at` those about the values at
    some keys. The store is read only once."""

    def __init__(self, results: Results) -> None:
        self._results = results
        rows = results.store.sql("SELECT DISTINCT cell_id FROM operations WHERE kind = 'intended'").rows
        self._from_due = {str(cell) for (cell,) in rows}
        self._of_unknown_kind = cells_of_unknown_kind(results)
        self._short = {cell for cell, load in results.loads.items() if load.is_short} - {*none_kept(results)}
        lasted = "SELECT cell_id, measured_s FROM cells WHERE measured_s > 0"
        rows = results.store.sql(lasted).rows if is_imported(results) else ()
        self._lasted = {str(cell): float(seconds) for cell, seconds in rows}
        """How many seconds each imported cell was measured."""
        self._shares = shares(results.store)
        self._failed = results.once(failed_cells)
        self._beyond = Beyond(results.store)
        beside = "SELECT DISTINCT cell_id FROM properties WHERE name = 'background thread'"
        self._beside = {str(cell) for (cell,) in results.store.sql(beside).rows}
        """The cells with a background thread whose operations are not part of any total."""
        self._said: set[str] = set()
        notes = "SELECT cell_id, text FROM notes WHERE origin = 'import' AND cell_id IS NOT NULL"
        self._noted: dict[str, list[str]] = {}
        for cell_id, text in results.store.sql(notes).rows:
            self._noted.setdefault(str(cell_id), []).append(results.words.said(str(text)))

    def of(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Yield the cautions on all values of a query: how latency is counted at an offered load, which background
        operations a throughput leaves out, and which combinations of levels are not measured."""
        yield from self._ragged(query)
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
        """Yield the cautions on the values at these keys."""
        words, cells = self._results.words, self._measured(query, **where)
        for cell in cells:
            yield from self._noted.get(cell.cell_id, ())  # from a row of a table of published figures
        # In a search, a rate that was not served is a finding, and casts no doubt on the rate that was found.
        searched = all(read.view == "sustained" for read in reads_of(query))
        if not searched and any(cell.cell_id in self._short for cell in cells):
            yield words["c_short"]
        yield from open_searches(self._results, query, where)
        yield from self._of_failed(query, **where)
        yield from self.few(query, **where)
        yield from self._lengths(cells)
        for probe in dict.fromkeys(read.probe for read in reads_of(query) if read.probe):
            known = [self._shares[probe, cell.cell_id] for cell in cells if (probe, cell.cell_id) in self._shares]
            if known and 0 < min(known) < COMPLETE:
                share = percent(min(known), unlike=COMPLETE)
                yield words["c_sampled"].format(probe=probe, share=share)

    def in_text(self, query: Query) -> Iterator[str]:
        """Return the cautions on a number in running text, the most serious first."""
        yield from open_searches(self._results, query, {})
        yield from self._of_failed(query)
        yield from self.few(query)
        yield from self._lengths(self._measured(query))
        yield from self._without_background(query)
        yield from self._of_time(query)
        yield from self._ragged(query)

    def _of_failed(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Yield a caution if operations failed in the measurements behind a number that depends on operations."""
        of_operations = any(not read.probe for read in reads_of(query))
        if of_operations and any(cell.cell_id in self._failed for cell in self._measured(query, **where)):
            yield self._results.once(failures)

    def _ragged(self, query: Query) -> Iterator[str]:
        """Yield a caution on values that cover different points."""
        if query.ragged:
            words = self._results.words
            yield words["c_ragged"].format(factors=words.locale.listed(map(words.dimension, query.ragged)))

    def _of_time(self, query: Query, **where: DimKey) -> Iterator[str]:
        """Yield a caution on the size of a database after a closed loop that writes, because a faster database has then
        been given more data."""
        if not any(read.measure in ("database.size", "database.space_amplification") for read in reads_of(query)):
            return
        workloads = self._results.plan.workloads
        if any(cell.target is None and workloads[cell.workload].writes for cell in self._measured(query, **where)):
            yield self._results.words["c_size_of_time"]

    def _without_background(self, query: Query, **where: DimKey) -> Iterator[str]:
        """If a workload's throughput leaves out a background thread, yield a caution where the workload is first
        used."""
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

    def _lengths(self, cells: list[ReportedCell]) -> Iterator[str]:
        """Yield a caution if the measurements behind a number differ in warm-up or measured time. That may explain the
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
        """Yield a caution if a percentile among the values has only few operations beyond it."""
        if self._rests_on_few(query, self._measured(query, **where)):
            yield self._results.words["c_few"].format(n=FEWEST)

    def _rests_on_few(self, query: Query, cells: list[ReportedCell]) -> bool:
        """Return whether a percentile has only few operations beyond it, counted over all of a point's repeats or, if
        the query distinguishes repeats, in each."""
        points: dict[tuple[object, ...], list[ReportedCell]] = {}
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

    def _measured(self, query: Query, **where: DimKey) -> list[ReportedCell]:
        return [cell for cell in self._results.cells_behind(query, **where) if cell.status == "ok"]


def _place(cell: ReportedCell) -> dict[str, object]:
    place = Point.of(cell).keys
    return {dim: key for dim, key in place.items() if key is not None}
