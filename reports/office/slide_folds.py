"""Moves short texts and tables to the slides that have room for them, so that no slide is mostly empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import FactsView, FigureView, TableView, TextView
from benchbrief.reports.office.rich_text import joined
from benchbrief.reports.office.slide_blocks import caption_of, says_all, texts_below
from benchbrief.reports.office.slide_charts import can_draw
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, LINES_ABOVE, READ_PT, TEXT_PT
from benchbrief.reports.office.slide_masters import LEAST_PT, Area
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_texts import claim_of, said_in
from benchbrief.reports.office.table_grid import grid_of
from benchbrief.reports.office.text_fit import lines_of
from benchbrief.reports.view.arrange_elements import Slide

_LED, _SHARED = 0.55, 0.9
"""The largest share of a slide for a text in large type that leads to a figure, and for several texts that share a
slide."""
_ASIDE, _ASIDE_WITH_NUMBERS = 0.45, 0.2
"""The largest share of a slide for a text that is placed beside the method: for one without numbers, and for one with
numbers."""
_BESIDE_CHART, _BESIDE_PANELS, _OF_NOTES = 0.48, 0.42, 0.1
"""The largest share of a slide for everything around a chart, the largest share for everything around several panels,
and the share to leave for a table's notes."""
_TITLE_LINES = 2
"""The most lines of a conclusion that becomes a title."""
_NUMBER = re.compile(r"[\N{MINUS SIGN}-]?\d[\d,]*(?:\.\d+)?")
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


def folded(slides: Sequence[Slide], area: Area) -> Folded:
    """Remove tables that repeat a figure, and put short texts on other slides, so that no slide is mostly empty. Texts
    before a figure go above it, and other short texts below the figure or the table before them."""
    shown = _without_repeats(slides)
    defined = [_defined(slide, area, following) for slide, following in zip(shown, (*shown[1:], None), strict=True)]
    found = _below(_led((slide for slide, _ in defined if slide.blocks or slide.texts or slide.topics), area), area)
    begun = next((at for at, each in enumerate(found) if each.blocks), len(found))
    asides = [each for each in found[begun:] if not each.blocks and _is_aside(each, area)]
    kept = [_with_texts_below(each, area) for each in found if each not in asides]
    return Folded(tuple(_joined(kept, area)), tuple(asides), tuple(text for _, texts in defined for text in texts))


def _without_repeats(slides: Sequence[Slide]) -> list[Slide]:
    """Return slides without tables whose numbers are all in the figures before them. Such a table goes to the notes of
    the last figure's slide, and the remark below it goes below the figure."""
    found = list[Slide]()
    facts = [block for slide in slides for block in slide.blocks if isinstance(block, FactsView)]
    texts = [cell for each in facts for row in each.beside for cell in row.cells]
    texts += [line.declared for each in facts for group in each.groups for line in group.lines]
    told = {number for text in texts for number in _numbers(text)}
    last: tuple[int, FigureView] | None = None
    for slide in slides:
        match slide.blocks:
            case (FigureView() as figure,):
                last = len(found), figure
                if says_all(figure):
                    told |= {number for line in figure.data for number in _numbers(line[-1])}
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


def _numbers(text: str) -> set[float]:
    """Return the values of the numbers in a text, without units and signs for thousands."""
    return {float(number.replace(",", "").replace("\N{MINUS SIGN}", "-")) for number in _NUMBER.findall(text)}


def _repeats(table: TableView, told: set[float]) -> bool:
    """Return whether a table has numbers in all columns but one, and all these numbers are shown elsewhere."""
    words = {place for row in table.rows for place, cell in enumerate(row.cells) if not cell.numeric}
    cells = (str(cell.html.striptags()) for row in table.rows for cell in row.cells if cell.numeric)
    numbers = {number for cell in cells for number in _numbers(cell)}
    return len(words) <= 1 and bool(numbers) and numbers <= told


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


