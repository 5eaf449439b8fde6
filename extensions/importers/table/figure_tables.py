"""A table of published figures: numbers for a plan's cells, and published values of its metrics.

A table is CSV, as spreadsheets save it. Comment lines (`# key: value`) state its source, and the head names its
columns. Each field of a row is a coordinate or a number. An empty field means that the number was not published, and
the number stays missing.
"""

from __future__ import annotations

import csv
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol

from benchbrief.extend.common import Cell, Plan, did_you_mean
from benchbrief.extend.importers import CellNumbers, ImportProblem, Places, TableImporter
from benchbrief.extend.tables import (
    DIMENSIONLESS,
    KINDS,
    MEASURE,
    PARAGRAPH,
    CellImport,
    CellValue,
    Coordinates,
    Dimension,
    ImportManifest,
    ImportRefused,
    KeptJob,
    Levels,
    MeasureKind,
    Metric,
    NoPlace,
    Prepared,
    PublishedValue,
    ResultsError,
    StatedSource,
    Unit,
    UnknownUnitError,
    UnreadableImport,
    Wrong,
    base_unit,
    describe_file,
    dimension_name,
    key_text,
    long_lines,
    parse_unit,
    read_source,
    require_source,
    why_packed,
)

Coordinate = Literal["experiment", "hardware", "workload", "threads", "target", "phase", "repeat", "operation", "node"]
COORDINATES: tuple[Coordinate, ...] = (
    "experiment",
    "hardware",
    "workload",
    "threads",
    "target",
    "phase",
    "repeat",
    "operation",
    "node",
)
NOTE = "note"
_HEAD = re.compile(r"([\w.]+)\s*(?:\[\s*([\w-]+)\s*\])?\s*(?:\(([^()]*)\))?")
_BOUNDS = (".low", ".high")
_PLAIN = ("x", "X")
"""What a column may give as its unit if its numbers have none. A share in such a column is a fraction of 1."""


@dataclass(frozen=True)
class CoordinateColumn:
    name: Coordinate
    unit: Unit


@dataclass(frozen=True)
class FactorColumn:
    """A column with the level of a factor: its name, its label, or a number in `unit`."""

    factor: str
    unit: Unit


@dataclass(frozen=True)
class NoteColumn:
    """A column with a remark on each row's values."""


@dataclass(frozen=True)
class MeasureColumn:
    kind: MeasureKind
    operation: str
    unit: Unit


@dataclass(frozen=True)
class MetricColumn:
    """A column with the source's own values of one of the spec's metrics. These values serve only for comparison."""

    metric: Metric
    bound: Literal["value", "low", "high"]
    unit: Unit


Column = CoordinateColumn | FactorColumn | NoteColumn | MeasureColumn | MetricColumn


class _MakesProblem(Protocol):
    def __call__(self, what: str, hint: str = "") -> ImportProblem: ...


def read_head(text: str, plan: Plan, file: str, line: int) -> Column | ImportProblem:
    """Return the column that a head describes, or the problem with the head."""

    def wrong(what: str, hint: str = "") -> ImportProblem:
        return ImportProblem(file, line, what, hint)

    match = _HEAD.fullmatch(text.strip())
    if match is None:
        return wrong(
            f"`{text}` is not the head of a column", "write a coordinate, or a measure with its unit: power (W)"
        )
    name, key, unit_text = match[1], match[2] or "", (match[3] or "").strip()
    try:
        unit = parse_unit("" if unit_text in _PLAIN else unit_text)
    except UnknownUnitError as error:
        return wrong(f"`{text}`: {error}", f"did you mean `{error.hint}`?" if error.hint else "")
    if name == NOTE or name in COORDINATES or name in plan.factors:
        return _coordinate(name, key, unit if unit_text else None, text, plan, wrong)
    kind = KINDS.get(name)
    if kind is None:
        return _metric(name, key, unit if unit_text else None, text, plan, wrong)
    if kind.view == "errors":
        return wrong(f"`{text}`: a share of errors without the number of operations can't be kept")
    if not unit_text or unit.dimension != kind.unit:
        return _unit(text, name, kind.unit, base_unit(kind.unit), wrong)
    if key and kind.view not in ("throughput", "latency"):
        return wrong(f"`{text}`: {name} has no operations", "leave out what is in [ ]")
    operation = as_operation(key)
    known = tuple(dict.fromkeys(each for workload in plan.workloads.values() for each in workload.operations))
    if operation and operation not in known:
        return wrong(f"`{text}`: no workload has an operation `{key}`", nearest(operation, known))
    return MeasureColumn(kind, operation, unit)


