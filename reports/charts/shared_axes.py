"""Gives the same axes to a brief's figures of the same measure, so that readers can compare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchbrief.reports.charts.build_figure import Sketch
from benchbrief.reports.charts.chart import Reach
from benchbrief.reports.text.number_format import locale

_FLAT = 4.0
"""A figure gets its own axes if another figure's largest value is more than this many times as large. On the other
figure's axes, it would look flat."""


def shared_reach(sketches: Mapping[int, Sketch]) -> dict[int, Reach]:
    """Return the values that a figure's axes must cover, for each figure that shares its axes with others."""
    alike: dict[object, list[tuple[int, Reach]]] = {}
    for place, sketch in sketches.items():
        if not sketch.figure.free_axes and any(d.has_values for d in sketch.drawn):
            alike.setdefault(_measures(sketch), []).append((place, _own_reach(sketch)))
    found: dict[int, Reach] = {}
    for of_one in alike.values():
        for group in _of_one_size(of_one):
            if len(group) > 1:
                reaches = [reach for _, reach in group]
                found |= dict.fromkeys((place for place, _ in group), _joined(reaches))
    return found


def _measures(sketch: Sketch) -> object:
    """Return the measures and axes of a figure. Places in labels, as in `Throughput, Inserts`, are left out."""
    figure, comma = sketch.figure, locale().listed(("", ""))
    drawn = {
        (d.label.partition(comma)[0], d.series.query.unit, d.trace.mark, d.trace.right, d.series.x_dim)
        for d in sketch.drawn
        if d.on_axis and not d.trace.is_reference
    }
    return frozenset(drawn), figure.log_x, sketch.log_y, sketch.log_y_right, figure.panel_dim


def _own_reach(sketch: Sketch) -> Reach:
    on_axis = [d for d in sketch.drawn if d.trace.mark != "bracket" and not d.trace.ideal]
    sides = (
        tuple(v for d in on_axis if d.trace.right == right for p in d.trace.points if not p.upright for v in p.extent)
        for right in (False, True)
    )
    x = tuple(p.x for d in on_axis for p in d.trace.points if d.trace.mark == "curve" and p.y is not None)
    return Reach(*map(_ends, (*sides, x)))


def _ends(values: Sequence[float]) -> tuple[float, ...]:
    return (min(values), max(values)) if values else ()


def _joined(reaches: Sequence[Reach]) -> Reach:
    return Reach(
        *(_ends([v for each in reaches for v in getattr(each, side)]) for side in ("left", "right", "x")),
    )


def _of_one_size(figures: Sequence[tuple[int, Reach]]) -> Iterable[Sequence[tuple[int, Reach]]]:
    """Yield groups of figures with similar largest values, the largest first."""

    def size(one: tuple[int, Reach]) -> float:
        return max(map(abs, one[1].left or one[1].right), default=0.0)

    group: list[tuple[int, Reach]] = []
    for one in sorted(figures, key=size, reverse=True):
        if group and size(group[0]) > _FLAT * size(one):
            yield group
            group = []
        group.append(one)
    yield group
