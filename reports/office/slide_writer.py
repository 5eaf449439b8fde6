"""Writes texts on slides, and collects the contents of each slide's notes: its numbers and their origin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from markupsafe import Markup, escape
from pptx.oxml.ns import qn

from benchbrief.compiler.briefs.colours import ACCENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, SOFT
from benchbrief.reports.data.view_model import (
    Footnote,
    HeadlineView,
    notes_of,
)
from benchbrief.reports.office.line_breaks import broken, closed, lines_of_title
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_cards import Card, CardLook, add_box, add_cards, add_number
from benchbrief.reports.office.slide_look import GROUND, LARGE_PT, LINE_LESS, STATED_PT, TEXT_PT
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    TITLES,
    Area,
    Kind,
    area_of,
    body_size,
    masters_of,
    placeholder,
    size_titles,
    take_place,
    title_size,
)
from benchbrief.reports.office.slide_notes import SlideNotes, marks_in
from benchbrief.reports.office.slide_parts import (
    INSET,
    add_body,
    add_foot,
    add_text,
    fill_placeholder,
    height_of_all,
)
from benchbrief.reports.office.text_fit import (
    LINE_HEIGHT,
    lines_of,
    shortened,
)
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.view.house_style import typeface_of

_BRAND = "#0b3a5b"
_TITLE_PT = 16.0
"""The smallest type size of a title."""
_TITLE_SIZES, _TITLE_LINES = (28.0, 26.0, 24.0), 2
"""The type sizes that all titles of a presentation may have, the largest first, and the most lines of a title."""
_TOPIC_OVER, _TOPIC_PT = 18.0, 14.0
"""How far above a title its topic begins, and the type size of the topic."""
_SHORTER = 0.85
"""The title of the first slide may shrink to this share of its usual size if that saves a line. If shrinking another
title to this share would save its last line, that line counts as short."""
_MOST_HEADLINE = 72.0
"""The largest type size of a headline's numbers if there are several."""
_WIDEST, _WIDEST_OF_HOUSES = 1.1, 1.4
"""The factor by which a large number may be wider than estimated: in our typeface, and in another one."""