def as_operation(text: str) -> str:
    """Convert `READ-MODIFY-WRITE` to benchbrief's name."""
    return text.lower().replace("-", "_")


def nearest(text: str, known: Sequence[str]) -> str:
    """Return a hint that suggests the known name nearest to an unknown one."""
    guess = did_you_mean(text, known)
    return f"did you mean `{guess}`?" if guess else f"there is {', '.join(known)}"


def _unit(text: str, name: str, dimension: Dimension, shown: str, wrong: _MakesProblem) -> ImportProblem:
    """Return the problem if a column has no unit or a wrong one. A share also needs a unit, as it may be in %."""
    if dimension != DIMENSIONLESS:
        return wrong(f"`{text}`: {name} is {dimension_name(dimension)}", f"name its unit, as in {name} ({shown})")
    hint = f"name its unit: {name} (%), or {name} (x) for a number that is not in %"
    return wrong(f"`{text}`: whether {name} is in % is not clear, or it is in another unit", hint)


def _coordinate(
    name: str, key: str, unit: Unit | None, text: str, plan: Plan, wrong: _MakesProblem
) -> Column | ImportProblem:
    """Return a column of coordinates, levels or notes, or the problem with its head. A column without a unit is in the
    base unit that paths use, such as ops/s for `target`."""
    factor = plan.factors.get(name)
    standard = parse_unit("ops/s" if name == "target" else (factor.unit or "") if factor else "")
    shown = "ops/s" if name == "target" else standard.text
    if key:
        return wrong(f"`{text}`: a column `{name}` has no operations", "leave out what is in [ ]")
    if unit is not None and (not shown or unit.dimension != standard.dimension):
        hint = f"write {name} ({shown})" if shown else f"write {name}"
        return wrong(f"`{text}`: {name} has {'another' if shown else 'no'} unit", hint)
    if factor:
        return FactorColumn(name, unit or parse_unit(base_unit(standard.dimension)))
    for coordinate in COORDINATES:
        if name == coordinate:
            return CoordinateColumn(coordinate, unit or standard)
    return NoteColumn()


def _metric(
    name: str, key: str, unit: Unit | None, text: str, plan: Plan, wrong: _MakesProblem
) -> Column | ImportProblem:
    bound: Literal["value", "low", "high"] = "value"
    base = name
    if name.endswith(_BOUNDS):
        base, _, last = name.rpartition(".")
        bound = "low" if last == "low" else "high"
    metric = next((each for each in plan.metrics if each.name == base), None)
    if metric is None:
        known = (*COORDINATES, *plan.factors)
        guess = did_you_mean(base, (*known, NOTE, *KINDS, *(each.name for each in plan.metrics)))
        hint = f"did you mean `{guess}`?" if guess else f"coordinates are {', '.join(known)}"
        return wrong(f"`{base}` is neither a coordinate, nor a measure, nor a metric of the spec", hint)
    if key:
        hint = "say by the columns hardware, workload, threads and so on what a metric is of"
        return wrong(f"`{text}`: {base} is a metric, which takes nothing in [ ]", hint)
    expected = parse_unit(metric.query.unit).dimension
    if unit is None or unit.dimension != expected:
        return _unit(text, name, expected, metric.query.unit, wrong)
    return MetricColumn(metric, bound, unit)


SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SEP = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?[0-9]+,([0-9]+)(?:[eE][+-]?[0-9]+)?")
_POINT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
_NEVER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


class UnclearNumber(Exception):
    """Raised for a number that can be read in two ways."""


@dataclass(frozen=True)
class Sheet:
    """The text of a table. `comments` are the lines before the head. `rows` are the head and the non-empty lines after
    it.

    Each line comes with its line number in the file.
    """

    comments: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, str], ...]
    separator: str

    def fields(self, line: str, *, strict: bool = False) -> list[str]:
        """Split a line into fields. Raises csv.Error."""
        return next(csv.reader([line], delimiter=self.separator, skipinitialspace=True, strict=strict))

    @cached_property
    def _decimal_comma(self) -> bool:
        """Return whether some number has a comma that must be a decimal comma."""
        return self.separator != "," and any(_COMMA.fullmatch(field) for field in self._below)

    @cached_property
    def _decimal_point(self) -> bool:
        """Return whether some number has a point that must be a decimal point because it can't separate thousands."""
        return self.separator == "," or any(
            "." in field and _POINT.fullmatch(field) and not _THOUSANDS.fullmatch(field) for field in self._below
        )

    @property
    def _below(self) -> Iterator[str]:
        return (field.strip() for _, line in self.rows[1:] for field in line.split(self.separator))

    def number(self, text: str) -> float:
        """Parse a number. Raises UnclearNumber for a number that can be read in two ways, and ValueError for text that
        is not a number."""
        match = _COMMA.fullmatch(text) if self.separator != "," else None
        if match is None:
            if not _POINT.fullmatch(text) and not _NEVER.fullmatch(text):
                raise ValueError(text)
            if "." in text and self._decimal_comma:
                raise UnclearNumber(f"what the point in {text} is, is not clear: other numbers have a comma")
            if _THOUSANDS.fullmatch(text) and not self._decimal_point:
                whole = text.replace(".", "")
                raise UnclearNumber(f"whether {text} is {whole} or {text}0 is not clear: write one of them")
            return float(text)
        if len(match[1]) == 3:
            point, whole = text.replace(",", "."), text.replace(",", "")
            raise UnclearNumber(f"whether {text} is {whole} or {point} is not clear: write one of them")
        return float(text.replace(",", "."))


def read_sheet(path: Path) -> Sheet:
    """Read a table's text. Raises Unreadable, OSError."""
    if (problem := why_packed(path)) is not None:
        raise problem
    content = path.read_bytes()
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableImport(f"not a text in UTF-8 (byte {error.start})", "save it as UTF-8") from error
    lines = list(enumerate(text.splitlines(), start=1))
    separator = ""
    if lines and (match := _SEP.fullmatch(lines[0][1])) and match[1] in SEPARATORS:
        separator, lines = match[1], lines[1:]
    comments = tuple((number, line) for number, line in lines if line.startswith("#"))
    rows = [(number, line) for number, line in lines if not line.startswith("#") and line.strip(" \t,;")]
    if rows and not separator:
        # Names and units contain none of these, so the most frequent one is the separator.
        separator = max(SEPARATORS, key=rows[0][1].count)
    return Sheet(comments, tuple(rows), separator or ",")


EACH_NODE = "each"
"""The value in the column `node` for a number that applies to every host of the hardware."""


@dataclass(frozen=True)
class PublishedMetric:
    """The source's value of a metric, in the table's unit."""

    metric: str
    bound: str
    keys: dict[str, str | float]
    value: float
    unit: str
    line: int


@dataclass
class FigureTable:
    """A parsed table. `bad_lines` are the rows left out because of a problem.

    `too_long` holds texts that are longer than a new import allows, since an import by an earlier version may contain
    such texts.
    """

    source: StatedSource
    cells: dict[str, CellNumbers] = field(default_factory=dict)
    published: list[PublishedMetric] = field(default_factory=list)
    bad_lines: set[int] = field(default_factory=set)
    rows: int = 0
    too_long: list[ImportProblem] = field(default_factory=list)


