"""Moves short texts to the slides beside them, so that no slide is mostly empty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup

from benchbrief.reports.data.view_model import FigureView, TableView, TextView
from benchbrief.reports.office.slide_blocks import texts_below
from benchbrief.reports.office.slide_charts import can_draw
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, READ_PT, TEXT_PT
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_texts import said_in
from benchbrief.reports.office.table_grid import grid_of
from benchbrief.reports.view.arrange_elements import Slide

_SHORT, _SHARED = 0.55, 0.9
"""The share of a slide that a text in large type must take to have a slide of its own, and the largest share of several
texts together."""
_BESIDE_CHART, _ABOVE_CHART, _OF_NOTES = 0.4, 0.21, 0.1
"""The largest shares of a slide that all texts around a chart, and a text above it, may take, and the share to leave
for the notes of a table."""


def filled(slides: Sequence[Slide], area: Area) -> list[Slide]:
    """Return the slides. Each short text is moved above the first figure, or below the figure or table before it. If
    neither has room for it, it shares a slide with the texts beside it."""
    found: list[Slide] = []
    for slide in slides:
        before = found[-1] if found else None
        if before and before.blocks and (below := _with_below(before, slide, area)):
            found[-1] = below
        elif before and len(found) == 1 and (led := _led(before, slide, area)):
            found[-1] = led
        elif before and not before.blocks and not slide.blocks and _share(before, slide, area):
            found[-1] = replace(before, topics=(*(before.topics or (before,)), slide))
        else:
            found.append(slide)
    return _with_last_below(found, area)


def _with_last_below(slides: Sequence[Slide], area: Area) -> list[Slide]:
    """Return the slides with each short text that is still alone moved below the last figure or table before it."""
    found: list[Slide] = []
    for slide in slides:
        at = max((place for place, each in enumerate(found) if each.blocks), default=None)
        if at is not None and not slide.topics and (below := _with_below(found[at], slide, area)):
            found[at] = below
        else:
            found.append(slide)
    return found


def _with_below(slide: Slide, text: Slide, area: Area) -> Slide | None:
    """Return a slide with a short text below its figure or table, or None if there is no room for it."""
    if slide.after or not _is_short(text, area):
        return None
    below = replace(slide, after=_headed(text))
    return below if has_room(below, area) else None


def has_room(slide: Slide, area: Area) -> bool:
    """Return whether the only figure or table of a slide leaves room for the texts below it."""
    texts = height_of_all(said_in(slide.texts), area.width, READ_PT)
    after = height_of_all(said_in(slide.after), area.width, READ_PT)
    match slide.blocks:
        case (FigureView() as figure,) if can_draw(figure.native):
            own = height_of_all(texts_below(figure), area.width, TEXT_PT)
            return texts + after + own <= _BESIDE_CHART * area.height
        case (TableView() as table,):
            own = height_of_all(texts_below(table), area.width, TEXT_PT) + height_within(grid_of(table), area)
            return texts + after + own + 4 * AIR <= (1 - _OF_NOTES) * area.height
    return False


def _is_short(slide: Slide, area: Area) -> bool:
    return not slide.blocks and _height(slide, area) < _SHORT * area.height


def _share(first: Slide, second: Slide, area: Area) -> bool:
    """Return whether two texts, of which one is short, share a slide."""
    whole = _height(first, area) + _height(second, area)
    return whole < _SHARED * area.height and (_is_short(first, area) or _is_short(second, area))


def _height(slide: Slide, area: Area) -> float:
    """Return the height of a slide's texts in large type."""
    return height_of_all(said_in(_texts(slide.topics or (slide,))), area.width, LARGE_PT)


def _led(text: Slide, slide: Slide, area: Area) -> Slide | None:
    """Return a slide with a text above its figure, or None if there is no room for it."""
    match slide.blocks:
        case (FigureView(),) if _is_short(text, area):
            led = (*_headed(text), *slide.texts)
            height = height_of_all(said_in(led), area.width, TEXT_PT)
            return replace(slide, texts=led) if height <= _ABOVE_CHART * area.height else None
    return None


def _texts(slides: Iterable[Slide]) -> tuple[TextView, ...]:
    return tuple(text for slide in slides for text in slide.texts + slide.after)


def _headed(slide: Slide) -> tuple[TextView, ...]:
    """Return the texts of a slide, with its section's heading at their beginning."""
    first, *others = _texts((slide,))
    if not slide.topic:
        return (first, *others)
    head = Markup("<p><b>{}</b> ").format(slide.head)
    runs_on = first.html.lstrip().startswith("<p>")
    said = first.html.lstrip().removeprefix("<p>") if runs_on else f"</p>{first.html}"
    return (replace(first, html=head + Markup(said)), *others)  # noqa: S704  # was HTML before