@dataclass
class SlideWriter:
    """Writes slides one after another into an open presentation. The title of each slide is a claim."""

    brief: HandOver
    shown: list[str] = field(default_factory=list)
    """The numbers on the current slide, by their ids."""
    sources: list[str] = field(default_factory=list)
    """The expressions of the figures and tables on the current slide."""
    aside: list[str] = field(default_factory=list)
    """Further lines for the slide's notes, in addition to the origin of its numbers: shortened texts, and the reasons
    why figures are pictures."""

    used: float = math.inf
    """The height that texts take on the last text-only slide."""
    slide_of_limits: int = 0
    vacant: Any = None
    """The layout's placeholder for the current slide's main content, or None if there is none or it is taken."""

    def __post_init__(self) -> None:
        brief = self.brief
        self.view, self.words = brief.view, brief.words
        self.brand = brief.report.theme.brand or _BRAND
        self.accent = brief.report.theme.accent or ACCENT
        self.masters = masters_of(brief.template, typeface_of(brief.report), self.brand, self.accent)
        notes = (*self.view.title_notes, *notes_of(self.view.blocks), *self.view.legal_notes)
        self.notes = SlideNotes({note.number: note for note in notes})
        self.slide: Any = None
        self.headline: HeadlineView | None = None
        self.content = self.masters.content
        self.ink = INK if self.masters.is_ours else ""
        self.numbers = {number.id: number for number in self.view.numbers.numbers}
        self.queries = {query.id: query.expression for query in self.view.numbers.queries}

    def open(
        self,
        head: str | Markup,
        part: str = "",
        kind: Kind = "",
        topic: str = "",
    ) -> Any:
        """Begin a slide with a claim as its title, and set its `content`. A house may have a layout for its `kind`. On
        our own slides, the `topic` of a claim is above it."""
        self.close()
        self.notes.letters.clear()
        masters, self.used = self.masters, math.inf
        layout = masters.layout(kind)
        self.slide = masters.presentation.slides.add_slide(layout.made)
        said = Markup("{} {}").format(head, part) if part else escape(head)
        title = placeholder(self.slide, TITLES)
        if topic and masters.is_ours:
            whole = area_of(title)
            over = replace(whole, top=whole.top - _TOPIC_OVER, height=_TOPIC_PT * LINE_HEIGHT)
            add_text(self.slide, over, [Paragraph((Run(topic),))], _TOPIC_PT, self.accent, bold=True)
        lines = self.entitle(title, said)
        self.content, self.vacant = layout.content, layout.place
        if masters.is_ours and lines == 1:
            self.content = replace(self.content.below(LINE_LESS), height=self.content.height + LINE_LESS)
            self.content = replace(self.content, top=masters.content.top - LINE_LESS)
        for each in list(self.slide.placeholders):
            if each.placeholder_format.type not in TITLES:  # which would ask to be filled
                each._element.getparent().remove(each._element)
        add_foot(self.slide, layout.made, " · ".join(tag.text for tag in self.view.origin), layout.content)
        return self.slide

    def size_of(self, title: Markup, area: Area) -> float:
        """Return the largest type size that lets a slide's title fit its area, or 0 if no size does. A smaller size is
        chosen if it saves a line and is allowed."""
        most = title_size(self.slide.slide_layout)
        sizes = [most, *(size for size in range(math.ceil(most) - 2, int(_TITLE_PT) - 1, -2) if size < most)]
        lines = {size: self.lines_at(title, area, size) for size in sizes}
        fitting = [size for size in sizes if lines[size] <= max(1, int(area.height / (size * 1.2)))]
        least = most * (_SHORTER if self.slide.slide_layout == self.masters.first else 1.0)
        shorter = [size for size in fitting if size >= least and lines[size] < lines[fitting[0]]]
        return next(iter((*shorter, *fitting)), 0.0)

    def set_titles(self, titles: Iterable[Markup]) -> None:
        """Give all slides but the first one type size for titles. Choose the largest size for which the fewest of these
        titles are too long or have a short last line."""
        said = list(titles)
        area = area_of(placeholder(self.masters.others, TITLES))
        wider = replace(area, width=area.width / _SHORTER)

        def fitting(size: float) -> tuple[int, float]:
            lines = [(self.lines_at(each, area, size), self.lines_at(each, wider, size)) for each in said]
            return sum(own <= _TITLE_LINES and own == less for own, less in lines), size

        size_titles(self.masters.others, max(_TITLE_SIZES, key=fitting))

    def lines_at(self, title: Markup, area: Area, size: float) -> int:
        return lines_of_title(title, area.width, size)

    def entitle(self, shape: Any, title: Markup) -> int:
        """Write a title in the largest type that fits its area, up to the layout's size, and return its number of
        lines. If it does not fit in any size, it is shortened, and the notes have all of it."""
        area, most = area_of(shape), title_size(self.slide.slide_layout)
        points = self.size_of(title, area)
        is_long = not points or self.lines_at(title, area, points) > 1
        runs = self.seen(closed(runs_of(title)) if is_long else runs_of(title))
        if not points or self.lines_at(title, area, points) > max(1, int(area.height / (points * 1.2))):
            text, points = "".join(run.text for run in runs), points or _TITLE_PT
            self.aside.append(text)
            room = max(1, int(area.height / (points * 1.2)))
            runs = (Run(shortened(text, area.width, points, room, bold=True)),)
        runs = broken(runs, area.width, points)
        fill_placeholder(shape, [runs], points if points < most else 0.0)
        return lines_of("".join(run.text for run in runs), area.width, points, bold=True)

    def close(self) -> None:
        """Write the origin of the slide's numbers into its notes."""
        if self.slide is None:
            return
        self.fill_place()
        view, words = self.view, self.words
        lines = [*self.aside]
        known = [self.numbers[each] for each in dict.fromkeys(self.shown) if each in self.numbers]
        lines += [f"{number.shown}{words['colon']}{self.queries.get(number.query, '')}" for number in known]
        lines += [f"{words['expression']}{words['colon']}{each}" for each in dict.fromkeys(self.sources)]
        if lines or not view.blocks:
            origin = f"{words['provenance']}{words['colon']}{words['d_run_id']} {view.run_id}; {view.side_file}"
            lines += [f"{origin}; plan SHA-256 {view.numbers.plan_sha256[:16]}"]
            self.slide.notes_slide.notes_text_frame.text = writable("\n".join(lines))
        self.shown, self.sources, self.aside = [], [], []

    def fill_place(self) -> None:
        """Put the slide's only chart, table or picture into the layout's placeholder, so that it follows changes of the
        house's layout."""
        made = [each for each in self.slide.shapes if each._element.tag in (qn("p:graphicFrame"), qn("p:pic"))]
        if self.vacant is not None and len(made) == 1:
            take_place(made[0], self.vacant)

    def seen(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """Record the numbers in these runs, and return the runs with their footnotes' letters."""
        self.shown += [run.number for run in runs if run.number]
        return self.notes.lettered(runs)

    def put(self, said: Sequence[Paragraph], area: Area, points: float, *, bold: bool = False) -> None:
        if said:
            lettered = [replace(each, runs=self.seen(each.runs)) for each in said]
            add_text(self.slide, area, lettered, points, self.ink, bold=bold)

    def flow(
        self,
        head: str | Markup,
        said: Sequence[Paragraph],
        most: float = 0.0,
        spare: float = 0.0,
        *,
        topic: str = "",
        notes: Sequence[Footnote] = (),
    ) -> None:
        """Write texts on as many text-only slides as needed, with their footnotes. The last slide also has these
        `notes`. `spare` points stay free on a slide that has room for them. A claim (`head`) has its `topic` above it.
        """
        if not said:
            return
        layout, most = self.masters.layout("text"), most or (STATED_PT if len(said) == 1 else LARGE_PT)
        area, of_house = layout.content, body_size(layout)
        if of_house:
            area, most = replace(area, left=area.left + INSET, width=area.width - 2 * INSET), min(most, of_house)
        small = height_of_all(self.notes.told(marks_in((head, said, notes))), area.width, LEAST_PT)
        claim = escape(head)
        gained = LINE_LESS if self.masters.is_ours and self.lines_at(claim, area, title_size(layout.made)) == 1 else 0.0
        area = replace(area, height=area.height - small + gained)
        if height_of_all(said, area.width, TEXT_PT) + spare <= area.height:
            area = replace(area, height=area.height - spare)
        sizes = [most, *(float(size) for size in range(int(most) - 1, int(TEXT_PT) - 1, -1))]
        points = next((size for size in sizes if height_of_all(said, area.width, size) <= area.height), sizes[-1])
        pages = paged(said, area.width, area.height, points)
        for place, page in enumerate(pages):
            self.open(head, f"({place + 1}/{len(pages)})" if len(pages) > 1 else "", kind="text", topic=topic)
            area = replace(area, top=self.content.top)
            self.put_body(page, area, points, of_house)
            self.used = height_of_all(page, area.width, points)
            own = marks_in((head, page, notes if place == len(pages) - 1 else ()))
            foot = layout.content.bottom - small - (spare if place == len(pages) - 1 else 0.0)
            self.put(self.notes.told(own), Area(area.left, foot, area.width, small), LEAST_PT)

    def put_body(self, said: Sequence[Paragraph], area: Area, points: float, of_house: float) -> None:
        """Write the texts of a slide that has nothing else. If a house's layout has a placeholder for them, they are
        written into it, with the type size `of_house` if they fit in it."""
        if not of_house:
            self.put(said, area, points)
            return
        lettered = [replace(each, runs=self.seen(each.runs)) for each in said]
        place = replace(area, left=area.left - INSET, width=area.width + 2 * INSET)
        take_place(add_body(self.slide, place, lettered, points if points < of_house else 0.0), self.vacant)
        self.vacant = None

    @property
    def look(self) -> CardLook:
        if self.masters.is_ours:
            return CardLook(self.brand, INK, self.accent, GROUND, _WIDEST)
        return CardLook("", "", "", "", _WIDEST_OF_HOUSES)

    def add_ground(self, area: Area) -> None:
        """Add the background of a box, with a line at its left."""
        add_box(self.slide, area, self.look.ground)
        add_box(self.slide, replace(area, width=5.0), self.accent)

    def write_cards(self, cards: Sequence[Card], area: Area, most: float) -> float:
        """Write numbers in large type, each above its description. Returns their height."""
        return add_cards(self.slide, [self.seen_card(card) for card in cards], area, most, self.look)

    def write_headline(self, headline: HeadlineView, area: Area, most: float) -> None:
        """Write the numbers of the headline. A single number is in a box with its sentence, and several are each on a
        card. If none of them shows a gain, their lines are as grey as they are."""
        cards, look = [self.seen_card(card) for card in cards_of(headline, SOFT)], self.look
        if look.bar and all(number.shows_none for number in headline.numbers):
            look = replace(look, bar=SOFT)
        if len(cards) == 1:
            add_box(self.slide, area, look.ground)
            add_box(self.slide, replace(area, width=5.0), look.bar)
            inner = Area(area.left + 24, area.top + 8, area.width - 40, area.height - 16)
            add_number(self.slide, cards[0], inner, most, replace(look, bar="", ground=""))
        else:
            add_cards(self.slide, cards, area, _MOST_HEADLINE, look, fills=True)

    def seen_card(self, card: Card) -> Card:
        return Card(self.seen(card.value), self.seen(card.text))


def cards_of(headline: HeadlineView, soft: str) -> list[Card]:
    """Return the headline's numbers. Those that show no gain have a `soft` colour."""
    return [
        Card(
            tuple(replace(run, colour=soft if number.shows_none else "") for run in runs_of(number.value)),
            closed(runs_of(number.text)),
        )
        for number in headline.numbers
    ]


def paged(said: Sequence[Paragraph], width: float, height: float, points: float) -> list[list[Paragraph]]:
    """Divide texts into slides, splitting paragraphs that are longer than a slide."""
    pages: list[list[Paragraph]] = [[]]
    left = height
    for each in said:
        for piece in _pieces(each, width, height, points):
            own = height_of_all([piece], width, points)
            if pages[-1] and own > left:
                pages.append([])
                left = height
            pages[-1].append(piece)
            left -= own
    return pages


def _pieces(paragraph: Paragraph, width: float, height: float, points: float) -> Iterable[Paragraph]:
    """Yield a paragraph in pieces, each of which fits on a slide."""
    if height_of_all([paragraph], width, points) <= height:
        yield paragraph
        return
    lines = max(1, int(height / points / 1.25) - 1)
    text = paragraph.text
    while text:
        piece = shortened(text, width, points, lines)
        taken = len(piece.rstrip("…")) if piece != text else len(text)
        cut = text.rfind(" ", 0, taken)
        taken = cut if piece != text and cut > taken / 2 else max(1, taken)
        yield replace(paragraph, runs=(Run(text[:taken]),))
        text = text[taken:].lstrip()