class _Wrong(Wrong):
    """Raised for a row that can't be read."""


def read_table(path: Path, plan: Plan, experiment: str, problems: list[ImportProblem]) -> FigureTable:
    """Read a table. Appends problems to `problems`. Raises OSError."""
    file = str(path)
    try:
        sheet = read_sheet(path)
    except UnreadableImport as error:
        problems.append(ImportProblem(file, None, str(error), error.hint))
        return FigureTable(StatedSource())
    facts = {name for hardware in plan.hardware.values() for name in hardware.facts}
    table = FigureTable(read_source(sheet.comments, file, problems, facts))
    table.too_long += long_lines(sheet.comments, file)
    if len(sheet.rows) < 2:
        problems.append(ImportProblem(file, None, "no table in it", "a head, and a row for each point"))
        return table
    (head_line, head), *rows = sheet.rows
    texts = sheet.fields(head)
    width = len(texts)
    while texts and not texts[-1].strip():  # spreadsheets leave empty lines at the end
        texts.pop()
    columns = [read_head(text, plan, file, head_line) for text in texts]
    wrong = [column for column in columns if isinstance(column, ImportProblem)]
    wrong += _bounds_apart(columns, file, head_line)
    repeated = [text for place, text in enumerate(texts) if text in texts[:place]]
    wrong += [ImportProblem(file, head_line, f"two columns are `{text}`") for text in repeated]
    if wrong:
        problems += wrong
        return table
    reader = _Rows(
        plan, [column for column in columns if not isinstance(column, ImportProblem)], experiment, table, sheet
    )
    for number, line in rows:
        table.rows += 1
        try:
            fields = sheet.fields(line, strict=True)
            empty = len(fields) == width and not any(field.strip() for field in fields[len(texts) :])
            reader.add(number, fields[: len(texts)] if empty else fields)
            table.too_long += _long_notes(fields, columns, file, number)
        except (_Wrong, NoPlace) as error:
            table.bad_lines.add(number)
            problems.append(ImportProblem(file, number, str(error), error.hint))
        except csv.Error as error:
            table.bad_lines.add(number)
            problems.append(ImportProblem(file, number, f"not a row of CSV: {error}"))
    return table


_Keys = dict[str, str | float]
"""The coordinates of a row, by name."""


