"""Checks that the file of a brief's numbers has everything that its report shows.

It needs only the plan and the results, and no document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel

from benchbrief.compiler.planning import plan as p
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.reports.data.elements_with_data import keep_elements_with_data
from benchbrief.reports.data.numbers_file import Key, NumbersFile
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tables import drop_undue
from benchbrief.reports.notices.contender_letters import letters_in

Found = TypeVar("Found")
Identity: TypeAlias = tuple[str, tuple[str, ...], str, str]
At: TypeAlias = tuple[tuple[str, Key], ...]


class _Wanted(NamedTuple):
    query: p.Query
    at: At = ()


def find_lacking(numbers: NumbersFile, report: p.Report | None, results: Results) -> Iterator[str]:
    """Return what the report's texts, tables and figures compute and the file lacks. A user's parts may omit
    numbers, but no points of figures. A part that could not be made has none: the file names it (`not_made`)."""
    if report is None:
        yield f"the plan has no report {numbers.report}"
        return
    queries = {query.id: identity(query.query) for query in numbers.queries}
    elements = keep_elements_with_data(report.elements, results)
    if not report.parts and not numbers.not_made:
        known = {(queries[number.query], _at(number.at)) for number in numbers.numbers}
        known |= {(queries[number.high_query], _at(number.at)) for number in numbers.numbers if number.high_query}
        for kind, wanted in (
            ("texts", _of_texts((elements, report.legal))),
            ("tables", _of_tables(elements, results)),
        ):
            asked_for = {(identity(one.query), one.at): one for one in wanted}
            lost = [one for key, one in asked_for.items() if key not in known]
            if lost:
                yield f"the file of its numbers lacks {len(lost):,} of those of its {kind}, first {_describe(lost[0])}"
        lettered = {(queries[number.query], _at(number.at)) for number in numbers.numbers if number.letters}
        compared = [_Wanted(query, _at(at)) for query, at, _ in letters_in(elements, results)]
        if bare := [one for one in compared if (identity(one.query), one.at) not in lettered]:
            yield f"the file of its numbers lacks {len(bare):,} letters of its comparisons, first {_describe(bare[0])}"
    for at, figure in enumerate(objects_within(elements, p.FigureElement), 1):
        if any(gap.startswith(f"figure {at}: ") for gap in numbers.not_made):
            continue
        drawn = [series for found in numbers.figures if found.title == figure.title for series in found.series]
        points = {(queries[series.query], _keys(row[:-1])) for series in drawn for row in series.rows}
        asked = {q.sql: q for s in figure.series for q in (s.query, s.x_query, s.repeats) if q}.values()
        lost_points = [
            _Wanted(query, _at(dict(zip(query.dims, keys, strict=True))))
            for query in asked
            for keys in results.rows(query)
            if (identity(query), _keys(keys)) not in points
        ]
        if lost_points:
            count, first = plural(len(lost_points), "point"), _describe(lost_points[0])
            yield f"the file of its numbers lacks {count} of the figure “{figure.title}”, first {first}"


def objects_within(part: object, kind: type[Found]) -> Iterator[Found]:
    """Return all objects of a kind in a part of the plan."""
    if isinstance(part, kind):
        yield part
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from objects_within(getattr(part, name), kind)
    elif isinstance(part, Mapping):
        for each in part.values():
            yield from objects_within(each, kind)
    elif isinstance(part, tuple | list):
        for each in part:
            yield from objects_within(each, kind)


def identity(query: p.Query) -> Identity:
    return query.sql, query.dims, query.unit, query.text


def key_of(key: Key | int | None) -> Key:
    return key if isinstance(key, str) else math.nan if key is None else float(key)


def _of_texts(part: object) -> Iterator[_Wanted]:
    for value in objects_within(part, p.Value):
        yield _Wanted(value.query)
        if value.high:
            yield _Wanted(value.high)


def _of_tables(elements: Iterable[p.Element], results: Results) -> Iterator[_Wanted]:
    for whole in objects_within(tuple(elements), p.TableElement):
        table = drop_undue(whole, results)
        for line in table.lines:
            for key in table.keys if line.query else ():
                at = {table.dim: key.value} if line.query and table.dim in line.query.dims else {}
                if line.query:
                    yield _Wanted(line.query, _at(at))


def _at(at: Mapping[Any, Key]) -> At:
    return tuple(sorted((dim, _hashed(key)) for dim, key in at.items()))


def _keys(keys: Sequence[Key | int | None]) -> tuple[Key, ...]:
    return tuple(map(_hashed, keys))


def _hashed(key: Key | int | None) -> Key:
    """Replace a missing key by one that equals itself."""
    found = key_of(key)
    return "" if isinstance(found, float) and math.isnan(found) else found


def _describe(wanted: _Wanted) -> str:
    where = ", ".join(f"{dim} {key:g}" if isinstance(key, float) else f"{dim} {key}" for dim, key in wanted.at)
    return f"{wanted.query.text} at {where}" if where else wanted.query.text
