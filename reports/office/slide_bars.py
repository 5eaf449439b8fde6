"""Computes where the bars of a chart on a slide are drawn."""

from __future__ import annotations

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.slide_axes import Plot
from benchbrief.reports.office.slide_chart_data import finite

APART = 5
"""The space between bars in hundredths of a bar."""
_WIDEST, _MOST_GAP = 96.0, 500
"""The largest width of a bar, because wide bars look like slabs, and the largest gap that programs draw."""
RING, ARROW = 7.0, 14.0
"""The size of the ring of a repeat, and the length of the arrow at a bar that may be longer."""


@dataclass(frozen=True)
class Bars:
    """The positions of a chart's bars. Each slot has one bar for each series, side by side."""

    chart: NativeChart
    plot: Plot
    gap: int
    """The space between two groups of bars, in hundredths of a bar."""

    @property
    def series(self) -> list[NativeSeries]:
        return [each for each in self.chart.series if each.mark == "bar" and not each.is_level]

    @property
    def slot(self) -> float:
        return self.plot.area.width / len(self.chart.categories)

    @property
    def wide(self) -> float:
        return self.slot / (len(self.series) + (len(self.series) - 1) * APART / 100 + self.gap / 100)

    def ends_in(self, place: int) -> list[tuple[float, float]]:
        """Return the position of each bar in a slot: its middle, and the end that has its number or its interval."""
        found = []
        for at, series in enumerate(self.series):
            value = finite(series.values[place])
            if value is not None:
                high = (finite(series.high[place]) if series.high else None) or value
                top = min(self.plot.y(value) - self.rise(at, place), self.plot.y(high))
                found.append((self.middle(place, at), top))
        return found

    def rise(self, series: int, place: int) -> float:
        """Return how far the number of a bar is moved up, because of repeats beyond the bar's end or an arrow there. It
        is moved down if the bar is below 0."""
        own = self.series[series]
        value, repeats = finite(own.values[place]), own.repeats[place] if own.repeats else ()
        if value is None:
            return 0.0
        sign = -1.0 if value < 0 else 1.0
        beyond = max((sign * (self.plot.y(value) - self.plot.y(each)) for each in repeats), default=-RING)
        return sign * (max(0.0, beyond + RING / 2) + ARROW * bool(own.open and own.open[place]))

    def middle(self, place: int, series: int) -> float:
        """Return the middle of a series' bar in a slot."""
        first = self.plot.area.left + place * self.slot + self.wide * self.gap / 200
        return first + self.wide * (series * (1 + APART / 100) + 0.5)


def gap_of(chart: NativeChart, width: float, *, narrow: bool) -> int:
    """Return the gap between two groups of bars in a plot of this width, in hundredths of a bar."""
    least = 30 if narrow else {1: 150, 2: 100}.get(len(chart.categories), 70)
    bars = sum(series.mark == "bar" for series in chart.series)
    return max(least, min(_MOST_GAP, round(100 * (width / len(chart.categories) / _WIDEST - bars))))
