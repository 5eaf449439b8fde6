"""The data of a chart: its series, with their points and looks, and its axes.

Colours follow Okabe and Ito's (jfly.uni-koeln.de/color), with changes. They are ordered so that the first four, and all
neighbours, differ in lightness. Shapes and dashes distinguish series that are printed without colour.
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from benchbrief.compiler.briefs.colours import is_grey
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.precision import magnitude
from benchbrief.reports.text.number_format import locale
from benchbrief.results.store.searched_doubts import Bound

PALETTE = ("#0072b2", "#e69f00", "#5d3a9b", "#009e73", "#8c1d04", "#56b4e9", "#6b6b00", "#d98bb5")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
SOLID, DASHED = (1, 0), (5, 3)
DASHES = (SOLID, (7, 2), (2, 2), (9, 3, 2, 3), (4, 4), (12, 3), (1, 3), (6, 2, 1, 2, 1, 2))
INK, SOFT, GRID, PAPER = "#1d2a35", "#55626e", "#dfe4e8", "#ffffff"
TEXT, SMALL = 10.5, 9.5  # pixels: 8 and 7 points on paper
PALE = 0.8
"""The share of white in the fill of a pale bar. The fill is opaque, so that no grid line is seen through it."""

MOST_COLOURS = 3 * len(PALETTE)
"""The number of colours in the palette, its tints and its shades."""


def palette_colour(place: int) -> str:
    """Return the colour of a series by its index. The first indices get the palette's colours, the next ones tints of
    them, and then shades. After that, the colours repeat with other shapes and dashes."""
    colour = PALETTE[place % len(PALETTE)]
    mix = (0.0, 0.5, -0.45)[place // len(PALETTE) % 3]
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(c + (255 - c) * mix if mix > 0 else c * (1 + mix)):02x}" for c in channels)


def _turned(place: int, among: int) -> int:
    """Return the index of a shape or dash for the series with this index, so that series of the same hue look
    different."""
    return (place + place // len(PALETTE)) % among


XKind = Literal["category", "steps", "log", "linear"]


@dataclass(frozen=True)
class ChartPoint:
    """A point of a series. `x` is a number, or the index of a category. If `y` is None, the point is a gap. `low` and
    `high` are the ends of a confidence interval. `repeats` are the values of single repeats, which are drawn if they
    are too few for an interval.

    An `upright` point is the place of a rule on the x axis. A `hollow` point is a rate that did not keep its promise. A
    `late` point is a rate at which the load generator was late. Nothing is known about that rate.
    """

    x: float
    y: float | None
    label: str = ""
    """The key of a curve's point, the number of a bracket, or both ends of a range."""
    low: float | None = None
    high: float | None = None
    repeats: tuple[float, ...] = ()
    upright: bool = False
    hollow: bool = False
    late: bool = False
    text: str = ""
    """The point's value as the brief writes it, with its mark."""
    mark: str = ""
    """The sign for a doubt about `y` (`results/store/searched_doubts.py`)."""
    end: float | None = None
    """The upper end of a range that begins at `y`."""
    ends: tuple[str, str] = ("", "")
    """Both ends of a range, as text."""
    worse: bool = False
    """Whether the point is a change for the worse. If so, its bar is pale."""
    bound: Bound = ""
    """`at_least` or `at_most` if the source states `y` only as such a bound, or else ""."""

    @property
    def is_open(self) -> bool:
        """Whether the true value may lie beyond the end of the point's bar."""
        return self.bound == ("at_most" if (self.y or 0.0) < 0 else "at_least")

    @property
    def is_capped(self) -> bool:
        """Whether the true value may lie short of the end of the point's bar."""
        return self.bound == ("at_least" if (self.y or 0.0) < 0 else "at_most")

    @property
    def spread(self) -> tuple[float, ...]:
        """The ends of the interval around the point, or the values of its repeats."""
        return tuple(v for v in (self.low, self.high, *self.repeats) if v is not None)

    @property
    def extent(self) -> tuple[float, ...]:
        """All values that the point needs on its axis."""
        return tuple(v for v in (self.y, self.end, *self.spread) if v is not None)


@dataclass(frozen=True)
class RefusedPlace:
    """A rate on the x axis that has no value, because the promise was broken there or because the load was `beyond` the
    generator."""

    x: float
    beyond: bool


