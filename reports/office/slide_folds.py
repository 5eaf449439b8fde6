"""Moves short texts and tables to the slides that have room for them, so that no slide is mostly empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import Block, FactsView, FigureView, TableView, TextView
from benchbrief.reports.office.line_breaks import lines_of_title
from benchbrief.reports.office.rich_text import joined
from benchbrief.reports.office.slide_blocks import caption_of, says_all, texts_below
from benchbrief.reports.office.slide_charts import can_draw, fits_beside
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, LINE_LESS, LINES_ABOVE, READ_PT, TEXT_PT
from benchbrief.reports.office.slide_masters import LEAST_PT, Area
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_texts import claim_of, said_in
from benchbrief.reports.office.table_grid import grid_of
from benchbrief.reports.office.text_fit import lines_of
from benchbrief.reports.view.arrange_elements import Slide

_ABOVE = LINES_ABOVE * TEXT_PT * 1.3
"""The greatest height of texts above a figure."""
_LED, _SHARED = 0.55, 0.9
"""The largest share of a slide for a text in large type that leads to a figure, and for several texts that share a
slide."""
_ASIDE, _ASIDE_WITH_NUMBERS = 0.45, 0.2
"""The largest share of a slide for a text that is placed beside the method: for one without numbers, and for one with
numbers."""
_LEAST_CHART, _LEAST_PANELS, _OF_NOTES = 285.0, 300.0, 0.1
"""The least heights of a chart and of several panels, each with its caption and its key: a chart is not flattened under
45 % of the slide. Then the share of a slide to leave for a table's notes."""
_BRACKETS, _AXIS_NAME = 32.0, 18.0
"""How much higher a chart is because of brackets over its bars, and because of the name of its x axis."""
_CHART_SHARE, _GUTTER = 0.6, 28.0
"""The share of a slide's width that a chart has beside texts or tables, and the space between them."""
_TITLE_LINES, _TITLE_PT = 2, 24.0
"""The most lines of a conclusion that becomes a title, and the least type size of a title that leaves room."""
_FEW_BARS, _FEW_ROWS = 2, 3
"""The most values of a chart, and the most rows of a table, that are too little for a slide."""
_QUANTITY = re.compile(r"([\N{MINUS SIGN}-]?\d[\d,]*(?:\.\d+)?)[ \u00a0\u202f]?([^\W\d]+(?:/\w+)?|%)?")
_UNIT = re.compile(r"\(([^()]+)\)$")
"""Match a number with its unit, and the unit at the end of a heading."""
_ENDED = re.compile(r"[.:?!\u3002\uff1a\uff1f]$")
"""Matches the end of a heading that needs no colon."""
_LIST = re.compile(r"(<ul>.*?</ul>)", re.DOTALL)
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
_DEFINITION = re.compile(r"\s*<(em|strong)>([^<]*)</\1>\s*([:\uff1a])\s*(?!.*class=\"num)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Folded:
    """The slides of a brief. `asides` are short texts that only the method's slide has room for, and `terms` are
    definitions, which belong to the method."""

    slides: tuple[Slide, ...]
    asides: tuple[Slide, ...] = ()
    terms: tuple[TextView, ...] = ()


def folded(slides: Sequence[Slide], area: Area, colon: str = ": ") -> Folded:
    """Remove tables that repeat a figure, and put short texts on other slides, so that no slide is mostly empty. Texts
    before a figure go above it, and other short texts below the figure or the table before them, or beside it. The
    heading of such a text ends with a `colon`."""
    shown = _without_repeats(slides)
    defined = [_defined(slide, area, following) for slide, following in zip(shown, (*shown[1:], None), strict=True)]
    slides = [slide for slide, _ in defined if slide.blocks or slide.texts or slide.topics]
    early = [each for each in slides[: _begin(slides)] if _is_about_method(each, slides, area)]
    found = _paired(_below(_led((each for each in slides if each not in early), area), area, colon), area)
    late = [each for each in found[_begin(found) :] if not each.blocks and _is_aside(each, area)]
    asides = [*early, *late]
    kept = [_with_texts_below(each, area) for each in found if each not in asides]
    return Folded(tuple(_joined(kept, area)), tuple(asides), tuple(text for _, texts in defined for text in texts))


def _begin(slides: Sequence[Slide]) -> int:
    """Return the index of the first slide with a figure or a table."""
    return next((at for at, each in enumerate(slides) if each.blocks), len(slides))


def _is_about_method(text: Slide, slides: Sequence[Slide], area: Area) -> bool:
    """Return whether a short text before all figures has a section of its own and no measured numbers."""
    alone = text.topic and not any(each.blocks and each.topic == text.topic for each in slides)
    short = _height((text,), area, READ_PT) < _ASIDE_WITH_NUMBERS * area.height
    return bool(alone) and short and not _has_numbers(text)


def _without_repeats(slides: Sequence[Slide]) -> list[Slide]:
    """Return slides without tables whose numbers are all in the figures before them. Such a table goes to the notes of
    the last figure's slide, and the remark below it goes below the figure."""
    found = list[Slide]()
    facts = [block for slide in slides for block in slide.blocks if isinstance(block, FactsView)]
    texts = [cell for each in facts for row in (*each.beside, *each.rows) for cell in row.cells]
    told = {found for text in texts for found in _quantities(text) if found[1]}
    last: tuple[int, FigureView] | None = None
    for slide in slides:
        match slide.blocks:
            case (FigureView() as figure,):
                last = len(found), figure
                if says_all(figure):
                    unit = _UNIT.search(figure.data_head[-1])
                    told |= {own for line in figure.data for own in _quantities(line[-1], unit[1] if unit else "")}
            case (TableView() as table,) if last and _repeats(table, told):
                at, figure = last
                last = at, replace(figure, note=joined(filter(None, (figure.note, table.note))) or None)
                noted = (*found[at].noted, replace(table, title=str(slide.head.striptags())))
                found[at] = replace(found[at], blocks=(last[1],), noted=noted)
                if said := slide.texts + slide.after:
                    found.append(Slide(slide.topic, escape(slide.topic), said, ()))
                continue
        found.append(slide)
    return found


def _quantities(text: str, unit: str = "") -> set[tuple[float, str]]:
    """Return the values of the numbers in a text, each with its unit. Numbers without one have this `unit`."""
    found = _QUANTITY.findall(text)
    return {(float(each.replace(",", "").replace("\N{MINUS SIGN}", "-")), own or unit) for each, own in found}


def _repeats(table: TableView, told: set[tuple[float, str]]) -> bool:
    """Return whether a table has numbers in all columns but one, and all these numbers are shown elsewhere."""
    words, found = set[int](), set[tuple[float, str]]()
    for row in table.rows:
        for place, (cell, head) in enumerate(zip(row.cells, table.columns, strict=True)):
            if cell.numeric:
                found |= _quantities(str(cell.html.striptags()), head.unit or row.head.unit or table.unit)
            else:
                words.add(place)
    return len(words) <= 1 and bool(found) and found <= told


def _led(slides: Iterable[Slide], area: Area) -> list[Slide]:
    """Return slides with each short text at the start of a section, or of the brief, above the figure that follows."""
    found = list[Slide]()
    for slide in slides:
        before = found[-1] if found else None
        leads = before and not before.blocks and before.topic in ("", slide.topic)
        if before and leads and _figure(slide) and _height((before,), area, LARGE_PT) < _LED * area.height:
            found[-1] = replace(slide, topic=before.topic, texts=(*before.texts, *slide.texts))
        else:
            found.append(slide)
    return found


def _paired(slides: Sequence[Slide], area: Area) -> list[Slide]:
    """Return slides with each chart of one or two values beside the chart before it or after it. Each of their claims
    has a line of the title."""
    found = list[Slide]()
    for slide in slides:
        before = found[-1] if found else None
        if before and before.topic == slide.topic and _makes_pair(before, slide, area):
            head = Markup("{}<br>{}").format(before.head, slide.head)
            both = replace(before, head=head, blocks=(*before.blocks, *slide.blocks), after=slide.after)
            if has_room(both, area, TEXT_PT):
                found[-1] = replace(both, noted=(*before.noted, *slide.noted))
                continue
        found.append(slide)
    return found


def _makes_pair(first: Slide, second: Slide, area: Area) -> bool:
    match first.blocks, second.blocks:
        case ((FigureView() as left,), (FigureView() as right,)) if not (first.after or second.texts):
            pair = (left, right)
            narrow = all(can_draw(each.native) and fits_beside(each.native, half_of(area).width) for each in pair)
            lines = [lines_of_title(each.head, area.width, _TITLE_PT) for each in (first, second)]
            return narrow and lines == [1, 1] and any(len(each.data) <= _FEW_BARS for each in pair)
    return False


def half_of(area: Area) -> Area:
    """Return the left half of an area."""
    return replace(area, width=(area.width - _GUTTER) / 2)


def divided(area: Area) -> tuple[Area, Area]:
    """Return the part of an area for a chart, and the part beside it."""
    width = area.width * _CHART_SHARE
    left = area.left + width + _GUTTER
    return replace(area, width=width), replace(area, left=left, width=area.width - width - _GUTTER)


def _defined(slide: Slide, area: Area, following: Slide | None) -> tuple[Slide, list[TextView]]:
    """If the texts above a figure or a table are long, return its slide without lists of definitions, and those
    definitions as paragraphs that begin with their terms."""
    leads = bool(following and following.blocks and following.topic == slide.topic)
    if not (slide.blocks or leads) or not is_long(slide.texts, area.width):
        return slide, []
    kept, terms = list[TextView](), list[TextView]()
    for text in slide.texts:
        for part in filter(str.strip, _LIST.split(text.html)):
            items = _ITEM.findall(part) if part.startswith("<ul>") else []
            found = [match for item in items if (match := _DEFINITION.fullmatch(item))]
            if found and len(found) == len(items):
                said = (f"<p><b>{match[2]}{match[3]}</b> {match[4].lstrip()}</p>" for match in found)
                terms.append(replace(text, html=Markup("".join(said))))  # noqa: S704  # was HTML before
            else:
                kept.append(replace(text, html=Markup(part)))  # noqa: S704  # was HTML before
    return replace(slide, texts=tuple(kept)), terms


def _below(slides: Sequence[Slide], area: Area, colon: str) -> list[Slide]:
    """Return slides with short texts moved below the table that follows them, or else below the figure or the table
    before them.

    Texts with numbers are moved first, beginning with the last one, which is the conclusion. At the end, short tables
    that follow a figure are moved below it or beside it.
    """
    found = dict(enumerate(slides))
    texts = [at for at, each in found.items() if not each.blocks]
    for at in sorted(texts, key=lambda at: (0, -at) if _has_numbers(found[at]) else (1, at)):
        places = [place for place, each in found.items() if place < at and each.blocks][-1:]
        if isinstance(next(iter(found.get(at + 1, found[at]).blocks), None), TableView):
            places.insert(0, at + 1)
        for place in places:
            if below := _with_below(found[place], found[at], area, colon):
                found[place] = below
                del found[at]
                break
    kept = list[Slide]()
    for slide in found.values():
        match slide:
            case Slide(texts=(), blocks=(TableView() as table,), after=()):
                titled = replace(table, title=str(slide.head.striptags()), title_html=slide.head)
                if _take_table(kept, slide.topic, titled, area):
                    continue
        kept.append(slide)
    return kept


def _take_table(slides: list[Slide], topic: str, table: TableView, area: Area) -> bool:
    """Put a short table on the slide of the figure before it, or of another figure of its section or of the beginning.
    Return whether one of these had room for it."""
    places = [at for at, each in enumerate(slides) if each.topic in ("", topic) and _figure(each)]
    for at in reversed(places if len(table.rows) <= _FEW_ROWS else [at for at in places if at == len(slides) - 1]):
        both = replace(slides[at], blocks=(*slides[at].blocks, table))
        if has_room(both, area) or has_column(both, area):
            slides[at] = both
            return True
    return False


def _with_below(slide: Slide, text: Slide, area: Area, colon: str) -> Slide | None:
    """Return a slide with a text below its figure or table, or None if there is no room for it. If the text begins with
    a claim, this becomes the title of a table's slide."""
    if slide.after:
        return None
    below = replace(slide, after=_headed(text, colon))
    match slide.blocks:
        case (TableView() as table,) if not table.title:
            claim, rest = claim_of(text.texts)
            if claim and lines_of_title(claim, area.width, LARGE_PT) <= _TITLE_LINES:
                said = _headed(replace(text, texts=rest), colon)
                titled = replace(table, title=str(slide.head.striptags()), title_html=slide.head)
                below = replace(slide, head=claim, blocks=(titled,), after=said)
    return below if has_room(below, area, TEXT_PT) or has_column(below, area) else None


def has_column(slide: Slide, area: Area) -> bool:
    """Return whether the chart of a slide leaves a column for what follows it."""
    match slide.blocks:
        case (FigureView() as figure, *others) if can_draw(figure.native) and not any(map(_is_figure, others)):
            chart, column = divided(area)
            above = height_of_all(said_in(slide.texts), area.width, TEXT_PT)
            needed = height_of_column(slide, column, TEXT_PT)
            return fits_beside(figure.native, chart.width) and min(above, _ABOVE) + needed <= column.height
    return False


def height_of_column(slide: Slide, column: Area, points: float) -> float:
    """Return the height of what follows a slide's first block in a column, with texts of this type size."""
    tables = (height_of_table(each, column) for each in slide.blocks[1:] if isinstance(each, TableView))
    return sum(tables) + height_of_all(said_in(slide.after), column.width, points)


def has_room(slide: Slide, area: Area, points: float = READ_PT) -> bool:
    """Return whether the figure or the table of a slide leaves room for what is below it, with texts of this type
    size."""
    after = height_of_all(said_in(slide.after), area.width, points)
    match slide.blocks:
        case (FigureView() as figure, *others) if can_draw(figure.native):
            least = max(_least_height(each) for each in slide.blocks if isinstance(each, FigureView))
            gained = LINE_LESS * (lines_of_title(slide.head, area.width, _TITLE_PT) == 1)
            above = height_of_all(said_in(slide.texts), area.width, TEXT_PT)
            width = half_of(area).width if any(map(_is_figure, others)) else area.width
            own = max(height_of_all(texts_below(each), width, LEAST_PT) for each in slide.blocks if _is_figure(each))
            tables = sum(height_of_table(each, area) for each in others if isinstance(each, TableView))
            return min(above, _ABOVE) + after + own + tables + 2 * AIR <= area.height + gained - least
        case (TableView() as table,):
            texts = height_of_all(said_in(slide.texts), area.width, READ_PT)
            return texts + after + height_of_table(table, area) + 2 * AIR <= (1 - _OF_NOTES) * area.height
    return False


def _least_height(figure: FigureView) -> float:
    """Return the least height of a figure with its caption, its key, its brackets and the name of its x axis."""
    least = _LEAST_CHART if len(figure.native) == 1 else _LEAST_PANELS
    brackets = any(series.mark == "bracket" for chart in figure.native for series in chart.series)
    return least + _BRACKETS * brackets + _AXIS_NAME * any(chart.x_title for chart in figure.native)


def height_of_table(table: TableView, area: Area) -> float:
    """Return the height of a table in its usual type, with its caption and the remarks below it."""
    own = height_of_all(caption_of(table), area.width, TEXT_PT)
    own += height_of_all(texts_below(table), area.width, LEAST_PT)
    return own + height_within(grid_of(table), area) + 2 * AIR


def _with_texts_below(slide: Slide, area: Area) -> Slide:
    """If a figure's slide has room for it, return the slide with the long text of its section below the figure."""
    if not _figure(slide) or slide.after or not slide.topic or not is_long(slide.texts, area.width):
        return slide
    below = replace(slide, texts=(), after=slide.texts)
    return below if has_room(below, area) else slide


def _is_aside(text: Slide, area: Area) -> bool:
    share = _ASIDE_WITH_NUMBERS if _has_numbers(text) else _ASIDE
    return _height((text,), area, READ_PT) < share * area.height


def _joined(slides: Iterable[Slide], area: Area) -> list[Slide]:
    """Return slides with neighbouring texts together, as far as one slide has room for them."""
    found = list[Slide]()
    for slide in slides:
        said = (*(found[-1].topics or (found[-1],)), slide) if found and not found[-1].blocks else ()
        if said and not slide.blocks and _height(said, area, LARGE_PT) < _SHARED * area.height:
            found[-1] = replace(found[-1], topics=said)
        else:
            found.append(slide)
    return found


def is_long(texts: Iterable[TextView], width: float) -> bool:
    """Return whether texts are too long to be above a figure."""
    return sum(lines_of(each.text, width, TEXT_PT) for each in said_in(texts)) > LINES_ABOVE


def _figure(slide: Slide) -> bool:
    return any(map(_is_figure, slide.blocks[:1]))


def _is_figure(block: Block) -> bool:
    return isinstance(block, FigureView)


def _has_numbers(slide: Slide) -> bool:
    """Return whether a slide's texts have measured numbers."""
    return any('class="num' in text.html for text in slide.texts)


def _height(slides: Iterable[Slide], area: Area, points: float) -> float:
    return height_of_all(said_in(text for slide in slides for text in slide.texts), area.width, points)


def _headed(slide: Slide, colon: str) -> tuple[TextView, ...]:
    """Return the slide's texts, after the heading of its section."""
    first, *others = slide.texts
    if not slide.topic:
        return (first, *others)
    runs_on = first.html.lstrip().startswith("<p>")
    ends = colon.rstrip() if runs_on and not _ENDED.search(slide.head.striptags()) else ""
    head = Markup("<p><b>{}{}</b>{}").format(slide.head, ends, " " if not ends or colon.endswith(" ") else "")
    said = first.html.lstrip().removeprefix("<p>") if runs_on else f"</p>{first.html}"
    return (replace(first, html=head + Markup(said)), *others)  # noqa: S704  # was HTML before
