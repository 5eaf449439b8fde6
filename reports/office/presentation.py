"""Writes a brief as a presentation for PowerPoint, with one message on each slide. Charts, tables and texts can be
edited, and the notes say where their numbers come from."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from markupsafe import Markup, escape
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import ACCENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, text_width
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureView,
    Footnote,
    FormulaView,
    HeadlineView,
    Item,
    NumberSource,
    TableView,
    TextView,
    figures_of,
    notes_of,
)
from benchbrief.reports.office.brief_frame import Front, endings_of, front_of, properties_of, said_of
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_cards import Card, CardLook, add_box, add_cards, add_number
from benchbrief.reports.office.slide_charts import add_charts, can_draw, simplified
from benchbrief.reports.office.slide_masters import (
    CONTENTS,
    COVER,
    LEAST_PT,
    TITLES,
    Area,
    area_of,
    masters_of,
    place_shape,
    placeholder,
    title_size,
)
from benchbrief.reports.office.slide_notes import SlideNotes, marks_in
from benchbrief.reports.office.slide_parts import (
    CELL_GAP,
    CELL_PAD,
    add_foot,
    add_grid,
    add_text,
    closed_up,
    fill,
    fill_placeholder,
    height_of_all,
)
from benchbrief.reports.office.slide_theme import set_language, set_theme
from benchbrief.reports.office.slide_topics import Topic, below, side_by_side
from benchbrief.reports.office.table_grid import Grid, by_series, grid_of, grid_of_facts, grid_of_levels, plain_grid
from benchbrief.reports.office.text_fit import (
    column_widths,
    least_widths,
    lines_of,
    pages_of,
    row_heights,
    shortened,
    stands_on_lines,
)
from benchbrief.reports.text.html_markup import code_in_backticks, plain_text, writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide, headline_of, slides_of
from benchbrief.reports.view.house_style import typeface_of

_BRAND = "#0b3a5b"
_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_TEXT_PT, _READ_PT, _LARGE_PT, _STATED_PT = 14.0, 16.0, 24.0, 28.0
"""The type of texts beside a figure and beside a table, and the largest ones of texts and of a paragraph alone."""
_TITLE_PT = 16.0
"""The smallest type size of a title."""
_TITLE_SHARE = 0.85
"""How much smaller than usual a title may be to take a line less."""
_TEXT_SHARE, _NOTES_SHARE, _CALLOUT_NOTES = 0.35, 0.3, 0.38
"""The most of a slide that texts take above a figure or a table, and its notes below."""
_TABLE_PT = (24.0, 22.0, 20.0, 18.0, 16.0, 14.0, 13.0, LEAST_PT)
_FACT_ROWS, _BESIDE = 11, 24.0
"""The most rows of a table of facts that a line says, too; and the room between a picture and its data."""
_TABLE_SHARE, _MOST_PAD = 0.96, 18.0
"""The share of its place up to which rows of a short table get more room, and how much above and below at the most."""
_FACTS_SHARE = 0.4
"""The most of a slide that a table of facts takes below texts."""
_MOST_CARDS = 8
"""The most numbers of a box that are set large."""
_GROUND, _RULE, _TAG, _TAG_INK = "#eef3f7", "#c9d3da", "#fff1d6", "#7a4300"
"""The grounds of boxes, the line between columns, and the tag on the first slide that says where numbers are from."""
_CODE = (70.0, 100.0)
"""The smallest and the largest size of the code that links to the disclosure."""
_NO_TAGS = 30.0
"""How much lower the titles of the first slide stand without tags below them."""
_TAG_WIDER = 1.12
"""How much wider than estimated the text of a tag may be."""
_COLUMN_GAP, _RULE_TOP, _CLOSING, _CLOSING_MOST = 48.0, 36.0, 110.0, 180.0
"""The room between columns, where the line between them begins, and the least and the most room for the headline at
the end."""
_LINE_LESS = 30.0
"""How much higher a slide begins if its title has one line."""
_LINES_SHARE, _DATA_SHARE = 0.16, 0.28
"""The most of a slide that texts in larger type take above a figure, and that its data take below."""
_DPI = 220
_MOST_SCALE = 1.6
"""The largest size, in points, of a drawing's pixel on a slide, at which the drawing's texts have about 16 points."""
_SMALLEST_SHARE = 0.55
"""The smallest share of its height with which a picture is redrawn."""
_AIR, _WIDEST, _WIDEST_OF_HOUSES = 8.0, 1.1, 1.4
"""The room between parts of a slide; and how much wider than thought a large number may be in another typeface."""


def written(brief: HandOver) -> bytes:
    """Return the presentation. Raises ReportError if the house's template cannot be used."""
    deck = _Deck(brief)
    with written_as(brief.words.locale):
        deck.write()
    made = deck.masters.presentation
    if deck.masters.is_ours:
        charts = [chart for figure in figures_of(brief.view.blocks) for chart in figure.native]
        colours = [series.colour for chart in charts for series in chart.series]
        set_theme(made, deck.brand, _GROUND, (deck.accent, *colours, _RULE, _TAG_INK))
    set_language(made, _LANGUAGES.get(brief.view.language, brief.view.language))
    out = io.BytesIO()
    made.save(out)
    return settled(out.getvalue(), brief.view.made)


