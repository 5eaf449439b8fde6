"""Makes a figure from the plan and its results: charts, data, alternative text and footnotes."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise, product

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan
from benchbrief.model.budgets import strictest_level
from benchbrief.model.plan import DimKey
from benchbrief.model.points import Curve
from benchbrief.model.precision import magnitude, to_digits
from benchbrief.model.units import parse_unit
from benchbrief.reports.charts.chart import (
    MOST_COLOURS,
    NO_REACH,
    Chart,
    ChartNote,
    ChartPoint,
    Reach,
    Trace,
    XAxis,
    XKind,
    share_their_points,
)
from benchbrief.reports.charts.document_colours import Colour, DocumentColours, document_colours
from benchbrief.reports.charts.drawn_series import Detail, DrawnSeries, column_writer, text_of, with_texts
from benchbrief.reports.charts.figure_message import FEWEST_FOR_INTERVAL, message
from benchbrief.reports.charts.searched_points import (
    chosen_ramp,
    low_limits,
    not_chosen,
    round_rates,
    with_rules,
    with_verdicts,
)
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.place_labels import level_name
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tables import Columns
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.reports.text.number_format import (
    NBSP,
    Scale,
    belonging,
    fixed,
    in_prose,
    is_counted,
    key_text,
    locale,
    points,
    scale_for,
    spelled_unit,
    unit_text,
    whole_nodes,
)
from benchbrief.reports.text.render_prose import Citation, Inserted, heading
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.runners.scheduling.confidence_interval import t_interval

_IN_SLOTS = ("bar", "range")
_CATEGORIES = (*_IN_SLOTS, "slope", "bracket")
"""The marks that are drawn at named keys rather than along a scale."""
_MANY = 12  # series: above this number, only the finding and the table of data have their ends
_MOST_LEADERS = 4
"""The most series to name in a finding when no series is the highest everywhere."""


def describe_figure(charts: Sequence[Chart], drawn: Sequence[DrawnSeries], results: Results, x_dim: str | None) -> str:
    """Describe a figure in words, panel by panel: its kind, its axes, the ends of each series, and the highest
    series."""
    words, chart = results.words, charts[0]
    marks = {d.trace.mark for d in drawn if d.on_axis}
    mark = "mixed" if len(marks) > 1 else next(iter(marks), "rule")
    kind = words[f"alt_{mark}"].format(dim=words.dimension(x_dim or ""))
    axes = words["alt_curve_axes" if mark == "curve" else "alt_axes"]
    sentences = [axes.format(kind=kind, x=chart.x.title, y=chart.left or chart.right)]
    if chart.right and chart.left:
        sentences.append(words["alt_right"].format(y=chart.right))
    if chart.x.open:
        sentences.append(counted(words, "alt_candidates", len(chart.x.open)))
    if len(charts) > 1:
        sentences.append(words["alt_panels"].format(n=len(charts)))
    for panel in charts:
        own = [d for d in drawn if d.panel == panel.heading]
        if panel.heading:
            sentences.append(words["alt_panel"].format(name=panel.heading))
        sentences += _findings(own, words)
        if len(drawn) <= _MANY:
            for d in own:
                sentences += [_ends(d, words), *_verdicts(d, words)]
    return " ".join(sentences)


def _ends(d: DrawnSeries, words: Words) -> str:
    drawn = zip(d.trace.points, d.labels, strict=True)
    shown = [(text_of(p, d, words), label) for p, label in drawn if p.y is not None]
    name = d.trace.name
    if not shown:
        return words["alt_empty"].format(name=name)
    if d.named:
        return words["alt_named"].format(name=name)
    first, last = shown[0][0], shown[-1][0]
    if not shown[0][1]:
        key = "alt_constant"
    elif len(shown) == 1:
        key = "alt_single"
    else:
        key = "alt_level" if shown[0][0] == shown[-1][0] else "alt_trace"
    return words[key].format(name=name, first=first, last=last, first_x=shown[0][1], last_x=shown[-1][1])


def _verdicts(d: DrawnSeries, words: Words) -> list[str]:
    """Return sentences about a line's rates: those that broke its promise, and those that the load generator could not
    reach."""
    hollow = [p.x for p in d.trace.points if p.hollow and p.y is not None]
    late = [p.x for p in d.trace.points if p.late and p.y is not None]
    by_search = {
        "alt_broken": sorted([*hollow, *(mark.x for mark in d.trace.refused if not mark.beyond)]),
        "alt_beyond": sorted([*late, *(mark.x for mark in d.trace.refused if mark.beyond)]),
    }
    return [
        words[key].format(name=d.trace.name, rates=words.locale.listed([points([rate]) for rate in rates]))
        for key, rates in by_search.items()
        if rates
    ]


def _findings(drawn: Sequence[DrawnSeries], words: Words) -> list[str]:
    """For each axis and quantity, return a sentence on its highest series. If there are several quantities, each
    sentence names its own."""
    lines = [d for d in drawn if d.on_axis and d.trace.mark != "range"]
    groups: dict[tuple[bool, str], list[DrawnSeries]] = {}
    for d in lines:
        if not d.trace.is_reference:
            groups.setdefault((d.trace.right, d.label), []).append(d)
    found = []
    for (_, label), compared in groups.items():
        if len(compared) > 1 and (text := _finding(compared, words)):
            of = "" if len(compared) == len(lines) else words["alt_panel"].format(name=label) + " "
            found.append(f"{of}{text}")
    return found


def _finding(compared: Sequence[DrawnSeries], words: Words) -> str:
    """Return a phrase that names the highest series. Only the points that all series share are compared. If these are
    fewer than half of the points, return ""."""
    values = [{k: p.y for k, p in zip(d.labels, d.trace.points, strict=True) if p.y is not None} for d in compared]
    keys = list(dict.fromkeys(label for d in compared for label in d.labels))
    common = [key for key in keys if all(key in of_one for of_one in values)]
    if 2 * len(common) < len(keys) or not common:
        return ""
    where = words["alt_everywhere"] if common == keys else counted(words, "alt_where_all", len(common))
    leaders = Counter(_leader([of_one[key] for of_one in values]) for key in common)
    (leader, at), *_ = leaders.most_common()
    if at == len(common) and leader is not None:
        name = compared[leader].trace.name
        times = _times([[of_one[key] for of_one in values] for key in common], leader, words)
        return words["alt_highest_by" if times else "alt_highest"].format(name=name, where=where, times=times)
    if all(len({of_one[key] for of_one in values}) == 1 for key in common):
        return words["alt_equal"].format(where=where)
    ties = leaders.pop(None, 0)
    parts = [
        words["alt_leader"].format(name=compared[place].trace.name, n=n, points=len(common))
        for place, n in leaders.most_common(_MOST_LEADERS)
        if place is not None
    ]
    if ties:
        parts.append(words["alt_tied"].format(n=ties, points=len(common)))
    return words["alt_highest_nowhere"].format(where=where, parts=words["semicolon"].join(parts))


def _leader(values: Sequence[float]) -> int | None:
    """Return the index of the largest value, or None for a tie."""
    largest = max(values)
    return values.index(largest) if values.count(largest) == 1 else None


def _times(points: Sequence[Sequence[float]], leader: int, words: Words) -> str:
    """Return the ratio of the leader to the next series as text, as a range over all points. Return "" if a value of
    the next series is not above zero, or if the values are about equal."""
    next_ones = [max(v for place, v in enumerate(values) if place != leader) for values in points]
    if min(next_ones) <= 0:
        return ""
    ratios = [values[leader] / below for values, below in zip(points, next_ones, strict=True)]
    ends = [_three_digits(ratio) for ratio in (min(ratios), max(ratios))]
    return "" if ends[1] == _three_digits(1.0) else words["to"].join(dict.fromkeys(ends))


def _three_digits(value: float) -> str:
    """Write a number with three digits, such as 1.00, 12.3 or 1,230."""
    rounded = to_digits(value, 3)
    return fixed(rounded, max(0, 2 - magnitude(rounded)))


def staircase_axis(
    figure: plan.FigureElement, x_dim: str | None, results: Results
) -> tuple[str | None, dict[str, tuple[plan.LabelledKey, ...]]]:
    """Return the quantity on the x axis, and its keys. If all drawn experiments use the same staircase of rates, the
    axis shows these rates instead of the steps' numbers."""
    if x_dim != "phase":
        return x_dim, {}
    names = {cell.experiment for series in figure.series for cell in results.cells_behind(series.query)}
    arrivals = {name: results.plan.experiments[name].arrivals for name in names}
    rates = {each.rates if each and each.kind == "steps" else () for each in arrivals.values()}
    steps = rates.pop() if len(rates) == 1 else ()
    numbers = [float(key.value) for key in figure.keys.get("phase", ())]
    if not steps or not numbers or not {*numbers} <= {*range(1, len(steps) + 1)}:
        return x_dim, {}
    keys = (plan.LabelledKey(value=number, label=f"{steps[int(number) - 1]:.12g}") for number in numbers)
    return "target", {"phase": tuple(keys)}


