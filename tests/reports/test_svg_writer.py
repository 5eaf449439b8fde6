"""Drawings of briefs have the marks that Vega draws of the same specification, each in the same place."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET  # our own drawings
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import vl_convert

from benchbrief.reports.charts.chart import SHAPES, Chart, Point, Refused, Trace, XAxis
from benchbrief.reports.charts.chart_layers import Layer, panel_spec
from benchbrief.reports.charts.small_multiples import arrange
from benchbrief.reports.charts.svg_writer import write_svg
from tests.reports.gallery import CASES

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_NEAR = 0.003


class Drawn(NamedTuple):
    """A mark or a text: its look, the numbers in it, and its place on the page."""

    tag: str
    series: str
    text: str
    look: dict[str, str]
    numbers: list[float]


def drawn(svg: str) -> list[Drawn]:
    return list(_below(ET.fromstring(svg), 0.0, 0.0, ""))  # noqa: S314  # our own drawing


def _below(element: ET.Element, x: float, y: float, series: str) -> Iterator[Drawn]:
    kind = element.get("class", "")
    if kind in ("background", "foreground"):  # of Vega's groups: not seen
        return
    moved = re.fullmatch(r"translate\(([^,]*),([^)]*)\)", element.get("transform", "translate(0,0)"))
    assert moved
    x, y = x + float(moved[1]), y + float(moved[2])
    named = re.search(r" s(\d+)[a-z]", kind)
    series = named[1] if named else element.get("data-series", series)
    tag = element.tag.rpartition("}")[2]
    if tag in ("path", "line", "text", "rect"):
        of_page = ("transform", "class", "opacity" if element.get("opacity") == "1" else "class", "pointer-events")
        look = {key: value for key, value in element.items() if key not in of_page}
        numbers = [float(number) for value in look.values() for number in _NUMBER.findall(value)]
        shape = {key: _NUMBER.sub("#", value).lower() for key, value in look.items()}
        yield Drawn(tag, series, "".join(element.itertext()), shape, [x, y, *numbers])
    for child in element:
        yield from _below(child, x, y, series)


def assert_as_vega(spec: Layer) -> None:
    ours, theirs = drawn(write_svg(spec)), drawn(vl_convert.vegalite_to_svg(json.loads(json.dumps(spec))))
    assert len(theirs) > 3
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[:4] == other[:4]
        assert mine.numbers == pytest.approx(other.numbers, abs=_NEAR)


@pytest.mark.parametrize("name", CASES)
def test_each_panel_is_drawn_as_vega_draws_it(name: str) -> None:
    for panel in arrange(*CASES[name]):
        assert_as_vega(panel_spec(panel, "Inter"))


def _lines(values: tuple[float | None, ...], *, hollow: bool = False, late: bool = False) -> tuple[Trace, ...]:
    points = tuple(Point(float(x + 1), y, hollow=hollow, late=late) for x, y in enumerate(values))
    return tuple(Trace(f"T{i}", "curve", points, i) for i in range(len(SHAPES)))


_REFUSED = (Refused(2.0, beyond=False), Refused(3.0, beyond=True))
_SLOTS = XAxis("x", "category", ("a", "b"))
_LINEAR = XAxis("x", "linear")


@pytest.mark.parametrize(
    "chart",
    [
        Chart(_lines((1.0, 2.0)), _LINEAR, "y"),
        Chart(_lines((1.0, None, 3.0, None, None, 2.0, 2.5)), _LINEAR, "y"),
        Chart(_lines((0.1, 10.0, 1000.0)), XAxis("x", "log"), "y", log_y=True),
        Chart(_lines((1.0, 2.0), hollow=True), XAxis("x", "log"), "y"),
        Chart(_lines((1.0, 2.0), late=True), XAxis("x", "linear", open=(1.0, 1.5, 2.0)), "y"),
        Chart((Trace("A", "curve", (Point(1.0, 1.0),), 0, refused=_REFUSED),), _LINEAR, "y"),
        Chart((Trace("A", "bar", (Point(0, -1.0), Point(1, 2.0)), 0),), _SLOTS, "y"),
        Chart(
            (
                Trace("A", "bar", (Point(0, 3.0, low=2.0, high=4.0), Point(1, None)), 0),
                Trace("B", "line", (Point(0, 30.0, repeats=(29.0, 31.0)), Point(1, 20.0)), 1, right=True),
            ),
            _SLOTS,
            "y",
            "z",
        ),
        Chart((Trace("R", "line", (Point(0, 3.0), Point(1, 1.0)), 0, right=True),), _LINEAR, "", "right"),
    ],
    ids=["shapes", "gaps", "log", "hollow", "late", "refused", "negative bars", "two axes", "right alone"],
)
def test_rare_marks_are_drawn_as_vega_draws_them(chart: Chart) -> None:
    for panel in arrange([chart], 600, 300):
        assert_as_vega(panel_spec(panel, "Noto Sans CJK JP"))