@dataclass
class _Deck:
    brief: HandOver
    shown: list[str] = field(default_factory=list)
    """The numbers on the current slide, by their ids."""
    sources: list[str] = field(default_factory=list)
    """The expressions of the figures and tables on the present slide."""
    aside: list[str] = field(default_factory=list)
    """Further lines for the slide's notes, besides the origin of its numbers: texts that were shortened, and why a
    figure is a picture."""

    used: float = math.inf
    """The height that the texts on the last text-only slide take."""
    slide_of_limits: int = 0
    taken: int = 0
    """The topics on the last slide of columns."""
    free: Area | None = None
    """The free space below the second column of the last slide of columns."""
    closed: bool = False
    """Whether the headline is also shown at the end."""

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

    # --- the whole ---------------------------------------------------------------------------------------------------

    def write(self) -> None:
        front = front_of(self.view, self.brief.report, self.words)
        for name, value in properties_of(self.view).items():
            setattr(self.masters.presentation.core_properties, name, value)
        self.headline, blocks = headline_of(self.view.blocks)
        self.write_front(front)
        if not self.view.disclosed:
            self.flow(self.words["limits"], front.warnings)
        waiting: list[Topic] = []
        for slide in self.with_examples(slides_of(blocks)):
            topics = self.topics_of(slide)
            if not topics:
                if not self.write_above_facts(waiting, slide):
                    self.write_topics(waiting)
                    self.write_slide(slide)
                waiting.clear()
            waiting += topics
        if not self.view.blocks:
            self.flow(self.view.title, paragraphs(self.words["empty_report"]))
        self.write_ending(waiting)
        self.close()
        self.name_slide_of_limits()

    def write_front(self, front: Front) -> None:
        view, masters = self.view, self.masters
        self.slide = masters.presentation.slides.add_slide(masters.first)
        self.entitle(placeholder(self.slide, TITLES), escape(front.title))
        subtitle = next((each for each in self.slide.placeholders if each.placeholder_format.type not in TITLES), None)
        marked = marks_in((front.title, front.subtitle, view.title_notes, self.headline))
        said = [*(front.warnings if view.disclosed else ()), *self.notes.told(marked)]
        if masters.is_ours:
            self.write_subtitle(subtitle, self.seen(runs_of(front.subtitle)), ())
            self.write_cover(front, said)
            return
        byline = " · ".join(filter(None, (front.kicker, front.byline)))
        below = [(Run(text, bold=text == front.origin),) for text in (front.origin, byline) if text]
        self.write_subtitle(subtitle, self.seen(runs_of(front.subtitle)), below)
        if self.headline:
            self.open(escape(view.title))
            area = self.masters.content
            height = min(area.height * 0.5, height_of_all(said, area.width, LEAST_PT))
            self.write_cards(_cards(self.headline), replace(area, height=area.height - height - _AIR), 54.0)
            self.put(said, area.below(area.height - height), LEAST_PT)
        else:
            self.flow(escape(view.title), said)

    def write_cover(self, front: Front, said: Sequence[Paragraph]) -> None:
        """Write the texts around title and subtitle on our own first slide: the kind of document, the origin of its
        numbers, its headline, and its limits."""
        whole = self.masters.content
        above = Area(whole.left, 22, whole.width, 20)
        add_text(self.slide, above, paragraphs(escape(front.kicker)), 14.0, "#ffffff", bold=True)
        if front.byline:
            add_text(self.slide, above, paragraphs(escape(front.byline)), 14.0, "#ffffff", align=PP_ALIGN.RIGHT)
        if not self.view.origin:  # the titles then stand where the tags would
            for shape in self.slide.placeholders:
                place = area_of(shape)
                place_shape(shape, replace(place, top=place.top + _NO_TAGS))
        self.write_tags([tag.text for tag in self.view.origin], whole)
        foot = self.masters.height - 28
        height = height_of_all(said, whole.width, 14.0)
        points = 14.0 if height <= 60 else LEAST_PT
        height = min(120.0, height_of_all(said, whole.width, points))
        area = Area(whole.left, COVER + 24, whole.width, foot - height - COVER - 24 - 14)
        if self.headline:
            self.write_headline(self.headline, area, 96.0)
        self.put(said, Area(whole.left, foot - height, whole.width, height), points)

    def write_tags(self, texts: Sequence[str], area: Area) -> None:
        """Write the origin of the numbers as tags above the lower edge of the band."""
        left = area.left
        for text in texts:
            points = 14.0 if left + text_width(text, 14.0) * _TAG_WIDER + 28 <= area.left + area.width else LEAST_PT
            width = min(text_width(text, points) * _TAG_WIDER + 28, area.left + area.width - left)
            if width < 80:
                self.aside.append(text)
                continue
            tag = add_box(self.slide, Area(left, COVER - 42, width, 28), _TAG, is_round=True)
            shown = shortened(text, width - 20, points, 1, bold=True)
            self.aside += [text] if shown != text else []
            frame = tag.text_frame
            frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
            frame.vertical_anchor, frame.word_wrap = MSO_ANCHOR.MIDDLE, False
            frame.paragraphs[0].alignment = PP_ALIGN.CENTER
            fill(frame.paragraphs[0], [Run(shown)], points, _TAG_INK, bold=True)
            left += width + 12

    def name_slide_of_limits(self) -> None:
        """Add the number of the slide with the limits to the first slides' line about limits."""
        line, slides = closed_up(self.view.limits_line), list(self.masters.presentation.slides)
        if not line or not self.slide_of_limits:
            return
        for shape in (shape for slide in slides[:2] for shape in slide.shapes if shape.has_text_frame):
            for run in (run for each in shape.text_frame.paragraphs for run in each.runs[-1:]):
                if run.text.endswith(line):
                    run.text += self.words["on_slide"].format(n=self.slide_of_limits)
                    shape.click_action.target_slide = slides[self.slide_of_limits - 1]

    def topics_of(self, slide: Slide) -> list[Topic]:
        """Return the topics that make up one of our slides, or none if it has more than texts."""
        if not self.masters.is_ours:
            return []
        if slide.topics:
            return [topic for each in slide.topics for topic in self.topics_of(each)]
        head = slide.head or escape(self.view.title)
        said = _said_in(slide.texts + slide.after)
        match slide.blocks:
            case ():
                return [Topic(head, tuple(said))] if said else []
            case (FactsView(common=common, beside=()) as facts,) if common:
                lines = _facts_in_lines(facts, self.words["colon"]) or paragraphs(escape(common))
                return [Topic(head, (*said, *lines), facts.notes, is_facts=not said)]
        return []

    def write_topics(self, topics: Sequence[Topic], spare: float = 0.0, under: float = 0.0) -> None:
        """Write topics in two columns, as many on a slide as fit. A single topic is set as large as possible, with the
        headline below. The last slide keeps `spare` points free, and `under` points below its second column."""
        rest = list(topics)
        while rest:
            counts = range(len(rest), 1, -1)
            kept = {len(rest): (spare, under)}
            if not any(self.write_columns(rest[:n], *kept.get(n, (0.0, 0.0))) for n in counts if self.ink):
                own = spare if len(rest) == 1 else 0.0
                self.flow(rest[0].head, rest[0].said, spare=own, closes=spare == 0, notes=rest[0].notes)
                taken = 1
            else:
                taken = self.taken
            for topic in rest[:taken]:
                if topic.head == self.words["limits"]:
                    self.slide_of_limits = len(self.masters.presentation.slides)
            rest = rest[taken:]

    def write_columns(self, topics: Sequence[Topic], spare: float, under: float = 0.0, least: float = 0.0) -> bool:
        """Write topics in two columns of one slide, or return False if they do not fit in `least` points or more."""
        whole = self.masters.content
        width, usual = whole.width - _COLUMN_GAP, title_size(self.masters.others)
        narrow = replace(whole, width=width * 0.4)
        low = all(self.lines_at(escape(each.head), narrow, usual) < 2 for each in topics)
        notes = self.notes.told(marks_in(topics))
        small = height_of_all(notes, whole.width, LEAST_PT) + _AIR if notes else 0.0
        spare += small
        columns = side_by_side(topics, width, whole.height - spare + _LINE_LESS * low, under)
        if columns is None or columns.points < least:
            return False
        at, points = columns.left, columns.points
        left = replace(whole, width=width * columns.share)
        right = replace(whole, left=left.left + left.width + _COLUMN_GAP, width=width - left.width)
        self.open(escape(topics[0].head), within=left, beside=(escape(topics[at].head), right))
        sides = [(left, below(topics[:at], self.brand)), (right, below(topics[at:], self.brand))]
        for area, said in sides:
            self.put(said, replace(area, top=self.content.top), points)
        self.used = max(height_of_all(said, area.width, points) for area, said in sides)
        last, said = sides[1]
        top = self.content.top + height_of_all(said, last.width, points) + _AIR
        self.free = Area(last.left, top, last.width, whole.bottom - spare - top)
        if spare == small:
            self.close_with_headline(whole.width, small)
        self.put(notes, Area(whole.left, whole.bottom - spare + _AIR, whole.width, small), LEAST_PT)
        add_box(
            self.slide,
            Area(right.left - _COLUMN_GAP / 2, _RULE_TOP, 1.0, self.content.top + self.used - _RULE_TOP),
            _RULE,
        )
        self.taken = len(topics)
        return True

    def write_above_facts(self, topics: Sequence[Topic], slide: Slide) -> bool:
        """Write topics with a short table of facts below them, or return False if one slide has no room for both."""
        match slide:
            case Slide(texts=(), blocks=(FactsView() as facts,), after=()) if facts.beside and len(topics) > 1:
                grid = grid_of_facts(facts, self.words)
            case _:
                return False
        said = [Paragraph(tuple(replace(run, bold=True) for run in runs_of(slide.head)))]
        said += paragraphs(escape(facts.common or ""))
        whole = self.masters.content
        height = height_of_all(said, whole.width, _TEXT_PT) + (_height_within(grid, whole) if grid else math.inf)
        if facts.notes or height > whole.height * _FACTS_SHARE:
            return False
        if not self.write_columns(topics, height + 2 * _AIR, least=_READ_PT - 1):
            return False
        area = replace(whole.below(whole.height - height), height=height)
        self.put(said, area, _TEXT_PT)
        self.draw_grid(slide.head, grid or plain_grid((), 0), area.below(height_of_all(said, whole.width, _TEXT_PT)))
        return True

    def with_examples(self, slides: Sequence[Slide]) -> list[Slide]:
        """Return the slides, with a worked example moved below the table before it if one slide has room for both."""
        found: list[Slide] = []
        for slide in slides:
            match (found[-1:], slide.blocks):
                case (
                    [Slide(texts=(), blocks=(TableView() as table,), after=()) as before],
                    (FormulaView() as formula,),
                ):
                    said = [*_said_in(slide.texts), *_below(table), *_below(formula)]
                    height = height_of_all([*said, *self.example_of(formula)], self.content.width, _READ_PT)
                    free = self.content.height - height - 4 * _AIR - 24.0
                    if self.ink and not slide.after and _height_within(grid_of(table), self.content) <= free:
                        found[-1] = replace(before, blocks=(table, formula), after=slide.texts)
                        continue
            found.append(slide)
        return found

    def example_of(self, formula: FormulaView) -> list[Paragraph]:
        """Return a worked example in two lines."""
        *steps, last = formula.steps
        steps.append(Markup("<b>{}</b>").format(last))
        title = Markup("<b>{}{}{}</b>").format(self.words["formula"], self.words["colon"], formula.title)
        return [Paragraph(runs_of(title, formula.marks)), Paragraph((Run("= "), *runs_of(Markup(" = ").join(steps))))]

    def write_with_example(self, head: Markup, table: TableView, formula: FormulaView, said: list[Paragraph]) -> None:
        """Write a table, with a worked example in a box below it and the texts that the example explains."""
        example, whole = self.example_of(formula), self.content
        own = height_of_all(example, whole.width - 40, _READ_PT) + 24
        notes = _below(formula)
        height = (
            own + height_of_all(said, whole.width, _READ_PT) + height_of_all(notes, whole.width, LEAST_PT) + 2 * _AIR
        )
        self.write_block(head, table, [], [], (formula,), spare=height + _AIR)
        area = replace(whole, top=whole.bottom - height, height=height)
        self.put(said, area, _READ_PT)
        box = replace(area.below(height_of_all(said, whole.width, _READ_PT) + _AIR), height=own)
        self.add_ground(box)
        self.put(example, Area(box.left + 20, box.top + 12, box.width - 40, own - 24), _READ_PT)
        self.put(notes, area.below(height - height_of_all(notes, whole.width, LEAST_PT)), LEAST_PT)
        self.sources += [source.expression for source in _sources(formula)]

    def close_with_headline(self, width: float, spare: float = 0.0) -> bool:
        """Write the headline, once, below the last texts if there is room above the `spare` points at the foot, which
        are for other footnotes. Returns whether it was written."""
        notes = self.notes.told(tuple(each for each in marks_in(self.headline) if each not in self.notes.letters))
        small = height_of_all(notes, width, LEAST_PT) + _AIR if notes else 0.0
        left = replace(self.content.below(self.used + 20), width=width)
        left = replace(left, height=left.height - spare - small)
        if not self.headline or not self.ink or self.closed or left.height < _CLOSING:
            return False
        self.closed = True
        self.write_headline(self.headline, replace(left, height=min(left.height, _CLOSING_MOST)), 60.0)
        self.put(notes, Area(left.left, left.bottom + _AIR, width, small), LEAST_PT)
        return True

    def write_ending(self, waiting: Sequence[Topic]) -> None:
        """Write the closing texts, the method with the limits, and the small print."""
        view = self.view
        legal = [*paragraphs(view.legal), *self.notes.told(marks_in((view.legal, view.legal_notes)))]
        small = height_of_all(legal, self.masters.content.width, LEAST_PT)
        chapters = endings_of(view, self.words) if view.disclosed else ()
        last = [Topic(chapter.head, tuple(chapter.said)) for chapter in chapters]
        if last and all(topic.is_facts for topic in waiting):
            waiting, last = [], [*waiting, *last]
        self.write_topics(waiting)
        spare = small + 2 * _AIR if legal else 1.0
        has_code = bool(view.companion and view.companion.qr)
        self.write_topics(last, spare=spare, under=_CODE[0] + 2 * _AIR if has_code else 0.0)
        if self.free:
            self.add_code(self.free)
        self.write_legal(legal, small)

    def add_code(self, area: Area) -> None:
        """Add the code that links to the disclosure, if there is room."""
        other = self.view.companion
        size = min(_CODE[1], area.height)
        if other is None or not other.qr or size < _CODE[0]:
            return
        try:
            content = self.brief.converter.png(str(other.qr), 12.0)
        except NotDrawn as error:
            self.brief.faults.append(f"the code of the disclosure is missing from the file for PowerPoint: {error}")
            return
        picture = self.slide.shapes.add_picture(io.BytesIO(content), Pt(area.left), Pt(area.top), Pt(size), Pt(size))
        beside = Area(area.left + size + _AIR * 2, area.top, area.width - size - _AIR * 2, size)
        add_text(self.slide, beside, paragraphs(escape(self.words["scan"])), _TEXT_PT, INK, anchor=MSO_ANCHOR.MIDDLE)
        picture.name = f"{self.words['full_disclosure']} (QR)"
        picture._element.nvPicPr.cNvPr.set("descr", writable(f"{picture.name}: {other.address or other.file}"))

    def write_subtitle(self, shape: Any, subtitle: tuple[Run, ...], below: Sequence[tuple[Run, ...]]) -> None:
        """Write the subtitle and the lines below it. A subtitle that is too long is shortened, and the notes have all
        of it."""
        area = area_of(shape)
        width = max(200.0, area.width - 15)
        own = "".join(run.text for run in subtitle)
        others = ["".join(run.text for run in line) for line in below]

        def left(points: float) -> int:
            """Return the lines that the other texts leave free."""
            return int(area.height / (points * 1.25)) - sum(lines_of(text, width, points) for text in others)

        points = next((size for size in (16.0, 14.0) if lines_of(own, width, size) <= left(size)), LEAST_PT)
        if lines_of(own, width, points) > max(1, left(points)):
            self.aside.append(own)
            subtitle = (Run(shortened(own, width, points, max(1, left(points)))),)
        fill_placeholder(shape, [subtitle, *below] if own else below, points)

    def write_legal(self, said: Sequence[Paragraph], height: float) -> None:
        """Write the small print at the foot of the last slide, or on a slide of its own."""
        area = self.content
        if said and self.used + 2 * _AIR + height <= area.height:
            self.put(said, area.below(area.height - height), LEAST_PT)
        elif said:
            self.flow(self.view.title, said, most=LEAST_PT)

    # --- slides ------------------------------------------------------------------------------------------------------

    def open(
        self,
        head: str | Markup,
        part: str = "",
        within: Area | None = None,
        beside: tuple[Markup, Area] | None = None,
    ) -> Any:
        """Begin a slide with a claim as its title, and set its `content`. With `within`, the title is only as wide as
        that area, and a second title may be `beside` it in its own area."""
        self.close()
        self.notes.letters.clear()
        masters, self.used, self.free = self.masters, math.inf, None
        self.slide = masters.presentation.slides.add_slide(masters.others)
        said = Markup("{} {}").format(head, part) if part else escape(head)
        title = placeholder(self.slide, TITLES)
        if within and beside:
            area = replace(area_of(title), left=within.left, width=within.width)
            place_shape(title, area)
            second, other = beside[0], replace(area, left=beside[1].left, width=beside[1].width)
            size = min(self.size_of(text, place) or _TITLE_PT for text, place in ((said, area), (second, other)))
            lines = max(self.lines_at(said, area, size), self.lines_at(second, other, size))
            high = size * 1.2 * lines  # so that the last lines of both stand side by side
            place_shape(title, replace(area, height=high))
            title.text_frame.vertical_anchor = MSO_ANCHOR.BOTTOM
            self.entitle(title, said, size)
            shown = [Paragraph(self.seen(runs_of(second)))]
            other = replace(other, height=high)
            add_text(self.slide, other, shown, size, self.brand, bold=True, anchor=MSO_ANCHOR.BOTTOM)
        else:
            lines = self.entitle(title, said)
        self.content = masters.content
        if masters.is_ours and lines == 1:
            self.content = replace(self.content.below(_LINE_LESS), height=self.content.height + _LINE_LESS)
            self.content = replace(self.content, top=masters.content.top - _LINE_LESS)
        content = placeholder(self.slide, CONTENTS)
        if content is not None:
            content._element.getparent().remove(content._element)
        add_foot(self.slide, masters.others, " · ".join(tag.text for tag in self.view.origin), masters.content)
        return self.slide

    def size_of(self, title: Markup, area: Area) -> float:
        """Return the largest type size in which a slide's title fits its place, or 0 if no size fits."""
        most = title_size(self.slide.slide_layout)
        sizes = [most, *(size for size in range(math.ceil(most) - 2, int(_TITLE_PT) - 1, -2) if size < most)]
        lines = {size: self.lines_at(title, area, size) for size in sizes}
        fitting = [size for size in sizes if lines[size] <= max(1, int(area.height / (size * 1.2)))]
        shorter = [size for size in fitting if size >= most * _TITLE_SHARE and lines[size] < lines[fitting[0]]]
        return next(iter((*shorter, *fitting)), 0.0)

    def lines_at(self, title: Markup, area: Area, size: float) -> int:
        return lines_of("".join(run.text for run in runs_of(title)), area.width, size, bold=True)

    def entitle(self, shape: Any, title: Markup, size: float = 0.0) -> int:
        """Write a title in the largest type that fits its place, up to the layout's size, and return its lines. A title
        that does not fit in any size is shortened, and the notes have all of it."""
        runs, area, most = self.seen(runs_of(title)), area_of(shape), title_size(self.slide.slide_layout)
        points = size or self.size_of(title, area)
        if not points or self.lines_at(title, area, points) > max(1, int(area.height / (points * 1.2))):
            text, points = "".join(run.text for run in runs), points or _TITLE_PT
            self.aside.append(text)
            room = max(1, int(area.height / (points * 1.2)))
            runs = (Run(shortened(text, area.width, points, room, bold=True)),)
        fill_placeholder(shape, [runs], points if points < most else 0.0)
        return lines_of("".join(run.text for run in runs), area.width, points, bold=True)

    def close(self) -> None:
        """Write the origin of the slide's numbers into its notes."""
        if self.slide is None:
            return
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

    def seen(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """Record the numbers in these runs, and return the runs with the letters of their footnotes."""
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
        closes: bool = False,
        notes: Sequence[Footnote] = (),
    ) -> None:
        """Write texts alone on as many slides as needed, with their footnotes, and these `notes` on the last slide.
        `spare` points stay free on a slide that has room for them. If the texts close a brief, the headline follows
        below if there is room.
        """
        if not said:
            return
        area, most = self.masters.content, most or (_STATED_PT if len(said) == 1 else _LARGE_PT)
        small = height_of_all(self.notes.told(marks_in((head, said, notes))), area.width, LEAST_PT)
        area = replace(area, height=area.height - small)
        if height_of_all(said, area.width, _TEXT_PT) + spare <= area.height:
            area = replace(area, height=area.height - spare)
        sizes = [size for size in (most, _LARGE_PT, 20.0, 18.0, 16.0, _TEXT_PT) if size <= most]
        points = next((size for size in sizes if height_of_all(said, area.width, size) <= area.height), sizes[-1])
        pages = _paged(said, area.width, area.height, points)
        for place, page in enumerate(pages):
            self.open(head, f"({place + 1}/{len(pages)})" if len(pages) > 1 else "")
            area = replace(area, top=self.content.top)
            self.put(page, area, points)
            self.used = height_of_all(page, area.width, points)
            own = marks_in((head, page, notes if place == len(pages) - 1 else ()))
            foot = self.masters.content.bottom - small - (spare if place == len(pages) - 1 else 0.0)
            self.put(self.notes.told(own), Area(area.left, foot, area.width, small), LEAST_PT)
        if closes:
            self.close_with_headline(area.width, small)

    def write_slide(self, slide: Slide) -> None:
        head = slide.head or escape(self.view.title)
        texts, after = _said_in(slide.texts), _said_in(slide.after)
        if slide.topics:
            for topic in slide.topics:
                self.flow(topic.head or head, _said_in(topic.texts))
            return
        if not slide.blocks:
            self.flow(head, [*texts, *after])
            return
        area = self.masters.content
        if height_of_all(texts, area.width, _TEXT_PT) > area.height * _TEXT_SHARE:
            self.flow(head, texts)
            texts = []
        match slide.blocks:
            case (TableView() as table, FormulaView() as formula):
                self.write_with_example(_with_unit(head, table), table, formula, after)
                return
        for block in slide.blocks:
            claim = block.title_html if isinstance(block, TableView) and len(slide.blocks) > 1 else head
            self.write_block(_with_unit(claim, block), block, texts, after)
            texts, after = [], []

    def write_block(
        self,
        head: Markup,
        block: Block,
        texts: Sequence[Paragraph],
        after: Sequence[Paragraph],
        others: tuple[Block, ...] = (),
        spare: float = 0.0,
    ) -> None:
        """Write a block under its claim, with texts above and below, and with the footnotes of the blocks in `others`
        on the slide. `spare` points stay free at the foot."""
        if isinstance(block, DisclosureView):
            self.write_disclosure(block)
            return
        self.open(head)
        area = replace(self.content, height=self.content.height - spare)
        if texts:
            sizes = (_READ_PT + 2, _READ_PT, _TEXT_PT)[isinstance(block, FigureView) :]
            most = area.height * (_TEXT_SHARE if not isinstance(block, FigureView) else _LINES_SHARE)
            points = next((size for size in sizes if height_of_all(texts, area.width, size) <= most), _TEXT_PT)
            self.put(texts, area, points)
            area = area.below(height_of_all(texts, area.width, points) + _AIR)
        notes = self.notes.told(marks_in((head, texts, block, after, others)))
        below = [*_below(block), *after, *notes]
        large: tuple[float, ...] = () if isinstance(block, FigureView) else (_TEXT_PT,)
        most, share = self.content.height * _NOTES_SHARE / 2, _NOTES_SHARE
        if isinstance(block, CalloutView):
            large, most = (_READ_PT, _TEXT_PT), _CALLOUT_NOTES * self.content.height
            share = _CALLOUT_NOTES
        small = next((size for size in large if height_of_all(below, area.width, size) <= most), LEAST_PT)
        height = height_of_all(below, area.width, small)
        apart = height > self.content.height * share
        room = area if apart or not below else replace(area, height=area.height - height - _AIR)
        self.sources += [source.expression for source in _sources(block)]
        if below and not apart and isinstance(block, FigureView):  # its data may be on the slides after it
            self.put(below, Area(area.left, room.top + room.height + _AIR, area.width, height), small)
            below = []
        used = self.draw(head, block, room)
        if below and not apart:
            at = area.top if room is area else room.top
            self.put(below, Area(area.left, at + used + 2 * _AIR, area.width, height), small)
        elif below:
            self.flow(head, below, most=_TEXT_PT)

    # --- blocks: each returns the height that it takes on the last slide ---------------------------------------------

    def draw(self, head: Markup, block: Block, area: Area) -> float:
        match block:
            case FigureView():
                return self.draw_figure(block, area)
            case TableView():
                return self.draw_grid(head, grid_of(block), area)
            case FactsView():
                return self.draw_facts(head, block, area)
            case FormulaView():
                return self.draw_formula(block, area)
            case CalloutView():
                return self.draw_callout(head, block, area)
            case _:  # the blocks that `slides_of` turns into slides
                raise TypeError(block.kind)

    def draw_figure(self, block: FigureView, area: Area) -> float:
        if not block.svg and not block.native:
            reason = self.words["undrawn_figure"].format(reason=block.undrawn) if block.undrawn else ""
            self.put(paragraphs(reason or self.words["empty_figure"]), area, _TEXT_PT)
            return area.height
        name = f"{self.words['figure']} {block.number}"
        whole = can_draw(block.native)
        of_axis = [re.sub(r" \([^()]*\)$", "", chart.left) for chart in block.native]
        repeats = whole and (block.title in of_axis or not block.title)
        title = Markup("{}{}").format(self.words["colon"], block.title) if block.title else ""
        said = [] if repeats else [Paragraph(runs_of(Markup("<b>{}</b>{}").format(name, title), block.marks))]
        marks = self.seen(runs_of("", block.marks)) if repeats else ()
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        too_small = not whole and self.picture_of(block, room)[1] * _least_type(block.svg) < LEAST_PT - 0.5
        native = simplified(block.native) if whole or too_small else ()
        if native and not whole:
            said += paragraphs(self.words["office_simplified"].format(program="PowerPoint"))
        elif not native:
            self.aside.append(self.words["office_picture"].format(program="PowerPoint"))
        self.put(said, area, LEAST_PT)
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        if whole:
            add_charts(self.slide, native, room, block.alt, name, self.ink, marks)
            return area.height
        if not native and _says_all(block):
            self.aside += ["\t".join(line) for line in (block.data_head, *block.data)]
            self.add_picture(block, room, name, None)
            return area.height
        data = by_series(block.data_head, block.data) if block.data else None
        flat = by_series(block.data_head, block.data, across=True) if block.data else None
        if flat and (height := _height_within(flat, room)) <= room.height * _DATA_SHARE:
            self.draw_grid(escape(name), flat, room.below(room.height - height))
            room, data = replace(room, height=room.height - height - _AIR), None
        if native:
            add_charts(self.slide, native, room, block.alt, name, self.ink)
        used = room.width if native else self.add_picture(block, room, name, data)
        beside = Area(room.left + used + _BESIDE, room.top, room.width - used - _BESIDE, room.height)
        if data and _fits(data, beside):
            self.draw_grid(escape(name), data, beside)
        elif data:
            self.draw_grid(escape(self.words["office_data"].format(number=block.number)), data, None)
        return area.height

    def picture_of(self, block: FigureView, area: Area) -> tuple[str, float]:
        """Return the drawing of a figure for an area, and the size of one of its pixels in points."""
        svg = block.svg
        wide, high = _size(svg)
        needed = min(area.width / wide, _MOST_SCALE) * high
        if needed > area.height and block.redrawn:
            svg = block.redrawn(max(_SMALLEST_SHARE, area.height / needed))
            wide, high = _size(svg)
        return svg, min(area.width / wide, _MOST_SCALE, area.height / high)

    def add_picture(self, block: FigureView, area: Area, name: str, data: Grid | None) -> float:
        """Add the drawing of a figure, at the left if that leaves room for its data. Returns its width."""
        svg, scale = self.picture_of(block, area)
        wide, high = _size(svg)
        try:
            content = self.brief.converter.png(svg, scale * _DPI / 72)
        except NotDrawn as error:
            self.brief.faults.append(f"{name} is missing from the file for PowerPoint: {error}")
            return 0.0
        spare = area.width - wide * scale
        alone = data is None or not _fits(data, replace(area, width=spare - _BESIDE))
        left = area.left + (spare / 2 if alone else 0.0)
        box = (Pt(left), Pt(area.top), Pt(wide * scale), Pt(high * scale))
        picture = self.slide.shapes.add_picture(io.BytesIO(content), *box)
        picture.name = name
        picture._element.nvPicPr.cNvPr.set("descr", writable(block.alt))
        return wide * scale

    def draw_facts(self, head: Markup, block: FactsView, area: Area) -> float:
        grid, common = grid_of_facts(block, self.words), block.common
        if common and not block.beside:  # which is all of the rows in a line
            grid, common = (grid, "") if grid and grid.rows <= _FACT_ROWS else (None, common)
        said = paragraphs(escape(common or ("" if grid else self.words["no_facts"])))
        if grid is None:
            points = _LARGE_PT if height_of_all(said, area.width, _LARGE_PT) <= area.height else _TEXT_PT
            self.put(said, area, points)
            return height_of_all(said, area.width, points)
        height = height_of_all(said, area.width, _TEXT_PT)
        if said:
            self.put(said, area, _TEXT_PT)
        return height + self.draw_grid(head, grid, area.below(height + (_AIR if said else 0)))

    def draw_formula(self, block: FormulaView, area: Area) -> float:
        """Draw a worked example in a box: its steps, and its result in large type."""
        *steps, found = (Paragraph((Run("= "), *runs_of(step))) for step in block.steps)
        pad = 20.0 if self.ink else 0.0
        inner = Area(area.left + pad + 4, area.top + pad, area.width - 2 * pad - 4, area.height - 2 * pad)
        large = 2.0 if self.ink else 1.0

        def height(size: float) -> float:
            return height_of_all(steps, inner.width, size) + height_of_all([found], inner.width, size * large)

        sizes = (_STATED_PT, _LARGE_PT, 20.0, 16.0)
        points = next((size for size in sizes if height(size) <= inner.height), LEAST_PT)
        if self.ink:
            self.add_ground(replace(area, height=height(points) + 2 * pad))
        self.put(steps, inner, points)
        result = inner.below(height_of_all(steps, inner.width, points))
        add_text(self.slide, result, [Paragraph(self.seen(found.runs))], points * large, self.look.number, bold=True)
        return height(points) + 2 * pad

    def add_ground(self, area: Area) -> None:
        """Add the background of a box, with a line at its left."""
        add_box(self.slide, area, self.look.ground)
        add_box(self.slide, replace(area, width=5.0), self.accent)

    def draw_callout(self, head: Markup, block: CalloutView, area: Area) -> float:
        said = [*paragraphs(Markup("<b>{}</b>").format(block.column) if block.column else ""), *paragraphs(block.html)]
        height = height_of_all(said, area.width, _READ_PT)
        if said:
            self.put(said, area, _READ_PT)
            height += _AIR
        area = area.below(height)
        if block.table:
            return height + self.draw_grid(head, grid_of(block.table), area)
        if not block.cards:
            return height
        if len(block.cards) <= _MOST_CARDS:
            cards = [Card(runs_of(card.html), runs_of(escape(card.label), card.marks)) for card in block.cards]
            return height + self.write_cards(cards, area, 48.0)
        texts = [(block.title, block.column), *((card.label, plain_text(card.html)) for card in block.cards)]
        for card in block.cards:
            self.seen(runs_of(card.html))
        return height + self.draw_grid(head, plain_grid(texts, 2), area)

    @property
    def look(self) -> CardLook:
        if self.masters.is_ours:
            return CardLook(self.brand, INK, self.accent, _GROUND, _WIDEST)
        return CardLook("", "", "", "", _WIDEST_OF_HOUSES)

    def write_cards(self, cards: Sequence[Card], area: Area, most: float) -> float:
        """Write numbers in large type, each above its description. Returns their height."""
        return add_cards(self.slide, [self.seen_card(card) for card in cards], area, most, self.look)

    def write_headline(self, headline: HeadlineView, area: Area, most: float) -> None:
        """Write the numbers of the headline: one in a box, with its sentence, or each on a card."""
        cards = [self.seen_card(card) for card in _cards(headline)]
        if len(cards) == 1:
            self.add_ground(area)
            inner = Area(area.left + 24, area.top + 8, area.width - 40, area.height - 16)
            add_number(self.slide, cards[0], inner, most, replace(self.look, bar="", ground=""))
        else:
            add_cards(self.slide, cards, area, 60.0, self.look)

    def seen_card(self, card: Card) -> Card:
        return Card(self.seen(card.value), self.seen(card.text))

    def write_disclosure(self, block: DisclosureView) -> None:
        words = self.words
        cells = block.bad_cells or (Item("", block.all_ok),)
        self.flow(f"{words['disclosure']}{words['colon']}{words['d_cells']}", said_of(cells, words["colon"]), _TEXT_PT)
        for group in block.groups:
            head = escape(f"{words['disclosure']}{words['colon']}{group.title}")
            self.flow(head, said_of(group.items, words["colon"]), _TEXT_PT)
            for table in group.tables:
                self.draw_grid(head, grid_of_levels(table), None)

    def draw_grid(self, head: Markup, grid: Grid, area: Area | None) -> float:
        """Draw a table in the largest type that fits, or split it over several slides. Each piece gets a new slide,
        except the first one if there is an `area`. Returns the height of the last piece."""
        grid = replace(grid, cells=tuple(replace(cell, runs=self.seen(cell.runs)) for cell in grid.cells))
        whole = self.masters.content
        first = area or whole
        used = 0.0
        for number, piece in enumerate(_across(grid, whole.width)):
            if number:
                first, area = whole, None
            points, widths, heights = _fitted(piece, first)
            pages = pages_of(heights, piece.heads, first.height)
            small = 0.0
            if len(pages) > 1:  # of all rows that a new slide has room for, above the footnotes that have marks there
                small = height_of_all(self.notes.told(_marked(piece)), whole.width, LEAST_PT)
                pages = pages_of(heights, piece.heads, min(first.height, whole.height) - small - _AIR)
            for place, (begin, end) in enumerate(pages):
                part = f"({place + 1}/{len(pages)})" if len(pages) > 1 else ""
                if area is None or place:
                    letters = dict(self.notes.letters)
                    self.open(head, part)
                    self.notes.letters |= letters
                at = first if area is not None and not place else whole
                plain = self.masters.is_ours
                name = plain_text(head)
                rows = piece.within(begin, end)
                spare = at.height * _TABLE_SHARE - sum(row_heights(rows, widths, points, CELL_GAP, CELL_PAD))
                pad = CELL_PAD + max(0.0, min(_MOST_PAD, spare / rows.rows / 2)) if len(pages) == 1 else CELL_PAD
                used = add_grid(self.slide, rows, at, widths, points, name, plain=plain, pad=pad)
                if place < len(pages) - 1:
                    self.put(self.notes.told(_marked(rows)), at.below(at.height - small), LEAST_PT)
        return used


