"""The data of a chart: its series, their points and looks, and its axes.

Colours follow Okabe and Ito's (jfly.uni-koeln.de/color), with changes. Their order makes the first four, and all
neighbours, differ in lightness; shapes and dashes distinguish series in print without colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PALETTE = ("#0072B2", "#E69F00", "#5D3A9B", "#009E73", "#8C1D04", "#56B4E9", "#6B6B00", "#D98BB5")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
SOLID, DASHED = (1, 0), (5, 3)
DASHES = (SOLID, (7, 2), (2, 2), (9, 3, 2, 3), (4, 4), (12, 3), (1, 3), (6, 2, 1, 2, 1, 2))
INK, SOFT, GRID, PAPER = "#1d2a35", "#55626e", "#dfe4e8", "#ffffff"
TEXT, SMALL = 10.5, 9.5  # pixels: 8 and 7 points on paper

XKind = Literal["category", "steps", "log", "linear"]


@dataclass(frozen=True)
class Point:
    """`x` is a number, or the index of a category. `y` None is a gap. `low` and `high`: a confidence interval.
    `repeats`: values of single repeats, drawn where they are too few for an interval.

    An `upright` point is the place of a rule on the x axis. A `hollow` one is a rate that did not keep its promise, a
    `late` one a rate of which nothing is known, as the load generator was late.
    """

    x: float
    y: float | None
    label: str = ""
    low: float | None = None
    high: float | None = None
    repeats: tuple[float, ...] = ()
    upright: bool = False
    hollow: bool = False
    late: bool = False
    mark: str = ""
    """The sign of what is not known of `y` (`results/store/searched_doubts.py`)."""


@dataclass(frozen=True)
class Refused:
    """A place on the x axis where no value stands: the promise was broken, or the load was `beyond` the generator."""

    x: float
    beyond: bool


@dataclass(frozen=True)
class Trace:
    """One series. `color` is its place in the palette; None draws it in the colour of the text.

    A `loose` line is only points: nothing connects names such as those of workloads.
    """

    name: str
    mark: Literal["line", "bar", "curve", "rule"]
    points: tuple[Point, ...]
    color: int | None
    right: bool = False
    dashed: bool = False
    loose: bool = False
    counted: bool = False
    """Whether its values are numbers of things, such as nodes."""
    refused: tuple[Refused, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it is written without decimals, also beside a series that has them: 3 nodes beside 4.74."""
        return self.counted and all(p.y is None or p.y == int(p.y) for p in self.points)

    @property
    def paint(self) -> str:
        return INK if self.color is None else PALETTE[self.color % len(PALETTE)]

    @property
    def shape(self) -> str:
        return "diamond" if self.color is None else SHAPES[self.color % len(SHAPES)]

    @property
    def has_points(self) -> bool:
        """Whether its points are marked: a line through time has no markers."""
        return self.loose or (len(self.points) <= 40 and not self.dashed)

    @property
    def dash(self) -> tuple[int, ...]:
        """The dash of a line without markers, for a print in grey."""
        if self.dashed or self.mark == "rule":
            return DASHED
        return SOLID if self.has_points or self.color is None else DASHES[self.color % len(DASHES)]


@dataclass(frozen=True)
class XAxis:
    """`category`: one slot for each of `categories`; `steps`: whole numbers; `log` and `linear`: numbers.

    `ticks` are the values to mark, if few enough; empty: round numbers. `open` are the candidates of an adaptive ramp
    at which nothing was measured: small marks.
    """

    title: str
    kind: XKind
    categories: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()
    open: tuple[float, ...] = ()


@dataclass(frozen=True)
class Chart:
    """Titles name the quantity and its unit. Values are in these units."""

    traces: tuple[Trace, ...]
    x: XAxis
    left: str
    right: str = ""
    log_y: bool = False
    log_y_right: bool = False
    heading: str = ""
    """The heading of this panel of several."""
    beside: tuple[Trace, ...] = ()
    """The other panels' charts, which share their axes."""

    @property
    def sharing(self) -> tuple[Trace, ...]:
        return (*self.traces, *self.beside)