def axis_scale(drawn: Sequence[DrawnSeries], reached: Sequence[float] = ()) -> Scale:
    """Return an axis scale for these series and the values in `reached`. Marks on the x axis and brackets are
    ignored."""
    shown = [d for d in drawn if not d.upright and d.trace.mark != "bracket"]
    units = {d.series.query.unit for d in shown}
    if len(units) != 1:
        return Scale(1.0, "")
    if any(d.series.format and d.series.query.unit != "share" for d in shown):
        return Scale(1.0, unit_text(units.pop()))  # a format is of the unit, as in tables
    return scale_for([*(v for d in shown for p in d.trace.points for v in (p.y, p.end)), *reached], units.pop())


def in_scale(drawn: DrawnSeries, y: Scale, x: Scale) -> DrawnSeries:
    y = Scale(1.0, "") if drawn.trace.mark == "bracket" else y

    def opt(value: float | None) -> float | None:
        return None if value is None else y(value)

    points = tuple(
        replace(
            p,
            x=x(p.x),
            y=(None if p.y is None else x(p.y)) if p.upright else opt(p.y),
            low=opt(p.low),
            high=opt(p.high),
            end=opt(p.end),
            repeats=tuple(map(y, p.repeats)),
        )
        for p in drawn.trace.points
    )
    return replace(drawn, trace=replace(drawn.trace, points=points), y=y, x=x)


def label_with_unit(label: str, unit: str) -> str:
    """Return the title of an axis with its unit, unless the title already contains it, as in `Nodes for the
    same work`."""
    edge = r"\b" if unit.isascii() else ""
    is_word = len(unit) > 3 or not unit.isascii()  # a short one, such as s, may be a part of other words
    named = is_word and re.search(f"{edge}{re.escape(unit)}{edge}", label, re.IGNORECASE)
    return f"{label} ({unit})" if unit and not named and not label.endswith(f"({unit})") else label


def without_shared_end(label: str, other: str) -> str:
    """Shorten `Throughput, Sessions` to `Throughput` if the other axis is called `p99 read latency, Sessions`, so that
    only one of them shows the shared end."""
    comma = locale().listed(("", ""))
    places = (found.start() for found in re.finditer(re.escape(comma), label))
    return next((label[:at] for at in places if other.endswith(label[at:])), label)


def axis_title(drawn: Sequence[DrawnSeries], scale: Scale, words: Words) -> str:
    over_bars = {"bracket", *(["rule"] if any(d.trace.stands_in_slot for d in drawn) else [])}  # their names are beside
    drawn = [d for d in drawn if not d.upright and d.trace.mark not in over_bars]
    main = [d for d in drawn if d.series.color_dim] or drawn
    labels = list(dict.fromkeys(d.label for d in main))
    names = {d.trace.name for d in drawn if d.on_axis}
    if len(names) == len(labels) == 1 and main[0].series.color_dim:  # a single line has no legend
        labels = [locale().listed((labels[0], *names))]
    comma = locale().listed(("", ""))
    if len(labels) > 1 and len(begun := {label.partition(comma)[0] for label in labels}) == 1:
        return label_with_unit(begun.pop(), scale.unit)  # such as "Less time, reads" and "Less time, updates"
    if len(labels) > 1 and scale.unit:  # the legend names the series; the axis names what it counts
        if scale.unit == "%":
            are_changes = any(d.series.query.signed for d in main)
            return label_with_unit(words["axis_change" if are_changes else "axis_share"], scale.unit)
        dimensions = {parse_unit(d.series.query.unit).dimension for d in main}
        kind = next((words[key] for unit, key in _KINDS.items() if dimensions == {parse_unit(unit).dimension}), "")
        return label_with_unit(kind, scale.unit) if kind else scale.unit
    if len({d.series.query.unit for d in drawn}) > 1:
        labels = list(dict.fromkeys(label_with_unit(d.label, unit_text(d.series.query.unit)) for d in drawn))
    return label_with_unit(locale().listed(labels), scale.unit)