def _below(slides: Sequence[Slide], area: Area) -> list[Slide]:
    """Return slides with short texts moved below the table that follows them, or else below the figure or the table
    before them.

    Texts with numbers are moved first, beginning with the last one, which is the conclusion. At the end, short tables
    that follow a figure are moved below it.
    """
    found = dict(enumerate(slides))
    texts = [at for at, each in found.items() if not each.blocks]
    for at in sorted(texts, key=lambda at: (0, -at) if _has_numbers(found[at]) else (1, at)):
        places = [place for place, each in found.items() if place < at and each.blocks][-1:]
        if isinstance(next(iter(found.get(at + 1, found[at]).blocks), None), TableView):
            places.insert(0, at + 1)
        for place in places:
            if below := _with_below(found[place], found[at], area):
                found[place] = below
                del found[at]
                break
    kept = list[Slide]()
    for slide in found.values():
        match slide:
            case Slide(texts=(), blocks=(TableView() as table,), after=()) if kept and kept[-1].topic == slide.topic:
                both = (*kept[-1].blocks, replace(table, title=str(slide.head.striptags()), title_html=slide.head))
                below = replace(kept[-1], blocks=both)
                if _figure(below) and has_room(below, area):
                    kept[-1] = below
                    continue
        kept.append(slide)
    return kept


def _with_below(slide: Slide, text: Slide, area: Area) -> Slide | None:
    """Return a slide with a text below its figure or table, or None if there is no room for it. If the text begins with
    a claim, this becomes the title of a table's slide."""
    if slide.after:
        return None
    below = replace(slide, after=_headed(text))
    match slide.blocks:
        case (TableView() as table,) if not table.title:
            claim, rest = claim_of(text.texts)
            if claim and lines_of(claim.striptags(), area.width, LARGE_PT, bold=True) <= _TITLE_LINES:
                said = _headed(replace(text, texts=rest))
                titled = replace(table, title=str(slide.head.striptags()), title_html=slide.head)
                below = replace(slide, head=claim, blocks=(titled,), after=said)
    return below if has_room(below, area, TEXT_PT) else None


def has_room(slide: Slide, area: Area, points: float = READ_PT) -> bool:
    """Return whether the figure or the table of a slide leaves room for what is below it, with texts of this type
    size."""
    after = height_of_all(said_in(slide.after), area.width, points)
    match slide.blocks:
        case (FigureView() as figure, *tables) if can_draw(figure.native):
            most = _BESIDE_CHART if len(figure.native) == 1 else _BESIDE_PANELS
            above = height_of_all(said_in(slide.texts), area.width, TEXT_PT)
            own = height_of_all(texts_below(figure), area.width, LEAST_PT)
            others = sum(height_of_table(table, area) for table in tables if isinstance(table, TableView))
            return min(above, LINES_ABOVE * TEXT_PT * 1.3) + after + own + others <= most * area.height
        case (TableView() as table,):
            texts = height_of_all(said_in(slide.texts), area.width, READ_PT)
            return texts + after + height_of_table(table, area) + 2 * AIR <= (1 - _OF_NOTES) * area.height
    return False


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
    return isinstance(next(iter(slide.blocks), None), FigureView)


def _has_numbers(slide: Slide) -> bool:
    """Return whether a slide's texts have measured numbers."""
    return any('class="num' in text.html for text in slide.texts)


def _height(slides: Iterable[Slide], area: Area, points: float) -> float:
    return height_of_all(said_in(text for slide in slides for text in slide.texts), area.width, points)


def _headed(slide: Slide) -> tuple[TextView, ...]:
    """Return the slide's texts, after the heading of its section."""
    first, *others = slide.texts
    if not slide.topic:
        return (first, *others)
    head = Markup("<p><b>{}</b> ").format(slide.head)
    runs_on = first.html.lstrip().startswith("<p>")
    said = first.html.lstrip().removeprefix("<p>") if runs_on else f"</p>{first.html}"
    return (replace(first, html=head + Markup(said)), *others)  # noqa: S704  # was HTML before
