"""The data of a report: the store's rows for the plan's queries, each read once, and the reasons for missing values."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from benchbrief.compiler.planning.plan_file import plan_sha256
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.achieved_load import OfferedLoad, load_of
from benchbrief.model.budgets import strictest_level
from benchbrief.model.message import Message
from benchbrief.model.plan import Cell, Dimension, DimKey, Levels, Plan, Query, Quote, Read
from benchbrief.model.points import CURVE, POINT, Curve
from benchbrief.model.units import parse_unit
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.text.number_format import number
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.promised_rates import Promised, RateRuns
from benchbrief.results.store.searched_doubts import KNOWN, RANGE, Bound, Doubt, doubts
from benchbrief.results.store.store_schema import SENTENCES, read_sentences

DIMENSIONS: tuple[str, ...] = (*POINT, "phase")
"""The dimensions that a published value may have. They are columns of the store's table `published`."""
Keys = Mapping[str, str | float]


@dataclass(frozen=True)
class PublishedNumber:
    """A row of the store's table `published`. Its `bound` is value, low or high, as in the table. If the source states
    only one end of a range, that end is at_least or at_most instead."""

    metric: str
    bound: str
    at: Keys
    value: float
    unit: str

    def in_unit(self, unit: str) -> float:
        """Return the value in another unit, with its published digits. For example, 45 % is 0.45 as a share, and 45 in
        %."""
        if unit == self.unit:
            return self.value
        return float(f"{self.value * parse_unit(self.unit).factor / parse_unit(unit).factor:.12g}")


def published_values(rows: Iterable[Sequence[Any]]) -> tuple[PublishedNumber, ...]:
    """Return the published values in these rows, each of which has a metric, a bound, a value, a unit, `DIMENSIONS`,
    and levels."""
    found = []
    for metric, bound, value, unit, *keys, levels in rows:
        at = {
            dim: key if isinstance(key, str) else float(key)
            for dim, key in zip(DIMENSIONS, keys, strict=True)
            if key is not None
        }
        at |= Levels(levels).keys
        found.append(PublishedNumber(str(metric), str(bound), at, float(value), str(unit)))
    stated = [(each.metric, each.at) for each in found]
    return tuple(
        replace(each, bound=ALONE.get(each.bound, each.bound)) if stated.count((each.metric, each.at)) == 1 else each
        for each in found
    )


ALONE: Mapping[str, Bound] = {"low": "at_least", "high": "at_most"}
"""How to read the end of a published range if the source does not state the other end: a low end is a lower bound, and
a high end is an upper bound."""
_NEGATED: Mapping[Bound, Bound] = {"at_least": "at_most", "at_most": "at_least"}


class QuotedValue(NamedTuple):
    """A value that a source states. It is exact, or only a bound of the true one."""

    value: float
    bound: Bound = ""


def quoted_values(
    quote: Quote, dims: Sequence[str], unit: str, published: Sequence[PublishedNumber], cells: Sequence[Cell]
) -> dict[tuple[str | float, ...], QuotedValue]:
    """Return the values that the source states for `quote`, in `unit`, by their keys in `dims`."""
    rows = [each.at for each in published if each.metric == quote.metric and all(dim in each.at for dim in dims)]
    wanted = {tuple(at[dim] for dim in dims) for at in rows}
    found = {keys: _value(quote, dict(zip(dims, keys, strict=True)), unit, published, cells) for keys in wanted}
    return {keys: value for keys, value in found.items() if value is not None}


def _value(
    quote: Quote, row: Keys, unit: str, published: Sequence[PublishedNumber], cells: Sequence[Cell]
) -> QuotedValue | None:
    """Return the published value at the keys `row`, in `unit`, or None if the source has no value there.

    A lowest or highest value over dimensions that the source distinguishes needs a value for every planned key. For
    example, the lowest over all workloads needs the lowest of each workload.
    """
    place: dict[str, str | float] = {dim: _quoted_key(key) for dim, key in quote.at.items()}
    place.update(row)
    bounds = {quote.bound, *ALONE.values(), *(["value"] if quote.over else [])}
    fitting = [
        each
        for each in published
        if each.metric == quote.metric
        and each.bound in bounds
        and all(each.at.get(dim) == key for dim, key in place.items())
        and set(each.at) - set(place) <= set(quote.over)
    ]
    apart = sorted({dim for each in fitting for dim in each.at} - set(place))
    found = {tuple(each.at.get(dim) for dim in apart): each for each in fitting}
    planned = _planned(apart, place, cells) if apart else {()}
    # A remark on the whole ("30 times, or more") is not a part, and hides no part.
    parts = {keys: value for keys, value in found.items() if keys in planned or None not in keys}
    sides = [side for side in ALONE.values() if any(each.bound == side for each in parts.values())]
    if not parts or parts.keys() != planned or len(sides) > 1:
        return None
    value = (max if quote.bound == "high" else min)(each.in_unit(unit) for each in parts.values())
    side = sides[0] if sides else ""
    return QuotedValue(-value, _NEGATED.get(side, "")) if quote.negated else QuotedValue(value, side)