def _marked(grid: Grid) -> tuple[int, ...]:
    """Return the footnotes of a table's cells."""
    return marks_in([cell.runs for cell in grid.cells])


def _with_unit(title: Markup, block: Block) -> Markup:
    """Return a table's title with the unit that all its numbers have in common."""
    unit = block.unit if isinstance(block, TableView) else ""
    return Markup("{} ({})").format(title, unit) if unit and f"({unit})" not in title else title


def _said_in(texts: Iterable[TextView]) -> list[Paragraph]:
    return [each for text in texts for each in paragraphs(text.html)]


def _cards(headline: HeadlineView) -> list[Card]:
    return [Card(runs_of(number.value), runs_of(number.text)) for number in headline.numbers]


def _facts_in_lines(facts: FactsView, colon: str) -> list[Paragraph]:
    """Return declared facts as lines, each with its name and what it describes, or nothing if some
    facts were observed."""
    if facts.observed:
        return []
    first, *others = facts.groups
    lines = [("", line) for line in first.lines] + [(each.label, line) for each in others for line in each.lines]
    made = []
    for of, line in lines:
        name = f"{line.name} ({of})" if of else line.name
        term = (Run(f"{name}{colon.rstrip()}", bold=True), Run(" " if colon.endswith(" ") else ""))
        made.append(Paragraph((*term, *runs_of(escape(line.declared)))))
    return made


