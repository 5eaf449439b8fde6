"""Prepares a table of the plan before its cells are written: its points, its scales, its questions to the store."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.text.number_format import Scale, decimals_for, scale_for
from benchbrief.reports.view.report_data import Results
from benchbrief.reports.view.view_model import Source


def needed(element: p.TableElement, results: Results) -> p.TableElement:
    """Return the table without the points of a ramp that a search skipped for all of its lines."""
    queries = [line.query for line in element.lines if line.query]
    if element.dim not in ("threads", "target") or not queries:
        return element
    kept = [
        index
        for index, key in enumerate(element.keys)
        if not all(results.not_needed(query, **{element.dim: key.value}) for query in queries)
    ]
    lines = tuple(
        line.model_copy(update={"texts": tuple(line.texts[i] for i in kept)}) if line.texts else line
        for line in element.lines
    )
    return element.model_copy(update={"keys": tuple(element.keys[i] for i in kept), "lines": lines})


def shared_decimals(element: p.TableElement, results: Results) -> dict[str, tuple[Scale, int]]:
    """Return one scale and one number of decimals for all lines of a unit, so that they compare at a glance."""
    by_unit: dict[str, list[float | None]] = {}
    for line in element.lines:
        if line.query and not line.format:
            found = by_unit.setdefault(line.query.unit, [])
            found += [results.at(line.query, **{element.dim: key.value}) for key in element.keys]
    scales = {unit: scale_for(values, unit) for unit, values in by_unit.items()}
    return {
        unit: (scales[unit], decimals_for([None if v is None else scales[unit](v) for v in values]))
        for unit, values in by_unit.items()
    }


def table_queries(element: p.TableElement) -> Iterable[p.Query]:
    for line in element.lines:
        if line.query:
            yield line.query
        for text in line.texts:
            yield from queries_of_prose(text)


def queries_of_prose(prose: p.Prose) -> Iterable[p.Query]:
    for part in prose.parts:
        if isinstance(part, p.Value):
            yield part.query
            yield from [part.high] if part.high else []


def sources_of(queries: Iterable[p.Query]) -> Iterable[Source]:
    seen = set()
    for query in queries:
        if query.sql not in seen:
            seen.add(query.sql)
            yield Source(query.text, query.sql)
