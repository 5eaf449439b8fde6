"""Gives all numbers of a measure in a brief the same number of digits, in headlines, boxes, figures and tables.

An author may give each place its own format. A place that has no format gets the one that the measure has elsewhere.
The headline is searched first, then boxes, tables, figures and texts. A claim's measure always has enough digits to
keep rounding from favouring the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from benchbrief.model import plan as p
from benchbrief.model.node import Node
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import ROUNDED, formatted, is_scaled

_MEASURE = re.compile(
    r"-?(?:(?:min|max|mean|median|range)\((?P<reduced>[^\W\d][\w.]*)(?:\[[^\[\]]*\])* over [\w, ]+\)"
    r"|(?P<named>[^\W\d][\w.]*)(?:\[[^\[\]]*\])*)"
)
"""Matches a metric or a measure, which may be at some keys, negated, or reduced to its lowest, highest or typical
value."""
_Measure = tuple[str, str]
"""A measured quantity, regardless of the place, with its unit."""
_FIRST: tuple[type[Node], ...] = (p.HeadlineElement, p.CalloutElement, p.TableElement, p.FigureElement)
"""The elements whose formats override those of texts, the most prominent first."""


def with_one_precision(report: p.Report, results: Results) -> p.Report:
    """Return the report with a format for each figure and table that has none. The formats are taken from other places
    with the same measures."""
    formats: dict[_Measure, str] = {}
    of_claims = {_measure(each.query, each.format): each.format for each in _numbers_of_claims(results)}
    found = sorted(_formats(report, len(_FIRST)), key=lambda each: each[0])  # stable: in the order of reading
    for _, query, format_ in found:
        measure = _measure(query, format_)
        formats.setdefault(measure, of_claims.get(measure, format_))
    for query in _unwritten(report.elements):
        if _hides(query, formats.get(_measure(query), ""), results):
            del formats[_measure(query)]
    elements = tuple(_written(element, formats) for element in report.elements)
    if toward := _directions(report):
        elements = tuple(_rounded(element, toward) for element in elements)
        report = report.model_copy(update={name: _rounded(getattr(report, name), toward) for name in _HEADINGS})
    return report.model_copy(update={"elements": elements})


_HEADINGS = ("heading", "subheading")


def _directions(node: Any) -> dict[_Measure, str]:
    """Return the mark of the direction in which claims round each of their measures. A measure is left out if some
    claims round it up and others round it down."""
    found: dict[_Measure, set[str]] = {}
    for value in _claimed(node):
        found.setdefault(_measure(value.query, value.format), set()).add(_turned(_MARKS[value.rounded], value.query))
    return {measure: marks.pop() for measure, marks in found.items() if len(marks) == 1}


def _numbers_of_claims(results: Results) -> Iterator[p.Value]:
    """Yield the numbers of claims for which the spec sets a format. Each is printed with as many digits as it needs."""
    return (claim.number for claim in results.plan.claims if claim.number and claim.number.format)


_MARKS: Mapping[str, str] = {rounded: mark for mark, rounded in ROUNDED.items()}


def _turned(mark: str, query: p.Query) -> str:
    """Return the mark for a measure, given the mark for a query of it. The two are opposite if the query negates the
    measure."""
    return next(each for each in ROUNDED if each != mark) if query.text.startswith("-") else mark


def _claimed(node: Any) -> Iterator[p.Value]:
    """Yield the numbers of claims that are rounded in only one direction."""
    if isinstance(node, p.Value) and node.rounded in _MARKS:
        yield node
    for part in _parts(node):
        yield from _claimed(part)


def _rounded(node: Any, toward: Mapping[_Measure, str]) -> Any:
    """Return a part of a report with new formats for these measures. They round numbers in the same direction as the
    claims do."""
    if isinstance(node, tuple):
        made = tuple(_rounded(each, toward) for each in node)
        return made if any(new is not old for new, old in zip(made, node, strict=True)) else node
    if not isinstance(node, Node) or isinstance(node, p.Query | p.Theme):
        return node
    if isinstance(node, p.Value | p.Series | p.Line) and node.query:
        mark = toward.get(_measure(node.query, node.format))
        if not mark or not node.format or (isinstance(node, p.Value) and node.rounded in _MARKS):
            return node
        return node.model_copy(update={"format": f"{_turned(mark, node.query)}{node.format}"})
    parts = {each.name: getattr(node, each.name) for each in fields(node)}
    changed = {name: new for name, old in parts.items() if (new := _rounded(old, toward)) is not old}
    return node.model_copy(update=changed) if changed else node


def _measure(query: p.Query, format_: str = "") -> _Measure:
    """Return the quantity that a query measures, and its unit. A number with a per cent format counts as being in %."""
    named = _MEASURE.fullmatch(query.text)
    unit = "%" if format_.endswith("%") else query.unit
    return (named["reduced"] or named["named"] if named else query.text), unit


def _formats(node: Any, rank: int) -> Iterator[tuple[int, p.Query, str]]:
    """Yield the format of each number that has one, with the precedence of the number's element."""
    scaled = isinstance(node, p.Value) and is_scaled(node.query.unit)  # which a text prints in another unit
    if isinstance(node, p.Value | p.Series | p.Line) and node.format and node.query and not scaled:
        negated = node.query.text.startswith("-")  # only its own text has that sign
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
    """Yield the series and lines of figures and tables that have no format."""
    if isinstance(node, p.Series | p.Line) and node.query and not node.format:
        yield node.query
    for part in _parts(node):
        yield from _unwritten(part)


def _hides(query: p.Query, format_: str, results: Results) -> bool:
    """Return whether a format would show a nonzero number as zero. A format in per cent may do so."""
    if not format_ or format_.endswith("%"):
        return False
    values = (value for value in results.rows(query).values() if value)
    return any(not re.search("[1-9]", formatted(value, format_, query.unit)) for value in values)


def _written(node: Any, formats: Mapping[_Measure, str]) -> Any:
    """Return a part of a report with formats added to its figures and tables."""
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
"""The elements that contain series and lines, each with the name of the field that has them."""


def _with_format(drawn: p.Series | p.Line, formats: Mapping[_Measure, str]) -> p.Series | p.Line:
    """Return a series or a line with the format that its measure has everywhere in the brief."""
    if drawn.format or drawn.query is None or (isinstance(drawn, p.Series) and drawn.mark == "rule"):
        return drawn
    return drawn.model_copy(update={"format": formats.get(_measure(drawn.query), "")})