class _Rows:
    def __init__(self, plan: Plan, columns: list[Column], experiment: str, table: FigureTable, sheet: Sheet) -> None:
        self._plan, self._columns, self._experiment, self._table = plan, columns, experiment, table
        self._sheet = sheet
        self._places = Places(plan)
        self._seen: dict[tuple[object, ...], int] = {}

    def add(self, line: int, texts: list[str]) -> None:
        if len(texts) != len(self._columns):
            hint = f"columns are separated by {SEPARATORS[self._sheet.separator]}: quote a text that has one in it"
            raise _Wrong(f"{len(texts)} fields, and {len(self._columns)} columns", hint)
        row = [(column, text.strip()) for column, text in zip(self._columns, texts, strict=True) if text.strip()]
        coordinates: _Keys = {c.name: self._coordinate(c, text) for c, text in row if isinstance(c, CoordinateColumn)}
        coordinates |= {c.factor: self._level(c, text) for c, text in row if isinstance(c, FactorColumn)}
        measured = [(c, self._number(text, c.unit)) for c, text in row if isinstance(c, MeasureColumn)]
        metrics = [(c, self._number(text, None, lowest=-math.inf)) for c, text in row if isinstance(c, MetricColumn)]
        if not measured and not metrics:
            raise _Wrong("no number in this row", "leave it out: what was not published stays missing")
        published = [self._metric(column, value, coordinates, line) for column, value in metrics]
        if measured:
            self._measured(line, coordinates, measured, [text for c, text in row if isinstance(c, NoteColumn)])
        self._table.published += published

    def _coordinate(self, column: CoordinateColumn, text: str) -> str | float:
        match column.name:
            case "hardware":
                return self._places.hardware(text)
            case "workload":
                return self._places.workload(text)
            case "experiment":
                return self._places.experiment(text)
            case "operation" | "node":
                return text
            case "target":
                return self._number(text, column.unit)
        value = self._number(text, None)
        if value != int(value) or value < 1:
            raise _Wrong(f"{column.name} is a whole number from 1, not {text}")
        return value

    def _level(self, column: FactorColumn, text: str) -> str | float:
        number = self._number(text, column.unit) if _POINT.fullmatch(text) or _COMMA.fullmatch(text) else None
        return self._places.level(column.factor, text if number is None else key_text(number), number)

    def _metric(
        self,
        column: MetricColumn,
        value: float,
        coordinates: _Keys,
        line: int,
    ) -> PublishedMetric:
        for dim in ("operation", "node", "repeat"):
            if dim in coordinates:
                hint = f"give it a row without {dim}; what is of one alone can be a metric of its own in the spec"
                raise _Wrong(f"{column.metric.name} can't be kept of one {dim}", hint)
        cells = self._places.reach(self._at(coordinates, ""))
        if "phase" in coordinates:
            _require_phase(int(coordinates["phase"]), cells)
        unit = column.unit.text
        self._once(("metric", column.metric.name, column.bound, *sorted(coordinates.items())), line, column.metric.name)
        return PublishedMetric(column.metric.name, column.bound, coordinates, value, unit, line)

    def _measured(
        self,
        line: int,
        coordinates: _Keys,
        numbers: list[tuple[MeasureColumn, float]],
        notes: list[str],
    ) -> None:
        cell = self._places.cell(self._at(coordinates, self._experiment))
        phase = int(coordinates["phase"]) if "phase" in coordinates else None
        if phase is not None:
            _require_phase(phase, [cell])
        values = [
            each for column, number in numbers for each in self._values(cell, coordinates, column, number, phase, line)
        ]
        of = self._table.cells.setdefault(cell.id, CellNumbers(cell, "repeat" not in coordinates))
        if of.cell != cell:
            raise _Wrong(f"another row has {of.cell.threads} threads for the same cell")
        if (pair := out_of_order([*of.values, *values])) is not None:
            lower, higher = (KINDS[each.measure] for each in pair)
            text = f"{higher.name}[{pair[1].operation}] is below {lower.name} (line {pair[0].line})"
            raise _Wrong(text, f"no latencies have such a {higher.statistic}: is a column in another unit?")
        of.values += values
        of.notes += notes

    def _values(
        self,
        cell: Cell,
        coordinates: _Keys,
        column: MeasureColumn,
        number: float,
        phase: int | None,
        line: int,
    ) -> Iterator[CellValue]:
        kind = column.kind
        operation = "" if kind.view == "sample" else self._operation(cell, coordinates, column)
        if kind.needs_operation and not operation:
            hint = f"name it in the head, as {kind.name}[read], or in a column `operation`"
            raise _Wrong(f"{kind.name} of which operation?", hint)
        nodes = [""]
        if kind.view == "sample":
            if phase is not None:
                raise _Wrong(f"{kind.name} of a phase can't be kept", "give it of the whole measured window")
            nodes = self._nodes(cell, kind.name, str(coordinates.get("node", "")))
        for node in nodes:
            self._once((cell.id, kind.name, operation, phase, node), line, column.kind.name)
            yield CellValue(
                measure=kind.name,
                operation=operation,
                phase=phase,
                node=node,
                value=number,
                line=line,
            )

    def _operation(self, cell: Cell, coordinates: _Keys, column: MeasureColumn) -> str:
        """Return the operation that the head or the row names, or "" if neither does. Raises _Wrong."""
        said = str(coordinates.get("operation", ""))
        operation = as_operation(said)
        if column.operation and operation not in ("", column.operation):
            hint = "leave the field empty, or give the number a column without [ ]"
            raise _Wrong(f"{column.kind.name} is of {column.operation} by its head, and of {said} by its row", hint)
        operation = column.operation or operation
        known = self._plan.workload_of(cell).operations
        if operation and operation not in known:
            elsewhere = any(operation in each.operations for each in self._plan.workloads.values())
            hint = f"it has {', '.join(known)}" if elsewhere else nearest(operation, known)
            raise _Wrong(f"workload {cell.workload} has no operation `{said or operation}`", hint)
        return operation

    def _nodes(self, cell: Cell, measure: str, node: str) -> list[str]:
        hosts = {host: self._plan.hosts[host].name for host in self._plan.hardware[cell.hardware].hosts}
        if node == EACH_NODE or (not node and len(hosts) == 1):
            return list(hosts)
        if not node:
            hint = f"in a column `node`, a host's name, or `{EACH_NODE}` when it is the same of each"
            raise _Wrong(f"{measure} is of one node: which of {len(hosts)}?", hint)
        named = [host for host, name in hosts.items() if node in (host, name)]
        if not named:
            raise _Wrong(f"no host `{node}` in {cell.hardware}", nearest(node, (*hosts, *hosts.values(), EACH_NODE)))
        return named

    def _number(self, text: str, unit: Unit | None, lowest: float = 0) -> float:
        """Parse a number and convert it to base units. Only a metric that is a change can be negative. Raises
        _Wrong."""
        try:
            value = self._sheet.number(text)
        except UnclearNumber as error:
            raise _Wrong(str(error)) from None
        except ValueError:
            hint = (
                "write it without its unit, which the head has, and without marks between thousands; "
                "leave a field empty whose number is not known"
            )
            raise _Wrong(f"`{text}` is not a number", hint) from None
        if not math.isfinite(value) or value < lowest:
            raise _Wrong(f"{text} can't have been measured", "leave the field empty when the number is not known")
        return unit.to_base(value) if unit else value

    def _at(self, keys: _Keys, experiment: str) -> Coordinates:
        threads, target, repeat = keys.get("threads"), keys.get("target"), keys.get("repeat")
        return Coordinates(
            experiment=str(keys.get("experiment", experiment)),
            hardware=str(keys.get("hardware", "")),
            workload=str(keys.get("workload", "")),
            threads=None if threads is None else int(threads),
            target=None if target is None else float(target),
            repeat=None if repeat is None else int(repeat),
            levels=Levels.of({name: keys[name] for name in self._plan.factors if name in keys}),
        )

    def _once(self, key: tuple[object, ...], line: int, what: str) -> None:
        if (before := self._seen.setdefault(key, line)) != line:
            raise _Wrong(f"line {before} has this {what} already", "is a coordinate missing?")