_KINDS: Mapping[str, str] = {"s": "axis_time", "B/s": "axis_bandwidth"}
"""The title of an axis for several quantities of one kind, such as times, by the kind's base unit."""
_MOST_REASONS = 3
"""The most kinds of reasons for gaps to list in a footnote. The disclosure lists all of them."""
_IN_WORD = r"[^\W\u2e80-\u9fff\uff00-\uffef]"
"""Matches a letter or a digit within a word. Japanese has no blanks between its words."""
UNIT_OF_DIM = {"target": "ops/s", "time": "s"}


@dataclass(frozen=True)
class Drawing:
    """The drawing of a figure. `charts` are its panels: one chart, or small multiples. A figure without any value has
    no charts.

    `series` are the series of all panels in order, with the details of their points.
    """

    charts: tuple[Chart, ...]
    series: tuple[DrawnSeries, ...]
    alt: str
    data_head: tuple[str, ...]
    data: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    key: str = ""
    """The explanation of pale bars, small rings, and the numbers beside a curve's points."""
    message: str = ""
    """The finding that the figure shows if the author did not write one."""


@dataclass
class _Remarks:
    """The material for a figure's footnotes, collected while its traces are made."""

    notes: dict[str, None] = field(default_factory=dict)
    missing: int = 0
    points: int = 0
    breaks: int = 0
    reasons: dict[str, None] = field(default_factory=dict)
    rings: bool = False
    """Whether single repeats are drawn."""
    rings_of_points: bool = True
    """Whether each ring belongs to one point. A ring may also belong to a number such as a maximum, which is computed
    from several points."""
    placed: set[str] = field(default_factory=set)
    """The notes whose points exist."""

    def texts(self, words: Words) -> tuple[str, ...]:
        breaks = (counted(words, "breaks", self.breaks),) if self.breaks else ()
        if not self.missing:
            return (*breaks, *self.notes)
        kinds = [text for _, text, _ in merge_remarks(("", reason, 1) for reason in self.reasons)]
        shown = kinds[:_MOST_REASONS]
        if len(kinds) > len(shown):
            shown.append(words["notice_and_more"].format(n=len(kinds) - len(shown)))
        gap = counted(words, "gap", self.points, reasons=words["semicolon"].join(shown), missing=self.missing)
        return (gap, *breaks, *self.notes)


def fits_half(figure: plan.FigureElement) -> bool:
    """Return whether the figure fits into half of the page's width. A figure with panels side by side is always too
    wide."""
    if figure.panel_dim:
        return False
    bars = [s for s in figure.series if s.mark in _IN_SLOTS]
    slots = max((len(_keys(figure, s.x_dim)) for s in bars), default=0)
    side = sum(len(_keys(figure, s.color_dim)) if s.color_dim else 1 for s in bars)
    traces = sum(len(_keys(figure, s.color_dim)) if s.color_dim else 1 for s in figure.series)
    longest = max((len(k.label) for s in bars for k in _keys(figure, s.x_dim)), default=0)
    return slots * side <= 10 and traces <= 4 and slots * longest <= 80


@dataclass(frozen=True)
class Sketch:
    """A figure's series in base units, before their axes are known. `figure` has the shown keys, and `planned` has all
    keys of the x axis, whose dimension is `along`."""

    figure: plan.FigureElement
    drawn: Sequence[DrawnSeries]
    x_dim: str | None
    planned: tuple[plan.LabelledKey, ...]
    along: str
    stairs: bool
    chosen: str | None
    kind: XKind
    log_y: bool
    log_y_right: bool
    remarks: _Remarks


def drawing(
    figure: plan.FigureElement,
    results: Results,
    notes: Sequence[str] | None = None,
    columns: Columns | None = None,
    colours: DocumentColours | None = None,
) -> Drawing:
    """Return everything about a single figure except its place on the page."""
    return finished(sketched(figure, results, colours), results, notes, columns)


def sketched(figure: plan.FigureElement, results: Results, colours: DocumentColours | None = None) -> Sketch:
    """Return the series that a figure draws. `colours` are the colours of the whole brief."""
    x_dim = next((s.x_dim for s in figure.series if s.x_dim), None)
    planned = _keys(figure, x_dim)
    figure = figure.model_copy(update={"keys": _with_level_names(figure, _all_keys(figure, results), results)})
    along, stairs = staircase_axis(figure, x_dim, results)
    figure = figure.model_copy(update={"keys": {**figure.keys, **stairs}})
    if results.published and x_dim:
        figure = _without_unpublished(figure, x_dim, results)
    remarks = _Remarks()
    colours = colours or document_colours([figure], results.plan, {})
    chosen = chosen_ramp(figure, x_dim, results)
    kind = "category" if stairs else _x_kind(figure, x_dim, results, chosen=bool(chosen))
    drawn = [
        d
        for panel in _panels(figure)
        for s in figure.series
        for d in _traces(figure, s, kind, panel, results, remarks, colours)
    ]
    if (shown_as := _as_bars(figure, x_dim, drawn)) and not stairs:
        return replace(sketched(shown_as, results, colours), remarks=remarks)
    drawn = [
        replace(d, along=along or "")
        for d in with_rules(figure, _panels(figure), drawn, results, remarks.notes, colours)
    ]
    low = low_limits(drawn)
    bars = {s.axis for s in figure.series if s.mark == "bar"}  # which start at zero
    log_y = (figure.log_y or False in low or _is_tangled(drawn)) and "left" not in bars
    log_y_right = (figure.log_y_right or True in low) and "right" not in bars
    if log_y or log_y_right or kind == "log":
        drawn = _without_non_positive(drawn, results, remarks, {False: log_y, True: log_y_right}, log_x=kind == "log")
    if results.published:  # a series that the source does not state is not a gap
        stated = {d.trace.name for d in drawn if d.has_values}
        drawn = [d for d in drawn if d.trace.name in stated] or drawn
    return Sketch(figure, drawn, x_dim, planned, along or "", bool(stairs), chosen, kind, log_y, log_y_right, remarks)