def _planned(dims: Sequence[str], place: Keys, cells: Sequence[Cell]) -> set[tuple[str | float | None, ...]]:
    """Return the keys of these dimensions in the planned cells at `place`."""
    there = [cell for cell in cells if all(_of(cell, dim) == key for dim, key in place.items() if hasattr(cell, dim))]
    return {tuple(_of(cell, dim) for dim in dims) for cell in there}


def _of(cell: Cell, dim: str) -> str | float | None:
    value = getattr(cell, dim, None)
    return None if value is None else _quoted_key(value)


def _quoted_key(value: str | float) -> str | float:
    return value if isinstance(value, str) else float(value)


Made = TypeVar("Made")


class AskedTable(Protocol):
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


class AskedStore(Protocol):
    """The reading interface of the store (`results/store/store.py`)."""

    @property
    def run_dir(self) -> Path: ...

    @property
    def is_rebuilt(self) -> bool: ...

    def query(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of a query of the plan, each with its dims in order and then the value. If the value is NULL,
        the row may also have the `reason`."""
        ...

    def sql(self, text: str) -> AskedTable: ...

    def each(self, text: str) -> AbstractContextManager[Iterable[Sequence[Any]]]:
        """Yield the rows that `sql` would return, one by one. While they are read, no other query is possible."""


class _Remembering:
    """A store that caches its answers, except those of `each`, because notices and the disclosure ask the same
    questions."""

    def __init__(self, store: AskedStore) -> None:
        self._store = store
        self._answers: dict[str, AskedTable] = {}

    def query(self, query: Query) -> Sequence[Sequence[Any]]:
        return self._store.query(query)

    @property
    def run_dir(self) -> Path:
        return self._store.run_dir

    @property
    def is_rebuilt(self) -> bool:
        return self._store.is_rebuilt

    def sql(self, text: str) -> AskedTable:
        if text not in self._answers:
            self._answers[text] = self._store.sql(text)
        return self._answers[text]

    def each(self, text: str) -> AbstractContextManager[Iterable[Sequence[Any]]]:
        return self._store.each(text)


class ReportedCell(NamedTuple):
    cell_id: str
    experiment: str
    hardware: str
    workload: str
    levels: str
    threads: float | None
    target: float | None
    repeat: int
    status: str
    reason: str
    raw_dir: str


class ReportedFact(NamedTuple):
    """A fact. Its `kind` says whether it is about a host, a database, a tool or hardware (see
    `results/store/store_schema.py`)."""

    kind: str
    hardware: str | None
    node: str | None
    name: str
    value: str


NOT_PUBLISHED = "not published"
"""The store's reason for a cell that is missing in its source (`results/imports/keep_import.py`)."""
_WHY = {
    "failed": ("failed_cell", "failed_cell_unsaid"),
    "skipped": ("skipped_cell", "skipped_cell_unsaid"),
    "refused": ("refused_cell", "refused_cell_unsaid"),
}
_MISSING = ("missing_cell", "missing_cell_unsaid")
"""The words for a missing value, with and without the reason, by the status of the cell."""
_PATH = re.compile(r"(?<![\w/.])~?/[\w.~-]")
_COMMAND = re.compile(r"`[^`]*[\s(=/][^`]*`")
"""Matches code with more than one word, such as a command or an expression."""


class KneeFound(NamedTuple):
    """The result of a search for a knee. `knee` is None if the search found no knee."""

    experiment: str
    hardware: str
    workload: str
    levels: str
    knee: float | None


class Results:
    """The results of one run, as the report reads them. With `for_customers`, pages do not name hosts, paths, cells or
    commands; the disclosure does."""

    def __init__(self, plan: Plan, store: AskedStore, words: Words, *, for_customers: bool = False) -> None:
        self.plan = plan
        self.for_customers = for_customers
        self.store: AskedStore = _Remembering(store)
        sentences = read_sentences(self.store.sql(SENTENCES).rows)
        labels = {name: factor.label for name, factor in plan.factors.items()}
        self.words = words.with_sentences(sentences).at_level(strictest_level(plan)).with_factors(labels)
        self._read: dict[str, dict[tuple[DimKey, ...], float | None]] = {}
        self._reasons: dict[str, dict[tuple[DimKey, ...], str]] = {}
        self._behind: dict[str, list[tuple[ReportedCell, dict[str, DimKey]]]] = {}
        self._behind_at: dict[tuple[str, tuple[str, ...]], dict[tuple[DimKey, ...], tuple[ReportedCell, ...]]] = {}
        """The cells behind each key, by the SQL of the query and the requested dims. Kept because a large brief needs
        them thousands of times."""
        self._rows_by: dict[tuple[str, tuple[int, ...]], dict[tuple[DimKey, ...], list[tuple[DimKey, ...]]]] = {}
        self._doubts: dict[str, dict[tuple[DimKey, ...], Doubt]] = {}
        self._made: dict[Callable[[Results], Any], Any] = {}

    def once(self, make: Callable[[Results], Made]) -> Made:
        """Return what `make` computes from these results, computed only once for all places of a brief."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made

    def rows(self, query: Query) -> dict[tuple[DimKey, ...], float | None]:
        """Return the value for each combination of the query's dims."""
        if query.sql not in self._read:
            values, reasons = {}, {}
            for row in self.store.query(query):
                keys = tuple(_key(v) for v in row[: len(query.dims)])
                values[keys] = number(row[len(query.dims)])
                reasons[keys] = getattr(row, "reason", None) or ""
            self._read[query.sql], self._reasons[query.sql] = values, reasons
        quoted = {keys: each.value for keys, each in self._quoted(query).items()}
        return {**self._read[query.sql], **quoted} if quoted else self._read[query.sql]

    def _quoted(self, query: Query) -> dict[tuple[DimKey, ...], QuotedValue]:
        """Return the published values at the keys for which the query gives no value."""
        if query.quote is None or not self._published_values:
            return {}
        known = {keys for keys, value in self._read[query.sql].items() if value is not None}
        found = quoted_values(query.quote, query.dims, query.unit, self._published_values, self.plan.cells)
        return {keys: value for keys, value in found.items() if keys not in known}

    def is_in_declared_unit(self, query: Query) -> bool:
        """Return whether a metric declares the query's unit. Its numbers then stay in that unit."""
        return any(m.name in query.names for m in self.plan.metrics if m.query.unit == query.unit)

    def is_quoted(self, query: Query, **where: DimKey) -> bool:
        """Return whether the value at these keys comes from a publication."""
        self.rows(query)
        quoted = self._quoted(query)
        return bool(quoted) and bool(_matching(query, quoted, where))

    def bound(self, query: Query, **where: DimKey) -> Bound:
        """Return `at_least` or `at_most` if the value at these keys is published only as such a bound, or else ""."""
        self.rows(query)
        quoted = self._quoted(query)
        return next((quoted[keys].bound for keys in _matching(query, quoted, where)), "")

    def at(self, query: Query, **where: DimKey) -> float | None:
        """Return the value at these keys. Keys of dims that the query lacks are ignored."""
        return next(iter(self.spread(query, **where)), None)

    def doubt(self, query: Query, high: Query | None, where: Mapping[str, DimKey]) -> Doubt:
        """Return the doubt about a value that depends on searches for a promise. A range up to `high` is in doubt if
        either end is. A missing value has no doubt."""
        ends = [query, high] if high else [query]
        if not self.promises or any(self.at(end, **where) is None for end in ends):
            return KNOWN
        found = [self._doubt(end, where) for end in ends]
        return found[0] if len(found) == 1 else RANGE if any(found) else KNOWN

    def _doubt(self, query: Query, where: Mapping[str, DimKey]) -> Doubt:
        known = self._doubts_of(query)
        return next((known.get(keys, KNOWN) for keys in self._rows_at(query, where)), KNOWN)

    def _doubts_of(self, query: Query) -> Mapping[tuple[DimKey, ...], Doubt]:
        """Return the doubts about the rows of a query, by their keys."""
        if query.sql not in self._doubts:
            found = doubts(self.store, query.sql) if self.promises else {}
            self._doubts[query.sql] = {tuple(map(_key, keys)): doubt for keys, doubt in found.items()}
        return self._doubts[query.sql]

    def known_from_both_sides(self, query: Query) -> dict[tuple[DimKey, ...], float | None]:
        """Return the value of a condition at each of its keys. The value is None if it depends on a rate that is known
        only as a bound, since the true rate could change it."""
        known = self._doubts_of(query)
        return {keys: None if known.get(keys, KNOWN).bound else value for keys, value in self.rows(query).items()}

    def spread(self, query: Query, **where: DimKey) -> list[float]:
        """Return all values at these keys. If repeats are among the query's dims, there is a value for each repeat."""
        rows = self.rows(query)
        return [v for keys in self._rows_at(query, where) if (v := rows[keys]) is not None]

    def _rows_at(self, query: Query, where: Mapping[str, DimKey]) -> Sequence[tuple[DimKey, ...]]:
        """Return the keys of all rows that match these keys. This must be fast, because a figure along time has
        thousands of keys."""
        rows = self.rows(query)
        if rows is not self._read[query.sql]:  # some are published
            return _matching(query, rows, where)
        dims = tuple(i for i, dim in enumerate(query.dims) if dim in where)
        if (query.sql, dims) not in self._rows_by:
            found: dict[tuple[DimKey, ...], list[tuple[DimKey, ...]]] = {}
            for keys in rows:
                found.setdefault(tuple(keys[i] for i in dims), []).append(keys)
            self._rows_by[query.sql, dims] = found
        return self._rows_by[query.sql, dims].get(tuple(_key(where[query.dims[i]]) for i in dims), ())

    def keys(self, query: Query, dim: str, **where: DimKey) -> set[DimKey]:
        """Return the keys of a dimension that occur in a row together with these other keys. Times without a sample are
        left out."""
        place = query.dims.index(dim)
        found = (keys[place] for keys in self._rows_at(query, where))
        return {key for key in found if isinstance(key, str) or not math.isnan(key)}

    def cells_behind(self, query: Query, **where: DimKey) -> tuple[ReportedCell, ...]:
        """Return the planned cells that the values at these keys are computed from, even if they have no result."""
        if query.sql not in self._behind:
            reads = reads_of(query)
            self._behind[query.sql] = [point for point in self._points if any(read.covers(point[1]) for read in reads)]
        dims = tuple(dim for dim in (*self.plan.point_dims, "repeat") if dim in where)
        if (query.sql, dims) not in self._behind_at:
            found: dict[tuple[DimKey, ...], list[ReportedCell]] = {}
            for cell, at in self._behind[query.sql]:
                found.setdefault(tuple(at[dim] for dim in dims), []).append(cell)
            self._behind_at[query.sql, dims] = {keys: tuple(cells) for keys, cells in found.items()}
        return self._behind_at[query.sql, dims].get(tuple(_key(where[dim]) for dim in dims), ())

    def not_needed(self, query: Query, **where: DimKey) -> bool:
        """Return whether a search skipped all cells of the value. Such a value is not missing."""
        behind = self.cells_behind(query, **where)
        return bool(behind) and all(cell.status == "skipped" for cell in behind)

    def not_due(self, query: Query, **where: DimKey) -> bool:
        """Return whether a missing value is expected at these keys: none of the load's cells was needed, or the
        adaptive ramp did not choose the load. The keys must include a load."""
        if self._not_chosen(query, where):
            return self.at(query, **where) is None
        return self.not_needed(query, **where)

    def _not_chosen(self, query: Query, where: Mapping[str, DimKey]) -> list[ReportedCell]:
        """Return the cells at the load in `where` whose adaptive ramps did not choose this load."""
        curves: dict[Curve, list[ReportedCell]] = {}
        for cell in self.cells_behind(query, **where) if {"threads", "target"} & set(where) else ():
            if self.plan.experiments[cell.experiment].adaptive:
                curves.setdefault(Curve.of(cell), []).append(cell)
        skipped = [cells for cells in curves.values() if all(cell.status == "skipped" for cell in cells)]
        return [cell for cells in skipped for cell in cells]

    def why_missing(self, query: Query, **where: DimKey) -> str:
        """Return why there is no value at these keys, with at most two reasons."""
        return self.words["semicolon"].join(self.reasons_missing(query, **where)[:2])

    def reasons_missing(self, query: Query, **where: DimKey) -> list[str]:
        """Return the reasons for a missing value at these keys: cells without a result, or the store's reason."""
        reasons: dict[str, None] = {}
        behind = self.cells_behind(query, **where)
        # If some cells were needed, only these explain a missing value.
        needed = [cell for cell in behind if cell.status != "skipped" or cell.reason == NOT_PUBLISHED]
        for cell in self._not_chosen(query, where) or needed or behind:
            if cell.reason == NOT_PUBLISHED:
                reasons[self.words["not_published"]] = None
            elif cell.status != "ok":
                why, why_unsaid = _WHY.get(self.words.status_of(cell.status, cell.reason), _MISSING)
                said = self.words.said_briefly(cell.reason) or self.words["no_reason"]
                unsaid = self.for_customers and self.names_equipment(said)
                reasons[self.words[why_unsaid] if unsaid else self.words[why].format(reason=said)] = None
        if not reasons:
            texts = (r for keys in self._rows_at(query, where) if (r := self._reasons[query.sql].get(keys)))
            every = map(self.words.said, dict.fromkeys(texts))
            reasons = dict.fromkeys(text for text in every if not (self.for_customers and self.names_equipment(text)))
        if not reasons and (lacking := self._not_done(query, where)):
            return [self.words["not_done"].format(operations=self.words.locale.listed(lacking))]
        return list(reasons) or [self.words["no_value" if self._planned(query, **where) else "not_planned"]]

    def names_equipment(self, text: str) -> bool:
        """Return whether a text names a host, a path, a cell, an experiment or a command of the run."""
        words = set(re.findall(r"[\w./=-]+", text))
        is_cell = any(word.count("/") > 1 for word in words)
        return bool(_COMMAND.search(text)) or is_cell or bool(_PATH.search(text) or words & self._equipment)

    @cached_property
    def _equipment(self) -> frozenset[str]:
        """The names of hosts and experiments."""
        return frozenset((*self.plan.hosts, *(host.name for host in self.plan.hosts.values()), *self.plan.experiments))

    def _not_done(self, query: Query, where: Mapping[str, DimKey]) -> list[str]:
        """Return the operations that the query asks for but the workload does not perform, if there is only one
        workload at these keys."""
        workloads = {str(place["workload"]) for place in self._places_at(where)}
        done = self.plan.workloads[workloads.pop()].operations if len(workloads) == 1 else ()
        wanted = dict.fromkeys(str(key) for read in reads_of(query) for key in read.keys.get("operation", ()))
        # In plans of an earlier benchbrief, the operations of some workloads are unknown.
        return [self.words.get(f"operation_{each}", each) for each in wanted if done and each not in done]

    def _planned(self, query: Query, **where: DimKey) -> bool:
        """Return whether each of the query's measures has planned cells at these keys, with any load."""
        there = self._places_at(where)
        return all(any(read.covers(place) for place in there) for read in reads_of(query))

    def left_out(self, query: Query, **where: DimKey) -> bool:
        """Return whether no run has the combination of levels at these keys. Such a value is not missing."""
        if not self.plan.factors or self._planned(query, **where):
            return False
        there = self._places_at({dim: key for dim, key in where.items() if dim not in self.plan.factors})
        fixed = [
            {dim: keys for dim, keys in read.keys.items() if dim not in self.plan.factors} for read in reads_of(query)
        ]
        return all(
            any(all(at[dim] in keys for dim, keys in each.items() if dim in at) for at in there) for each in fixed
        )

    def _places_at(self, where: Mapping[str, DimKey]) -> list[dict[str, DimKey]]:
        dims = [dim for dim in self._curve_dims if dim in where]
        return [place for place in self._places if all(place[dim] == where[dim] for dim in dims)]

    @cached_property
    def _places(self) -> list[dict[str, DimKey]]:
        """Each combination of experiment, hardware, workload and levels that has planned cells, listed once."""
        places = {Curve.of(cell): at for cell, at in self._points}
        return [{dim: at[dim] for dim in self._curve_dims} for at in places.values()]

    @cached_property
    def _curve_dims(self) -> tuple[Dimension, ...]:
        return (*CURVE, *self.plan.factors)

    @cached_property
    def plan_sha256(self) -> str:
        """The SHA-256 of the plan. For a large plan, it takes long to compute."""
        return plan_sha256(self.plan)

    @cached_property
    def cells(self) -> tuple[ReportedCell, ...]:
        """Every planned cell, in the plan's order. A cell that is not in the store has the status missing."""
        # The plan has the other columns. Names that all cells share are kept once.
        text = "SELECT cell_id, threads, target, status, coalesce(reason, ''), coalesce(raw_dir, '') FROM cells"
        with self.store.each(text) as rows:
            known = {cell: (*at, sys.intern(status), sys.intern(why), raw) for cell, *at, status, why, raw in rows}
        return tuple(
            ReportedCell(c.id, c.experiment, c.hardware, c.workload, c.levels, threads, target, c.repeat, *outcome)
            for c in self.plan.cells
            for threads, target, *outcome in (
                known.get(c.id) or (c.threads, c.target, "missing", self.words["not_run"], ""),
            )
        )

    @cached_property
    def loads(self) -> Mapping[str, OfferedLoad]:
        """The load of each good cell with an offered load, by the cell's id. Cells of published figures are left out,
        because a published saturation may have been measured at a higher load."""
        if self.published:
            return {}
        text = (
            "SELECT cell_id, experiment, ops_per_s, count + errors, due, duration_s, target "
            "FROM throughput JOIN cells USING (run_id, cell_id) WHERE status = 'ok' AND target > 0 "
            "AND phase IS NULL AND operation = 'all' AND ops_per_s IS NOT NULL"
        )
        rows = self.store.sql(text).rows
        return {
            str(cell): load_of(rate, done, due, seconds, target, self.plan.experiments.get(experiment))
            for cell, experiment, rate, done, due, seconds, target in rows
        }

    @cached_property
    def _points(self) -> list[tuple[ReportedCell, dict[str, DimKey]]]:
        """Each cell with its keys in the form that queries use. A cell has no key for a factor that it does
        not vary."""
        return [(cell, self._place_of(cell)) for cell in self.cells]

    def _place_of(self, cell: ReportedCell) -> dict[str, DimKey]:
        levels = Levels(cell.levels).keys if cell.levels else {}
        own = {dim: getattr(cell, dim) for dim in (*POINT, "repeat")}
        return {dim: _key(key) for dim, key in {**own, **dict.fromkeys(self.plan.factors), **levels}.items()}

    @cached_property
    def published(self) -> bool:
        """Whether the numbers are from a table of published figures. Such a table also gives the loads."""
        return bool(self.store.sql("SELECT title FROM sources WHERE kind = 'table'").rows)

    @cached_property
    def has_none_measured(self) -> bool:
        """Whether a brief for customers has published numbers only. One of its limits then says so."""
        return self.for_customers and self.published and all(cell.status != "ok" for cell in self.cells)

    @cached_property
    def _published_values(self) -> tuple[PublishedNumber, ...]:
        columns = ", ".join(DIMENSIONS)
        rows = self.store.sql(f"SELECT metric, bound, value, unit, {columns}, levels FROM published").rows  # noqa: S608  # names
        return published_values(rows)

    @cached_property
    def stated(self) -> tuple[tuple[str, str], ...]:
        """The versions and settings that a table's source states, in the source's order."""
        rows = self.store.sql("SELECT name, value FROM facts WHERE kind = 'source'").rows
        return tuple((str(name), str(value)) for name, value in rows)

    @cached_property
    def source_limits(self) -> tuple[str, ...]:
        """Statements on what the numbers of a table's source do not show, from the source's file and in its order."""
        return tuple(str(name) for (name,) in self.store.sql("SELECT name FROM facts WHERE kind = 'source limit'").rows)

    @cached_property
    def disclosed_facts(self) -> frozenset[str] | None:
        """The declared facts that the source of an imported table states, or None if this is unknown."""
        rows = self.store.sql("SELECT name FROM facts WHERE kind = 'source fact'").rows
        return frozenset(str(name) for (name,) in rows) if rows else None

    @cached_property
    def searches(self) -> tuple[KneeFound, ...]:
        rows = self.store.sql("SELECT experiment, hardware, workload, levels, knee FROM searches").rows
        return tuple(KneeFound(*row) for row in rows)

    @cached_property
    def promises(self) -> tuple[Promised, ...]:
        """The result of each search for a promise, with the runs at each rate."""
        rates: dict[tuple[object, ...], list[RateRuns]] = {}
        query = "SELECT * EXCLUDE (run_id, failed) FROM rates ORDER BY target"
        for *curve, rate, met, broken, beyond, held_met, held_out, held_beyond in self.store.sql(query).rows:
            judged = RateRuns(rate, met, broken, beyond, held_met, held_out, held_beyond)
            rates.setdefault(tuple(curve), []).append(judged)
        rows = self.store.sql(
            "SELECT experiment, hardware, workload, levels, sustained, kind, by_generator, sure, held_met, held_out, "
            "coalesce(reason, ''), kept_to, broken_from FROM promises"
        ).rows
        return tuple(Promised._make((*row, tuple(rates.get(tuple(row[:4]), [])))) for row in rows)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """The run's remarks about itself, apart from those on its cells."""
        rows = self.store.sql("SELECT DISTINCT text FROM notes WHERE cell_id IS NULL ORDER BY text").rows
        return tuple(self.words.sentences.get(text, text) for (text,) in rows)

    @cached_property
    def observed(self) -> tuple[ReportedFact, ...]:
        rows = self.store.sql(
            "SELECT kind, hardware, node, name, value FROM facts WHERE origin = 'observed' ORDER BY ALL"
        ).rows
        return tuple(ReportedFact(*row) for row in rows)


def reads_of(query: Query) -> tuple[Read, ...]:
    """Return the measures that a query reads. Raises ReportError if the plan does not list them."""
    if query.reads is None:
        raise ReportError(
            f"the run's plan does not say which measurements `{query.text}` comes from: an earlier benchbrief made it",
            "render the report of the spec, over the same results: bench report RUN --spec FILE",
        )
    return query.reads


def _matching(
    query: Query, rows: Mapping[tuple[DimKey, ...], object], where: Mapping[str, DimKey]
) -> list[tuple[DimKey, ...]]:
    wanted = [(i, _key(where[dim])) for i, dim in enumerate(query.dims) if dim in where]
    return [keys for keys in rows if all(keys[i] == key for i, key in wanted)]


def _key(value: object) -> DimKey:
    if isinstance(value, str):
        return value
    found = number(value)
    return float("nan") if found is None else found


_NEVER_BEGAN = ("not_run_yet", "not_run_because", "not_run_as")
_LEFT_OUT = ("point_not_needed", "rate_not_needed", "rate_unanswered")


def find_unasked(results: Results) -> dict[str, frozenset[str]]:
    """For each experiment, return the ids of the candidates that a search or an adaptive ramp would still measure."""
    found: dict[str, set[str]] = {}
    for cell in results.cells:
        experiment = results.plan.experiments[cell.experiment]
        chosen = experiment.promise or experiment.adaptive
        if chosen and cell.status != "ok" and _code(cell, results) in _NEVER_BEGAN:
            found.setdefault(cell.experiment, set()).add(cell.cell_id)
    return {name: frozenset(ids) for name, ids in found.items()}


def asked_cells(results: Results) -> list[ReportedCell]:
    """Return all planned cells, except the candidates that a search or ramp would still measure or has left out."""
    open_ids = frozenset[str]().union(*results.once(find_unasked).values())
    return [c for c in results.cells if c.cell_id not in open_ids and _code(c, results) not in _LEFT_OUT]


def name_candidates(experiment: str, results: Results) -> str:
    """Return a phrase for all candidates that an experiment would still measure."""
    key = "d_unasked_rates" if results.plan.experiments[experiment].promise else "d_unasked_points"
    return results.words[key].format(experiment=experiment)


def _code(cell: ReportedCell, results: Results) -> str:
    said = results.words.sentences.get(cell.reason)
    return said.code if isinstance(said, Message) else ""


def run_row(results: Results) -> dict[str, object]:
    """Return the run's row of the store: its id, times, state and version."""
    return results.once(_run_row)


def _run_row(results: Results) -> dict[str, object]:
    found = results.store.sql("SELECT run_id, started_at, ended_at, status, message, benchbrief, simulated FROM runs")
    return dict(zip(found.columns, found.rows[0], strict=True)) if found.rows else dict.fromkeys(found.columns)
