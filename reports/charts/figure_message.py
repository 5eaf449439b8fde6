"""Computes a message for a figure whose author wrote none: one sentence on what its numbers show.

The sentence claims only what holds at every point that it mentions. Two values differ if their difference is more than
the noise of both. The noise is half the interval over a value's repeats, or `SINGLE_NOISE` for a single measurement.
The sentence says who is ahead, and by how much, only if the same line is ahead at all points. Otherwise it gives the
range of their ratios. It claims nothing about power unless a meter is known to have measured it.
"""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby, pairwise
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan
from benchbrief.model.budgets import strictest_level
from benchbrief.model.precision import formatted
from benchbrief.reports.charts.drawn_series import Detail, DrawnSeries, column_writer
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tied import meaning_of_tied
from benchbrief.reports.disclosure.systems_under_test import is_of_power, meters_of
from benchbrief.reports.text.number_format import locale, points, with_unit
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.analysis.claim_verdicts import PUBLISHED_NOISE, SINGLE_NOISE
from benchbrief.runners.scheduling.confidence_interval import half_width

_WIDEST = 90
"""The most columns of a sentence. A letter takes one column, and a full-width character two."""
_LEAST = 0.01
"""The least noise of a repeated value, as a share of the value."""
_FEW = 1.5
"""The ratio below which a difference is written in per cent."""
_ALIKE = 0.1
"""The largest relative difference between values that are called alike. With a larger limit, the statement would be
meaningless."""

_NOTHING: tuple[str, Sequence[str]] = ("", ())
_SAID = ("line", "bar", "curve", "slope")
FEWEST_FOR_INTERVAL = 3
"""The fewest repeats for an interval. With only two repeats, Student's interval is nine times as wide as their
distance."""

_Key = tuple[str, str]
"""A point, given by the heading of its panel and its label in that panel."""


@dataclass(frozen=True)
class _Value:
    """A value with its noise, which is in the value's unit. `once` means that nothing was repeated. `x` is the position
    on the x axis or, on a curve, the other value. `x_text` is its text."""

    value: float
    noise: float
    once: bool
    number: str
    unit: str
    x: float
    x_text: str

    @property
    def text(self) -> str:
        return with_unit(self.number, self.unit)

    def differs(self, other: _Value) -> bool:
        return abs(self.value - other.value) > self.noise + other.noise


@dataclass(frozen=True)
class _Line:
    """A line that is compared with others: its name, and its values in all panels."""

    name: str
    values: Mapping[_Key, _Value]


def message(
    figure: plan.FigureElement, drawn: Sequence[DrawnSeries], results: Results, *, numeric: bool
) -> tuple[str, Sequence[str]]:
    """Return what the figure shows, in up to 90 columns, and the footnotes that explain its words. The message is "" if
    nothing can be said. `numeric` means that the x axis has numbers in order."""
    shown = [d for d in drawn if d.has_values and d.trace.mark in _SAID and not d.trace.is_reference]
    if _is_unmetered(shown, results) or any(d.trace.mark == "bracket" for d in drawn):
        return _NOTHING  # brackets already show the differences
    if not shown or any(detail.mark for d in shown for detail in d.details):
        return _NOTHING  # a value that is only known as a bound supports no claim
    if any(cell.status == "failed" for d in shown for cell in results.cells_behind(d.series.query, **d.where)):
        return _NOTHING  # the failed measurements might have shown something else
    first = next((d for d in shown if d.series.color_dim), shown[0])
    beside = [d for d in drawn if d.on_axis and d.has_values and d.trace.right == first.trace.right]
    if len({d.label for d in beside if d.series.color_dim}) > 1:
        return _NOTHING  # several quantities, each with lines of its own
    of_one = [d for d in shown if (d.label, d.trace.right) == (first.label, first.trace.right)]
    said = _Said(figure, first, _lines(of_one, results), results)
    if len(of_one) < len(shown) and not first.series.color_dim:
        found = []  # quantities of several kinds
    elif first.trace.mark == "curve":
        found = said.on_curves()
    elif first.trace.mark == "slope":
        found = said.on_slopes()
    elif len(said.lines) > 1:
        found = said.compared(numeric=numeric)
    elif first.series.x_dim in (None, "time") or figure.panel_dim:
        found = []
    else:
        found = said.along_axis() if numeric else said.by_category()
    text = next((text for text in found if 0 < _columns(text) <= _WIDEST), "")
    return text, said.notes if text else ()