_TANGLED = 10.0


def _is_tangled(drawn: Sequence[DrawnSeries]) -> bool:
    """Return whether curves of latency over throughput would be hard to tell apart on a linear axis, because the
    largest value is many times the smallest."""
    curves = [d for d in drawn if d.trace.mark == "curve" and not d.trace.right]
    values = [p.y for d in curves for p in d.trace.points if p.y is not None and p.y > 0]
    return bool(values) and max(values) >= _TANGLED * min(values)


def _as_bars(figure: plan.FigureElement, x_dim: str | None, drawn: Sequence[DrawnSeries]) -> plan.FigureElement | None:
    """Return a figure with bars instead of lines if each line has only one point, all at the same place. Such lines
    show nothing along the x axis. Return None for other figures, or if points are missing."""
    lines = [d for d in drawn if d.trace.mark == "line" and not d.trace.ideal and d.has_values]
    measured = {key for d in lines for key in d.keys}
    if not x_dim or x_dim == "time" or figure.log_y or len(lines) < 2 or len(measured) != 1:
        return None
    if any(s.mark not in ("line", "rule") for s in figure.series) or any(s.axis == "right" for s in figure.series):
        return None
    lined = (s for s in figure.series if s.mark == "line" and not s.is_ideal)
    series = tuple(s.model_copy(update={"mark": "bar", "dashed": False}) for s in lined)
    keys = {**figure.keys, x_dim: tuple(key for key in _keys(figure, x_dim) if key.value in measured)}
    return figure.model_copy(update={"series": series, "keys": keys, "log_x": False})


def finished(
    sketch: Sketch,
    results: Results,
    notes: Sequence[str] | None = None,
    columns: Columns | None = None,
    reach: Reach = NO_REACH,
) -> Drawing:
    """Return everything about a figure except its place on the page.

    `notes` are the texts of its `point_notes`. If they are None, the numbers of the texts are filled in here. `columns`
    are the columns of the tables beside the figure. `reach` holds values of other figures, in base units, that the axes
    also cover.
    """
    figure, drawn, x_dim, along, kind = sketch.figure, sketch.drawn, sketch.x_dim, sketch.along, sketch.kind
    stairs, chosen, remarks = sketch.stairs, sketch.chosen, sketch.remarks
    notes = [_note_text(note.text, results) for note in figure.point_notes] if notes is None else notes
    left = [d for d in drawn if not d.trace.right]
    right = [d for d in drawn if d.trace.right]
    y_scale, y_right = axis_scale(left, reach.left), axis_scale(right, reach.right)
    curve = next((s for s in figure.series if s.mark == "curve"), None)
    if curve:
        x_unit = curve.x_query.unit if curve.x_query else ""
        x_scale = scale_for([*(p.x for d in drawn for p in d.trace.points), *reach.x], x_unit)
    else:
        x_scale = _axis_of_keys(along, kind, results)
    reach = Reach(tuple(map(y_scale, reach.left)), tuple(map(y_right, reach.right)), tuple(map(x_scale, reach.x)))
    in_scales = [in_scale(d, y_right if d.trace.right else y_scale, x_scale) for d in drawn]
    scaled = with_texts(in_scales, results.words, columns)
    x_label = figure.x_label or next((readable_label(s.x_label, results.words) for s in figure.series if s.x_label), "")
    x_label = x_label or results.words.dimension(along)
    x_keys = _keys(figure, x_dim)
    loads = stairs or along in ("threads", "target")
    labels = (f"{float(k.label):,.12g}" if loads and _is_number(k.label) else k.label for k in x_keys)
    named = map(key_text, labels, (k.value for k in x_keys)) if kind == "category" else ()
    categories = tuple(name.replace(NBSP, " ") for name in named)  # on two lines where bars are narrow
    places = () if curve or kind == "category" else tuple(x_scale(float(k.value)) for k in x_keys)
    ticks = round_rates(places) if chosen == "searched" else places
    if curve:
        x_label = without_shared_end(x_label, readable_label(curve.label, results.words))
    numeric = bool(stairs) or kind != "category"
    left_out = not_chosen(sketch.planned, x_keys) if chosen and kind == "log" and not curve else ()
    open_ticks = left_out if chosen == "adaptive" else ()
    untitled = kind == "category" and along in ("hardware", "workload") and not figure.x_label
    log = results.words["log_scale"]
    told = [figure.title, *(part for part in figure.claim.parts if isinstance(part, str))] if figure.claim else []
    alone = untitled and len(categories) == 1 and any(_names(text, categories[0]) for text in told)
    axis = XAxis(label_with_unit(x_label, x_scale.unit), kind, categories, ticks, open_ticks, untitled, alone, log)
    if left_out:
        key = "candidates" if chosen == "adaptive" else "rates_left_out"
        remarks.notes[counted(results.words, key, len(left_out), of=len(sketch.planned))] = None
    if any(d.trace.stands_in_slot and (d.trace.color or 0) >= MOST_COLOURS for d in scaled):
        remarks.notes[results.words["colours_repeat"].format(n=MOST_COLOURS)] = None
    titles = axis_title(left, y_scale, results.words), axis_title(right, y_right, results.words)
    logs = sketch.log_y, sketch.log_y_right
    even = results.words["no_difference"] if left and all(map(_is_ratio, left)) else ""
    panels = dict.fromkeys(d.panel for d in scaled)
    traces = {name: tuple(_as_labelled(d) for d in scaled if d.panel == name) for name in panels}
    charts = tuple(Chart(traces[name], axis, *titles, *logs, name, reach=reach, even=even) for name in panels)
    charts = tuple(_with_notes(chart, figure, notes, scaled, remarks) for chart in charts)
    for text in (each for each in notes if each not in remarks.placed):
        remarks.notes[results.words["note_not_placed"].format(note=text)] = None
    said, explained = ("", ()) if figure.claim else message(figure, scaled, results, numeric=numeric)
    for text in explained:
        remarks.notes[text] = None
    keys = [_key_of_points(charts, x_dim, results.words)] if curve and x_dim else []
    if any(point.worse for d in scaled if not d.trace.dashed for point in d.trace.points):
        are_apart = any(d.trace.dashed and d.trace.stands_in_slot for d in scaled)
        keys = [results.words["pale_bars_unbroken" if are_apart else "pale_bars"]]
    if len({d.trace.name for d in scaled}) == 1 and any(d.trace.estimated for d in scaled):  # no legend says so
        keys.append(results.words["estimates_drawn"])
    if remarks.rings:
        keys.append(results.words["repeats_drawn" if remarks.rings_of_points else "repeats_reduced"])
    marked = all(s.mark == "rule" for s in figure.series)  # a mark alone shows nothing that was measured
    return Drawing(
        charts if any(d.has_values for d in scaled if marked or d.trace.mark != "rule") else (),
        scaled,
        describe_figure(charts, scaled, results, x_dim),
        _data_head(charts[0], results, x_dim, figure.panel_dim, curve=curve is not None),
        tuple(_data(scaled, results.words, curve=curve is not None, panels=figure.panel_dim is not None)),
        remarks.texts(results.words),
        results.words["semicolon"].join(keys),
        said,
    )