def _long_notes(
    fields: Sequence[str], columns: Sequence[Column | ImportProblem], file: str, line: int
) -> Iterator[ImportProblem]:
    for text, column in zip(fields, columns, strict=False):
        if isinstance(column, NoteColumn) and len(text) > PARAGRAPH:
            what = f"a note has {len(text):,} characters; the limit is {PARAGRAPH:,}"
            yield ImportProblem(file, line, what, "shorten it")


def _require_phase(phase: int, cells: Sequence[Cell]) -> None:
    """Raise _Wrong if none of the cells has the phase."""
    most = max(cells, key=lambda cell: cell.phases)
    if phase > most.phases:
        raise _Wrong(f"no phase {phase}: a cell of {most.experiment} has {most.phases}")


def _bounds_apart(columns: Sequence[Column | ImportProblem], file: str, line: int) -> Iterator[ImportProblem]:
    """Yield a problem for each metric whose columns have different units, since a metric is printed in one unit."""
    units: dict[str, str] = {}
    for column in columns:
        if isinstance(column, MetricColumn):
            name, unit = column.metric.name, column.unit.text
            if units.setdefault(name, unit) != unit:
                text = f"{name} has values in {units[name] or 'x'} and in {unit or 'x'}"
                yield ImportProblem(file, line, text, "give its values in one unit")