@dataclass(frozen=True)
class Trace:
    """One series. `color` is its place in the palette, or None for the colour of the text. A `given` colour overrides
    the palette's.

    A `loose` line is drawn as points only, because its keys are names, such as those of workloads, which no line should
    connect.
    """

    name: str
    mark: Literal["line", "bar", "curve", "rule", "range", "slope", "bracket"]
    points: tuple[ChartPoint, ...]
    color: int | None
    right: bool = False
    dashed: bool = False
    loose: bool = False
    counted: bool = False
    """Whether the values count things, such as nodes."""
    refused: tuple[RefusedPlace, ...] = ()
    over_all: bool = False
    """Whether a bracket compares all bars instead of the bars of each slot."""
    given: str = ""
    ideal: bool = False
    """Whether the series was not measured and is only drawn for comparison."""

    estimated: bool = False
    """Whether the values are estimates. The figure's key then says so."""

    @property
    def stands_in_slot(self) -> bool:
        """Whether the series is drawn beside others in the slot of a category."""
        return self.mark in ("bar", "range")

    @property
    def is_reference(self) -> bool:
        """Whether the series is a broken line to compare others with. Bars with a broken outline are values like
        others."""
        return self.dashed and not self.stands_in_slot

    def is_pale(self, point: ChartPoint) -> bool:
        """Whether a point's bar is pale, because the author set its series apart or it is a change for the worse."""
        return self.dashed or point.worse

    @property
    def whole(self) -> bool:
        """Whether the values are written without decimals even if another series has decimals, such as 3 nodes next to
        4.74."""
        return self.counted and all(p.y is None or p.y == int(p.y) for p in self.points)

    @property
    def paint(self) -> str:
        return self.given or (INK if self.color is None else palette_colour(self.color))

    @property
    def is_grey(self) -> bool:
        """Whether the series is drawn in grey below the coloured ones, because they are compared with it."""
        return bool(self.given) and is_grey(self.given)

    @property
    def shape(self) -> str:
        return "diamond" if self.color is None else SHAPES[_turned(self.color, len(SHAPES))]

    @property
    def has_points(self) -> bool:
        """Whether the points have markers. The points of a line through time have no markers."""
        return self.loose or (len(self.points) <= 40 and not self.dashed)

    @property
    def dash(self) -> tuple[int, ...]:
        """The dash of a line without markers, which keeps it distinguishable in grey print."""
        if self.dashed or self.mark == "rule":
            return DASHED
        return SOLID if self.has_points or self.color is None else DASHES[_turned(self.color, len(DASHES))]


@dataclass(frozen=True)
class XAxis:
    """The x axis. A `category` axis has one slot for each of `categories`, a `steps` axis shows whole numbers, and
    `log` and `linear` axes show numbers.

    `ticks` are the values to mark, if they are few enough. If there are none, round numbers are marked. `open` are the
    candidates of an adaptive ramp at which nothing was measured. They get small marks.
    """

    title: str
    kind: XKind
    categories: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()
    open: tuple[float, ...] = ()
    untitled: bool = False
    """Whether the names on the axis, such as those of workloads or hardware, need no title below them."""
    alone: bool = False
    """Whether the axis has a single category, which the texts of the figure name. Bars then have their series' names
    below them."""
    said: str = ""
    """The page's remark about a logarithmic scale."""

    @property
    def written_title(self) -> str:
        return "" if self.untitled else with_remark(self.title, self.said if self.kind == "log" else "")


def with_remark(title: str, remark: str) -> str:
    """Return the title of an axis with a remark within its brackets, such as `Latency (s, log scale)`."""
    if not remark:
        return title
    return f"{locale().listed((title[:-1], remark))})" if title.endswith(")") else f"{title} ({remark})"


@dataclass(frozen=True)
class ChartNote:
    """A label with arrows to points. Each point is given by the index of its trace and its index within that trace."""

    text: str
    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Reach:
    """Values of other figures with the same measure, which a chart's axes must cover besides its own values."""

    left: tuple[float, ...] = ()
    right: tuple[float, ...] = ()
    x: tuple[float, ...] = ()


NO_REACH = Reach()