def _key_of_points(charts: Sequence[Chart], dim: str, words: Words) -> str:
    """Return the explanation of the numbers beside the points of curves. If all curves have the same points, one curve
    has the numbers."""
    traces = [trace for chart in charts for trace in chart.traces]
    said = {"dim": words.dimension(dim)}
    if not share_their_points(traces):
        return words["point_labels"].format(**said)
    labels = [point.label for trace in traces if trace.mark == "curve" for point in trace.points if point.y is not None]
    return words["point_labels_alike"].format(**said, labels=words.locale.listed(dict.fromkeys(labels)))


def _as_labelled(drawn: DrawnSeries) -> Trace:
    """Return the trace with values in nodes rounded up, so that bars are as high as their labels say."""
    trace, unit = drawn.trace, drawn.series.query.unit
    if not trace.stands_in_slot:
        return trace

    def whole(value: float | None) -> float | None:
        return None if value is None else whole_nodes(value, unit)

    return replace(trace, points=tuple(replace(p, y=whole(p.y), end=whole(p.end)) for p in trace.points))


def _is_ratio(drawn: DrawnSeries) -> bool:
    """Return whether a series shows a ratio of one thing to another. Bars from zero do not count."""
    query = drawn.series.query
    return drawn.trace.mark in ("range", "line", "slope") and query.unit in ("", "1") and bool(query.divides)


def _without_unpublished(figure: plan.FigureElement, x_dim: str, results: Results) -> plan.FigureElement:
    """Return a bar figure without the keys for which the source states no value. These keys are counted among the
    brief's limits."""
    bars = [s for s in figure.series if s.mark in ("bar", "range") and s.x_dim == x_dim]

    def is_stated(series: plan.Series, key: plan.LabelledKey) -> bool:
        dims = [dim for dim in (series.color_dim, figure.panel_dim) if dim]
        places = product(*([(dim, each.value) for each in _keys(figure, dim)] for dim in dims))
        return any(results.at(series.query, **{x_dim: key.value, **dict(at)}) is not None for at in places)

    stated = tuple(key for key in _keys(figure, x_dim) if any(is_stated(series, key) for series in bars))
    return figure.model_copy(update={"keys": {**figure.keys, x_dim: stated}}) if stated else figure


def _note_text(text: plan.Prose, results: Results) -> str:
    """Return the text of a note, with its numbers filled in."""

    def insert(value: plan.Value | Citation, follows: str) -> Inserted:
        if isinstance(value, Citation):
            return Inserted("", Markup())
        low, high = results.at(value.query), results.at(value.high) if value.high else None
        if low is None or (value.high and high is None):
            return Inserted(results.words["missing"], Markup(), takes=len(belonging(value.query.unit, follows)))
        takes = len(spelled_unit(value.query.unit, follows)) if value.format else 0
        filled = in_prose(low, high, value.format, value.query.unit, follows, results.words["to"])
        return Inserted(filled, Markup(), takes=takes)

    return heading(text, insert)[0]


def _with_notes(
    chart: Chart, figure: plan.FigureElement, texts: Sequence[str], drawn: Sequence[DrawnSeries], remarks: _Remarks
) -> Chart:
    """Return a chart with the notes whose points were measured. The notes are recorded in `remarks`."""
    own = [d for d in drawn if d.panel == chart.heading]
    found = []
    for note, text in zip(figure.point_notes, texts, strict=True):
        points = tuple((place, i) for place, d in enumerate(own) for i in d.points_at(note.at))
        if points:
            found.append(ChartNote(text, points))
            remarks.placed.add(text)
    return replace(chart, notes=tuple(found))


# --- traces ------------------------------------------------------------------------------------------------------


def _all_keys(figure: plan.FigureElement, results: Results) -> dict[str, tuple[plan.LabelledKey, ...]]:
    """Return the figure's keys, including times and nodes, which only the results have."""
    keys = dict(figure.keys)
    for series in figure.series:
        for dim in (series.x_dim, series.color_dim, figure.panel_dim):
            if dim and dim not in figure.keys and dim in series.query.dims:
                found = results.keys(series.query, dim) | {k.value for k in keys.get(dim, ())}
                keys[dim] = tuple(map(_numbered, sorted(found, key=lambda v: (isinstance(v, str), v))))
    return {dim: tuple(k for k in of_dim if not _not_needed(figure, dim, k, results)) for dim, of_dim in keys.items()}