_MEAN = 50.5
"""The mean's position in the order, between min and max. The mean is not compared with percentiles, since it may be
above or below any of them."""
_ENDS = {"min": 0.0, "mean": _MEAN, "max": 101.0}


def out_of_order(values: Iterable[CellValue]) -> tuple[CellValue, CellValue] | None:
    """Return two statistics of a latency that contradict each other, or None if there are none. The first one should be
    lower, but is higher."""
    by_phase: dict[tuple[str, int | None], list[CellValue]] = {}
    for value in values:
        if KINDS[value.measure].view == "latency":
            by_phase.setdefault((value.operation, value.phase), []).append(value)
    for each in by_phase.values():
        ranked = sorted(((_rank(value), value) for value in each), key=lambda pair: pair[0])
        percentiles = [value for rank, value in ranked if rank != _MEAN]
        ends = [value for rank, value in ranked if rank in _ENDS.values()]
        for lower, higher in (*pairwise(percentiles), *pairwise(ends)):
            if lower.value > higher.value:
                return lower, higher
    return None


def _rank(value: CellValue) -> float:
    statistic = KINDS[value.measure].statistic
    return _ENDS[statistic] if statistic in _ENDS else float(statistic.removeprefix("p"))


class TableOfFigures(TableImporter):
    def prepare(
        self, path: Path, plan: Plan, given: StatedSource, experiment: str = "", *, skip_bad: bool = False
    ) -> Prepared:
        problems: list[ImportProblem] = []
        file = describe_file(path)
        places = Places(plan)
        if experiment:
            experiment = _experiment(places, experiment)
        table = read_table(path, plan, experiment, problems)
        problems += table.too_long
        source = table.source.given(given)
        good = bool(table.cells or table.published)
        if problems and not (skip_bad and good and all(problem.line in table.bad_lines for problem in problems)):
            raise ImportRefused(problems)
        require_source(source, str(path))
        cells = tuple(_of_cell(places, each, experiment) for each in table.cells.values())
        there = {cell.id for each in cells for cell in (each.cell, *each.not_needed)}
        return Prepared(
            "table",
            source,
            ((path, file),),
            cells,
            tuple(
                PublishedValue(
                    at=0.0,
                    metric=each.metric,
                    bound=each.bound,
                    keys=each.keys,
                    value=each.value,
                    unit=each.unit,
                    origin=f"{path.name}:{each.line}",
                )
                for each in table.published
            ),
            shared=True,
            problems=tuple(problems),
            not_published=tuple(cell for cell in plan.cells if source.rest_not_published and cell.id not in there),
        )

    def numbers(self, path: Path, plan: Plan, experiment: str) -> Mapping[str, CellNumbers]:
        problems: list[ImportProblem] = []
        table = read_table(path, plan, experiment, problems)
        # The import reported each bad row, and left it out.
        if whole := [problem for problem in problems if problem.line not in table.bad_lines]:
            raise ResultsError(f"an imported table can't be read any more: {whole[0]}", "import it again")
        return table.cells


def _experiment(places: Places, name: str) -> str:
    try:
        return places.experiment(name)
    except NoPlace as error:
        raise ResultsError(str(error), error.hint) from None


def _of_cell(places: Places, cell: CellNumbers, experiment: str) -> CellImport:
    total = [v.value for v in cell.values if v.measure == "throughput" and not v.operation and v.phase is None]
    manifest = ImportManifest(kind="table", experiment=experiment)
    others = tuple(places.repeats(cell.cell)) if cell.all_repeats else ()
    return CellImport(cell.cell, (KeptJob(MEASURE, "table", manifest),), next(iter(total), None), others)