@dataclass(frozen=True)
class Chart:
    """A chart, or one of several panels. Values are in the units that its axis titles name."""

    traces: tuple[Trace, ...]
    x: XAxis
    left: str
    right: str = ""
    log_y: bool = False
    log_y_right: bool = False
    heading: str = ""
    """The heading of this panel if there are several."""
    notes: tuple[ChartNote, ...] = ()
    beside: tuple[Trace, ...] = ()
    """The charts of the other panels, which share the axes of this one."""
    reach: Reach = NO_REACH
    even: str = ""
    """The meaning of a ratio of 1, if the left axis may show ratios near 1, or else ""."""

    @property
    def sharing(self) -> tuple[Trace, ...]:
        return (*self.traces, *self.beside)

    @property
    def left_title(self) -> str:
        return with_remark(self.left, self.x.said if self.log_y else "")

    @property
    def right_title(self) -> str:
        return with_remark(self.right, self.x.said if self.log_y_right else "")


_LEAST_PLAIN, _LARGEST_PLAIN = 1e-5, 1e16
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Ticks:
    """An axis from `low` to `high` with a tick at each of `values`."""

    low: float
    high: float
    values: tuple[float, ...]
    log: bool = False

    def labels(self) -> tuple[str, ...]:
        if self.log:  # each power on its own: 0.01, 0.1, 1, 10
            return tuple(_power_label(value) for value in self.values)
        return tick_labels(self.values)


def nice_ticks(values: Iterable[float], wanted: int = 5) -> Ticks:
    """Return ticks from zero (or from a round number below the values) to a round number at or above the largest
    value."""
    found = list(values)
    top, bottom = max([*found, 0.0]), min([*found, 0.0])
    if top == bottom:
        top = bottom + 1.0
    step = _nice_step((top - bottom) / wanted)
    first, last = math.floor(bottom / step), math.ceil(round(top / step, 9))
    return _ticks(first, last, step)


def ticks_of_bars(values: Sequence[float], ends: Sequence[float]) -> Ticks:
    """Return ticks like `nice_ticks`, chosen so that few grid lines are behind the numbers of bars with these
    `ends`."""
    usual, *others = (nice_ticks(values, wanted) for wanted in (5, 4, 6, 3))
    longest = _LONGEST * (usual.high - usual.low)
    fitting = (each for each in others if each.high - each.low <= longest and len(each.values) >= _FEWEST_TICKS)
    return min((usual, *fitting), key=lambda ticks: _behind_numbers(ticks, ends))


_LONGEST, _FEWEST_TICKS = 1.25, 4
"""To keep its grid lines off numbers, an axis may become up to `_LONGEST` times as long as usual, but must keep at
least `_FEWEST_TICKS` ticks."""
_NUMBER_SHARE = 0.07
"""The share of an axis that a bar's number takes."""


def _behind_numbers(ticks: Ticks, ends: Sequence[float]) -> int:
    room = _NUMBER_SHARE * (ticks.high - ticks.low)
    return sum(0.0 < math.copysign(1.0, end) * (tick - end) < room for end in ends for tick in ticks.values)


def ticks_between(low: float, high: float, wanted: int) -> Ticks:
    """Return ticks from a round number at or below the smallest value to one at or above the largest."""
    step = _nice_step((high - low) / wanted)
    return _ticks(math.floor(round(low / step, 9)), math.ceil(round(high / step, 9)), step)


def ticks_around_one(values: Iterable[float]) -> Ticks:
    """Return ticks that reach as far above 1 as below it, for ratios near 1. They extend at least a tenth to each side,
    so that noise looks small."""
    step = _nice_step(max(0.1, *(abs(value - 1) for value in values)) / 2)
    return _ticks(round(1 / step) - 2, round(1 / step) + 2, step)


def matching_ticks(values: Iterable[float], intervals: int) -> Ticks:
    """Return ticks that begin at zero and make exactly `intervals` steps. A right axis then shares the left one's grid
    lines."""
    found = list(values)
    top, bottom = max([*found, 0.0]), min([*found, 0.0])
    if bottom < 0:  # a shared grid would distort one axis, so this one has its own
        return nice_ticks(found, intervals)
    return _ticks(0, intervals, _nice_step((top or 1.0) / intervals))