def _with_level_names(
    figure: plan.FigureElement, keys: Mapping[str, tuple[plan.LabelledKey, ...]], results: Results
) -> dict[str, tuple[plan.LabelledKey, ...]]:
    """Return the keys of a figure. If a factor distinguishes panels, or lines by their colour, its name is on no axis.
    It is then added to those of its levels that would be unclear without it."""
    known = {dim: results.plan.factors[dim] for dim in keys if dim in results.plan.factors}
    named = {figure.panel_dim, *(series.color_dim for series in figure.series)}
    return {
        dim: tuple(plan.LabelledKey(value=k.value, label=level_name(known[dim], k.value)) for k in of_dim)
        if dim in named and dim in known
        else of_dim
        for dim, of_dim in keys.items()
    }


def _axis_of_keys(dim: str, kind: XKind, results: Results) -> Scale:
    """Return the scale of an x axis with the keys of a dimension. A factor's keys are in the factor's unit."""
    factor = results.plan.factors.get(dim)
    if factor is None or factor.unit is None or kind == "category":
        return Scale(1.0, UNIT_OF_DIM.get(dim, ""))
    return Scale(parse_unit(factor.unit).factor, unit_text(factor.unit))


def _numbered(value: DimKey) -> plan.LabelledKey:
    return plan.LabelledKey(value=value, label=value if isinstance(value, str) else f"{value:.12g}")


def moments_in_gaps(seconds: Iterable[float]) -> set[float]:
    """Return one moment in each gap, so that the line breaks there. A gap is a step longer than 2.5 times the median
    step."""
    steps = list(pairwise(sorted(seconds)))
    usual = statistics.median(b - a for a, b in steps) if steps else 0.0
    return {a + usual for a, b in steps if b - a > 2.5 * usual}


def _not_needed(figure: plan.FigureElement, dim: str, key: plan.LabelledKey, results: Results) -> bool:
    """Return whether a search skipped this point for everything that the figure draws there."""
    if dim not in ("threads", "target"):
        return False
    drawn = [series for series in figure.series if dim in (series.x_dim, series.color_dim)]
    return bool(drawn) and all(results.not_needed(series.query, **{dim: key.value}) for series in drawn)


def _keys(figure: plan.FigureElement, dim: str | None) -> tuple[plan.LabelledKey, ...]:
    return figure.keys.get(dim, ()) if dim else ()


def _names(text: str, name: str) -> bool:
    """Return whether a text has a name as whole words. A single letter names nothing: `A` is also an article."""
    whole = rf"(?<!{_IN_WORD}){re.escape(name.casefold())}(?!{_IN_WORD})"
    return len(name) > 1 and re.search(whole, text.casefold()) is not None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


def _x_kind(figure: plan.FigureElement, dim: str | None, results: Results, *, chosen: bool = False) -> XKind:
    if any(s.mark == "curve" for s in figure.series):
        return "log" if figure.log_x else "linear"
    keys = _keys(figure, dim)
    if any(s.mark in _CATEGORIES for s in figure.series) or any(isinstance(k.value, str) for k in keys) or not keys:
        return "category"
    if dim in ("phase", "repeat"):
        return "steps"
    values = sorted(float(k.value) for k in keys)
    if values[0] <= 0:
        return "linear"
    ratios = [b / a for a, b in pairwise(values)]
    spaced = (dim == "threads" or dim in results.plan.factors) and len(ratios) > 1 and min(ratios) >= 1.5
    return "log" if figure.log_x or spaced or chosen else "linear"


def _panels(figure: plan.FigureElement) -> Sequence[plan.LabelledKey | None]:
    return _keys(figure, figure.panel_dim) or (None,)


def _traces(
    figure: plan.FigureElement,
    series: plan.Series,
    kind: XKind,
    panel: plan.LabelledKey | None,
    results: Results,
    remarks: _Remarks,
    colours: DocumentColours,
) -> Iterable[DrawnSeries]:
    coloured = sum(1 for s in figure.series if s.color_dim)
    label = readable_label(series.label, results.words)
    for index, key in enumerate(_keys(figure, series.color_dim) or (None,)):
        if key is None:
            plain = not coloured and series.mark != "bracket"
            name, colour = label, (colours.of_series(figure, series, results.plan) if plain else None)
            where: dict[str, DimKey] = {}
        else:
            shown = key_text(key.label, key.value)
            name = shown if coloured == 1 else results.words.locale.listed((label, shown))
            where = {series.color_dim or "": key.value}
            colour = colours.of_key.get((series.color_dim or "", key.value), Colour(index))
        if panel is not None and figure.panel_dim:
            where = {**where, figure.panel_dim: panel.value}
        level = series.mark == "rule" or not series.x_dim
        keys = (plan.LabelledKey(value=0.0, label=""),) if level else _keys(figure, series.x_dim)
        if series.x_dim == "time" and series.mark == "line":
            keys = _moments(series, where, keys, results)
        points = [_point(series, i, k, where, kind, results) for i, k in enumerate(keys)]
        if series.x_dim and series.mark != "rule":
            drawn_at = [i for i, point in enumerate(points) if point.y is not None]
            kept = [
                (point, k)
                for i, (point, k) in enumerate(zip(points, keys, strict=True))
                if point.y is not None
                or _is_due(series, series.x_dim, {**where, series.x_dim: k.value}, results)
                or (series.mark == "line" and bool(drawn_at) and drawn_at[0] < i < drawn_at[-1])  # breaks the line
            ]
            points, keys = [point for point, _ in kept], tuple(k for _, k in kept)
        _explain(points, keys, series, where, name, results, remarks)
        details = tuple(_detail(series, p, k, where, results) for p, k in zip(points, keys, strict=True))
        named = False
        loose = series.mark == "line" and any(isinstance(k.value, str) for k in keys)
        if series.mark == "rule" and series.x_dim:
            points = [_standing(point, figure, series.x_dim, kind, series.query.unit) for point in points]
            if named := _is_knee(series) and panel is None and points[0].y is not None:
                name = _knee_name(series.x_dim, points[0].y or 0.0, key, results.words)
        right, counted = series.axis == "right", is_counted(series.query.unit)
        is_one = key is not None and series.estimated is not False and series.estimated == key.value
        estimated = series.estimated is True or is_one
        over_all = series.mark == "bracket" and not series.x_dim
        if estimated:
            name = results.words["estimated_name"].format(name=name)
        place, given = (colour.place, colour.given) if colour else (None, "")
        trace = Trace(
            name,
            series.mark,
            tuple(points),
            place,
            right,
            series.dashed or estimated,
            loose,
            counted,
            over_all=over_all,
            given=given,
            ideal=series.is_ideal,
            estimated=estimated,
        )
        trace = with_verdicts(trace, series, keys, where, kind, results)
        drawn = DrawnSeries(series, label, trace, details, panel.label if panel else "")
        yield replace(drawn, named=named, where=where, keys=tuple(key.value for key in keys))


