"""Writes the numbers of one measure with one number of digits in a brief: in headline, box, figure and table.

An author may give each place a format of its own. A place without one has the format that the measure has elsewhere,
first in the headline, then in boxes, tables, figures and texts. A measure that a claim rounds to its worse side is
rounded so wherever it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from benchbrief.model import plan as p
from benchbrief.model.node import Node
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import ROUNDED, formatted, is_scaled

_MEASURE = re.compile(
    r"-?(?:(?:min|max|mean|median|range)\((?P<reduced>[^\W\d][\w.]*)(?:\[[^\[\]]*\])* over [\w, ]+\)"
    r"|(?P<named>[^\W\d][\w.]*)(?:\[[^\[\]]*\])*)"
)
"""A metric or a measure, at some keys, negated, or its lowest, highest or typical value."""
_Measure = tuple[str, str]
"""What is measured, wherever it is, and its unit."""
_FIRST: tuple[type[Node], ...] = (p.HeadlineElement, p.CalloutElement, p.TableElement, p.FigureElement)
"""The elements whose formats are taken before those of texts, the most prominent one first."""


def with_one_precision(report: p.Report, results: Results) -> p.Report:
    """Return the report whose figures and tables without a format have that of their measures."""
    formats: dict[_Measure, str] = {}
    found = sorted(_formats(report, len(_FIRST)), key=lambda each: each[0])  # stable: in the order of reading
    for _, query, format_ in found:
        formats.setdefault(_measure(query, format_), format_)
    for query in _unwritten(report.elements):
        if _hides(query, formats.get(_measure(query), ""), results):
            del formats[_measure(query)]
    elements = tuple(_written(element, formats) for element in report.elements)
    changed = {"elements": elements}
    if toward := _roundings(report):
        parts = {**{name: getattr(report, name) for name in _HEADINGS}, **changed}
        changed = {name: _rounded(part, toward) for name, part in parts.items()}
    return report.model_copy(update=changed)


_HEADINGS = ("heading", "subheading")


class _Rounding(NamedTuple):
    """How claims print a measure: the mark of the way in which they round it, "" of one that they round both ways, and
    the digits behind the point."""

    mark: str
    digits: int


def _roundings(node: Any) -> dict[_Measure, _Rounding]:
    found: dict[_Measure, list[p.Value]] = {}
    for value in _claimed(node):
        found.setdefault(_measure(value.query, value.format), []).append(value)
    return {
        measure: _Rounding(
            marks.pop() if len(marks := {_turned(_MARKS[each.rounded], each.query) for each in values}) == 1 else "",
            max(_digits(each.format) for each in values),
        )
        for measure, values in found.items()
    }


_FIXED = re.compile(r"(?:\.(?P<digits>\d+))?(?=[f%]\Z)")


def _digits(format_: str) -> int:
    """Return the digits behind the point that a format asks for; 0 of another kind of format."""
    found = _FIXED.search(format_)
    return int(found["digits"] or 0) if found else 0


def _with_digits(format_: str, digits: int) -> str:
    """Return a format with at least this many digits behind the point."""
    return _FIXED.sub(f".{digits}", format_, count=1) if _digits(format_) < digits else format_


_MARKS: Mapping[str, str] = {rounded: mark for mark, rounded in ROUNDED.items()}


def _turned(mark: str, query: p.Query) -> str:
    """Return the mark for a measure as it is; the other one where it is negated."""
    return next(each for each in ROUNDED if each != mark) if query.text.startswith("-") else mark


def _claimed(node: Any) -> Iterator[p.Value]:
    """Yield the numbers of claims that are rounded one way."""
    if isinstance(node, p.Value) and node.rounded in _MARKS:
        yield node
    for part in _parts(node):
        yield from _claimed(part)


def _rounded(node: Any, toward: Mapping[_Measure, _Rounding]) -> Any:
    """Return a part of a report whose numbers of these measures are printed as claims print them."""
    if isinstance(node, tuple):
        made = tuple(_rounded(each, toward) for each in node)
        return made if any(new is not old for new, old in zip(made, node, strict=True)) else node
    if not isinstance(node, Node) or isinstance(node, p.Query | p.Theme):
        return node
    if isinstance(node, p.Value | p.Series | p.Line) and node.query:
        of_claims = toward.get(_measure(node.query, node.format))
        if not of_claims or not node.format:
            return node
        format_ = _with_digits(node.format, of_claims.digits)
        if isinstance(node, p.Value) and node.rounded in _MARKS:
            finer = 10.0 ** (_digits(node.format) - _digits(format_))
            return node.model_copy(update={"format": format_, "step": node.step * finer})
        mark = _turned(of_claims.mark, node.query) if of_claims.mark else ""
        return node.model_copy(update={"format": f"{mark}{format_}"})
    parts = {each.name: getattr(node, each.name) for each in fields(node)}
    changed = {name: new for name, old in parts.items() if (new := _rounded(old, toward)) is not old}
    return node.model_copy(update=changed) if changed else node


def _measure(query: p.Query, format_: str = "") -> _Measure:
    """Return what a query measures. What a format writes in per cent is a share, and may be in `%` elsewhere."""
    named = _MEASURE.fullmatch(query.text)
    unit = "%" if format_.endswith("%") else query.unit
    return (named["reduced"] or named["named"] if named else query.text), unit


def _formats(node: Any, rank: int) -> Iterator[tuple[int, p.Query, str]]:
    """Yield the format of each number that has one, with the rank of its place."""
    scaled = isinstance(node, p.Value) and is_scaled(node.query.unit)  # which a text prints in another unit
    if isinstance(node, p.Value | p.Series | p.Line) and node.format and node.query and not scaled:
        negated = node.query.text.startswith("-")  # whose sign is that of its text alone
        yield rank, node.query, node.format.lstrip("+") if negated else node.format
    rank = min(rank, next((at for at, kind in enumerate(_FIRST) if isinstance(node, kind)), rank))
    for part in _parts(node):
        yield from _formats(part, rank)


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        yield from node
    elif isinstance(node, Node) and not isinstance(node, p.Query | p.Theme):
        yield from (getattr(node, each.name) for each in fields(node))


def _unwritten(node: Any) -> Iterator[p.Query]:
    """Yield what the figures and tables show without a format."""
    if isinstance(node, p.Series | p.Line) and node.query and not node.format:
        yield node.query
    for part in _parts(node):
        yield from _unwritten(part)


def _hides(query: p.Query, format_: str, results: Results) -> bool:
    """Return whether a format would write a number as zero that is none. In per cent, that is little enough."""
    if not format_ or format_.endswith("%"):
        return False
    values = (value for value in results.rows(query).values() if value)
    return any(not re.search("[1-9]", formatted(value, format_, query.unit)) for value in values)


def _written(node: Any, formats: Mapping[_Measure, str]) -> Any:
    """Return a part of a report with the formats of its figures and tables."""
    if isinstance(node, tuple):
        return tuple(_written(each, formats) for each in node)
    if isinstance(node, p.Series | p.Line):
        return _with_format(node, formats)
    for kind, part in _HOLDERS.items():
        if isinstance(node, kind):
            return node.model_copy(update={part: _written(getattr(node, part), formats)})
    return node


_HOLDERS: Mapping[type[Node], str] = {
    p.SectionElement: "elements",
    p.CalloutElement: "table",
    p.TableElement: "lines",
    p.FigureElement: "series",
}
"""What holds series and lines, and where."""


def _with_format(drawn: p.Series | p.Line, formats: Mapping[_Measure, str]) -> p.Series | p.Line:
    """Return a series or a line with the format of its measure."""
    if drawn.format or drawn.query is None or (isinstance(drawn, p.Series) and drawn.mark == "rule"):
        return drawn
    return drawn.model_copy(update={"format": formats.get(_measure(drawn.query), "")})