def _says_all(block: FigureView) -> bool:
    """Return whether a figure's drawing shows every number of its data."""
    texts = "".join(re.findall(r">([^<]+)<", block.svg))
    return all(number in texts for line in block.data for number in re.findall(r"\d[\d,.]*", line[-1]))


def _height_within(grid: Grid, area: Area) -> float:
    """Return the height of a table with the width of an area, in its usual type size, or infinity if it does
    not fit."""
    points = _TEXT_PT
    if sum(least_widths(grid, points, CELL_GAP)) > area.width:
        return math.inf
    return sum(row_heights(grid, column_widths(grid, area.width, points, CELL_GAP), points, CELL_GAP, CELL_PAD))


def _fits(grid: Grid, area: Area) -> bool:
    """Return whether a table fits an area in the smallest type."""
    widths = least_widths(grid, LEAST_PT, CELL_GAP)
    if sum(widths) > area.width:
        return False
    columns = column_widths(grid, area.width, LEAST_PT, CELL_GAP)
    return sum(row_heights(grid, columns, LEAST_PT, CELL_GAP, CELL_PAD)) <= area.height


def _fitted(grid: Grid, area: Area) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return the largest type size in which a table fits, the widths of its columns, and the heights of its rows."""
    for points in _TABLE_PT:
        widths = column_widths(grid, area.width, points, CELL_GAP)
        heights = row_heights(grid, widths, points, CELL_GAP, CELL_PAD)
        fits = sum(least_widths(grid, points, CELL_GAP)) <= area.width and sum(heights) <= area.height
        if points == LEAST_PT or (fits and (points <= _TEXT_PT or stands_on_lines(grid, area.width, points, CELL_GAP))):
            break
    return points, widths, heights


def _across(grid: Grid, width: float) -> list[Grid]:
    """Split a table into pieces narrow enough for the page, each with the first column."""
    least = least_widths(grid, LEAST_PT, CELL_GAP)
    pieces: list[Grid] = []
    first, used = 1, least[0]
    for column in range(1, grid.columns):
        if column > first and used + least[column] > width:
            pieces.append(grid.across(first, column))
            first, used = column, least[0]
        used += least[column]
    return [*pieces, grid.across(first, grid.columns)] if pieces else [grid]


def _below(block: Block) -> list[Paragraph]:
    """Return the texts below a figure, a table or a box. The key of a figure is left out if PowerPoint draws the figure
    as a chart, which lacks what the key explains."""
    said: list[Paragraph] = []
    is_chart = isinstance(block, FigureView) and can_draw(block.native)
    has_pale = is_chart and any(series.worse for chart in block.native for series in chart.series)
    for name in ("heat", "compared") if is_chart and not has_pale else ("key", "heat", "compared"):
        said += paragraphs(escape(str(getattr(block, name, "") or "")))
    note = getattr(block, "note", None)
    said += paragraphs(code_in_backticks(note)) if note else ()
    return said


def _sources(block: Block) -> tuple[NumberSource, ...]:
    found: tuple[NumberSource, ...] = getattr(block, "sources", ())
    return found


def _size(svg: str) -> tuple[float, float]:
    """Return the width and height of a drawing in its own pixels."""
    found = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    return (float(found[1]), float(found[2])) if found else (657.0, 300.0)


def _least_type(svg: str) -> float:
    """Return the smallest type size of a drawing in its own pixels."""
    return min((float(size) for size in re.findall(r'font-size[=:]\s*"?([\d.]+)', svg)), default=LEAST_PT)


def _paged(said: Sequence[Paragraph], width: float, height: float, points: float) -> list[list[Paragraph]]:
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
    """Yield a paragraph in pieces that each fit on a slide."""
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