def _is_knee(series: plan.Series) -> bool:
    label = series.label
    return isinstance(label, plan.Wording) and (label.form, label.name) == ("reduced", "knee")


def _knee_name(dim: str, at: float, key: plan.LabelledKey | None, words: Words) -> str:
    """Return the name of a knee with its position, such as `Knee: 8 threads`."""
    place = counted(words, f"at_{dim}", at) if f"at_{dim}" in words else points([at])
    name = words["knee_at"].format(at=place)
    return words.locale.listed((name, key_text(key.label, key.value))) if key else name


def _is_due(series: plan.Series, x_dim: str, at: Mapping[str, DimKey], results: Results) -> bool:
    """Return whether a run should have measured the point, so that a missing value counts as missing."""
    if results.left_out(series.query, **at):
        return False
    return x_dim not in ("threads", "target") or not results.not_due(series.query, **at)


def _moments(
    series: plan.Series, where: Mapping[str, DimKey], keys: Sequence[plan.LabelledKey], results: Results
) -> tuple[plan.LabelledKey, ...]:
    """Return the times of a series, and one more time in each gap between them."""
    own = results.keys(series.query, "time", **where)
    gaps = (_numbered(at) for at in moments_in_gaps([v for v in own if not isinstance(v, str)]))
    return tuple(sorted((*(key for key in keys if key.value in own), *gaps), key=lambda key: key.value))


def _point(
    series: plan.Series, index: int, key: plan.LabelledKey, where: dict[str, DimKey], kind: XKind, results: Results
) -> ChartPoint:
    at = {**where, series.x_dim: key.value} if series.x_dim and series.mark != "rule" else where
    x = float(index) if kind == "category" else float(key.value)
    mark = results.doubt(series.query, None, at).mark
    if series.mark == "curve" and series.x_query:
        x_value, y = results.at(series.x_query, **at), results.at(series.query, **at)
        if x_value is None or y is None:
            return ChartPoint(x_value or 0.0, None, key_text(key.label, key.value))
        return ChartPoint(x_value, y, key_text(key.label, key.value), mark=mark)
    y = results.at(series.query, **at)
    worse = series.query.signed and bool(y) and series.better == ("lower" if (y or 0.0) > 0 else "higher")
    if series.high:
        end = results.at(series.high, **at)
        return ChartPoint(x, y, mark=mark, end=end) if y is not None and end is not None else ChartPoint(x, None)
    repeats = results.spread(series.repeats, **at) if y is not None and series.repeats else []
    if y is None:
        return ChartPoint(x, y, mark=mark, worse=worse)
    if bound := results.bound(series.query, **at):
        return ChartPoint(x, y, mark=mark, worse=worse, bound=bound)
    if len(repeats) < FEWEST_FOR_INTERVAL:
        drawn = len(repeats) > 1 and _are_of_the_point(repeats, y, series.query, at, results)
        return ChartPoint(x, y, repeats=tuple(repeats) if drawn else (), mark=mark, worse=worse)
    low, high = _interval(series, repeats, y, results)
    return ChartPoint(x, y, low=low, high=high, mark=mark, worse=worse)


def _are_of_the_point(
    repeats: Sequence[float], value: float, query: plan.Query, at: Mapping[str, DimKey], results: Results
) -> bool:
    """Return whether the repeats' values belong to the same point as the value. If the value is the highest or lowest
    of several loads' means, a repeat may have its own highest or lowest value at another load. In that case the mean of
    the repeats differs from the value.
    """
    loads: dict[Curve, set[tuple[float | None, float | None]]] = {}
    for cell in results.cells_behind(query, **at):
        if cell.status == "ok":
            loads.setdefault(Curve.of(cell), set()).add((cell.threads, cell.target))
    several = any(len(each) > 1 for each in loads.values())
    return not several or math.isclose(sum(repeats) / len(repeats), value, rel_tol=1e-6)


def _leaves_repeats(
    series: plan.Series, point: ChartPoint, key: plan.LabelledKey, where: Mapping[str, DimKey], results: Results
) -> bool:
    """Return whether a point has two repeats that aren't drawn."""
    if series.repeats is None or point.y is None or point.low is not None or point.repeats:
        return False
    at = {**where, series.x_dim: key.value} if series.x_dim else where
    return len(results.spread(series.repeats, **at)) == 2


def _detail(
    series: plan.Series, point: ChartPoint, key: plan.LabelledKey, where: dict[str, DimKey], results: Results
) -> Detail:
    along = {series.x_dim: key.value} if series.x_dim and series.mark != "rule" else {}
    behind = [c for c in results.cells_behind(series.query, **where, **along) if c.status == "ok"]
    x = point.x if series.mark == "curve" and point.y is not None else None
    cells, repeats = tuple(dict.fromkeys(c.cell_id for c in behind)), len({c.repeat for c in behind})
    label = key_text(key.label, key.value)
    is_amount = isinstance(key.value, float) and series.x_dim in results.plan.factors
    in_files = str(_numbered(key.value).label) if is_amount else label
    left_out = point.y is None and results.left_out(series.query, **where, **along)
    known = label, x, point.y, point.low, point.high, repeats, cells, point.mark, in_files, point.end, point.bound
    return Detail(*known, left_out)


def _standing(point: ChartPoint, figure: plan.FigureElement, dim: str, kind: XKind, unit: str) -> ChartPoint:
    """Place a mark on the x axis. If the axis has categories, the mark may be between two of them."""
    x = None if point.y is None else point.y * parse_unit(unit).factor
    if x is not None and kind == "category":
        pairs = enumerate(pairwise(float(k.value) for k in _keys(figure, dim)))
        x = next((i + (x - a) / (b - a) for i, (a, b) in pairs if a <= x <= b), None)
    return ChartPoint(x if x is not None else 0.0, point.y if x is not None else None, upright=True)