def _is_unmetered(drawn: Iterable[DrawnSeries], results: Results) -> bool:
    """Return whether the figure shows power from a formula, or from a command that may not measure it."""
    if results.published or not any(d.series.query.reads and is_of_power(d.series.query) for d in drawn):
        return False
    return bool(meters_of("formula", results) or meters_of("unknown", results))


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _lines(drawn: Sequence[DrawnSeries], results: Results) -> list[_Line]:
    found: dict[str, dict[_Key, _Value]] = {}
    of_cells = results.once(_noise_of_cells)
    x_text = column_writer([p.x for d in drawn for p in d.trace.points if p.y is not None])
    for d in drawn:
        name = d.trace.name.removeprefix(locale().listed((d.label, ""))) if d.series.color_dim else d.trace.name
        own = found.setdefault(name, {})
        for point, detail in zip(d.trace.points, d.details, strict=True):
            if point.y is not None:
                share = _noise(d, detail, of_cells, results)
                noise = abs(point.y) * (SINGLE_NOISE if share is None else share)
                x = with_unit(x_text(point.x), d.x.unit)
                own[d.panel, detail.key] = _Value(point.y, noise, share is None, point.text, d.unit, point.x, x)
    return [_Line(name, values) for name, values in found.items() if values]


# --- noise ------------------------------------------------------------------------------------------------------------


_Noise = Mapping[tuple[str, bool], float | None]
"""The noise of each point, or None for a single repeat. A key is the id of a cell with True for the noise of its
latencies, or False for that of its throughput."""


def _noise(d: DrawnSeries, detail: Detail, of_cells: _Noise, results: Results) -> float | None:
    """Return the noise of a value as a share of the value, or None if the value was measured only once."""
    query, value = d.series.query, detail.value or 0.0
    if detail.low is not None and detail.high is not None and value:
        return max(_LEAST, (detail.high - detail.low) / 2 / abs(value))
    if results.published:
        return PUBLISHED_NOISE
    if query.exact or not query.reads:
        return _LEAST
    timed = any(read.view == "latency" for read in query.reads)
    behind = [of_cells.get((cell, timed)) for cell in detail.cells]
    known = [share for share in behind if share is not None]
    if not known or len(known) < len(behind):
        return None
    typical = statistics.median(known)
    return max(_LEAST, typical * 2**0.5 if query.divides else typical)


def _noise_of_cells(results: Results) -> _Noise:
    """For the point of each cell, return half the interval over its repeats, as a share of the repeats' mean."""
    point = "experiment, hardware, workload, levels, threads, target"
    asked = {
        False: f"SELECT {point}, list(ops_per_s) FROM throughput JOIN cells USING (run_id, cell_id) "  # noqa: S608  # ours
        f"WHERE status = 'ok' AND phase IS NULL AND operation = 'all' GROUP BY {point}",
        True: f"SELECT {point}, list(value_s) FROM latency WHERE source IS NULL AND statistic = 'p99' AND reported "  # noqa: S608  # ours
        f"AND phase IS NULL AND repeat IS NOT NULL GROUP BY {point}, operation",
    }
    by_point: dict[tuple[object, ...], list[str]] = {}
    for cell in results.cells:
        by_point.setdefault(cell[1:7], []).append(cell.cell_id)
    found: dict[tuple[str, bool], float | None] = {}
    for timed, text in asked.items():
        for *at, values in results.store.sql(text).rows:
            known = [value for value in values if value is not None and math.isfinite(value)]
            share = _share_of_noise(known, strictest_level(results.plan))
            for cell_id in by_point.get(tuple(at), ()):
                before = found.get((cell_id, timed), share)
                found[cell_id, timed] = None if share is None or before is None else max(share, before)
    return found