def log_ticks(values: Iterable[float], base: int) -> Ticks:
    """Return powers of `base`, from one at or below the smallest value to one at or above the largest. All values must
    be positive."""
    found = list(values)
    end = math.floor(math.log(sys.float_info.max, base)) - 1  # there and below, powers neither overflow nor become 0
    first = min(max(math.floor(math.log(min(found), base) + 1e-9), -end), end - 1)
    last = min(max(first + 1, math.ceil(math.log(max(found), base) - 1e-9)), end)
    stride = max(1, math.ceil((last - first) / 8))
    powers = tuple(float(base) ** n for n in range(first, last + 1, stride))
    if base == 10 and last - first <= 2:  # two or three grid lines are too few
        return _log_ticks_between(found, [float(f"{n}e{p}") for p in range(first, last + 1) for n in (1, 2, 5)])
    return Ticks(min(float(base) ** first, *found), max(float(base) ** last, *found), powers, log=True)


def _log_ticks_between(values: Sequence[float], steps: Sequence[float]) -> Ticks:
    """Return at least three ticks, from the step at or below the smallest value to the one at or above the largest."""
    low = max((i for i, step in enumerate(steps) if step <= min(values) * (1 + 1e-9)), default=0)
    high = next((i for i, step in enumerate(steps) if step >= max(values) * (1 - 1e-9)), len(steps) - 1)
    low = min(low, len(steps) - 3)
    kept = tuple(steps[low : max(high, low + 2) + 1])
    return Ticks(min(kept[0], *values), max(kept[-1], *values), kept, log=True)


def _nice_step(raw: float) -> float:
    power = 10.0 ** magnitude(raw)
    return next(n * power for n in _NICE if raw <= n * power * (1 + 1e-9))


def _ticks(first: int, last: int, step: float) -> Ticks:
    values = tuple(float(f"{n * step:.12g}") for n in range(first, last + 1))
    return Ticks(values[0], values[-1], values)


def tick_labels(values: Sequence[float]) -> tuple[str, ...]:
    """Return labels with equal decimals, such as 0, 10,000, 20,000 or 0, 0.5, 1.0. Labels from ten million on have a
    letter, such as 10M, 20M."""
    size, letter = divisor_for(max((abs(v) for v in values), default=0.0))
    scaled = [v / size for v in values]
    return tuple("0" if v == 0 and letter else f"{_trimmed(v, scaled)}{letter}" for v in scaled)


def _power_label(value: float) -> str:
    """Return the label of a tick on a logarithmic axis, such as 0.001 or 10,000. A number with too many digits is
    written like 1e−9."""
    if _LEAST_PLAIN <= value < _LARGEST_PLAIN:
        return tick_labels([value])[0]
    power = magnitude(value)
    digits = round(value / 10.0**power if power > -300 else value * 1e300 / 10.0 ** (power + 300), 2)
    return locale().numerals(f"{digits:g}e{power}".replace("-", "−"))


def divisor_for(largest: float) -> tuple[float, str]:
    """Return the divisor for the numbers on an axis up to `largest`, and its letter. From ten million on, axes use
    letters, while texts write all digits."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if largest >= size and largest >= 1e7:
            return size, letter
    return 1.0, ""


def _trimmed(value: float, among: Sequence[float]) -> str:
    decimals = next(
        (d for d in range(6) if all(math.isclose(round(v, d), v, rel_tol=1e-6, abs_tol=1e-12) for v in among)), 6
    )
    return locale().numerals(f"{value:,.{decimals}f}".replace("-", "−"))


def text_width(text: str, size: float) -> float:
    """Estimate a text's width in pixels. A full-width character is as wide as it is high; other characters are about
    0.6 times as wide."""
    wide = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else _NARROW.get(c, 0.58) for c in text)
    return wide * size


_NARROW = {
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 0.68),
    **dict.fromkeys("0234567899", 0.63),
    **dict.fromkeys("iIjl.,:;'|! ", 0.29),
    **dict.fromkeys("frt()-/1", 0.4),
    **dict.fromkeys("mMW@%", 0.88),
}


NARROWEST = min(_NARROW.values())
"""The width of the narrowest character, as a share of the type size."""


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0


@dataclass(frozen=True)
class Label:
    """A text for a point, which is (x, y) in pixels. A text that is not `needed` is left out rather than covering a
    line."""

    text: str
    x: float
    y: float
    needed: bool = True


@dataclass(frozen=True)
class Place:
    """The position of a label's anchor relative to its point."""

    dx: float
    dy: float
    align: str