def _interval(
    series: plan.Series, values: Sequence[float], drawn: float, results: Results
) -> tuple[float, float] | tuple[None, None]:
    """Return Student's interval around the drawn value, at the brief's level. Its width comes from the spread of the
    single repeats.

    The drawn value is computed from all repeats together (as a ratio of means, or a percentile of merged histograms),
    so it may differ from their mean.
    """
    low, high = t_interval(len(values), drawn, statistics.stdev(values), strictest_level(results.plan))
    if low is None or high is None or series.query.signed:
        return low, high  # type: ignore[return-value]  # both are known, or neither
    return max(low, 0.0), high


def _explain(
    points: Sequence[ChartPoint],
    keys: Sequence[plan.LabelledKey],
    series: plan.Series,
    where: dict[str, DimKey],
    name: str,
    results: Results,
    remarks: _Remarks,
) -> None:
    """Add footnotes that explain gaps, intervals and repeats. Intervals and repeats are explained if they are drawn or
    if the author asked for them."""
    if not points and any(isinstance(results.plan.factors.get(dim), plan.Factor) for dim in where):
        return  # the run has no such combination of levels
    if is_imported(results) and points and all(point.y is None for point in points):
        return  # the source says nothing of it, which the limits tell; it is not drawn
    if series.mark == "rule" or not points:  # a mark has no points, and a line through time has sampled ones
        if all(point.y is None for point in points):
            reasons = results.words["semicolon"].join(results.reasons_missing(series.query, **where))
            note = "no_mark" if series.mark == "rule" else "no_line"
            remarks.notes[results.words[note].format(name=name, reasons=reasons)] = None
        return
    along = series.x_dim
    sampled = results.keys(series.query, along, **where) if along == "time" else None
    for point, key in zip(points, keys, strict=True):
        if sampled is not None and key.value not in sampled:
            remarks.breaks += series.mark == "line"
            continue
        place = {**where, along: key.value} if along else where
        if point.y is None and results.left_out(series.query, **place):
            remarks.notes[results.words["gap_left_out"]] = None
            continue
        remarks.points += 1
        if point.y is None:
            remarks.missing += 1
            remarks.reasons |= dict.fromkeys(results.reasons_missing(series.query, **place))
    if series.repeats:
        repeated = any(e.repeats > 1 for e in results.plan.experiments.values())
        shown = "whiskers" if series.mark in ("bar", "range") else "band"
        known = [shown] if any(p.low is not None for p in points) else []
        rings = any(p.repeats for p in points)
        _explain_rings(points, keys, series, where, results, remarks)
        unknown = ["band_unknown" if repeated else "no_band"] if series.band and not rings else []
        for note in known or unknown:
            remarks.notes[results.words[note]] = None


def _explain_rings(
    points: Sequence[ChartPoint],
    keys: Sequence[plan.LabelledKey],
    series: plan.Series,
    where: Mapping[str, DimKey],
    results: Results,
    remarks: _Remarks,
) -> None:
    """Add a footnote on the meaning of a series' rings, and on whether some repeats have no ring."""
    if any(_leaves_repeats(series, point, key, where, results) for point, key in zip(points, keys, strict=True)):
        remarks.notes[results.words["repeats_elsewhere"]] = None  # any rings belong to their own point
    elif any(p.repeats for p in points):
        along = {series.x_dim: keys[0].value} if series.x_dim else {}
        behind = results.cells_behind(series.query, **where, **along)
        remarks.rings_of_points &= len({cell[1:7] for cell in behind}) <= len({cell.hardware for cell in behind})
    remarks.rings |= any(p.repeats for p in points)


def _without_non_positive(
    drawn: list[DrawnSeries], results: Results, remarks: _Remarks, log: Mapping[bool, bool], *, log_x: bool
) -> list[DrawnSeries]:
    """Drop the values that a logarithmic axis can't show. `log` says whether the right axis (True) and the left axis
    (False) are logarithmic."""
    dropped = 0
    found = []
    for d in drawn:
        level = d.trace.mark == "rule"  # it has no place on the x axis, or is one itself

        def stands(point: ChartPoint, *, right: bool = d.trace.right, level: bool = level) -> bool:
            if point.y is None:
                return True
            on_y = point.upright or point.y > 0 or not log[right]
            return on_y and (point.x > 0 or not log_x or (level and not point.upright))

        keep = [p if stands(p) else replace(p, y=None) for p in d.trace.points]
        dropped += sum(1 for a, b in zip(keep, d.trace.points, strict=True) if a is not b)
        if log[d.trace.right]:
            keep = [replace(p, repeats=tuple(v for v in p.repeats if v > 0 and p.y)) for p in keep]
        found.append(replace(d, trace=replace(d.trace, points=tuple(keep))))
    if dropped:
        remarks.notes[counted(results.words, "not_positive", dropped)] = None
    return found


# --- words and data ----------------------------------------------------------------------------------------------


def _data_head(
    chart: Chart, results: Results, x_dim: str | None, panel_dim: str | None, *, curve: bool
) -> tuple[str, ...]:
    words = results.words
    y = [title for title in (chart.left, chart.right) if title]
    key = words.dimension(x_dim or "") if curve else chart.x.title
    panel = [words.dimension(panel_dim)] if panel_dim else []
    return (*panel, words["series"], key, *([chart.x.title] if curve else []), " / ".join(y))


def _data(drawn: Sequence[DrawnSeries], words: Words, *, curve: bool, panels: bool) -> Iterable[tuple[str, ...]]:
    x_text = column_writer([p.x for d in drawn for p in d.trace.points if p.y is not None])
    for d in drawn:
        for point, detail in zip(d.trace.points, d.details, strict=True):
            if detail.left_out:
                continue
            shown = words["missing"] if point.y is None else text_of(point, d, words)
            x = ["–" if point.y is None else x_text(point.x)] if curve else []
            yield (*([d.panel] if panels else []), d.trace.name, detail.key, *x, shown)