def _share_of_noise(repeats: Sequence[float], level: float) -> float | None:
    if len(repeats) == FEWEST_FOR_INTERVAL - 1 and (mean := statistics.fmean(repeats)) > 0:
        return statistics.stdev(repeats) / mean
    return half_width(repeats, level)


# --- sentences --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    """Makes candidate sentences for a figure, the most informative first. `first` is the series that stands for all of
    the figure's series."""

    figure: plan.FigureElement
    first: DrawnSeries
    lines: Sequence[_Line]
    results: Results
    notes: list[str] = field(default_factory=list)

    @property
    def words(self) -> Words:
        return self.results.words

    @property
    def better(self) -> Literal["higher", "lower"] | None:
        """Whether higher or lower values are better, as declared by the metric or implied by the kind of a plain
        measure."""
        query = self.first.series.query
        for metric in self.results.plan.metrics:
            if query.text.partition("[")[0] == metric.name:
                return metric.better
        views = {read.view for read in query.reads or ()}
        if len(views) != 1 or query.divides:
            return None
        return plan.BETTER.get(views.pop())

    @property
    def quantity(self) -> str:
        """The drawn quantity, without the place in its label."""
        label = self.first.label.partition(self.words.locale.listed(("", "")))[0]
        return label[0].lower() + label[1:] if label[1:2].islower() else label

    @property
    def is_rate(self) -> bool:
        """Whether the quantity is the throughput itself instead of a rate computed from it."""
        query = self.first.series.query
        views = [read.view for read in query.reads or ()]
        return views == ["throughput"] and query.unit == "ops/s" and not query.divides

    def say(self, key: str, **holes: str) -> str:
        """Return a sentence, followed by the place that the label names. If only one of several planned lines is left,
        its name is added, too. What the figure's title says is not repeated."""
        filled = self.words[key].format(quantity=self.quantity, **holes)
        text = filled[0].upper() + filled[1:] if self.words.language == "en" and filled[1:2].islower() else filled
        alone = self.lines[0].name if self.first.series.color_dim and len(self.lines) == 1 else ""
        places = (alone, self.first.label.partition(self.words.locale.listed(("", "")))[2])
        unnamed = [place for place in places if place and place.casefold() not in self.figure.title.casefold()]
        return text + self.words["aside"].format(text=self.words.locale.listed(unnamed)) if unnamed else text

    # Several lines

    def compared(self, *, numeric: bool) -> list[str]:
        """Return a sentence that compares several lines at the points where all of them have a value."""
        keys = list(dict.fromkeys(key for line in self.lines for key in line.values))
        common = [key for key in keys if all(key in line.values for line in self.lines)]
        if not common or any(line.values[key].value <= 0 for line in self.lines for key in common):
            return []
        ranked = {key: self._ranked(key) for key in common}
        clear = [key for key in common if ranked[key][0].values[key].differs(ranked[key][1].values[key])]
        ahead = list(dict.fromkeys(ranked[key][0].name for key in clear))
        if not clear:
            return self._alike(keys, common)
        along = numeric and not self.figure.panel_dim
        if len(ahead) > 1 and not numeric and not self.figure.panel_dim and len(common) == len(keys):
            return self._mixed(common, clear, ranked)
        once = any(line.values[key].once for line in self.lines for key in common)
        if once and (len(clear) < len(keys) or len(ahead) > 1):
            panels = self.figure.panel_dim
            return self._counted(keys, clear, ranked) if panels else self._extent_of_ratios(keys, common)
        if len(ahead) > 1 and self.figure.panel_dim:
            return self._counted(keys, clear, ranked)
        if len(ahead) > 1:
            return self._crossing(common, clear, ranked) if along and 2 * len(clear) >= len(keys) else []
        leader = ranked[clear[0]][0]
        if len(clear) == len(keys):
            return [self._ahead(leader, clear)]
        if not along or 2 * len(clear) <= len(keys):
            return []  # something true at only a few points is no message
        if clear == common[-len(clear) :] == keys[-len(clear) :]:
            return [self.words["claim_from"].format(text=self._ahead(leader, clear), start=self._place(clear[0]))]
        if clear == common[: len(clear)] == keys[: len(clear)]:
            return [self.words["claim_up_to"].format(text=self._ahead(leader, clear), last=self._place(clear[-1]))]
        return []

    def _ranked(self, key: _Key) -> list[_Line]:
        return sorted(self.lines, key=lambda line: line.values[key].value, reverse=self.better != "lower")

    def _ahead(self, leader: _Line, clear: Sequence[_Key]) -> str:
        """Return a sentence saying that one line is ahead of another at the `clear` points, and by how much."""
        ratios = []
        for at in clear:
            one, other = leader.values[at].value, self._ranked(at)[1].values[at].value
            ratios.append(max(one, other) / min(one, other))
        low, high, lower = min(ratios), max(ratios), self.better == "lower"
        others = [line.name for line in self.lines if line is not leader]
        if high < (2 if lower else _FEW):
            key, ends = ("claim_below", (1 - 1 / low, 1 - 1 / high)) if lower else ("claim_above", (low - 1, high - 1))
            by = {"percent": _percents(*ends, self.words)}
        else:
            key, by = self._form_of_times(lower=lower), {"times": _times(low, high, self.words)}
        form = key if len(others) == 1 else f"{key}_next"
        return self.say(form, name=leader.name, other=others[0], **by)

    def _mixed(self, keys: Sequence[_Key], clear: Sequence[_Key], ranked: Mapping[_Key, list[_Line]]) -> list[str]:
        """Return a sentence that says at how many points each of two lines leads."""
        if len(self.lines) != 2:
            return []
        counts = Counter(ranked[key][0].name for key in clear).most_common()
        (name, most), (other, rest) = counts
        of = "m_repeat_workloads" if self.first.series.x_dim == "workload" else "claim_places"
        total = counted(self.words, of, len(keys))
        said = self.say("claim_mixed", name=name, n=str(most), total=total, other=other, rest=str(rest))
        return [self._with_ties(said, len(ranked) - len(clear))]

    def _counted(self, keys: Sequence[_Key], clear: Sequence[_Key], ranked: Mapping[_Key, list[_Line]]) -> list[str]:
        """Return a sentence on the number of points, over all panels, at which each of two lines leads."""
        if len(self.lines) != 2:
            return []
        (name, most), *others = Counter(ranked[key][0].name for key in clear).most_common()
        holes = {"name": name, "n": str(most), "total": counted(self.words, "claim_points", len(keys))}
        if others:
            said = self.say("claim_counts", other=others[0][0], rest=str(others[0][1]), **holes)
        else:
            said = self.say("claim_count", **holes)
        return [self._with_ties(said, len(ranked) - len(clear))]

    def _with_ties(self, said: str, ties: int) -> str:
        """Add the number of ties to a sentence on who is ahead, so that the counts add up to the total."""
        if not ties:
            return said
        once = any(value.once for line in self.lines for value in line.values.values())
        self.notes.append(meaning_of_tied(self.words, published=bool(self.results.published), once=once))
        return said + self.words["claim_ties"].format(n=ties)

    def _extent_of_ratios(self, keys: Sequence[_Key], common: Sequence[_Key]) -> list[str]:
        """Return a sentence on the lowest and the highest ratio of two lines, naming first the line that is ahead on
        balance."""
        if len(self.lines) != 2 or len(common) < len(keys):
            return []
        other, name = self.lines
        ratios = [name.values[key].value / other.values[key].value for key in common]
        if max(ratios) * min(ratios) < 1:
            name, other, ratios = other, name, [1 / ratio for ratio in ratios]
        key = "claim_rate" if self.is_rate else "claim_times"
        times = _times(min(ratios), max(ratios), self.words)
        return [self.say(key, name=name.name, other=other.name, times=times)]

    def _form_of_times(self, *, lower: bool) -> str:
        if not lower:
            return "claim_rate" if self.is_rate else "claim_times"
        return "claim_smallest" if len(self.lines) > 2 else "claim_larger"

    def _alike(self, keys: Sequence[_Key], common: Sequence[_Key]) -> list[str]:
        """Return a sentence on the largest difference between the lines, if it is small and all differences are within
        noise."""
        widest = 0.0
        for key in common:
            values = sorted((line.values[key] for line in self.lines), key=lambda value: value.value)
            if values[0].differs(values[-1]) or len(common) < len(keys):
                return []
            widest = max(widest, values[-1].value / values[0].value - 1)
        if widest > _ALIKE:
            return []
        percent = with_unit(f"{max(1, math.ceil(100 * widest))}", "%")
        names = [line.name for line in self.lines]
        if len(names) == 2:
            return [self.say("claim_alike", name=names[0], other=names[1], percent=percent)]
        return [self.say("claim_alike_all", n=str(len(names)), percent=percent)]

    def _crossing(self, common: Sequence[_Key], clear: Sequence[_Key], ranked: Mapping[_Key, list[_Line]]) -> list[str]:
        """Return a sentence on where two lines cross, if they cross only once, and on who is ahead before and after."""
        in_order = [key for key in common if key in clear]
        runs = [(name, list(keys)) for name, keys in groupby(in_order, key=lambda key: ranked[key][0].name)]
        if len(runs) != 2 or len(self.lines) != 2:
            return []
        (first, before), (then, after) = runs
        return [
            self.say("claim_crosses", first=first, then=then, last=self._place(before[-1]), start=self._place(after[0]))
        ]

    def _place(self, key: _Key) -> str:
        """Return a point of the x axis with its noun, such as 8 threads."""
        dim = self.first.along or self.first.series.x_dim or ""
        form = f"at_{dim}"
        if form not in self.words or not key[1].replace(".", "").isdigit():
            return key[1]
        return self.words.form(form, 1.0 if key[1] == "1" else 2.0).format(n=points([float(key[1])]))

    def on_curves(self) -> list[str]:
        """Return a sentence on the ends of a single curve, or on the largest values of several."""
        if self.figure.panel_dim:
            return []
        most = [(max(line.values.values(), key=lambda value: value.x), line.name) for line in self.lines]
        if len(most) == 1:
            first, last = (f(self.lines[0].values.values(), key=lambda value: value.x) for f in (min, max))
            if not first.differs(last):
                return []
            key = "claim_rises" if first.value < last.value else "claim_falls"
            return [self.say(key, first=first.text, last=last.text, start=first.x_text, end=last.x_text)]
        if len(most) == 2:
            return self._further(*sorted(most, key=lambda one: -one[0].x))
        top, name = max(most, key=lambda one: one[0].x)
        return [self.say("claim_reaches", name=name, x=top.x_text, y=top.text)]

    def _further(self, first: tuple[_Value, str], second: tuple[_Value, str]) -> list[str]:
        """Return which of two curves reaches a higher value, if the difference is more than their noise."""
        (top, name), (below, other) = first, second
        noise = sum(each.noise / abs(each.value) * each.x if each.value else 0.0 for each in (top, below))
        if top.x - below.x > noise:
            return [self.say("claim_further", name=name, x=top.x_text, other=other, less=below.x_text)]
        return [self.say("claim_as_far", name=name, other=other, x=top.x_text, less=below.x_text)]

    # One line

    def along_axis(self) -> list[str]:
        """Return a sentence on whether the only line rises, falls, has a peak, or is level from some point on."""
        (line,) = self.lines
        keys = list(line.values)
        values = list(line.values.values())
        if len(values) < 2:
            return []
        first, last = values[0], values[-1]
        holes = {"first": first.text, "last": last.text, "start": self._place(keys[0]), "end": self._place(keys[-1])}
        level = next(i for i in range(len(values)) if not any(a.differs(b) for a in values[i:] for b in values[i:]))
        if level == 0:
            return [self.say("claim_level", value=_extent(values, self.words))]
        if level < len(values) - 1 and all(b.value > a.value or not b.differs(a) for a, b in pairwise(values)):
            return [self.say("claim_levels", start=self._place(keys[level]), value=values[level].text)]
        if not first.differs(last):
            return self._peak(values, keys)
        if all(b.value >= a.value or not b.differs(a) for a, b in pairwise(values)):
            return [self.say("claim_rises", **holes)]
        if all(b.value <= a.value or not b.differs(a) for a, b in pairwise(values)):
            return [self.say("claim_falls", **holes)]
        return self._peak(values, keys)

    def _peak(self, values: Sequence[_Value], keys: Sequence[_Key]) -> list[str]:
        top = max(values, key=lambda value: value.value)
        if not top.differs(values[0]) or not top.differs(values[-1]):
            return []
        return [self.say("claim_peaks", value=top.text, place=self._place(keys[values.index(top)]))]

    def by_category(self) -> list[str]:
        """Return a sentence that names the lowest and the highest bar of the only series, or only gives their values if
        there are ties."""
        (line,) = self.lines
        if len(line.values) < 2:
            return []
        in_order = sorted(line.values.items(), key=lambda item: item[1].value)
        (low_at, low), (high_at, high) = in_order[0], in_order[-1]
        said = [self.say("claim_extent", value=_extent(line.values.values(), self.words))]
        if low.differs(in_order[1][1]) and high.differs(in_order[-2][1]):
            said.insert(0, self.say("claim_range", low=low.text, high=high.text, least=low_at[1], most=high_at[1]))
        return said

    def on_slopes(self) -> list[str]:
        """If all slopes rise or all fall between the same first and last key, return a sentence saying by how much."""
        ends = [
            (its[0], its[-1])
            for line in self.lines
            for _, panel in groupby(line.values.items(), key=lambda item: item[0][0])
            if (its := list(panel))
        ]
        if any(a[1].value <= 0 or b[1].value <= 0 or not a[1].differs(b[1]) for a, b in ends):
            return []
        if len({(first[1], last[1]) for (first, _), (last, _) in ends}) > 1:
            return []  # some slopes lack an end
        ratios = sorted(b.value / a.value for (_, a), (_, b) in ends)
        if ratios[0] < 1 < ratios[-1]:
            return []
        (start, _), (end, _) = ends[0]
        holes = {"first": self._place(start), "then": self._place(end)}
        if ratios[0] > 1:
            if ratios[-1] >= _FEW:
                return [self.say("claim_slope_times", times=_times(ratios[0], ratios[-1], self.words), **holes)]
            return [self.say("claim_slope_up", percent=_percents(ratios[0] - 1, ratios[-1] - 1, self.words), **holes)]
        return [self.say("claim_slope_down", percent=_percents(1 - ratios[-1], 1 - ratios[0], self.words), **holes)]


# --- numbers of a sentence --------------------------------------------------------------------------------------------


def _times(low: float, high: float, words: Words) -> str:
    """Write a ratio or a range of ratios, such as 8.5 to 11.6 or 14 to 37."""
    decimals = 1 if low < 10 and high < 100 else 0
    return _range((locale().numerals(formatted(ratio, f",.{decimals}f")) for ratio in (low, high)), words)


def _percents(low: float, high: float, words: Words) -> str:
    """Write a share or a range of shares, such as 12 to 30%."""
    decimals = 1 if 100 * high < 3 else 0
    ends = (locale().numerals(formatted(100 * share, f".{decimals}f")) for share in (low, high))
    return with_unit(_range(ends, words), "%")


def _extent(values: Collection[_Value], words: Words) -> str:
    """Write the lowest and the highest value, with their unit only once."""
    low, high = (f(values, key=lambda value: value.value) for f in (min, max))
    return with_unit(_range((low.number, high.number), words), high.unit)


def _range(ends: Iterable[str], words: Words) -> str:
    """Join the two ends of a range, or return only one if they are equal."""
    return words["to"].join(dict.fromkeys(ends))