def share_their_points(traces: Iterable[Trace]) -> bool:
    """Return whether several curves are drawn and all have the same labels at their points. If so, labels at the
    curves' ends are enough."""
    labels = [
        tuple(point.label for point in each.points if point.y is not None) for each in traces if each.mark == "curve"
    ]
    drawn = [each for each in labels if each]
    return len(drawn) > 1 and len({*drawn}) == 1


_PLACES = (
    Place(0, -10, "center"),
    Place(8, -6, "left"),
    Place(-8, -6, "right"),
    Place(9, 0, "left"),
    Place(-9, 0, "right"),
    Place(8, 8, "left"),
    Place(-8, 8, "right"),
    Place(0, 11, "center"),
)


def place_labels(
    labels: Sequence[Label],
    size: float,
    area: Box,
    lines: Sequence[Sequence[tuple[float, float]]],
    among: Sequence[Place] = _PLACES,
) -> tuple[Place | None, ...]:
    """For each label in order, choose one of the positions in `among`: the one that covers the fewest points, lines and
    earlier labels.

    The position is None if a third of the label would cover something, since a missing label is better than two
    unreadable ones. It is also None if the label is not needed and would cover a line.
    """
    dots = [Box(x - 4, y - 4, x + 4, y + 4) for line in lines for x, y in line]
    dots += [Box(x - 1, y - 1, x + 1, y + 1) for line in lines for x, y in _along(line)]
    taken: list[Box] = []
    chosen: list[Place | None] = []
    for label in labels:
        boxes = {place: _box(label, place, size) for place in among}
        reach = _around(boxes.values())
        near = [dot for dot in dots if dot.overlap(reach)]

        def cost(place: Place, boxes: Mapping[Place, Box] = boxes, near: Sequence[Box] = near) -> float:
            box = boxes[place]
            inside = box.overlap(area)
            outside = (box.right - box.left) * (box.bottom - box.top) - inside
            return sum(box.overlap(b) for b in near) + 3 * sum(box.overlap(b) for b in taken) + 5 * outside

        best = min(among, key=cost)
        box = boxes[best]
        hidden = sum(box.overlap(b) for b in taken) > (box.right - box.left) * size / 3
        hidden = hidden or (not label.needed and cost(best) > size)
        chosen.append(None if hidden else best)
        if not hidden:
            taken.append(box)
    return tuple(chosen)


def covers_line(label: Label, place: Place, size: float, lines: Iterable[Sequence[tuple[float, float]]]) -> bool:
    """Return whether a label at this position would cover a part of a line."""
    box = _box(label, place, size)
    return any(box.overlap(Box(x - 1, y - 1, x + 1, y + 1)) for line in lines for x, y in _along(line))


def _along(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found = []
    for (x0, y0), (x1, y1) in pairwise(line):
        steps = max(1, int(math.hypot(x1 - x0, y1 - y0) / 4))
        found += [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(1, steps)]
    return found


def _box(label: Label, place: Place, size: float) -> Box:
    width = text_width(label.text, size)
    x, y = label.x + place.dx, label.y + place.dy
    left = x - width / 2 if place.align == "center" else x - width if place.align == "right" else x
    return Box(left, y - size / 2, left + width, y + size / 2)


def _around(boxes: Collection[Box]) -> Box:
    """Return the box that encloses all of these boxes."""
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def are_spaced(positions: Sequence[float], gap: float) -> bool:
    """Return whether positions lie at least `gap` apart."""
    ordered = sorted(positions)
    return all(b - a >= gap for a, b in pairwise(ordered))


def linear(domain: tuple[float, float], pixels: tuple[float, float], log: bool = False) -> Callable[[float], float]:
    """Map a value in `domain` to a pixel, as the renderer's scale does. If the domain is a single value, map to the
    middle."""
    scale: Callable[[float], float] = math.log if log else lambda v: v
    low, high = scale(domain[0]), scale(domain[1])
    if high == low:
        return lambda _: sum(pixels) / 2
    return lambda v: pixels[0] + (scale(v) - low) / (high - low) * (pixels[1] - pixels[0])
