"""What a report reads: the store's rows for the plan's queries, each read once, and why a value is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from benchbrief.compiler.plan import Plan, Query, Read
from benchbrief.reports.errors import ReportError
from benchbrief.reports.values import number
from benchbrief.reports.words import Words

Made = TypeVar("Made")
Key = str | float
"""A value of a dimension: whole numbers of the store and of the plan compare as floats."""


class Table(Protocol):
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


class Store(Protocol):
    """The read side of the store (`results/store.py`)."""

    def query(self, query: Query) -> Sequence[Sequence[Any]]:
        """Rows of a query of the plan: its dims in order, then the value; a row may have the `reason` of a NULL."""
        ...

    def sql(self, text: str) -> Table: ...


_PLACE = ("experiment", "hardware", "workload")
_POINT = (*_PLACE, "threads", "target", "repeat")


class CellRow(NamedTuple):
    cell_id: str
    experiment: str
    hardware: str
    workload: str
    threads: float | None
    target: float | None
    repeat: int
    status: str
    reason: str
    raw_dir: str


class Fact(NamedTuple):
    """See `results/schema.py`: `kind` is host, database, tool or hardware."""

    kind: str
    hardware: str | None
    node: str | None
    name: str
    value: str


NOT_PUBLISHED = "not published"
"""The reason of a cell that its source does not tell, as the store has it (`results/imports/source.py`)."""
_WHY = {"failed": "failed_cell", "skipped": "skipped_cell"}


class Search(NamedTuple):
    """What a search found; no knee where it found none."""

    experiment: str
    hardware: str
    workload: str
    knee: float | None


class Results:
    """The results of one run, as the report reads them."""

    def __init__(self, plan: Plan, store: Store, words: Words) -> None:
        self.plan = plan
        self.store = store
        self.words = words
        self._read: dict[str, dict[tuple[Key, ...], float | None]] = {}
        self._reasons: dict[str, dict[tuple[Key, ...], str]] = {}
        self._behind: dict[str, list[tuple[CellRow, dict[str, Key]]]] = {}
        self._made: dict[Callable[[Results], Any], Any] = {}

    def once(self, make: Callable[[Results], Made]) -> Made:
        """What is made of these results, for more than one place of a brief."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made

    def rows(self, query: Query) -> dict[tuple[Key, ...], float | None]:
        """The value for each combination of the query's dims."""
        if query.sql not in self._read:
            values, reasons = {}, {}
            for row in self.store.query(query):
                keys = tuple(_key(v) for v in row[: len(query.dims)])
                values[keys] = number(row[len(query.dims)])
                reasons[keys] = str(getattr(row, "reason", None) or "")
            self._read[query.sql], self._reasons[query.sql] = values, reasons
        return self._read[query.sql]

    def at(self, query: Query, **where: Key) -> float | None:
        """The value where the dims have these values (dims that the query lacks do not restrict it)."""
        return next(iter(self.spread(query, **where)), None)

    def spread(self, query: Query, **where: Key) -> list[float]:
        """All values where the dims have these values: one for each repeat, where that is a dim of the query."""
        rows = self.rows(query)
        return [v for keys in _matching(query, rows, where) if (v := rows[keys]) is not None]

    def cells_behind(self, query: Query, **where: Key) -> tuple[CellRow, ...]:
        """The cells that the values where the dims have these values are computed from."""
        if query.sql not in self._behind:
            reads = reads_of(query)
            self._behind[query.sql] = [point for point in self._points if any(read.covers(point[1]) for read in reads)]
        wanted = [(dim, _key(key)) for dim, key in where.items() if dim in _POINT]
        return tuple(cell for cell, at in self._behind[query.sql] if all(at[dim] == key for dim, key in wanted))

    def not_needed(self, query: Query, **where: Key) -> bool:
        """Whether all that the value would be computed from was left out by a search, so that nothing is missing."""
        behind = self.cells_behind(query, **where)
        return bool(behind) and all(cell.status == "skipped" for cell in behind)

    def why_missing(self, query: Query, **where: Key) -> str:
        """Why there is no value where the dims have these values: the first two reasons."""
        return self.words["semicolon"].join(self.reasons_missing(query, **where)[:2])

    def reasons_missing(self, query: Query, **where: Key) -> list[str]:
        """Why there is no value where the dims have these values: cells that failed there, or the store's reason."""
        reasons: dict[str, None] = {}
        for cell in self.cells_behind(query, **where):
            if cell.reason == NOT_PUBLISHED:
                reasons[self.words["not_published"]] = None
            elif cell.status != "ok":
                template = self.words[_WHY.get(cell.status, "missing_cell")]
                reasons[template.format(reason=cell.reason or self.words["no_reason"])] = None
        if not reasons:
            known = _matching(query, self.rows(query), where)
            reasons = dict.fromkeys(r for keys in known if (r := self._reasons[query.sql][keys]))
        return list(reasons) or [self.words["no_value" if self._planned(query, **where) else "not_planned"]]

    def _planned(self, query: Query, **where: Key) -> bool:
        """Whether each of the query's measures has cells there; what their loads are is not asked."""
        places = [{dim: at[dim] for dim in _PLACE} for _, at in self._points]
        there = [place for place in places if all(place[d] == where[d] for d in _PLACE if d in where)]
        return all(any(read.covers(place) for place in there) for read in reads_of(query))

    @cached_property
    def cells(self) -> tuple[CellRow, ...]:
        """Every planned cell, in the plan's order; one that the store does not know is missing."""
        rows = self.store.sql(
            "SELECT cell_id, experiment, hardware, workload, threads, target, repeat, status, "
            "coalesce(reason, ''), coalesce(raw_dir, '') FROM cells"
        ).rows
        known = {row[0]: CellRow(*row) for row in rows}
        return tuple(
            known.get(c.id)
            or CellRow(
                c.id,
                c.experiment,
                c.hardware,
                c.workload,
                c.threads,
                c.target,
                c.repeat,
                "missing",
                self.words["not_run"],
                "",
            )
            for c in self.plan.cells
        )

    @cached_property
    def _points(self) -> list[tuple[CellRow, dict[str, Key]]]:
        """Each cell with its keys as those of queries compare."""
        return [(cell, {dim: _key(getattr(cell, dim)) for dim in _POINT}) for cell in self.cells]

    @cached_property
    def published(self) -> bool:
        """Whether the numbers are a table's of published figures: their loads are where the table puts them."""
        return bool(self.store.sql("SELECT title FROM sources WHERE kind = 'table'").rows)

    @cached_property
    def bad_cells(self) -> tuple[CellRow, ...]:
        """Those without a result that there should be one of."""
        return tuple(cell for cell in self.cells if cell.status not in ("ok", "skipped"))

    @cached_property
    def searches(self) -> tuple[Search, ...]:
        rows = self.store.sql("SELECT experiment, hardware, workload, knee FROM searches").rows
        return tuple(Search(*row) for row in rows)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the run remarked on itself, apart from its cells."""
        rows = self.store.sql("SELECT DISTINCT text FROM notes WHERE cell_id IS NULL ORDER BY text").rows
        return tuple(str(text) for (text,) in rows)

    @cached_property
    def observed(self) -> tuple[Fact, ...]:
        rows = self.store.sql(
            "SELECT kind, hardware, node, name, value FROM facts WHERE origin = 'observed' ORDER BY ALL"
        ).rows
        return tuple(Fact(*row) for row in rows)


def reads_of(query: Query) -> tuple[Read, ...]:
    """The measures that a query reads. Raises ReportError where its plan does not say so."""
    if query.reads is None:
        raise ReportError(
            f"the run's plan does not say which measurements `{query.text}` comes from: an earlier benchbrief made it",
            "render the report of the spec, over the same results: bench report RUN --spec FILE",
        )
    return query.reads


def _matching(query: Query, rows: Mapping[tuple[Key, ...], object], where: Mapping[str, Key]) -> list[tuple[Key, ...]]:
    wanted = [(i, _key(where[dim])) for i, dim in enumerate(query.dims) if dim in where]
    return [keys for keys in rows if all(keys[i] == key for i, key in wanted)]


def _key(value: object) -> Key:
    if isinstance(value, str):
        return value
    found = number(value)
    return float("nan") if found is None else found
