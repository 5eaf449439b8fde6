"""Draws a small chart of one quantity over the runs, as SVG. Each comparable part has a line of its own, with the
part's changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass

_Scale = Callable[[float], float]
WIDTH, HEIGHT = 320, 96
_LEFT, _RIGHT, _TOP, _BOTTOM = 4, 8, 14, 14
MOST = 400
"""A chart shows at most this many runs, the last ones. More points than pixels would add nothing."""


@dataclass(frozen=True)
class Mark:
    """A change right before the value at `index`, with the text beside it. `kind` is worse, better, differs, lab or
    accepted."""

    index: int
    text: str
    kind: str


@dataclass(frozen=True)
class DrawnSuite:
    """Values over runs, the oldest first. None is a gap.

    `parts` are the first indices of stretches that are not compared with each other. `low` and `high` are the smallest
    and the largest value, as text.
    """

    values: Sequence[float | None]
    times: Sequence[float]
    parts: Sequence[int]
    marks: Sequence[Mark]
    low: str
    high: str
    alt: str


def chart(drawn: DrawnSuite) -> Markup:
    """Return the chart as SVG. All texts are escaped, and the colours are those of the page."""
    x, y = _scales(drawn)
    head = Markup('<svg role="img" viewBox="0 0 {} {}" aria-label="{}">').format(WIDTH, HEIGHT, drawn.alt)
    parts = [head, _across("axis", _LEFT, WIDTH - _RIGHT)]
    parts += [_upright("part", x(at - 0.5), _TOP - 6) for at in drawn.parts if at]
    parts += [Markup('<path class="line" d="{}"/>').format(path) for path in _paths(drawn, x, y)]
    parts += [
        _dot("dot", x(first), y(value), 1.6)
        for first, last in _runs(drawn)
        if first == last and (value := drawn.values[first]) is not None
    ]
    parts += [_mark(mark, x(mark.index - 0.5)) for mark in drawn.marks]
    last, value = [(at, value) for at, value in enumerate(drawn.values) if value is not None][-1]
    parts.append(_dot("last", x(last), y(value), 2.6))
    parts.append(_text("date", _LEFT, HEIGHT - 2, "start", _date(drawn.times[0])))
    parts.append(_text("date", WIDTH - _RIGHT, HEIGHT - 2, "end", _date(drawn.times[-1])))
    return Markup("").join([*parts, Markup("</svg>")])


def _scales(drawn: DrawnSuite) -> tuple[_Scale, _Scale]:
    """Return the x scale for runs and the y scale for values, in pixels."""
    known = [value for value in drawn.values if value is not None]
    low, high, count = min(known), max(known), len(drawn.values)
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(at: float) -> float:
        return _LEFT + (width * at / (count - 1) if count > 1 else width / 2)

    def y(value: float) -> float:
        return _TOP + height * (1 - (value - low) / (high - low) if high > low else 0.5)

    return x, y


def _across(kind: str, left: float, right: float) -> Markup:
    foot = HEIGHT - _BOTTOM + 2
    return Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(kind, left, right, foot, foot)


def _upright(kind: str, at: float, top: float) -> Markup:
    foot = HEIGHT - _BOTTOM + 2
    return Markup('<line class="{0}" x1="{1:.1f}" x2="{1:.1f}" y1="{2}" y2="{3}"/>').format(kind, at, top, foot)


def _dot(kind: str, x: float, y: float, radius: float) -> Markup:
    return Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(kind, x, y, radius)


def _text(kind: str, x: float, y: float, anchor: str, text: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(kind, x, y, anchor, text)


def _mark(mark: Mark, at: float) -> Markup:
    anchor, aside = ("end", -3) if at > WIDTH * 0.7 else ("start", 3)
    line = _upright("change", at, _TOP - 8)
    return Markup('<g class="{}">{}{}</g>').format(
        mark.kind, line, _text("change", at + aside, _TOP - 4, anchor, mark.text)
    )


def _runs(drawn: DrawnSuite) -> list[tuple[int, int]]:
    """Return the first and the last index of each stretch without gaps inside one part."""
    found: list[tuple[int, int]] = []
    begins = set(drawn.parts)
    for at, value in enumerate(drawn.values):
        if value is None:
            continue
        if found and found[-1][1] == at - 1 and at not in begins:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found


def _paths(drawn: DrawnSuite, x: _Scale, y: _Scale) -> list[str]:
    paths = []
    for first, last in _runs(drawn):
        points = [(x(at), y(value)) for at in range(first, last + 1) if (value := drawn.values[at]) is not None]
        if len(points) > 1:
            begin = f"M{round(points[0][0], 1)} {round(points[0][1], 1)}"
            paths.append(
                begin + "".join(f"l{round(b[0] - a[0], 2)} {round(b[1] - a[1], 2)}" for a, b in pairwise(points))
            )
    return paths


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
