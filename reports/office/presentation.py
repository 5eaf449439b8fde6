"""Writes a brief as a presentation for PowerPoint, with one message on each slide. Charts, tables and texts can be
edited, and the notes say where their numbers come from."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import (
    Block,
    FigureView,
    FormulaView,
    TableView,
    TextView,
    figures_of,
)
from benchbrief.reports.office.brief_frame import code_of, endings_of, front_of, properties_of, said_of
from benchbrief.reports.office.line_breaks import wrapped
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.prose_tables import with_tables
from benchbrief.reports.office.rich_text import Paragraph, paragraphs
from benchbrief.reports.office.slide_blocks import caption_of, texts_below, with_unit
from benchbrief.reports.office.slide_cover import CoverWriter
from benchbrief.reports.office.slide_examples import ExampleWriter
from benchbrief.reports.office.slide_folds import (
    Folded,
    divided,
    folded,
    half_of,
    has_column,
    has_room,
    height_of_column,
    height_of_table,
)
from benchbrief.reports.office.slide_look import AIR, GROUND, READ_PT, RULE, TAG_INK, TEXT_PT, TEXT_SHARE
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import height_of_all, indent_of
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_texts import TopicWriter, lead_of, said_in
from benchbrief.reports.office.slide_theme import set_language, set_theme
from benchbrief.reports.office.slide_topics import Topic
from benchbrief.reports.office.table_grid import grid_of
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide, headline_of, single_slides_of

_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_LIMITS_PT = 22.0
_BESIDE_PT = (18.0, 17.0, READ_PT)
"""The type sizes of texts beside a chart or below a table, the largest first."""
_CODE, _PAD = 84.0, 14.0
"""The size of the QR code that links to the disclosure, and the space around it and around the texts in its box."""


def written(brief: HandOver) -> bytes:
    """Return the presentation. Raises ReportError if the house's template cannot be used."""
    deck = _Deck(brief)
    with written_as(brief.words.locale):
        deck.write()
    made = deck.masters.presentation
    if deck.masters.is_ours:
        charts = [chart for figure in figures_of(brief.view.blocks) for chart in figure.native]
        colours = [series.colour for chart in charts for series in chart.series]
        set_theme(made, deck.brand, GROUND, (deck.accent, *colours, RULE, TAG_INK))
    set_language(made, _LANGUAGES.get(brief.view.language, brief.view.language))
    out = io.BytesIO()
    made.save(out)
    return settled(out.getvalue(), brief.view.made)


@dataclass
class _Deck(CoverWriter, TopicWriter, ExampleWriter):
    """Writes the whole presentation."""

    def write(self) -> None:
        front = front_of(self.view, self.brief.report, self.words)
        for name, value in properties_of(self.view).items():
            setattr(self.masters.presentation.core_properties, name, value)
        self.headline, blocks = headline_of(self.view.blocks)
        self.write_front(front)
        if not self.view.disclosed:
            self.flow(self.words["limits"], front.warnings)
        topics: list[Topic] = []
        slides = self.with_examples(single_slides_of(with_tables(blocks)))
        fold = (
            folded(slides, self.masters.content, self.words["colon"]) if self.masters.is_ours else Folded(tuple(slides))
        )
        if self.masters.is_ours:
            self.set_titles(self.title_of(slide) for slide in fold.slides)
        for slide in fold.slides:
            topic = self.topic_of(slide)
            if topic and topic.facts:
                topics.append(topic)
            elif topic:
                self.write_topic(topic)
            else:
                self.write_slide(slide)
        if not self.view.blocks:
            self.flow(self.view.title, paragraphs(self.words["empty_report"]))
        self.write_ending([*filter(None, map(self.topic_of, fold.asides)), *topics], said_in(fold.terms))
        self.close()
        self.name_slide_of_limits()

    def write_slide(self, slide: Slide) -> None:
        head = slide.head or escape(self.view.title)
        texts, after = said_in(slide.texts), said_in(slide.after)
        if not slide.blocks:
            self.flow(head, [*texts, *after])
            return
        area, noted = self.masters.content, slide.noted
        match slide.blocks:
            case (FigureView(), *_) if self.masters.is_ours:
                shown, left = lead_of(slide.texts, area.width)
                texts, noted = said_in(shown), (*left, *noted)
        if height_of_all(texts, area.width, TEXT_PT) > area.height * TEXT_SHARE:
            self.flow(head, texts)
            texts = []
        match slide.blocks:
            case (TableView() as table, *others) if others:
                examples = [each for each in others if isinstance(each, FormulaView)]
                if len(examples) == len(others):
                    self.write_with_examples(with_unit(head, table), table, examples, after)
                    return
        follows = isinstance(slide.blocks[-1], TableView | FigureView) and (after or len(slide.blocks) > 1)
        if follows and self.masters.is_ours and (has_room(slide, area, TEXT_PT) or has_column(slide, area)):
            self.write_together(slide, texts)
            self.set_aside(noted)
            return
        for block in slide.blocks:
            claim = block.title_html if isinstance(block, TableView) and len(slide.blocks) > 1 else head
            self.write_block(with_unit(claim, block), block, texts, after)
            texts, after = [], []
        self.set_aside(noted)

    def write_together(self, slide: Slide, texts: Sequence[Paragraph]) -> None:
        """Write a slide with a figure or a table and all that belongs to it. Another figure is at its right. Tables and
        texts are below it or, if the figure would become too low, at its right."""
        block, said, whole = slide.blocks[0], said_in(slide.after), self.masters.content
        head = with_unit(slide.head or escape(self.view.title), block)
        tables = [each for each in slide.blocks[1:] if isinstance(each, TableView)]
        figures = [each for each in slide.blocks if isinstance(each, FigureView)]
        beside = not has_room(slide, whole, TEXT_PT)
        column = divided(whole)[1] if beside else whole
        points = READ_PT if not beside and has_room(slide, whole) else TEXT_PT
        spare = 0.0 if beside else height_of_column(slide, whole, points) + 2 * AIR
        if len(figures) > 1:
            self.write_pair(head, figures, texts, slide.after, spare)
            drawn = whole
        else:
            notes: tuple[Block, ...] = (*tables, *slide.after)
            wide = divided(whole)[0].width if beside else whole.width
            drawn = self.write_block(head, block, texts, [], notes, spare, TEXT_PT, wide)
        if beside:
            area = replace(column, top=drawn.top, height=whole.bottom - drawn.top)
            fitting = (size for size in _BESIDE_PT if height_of_column(slide, column, size) <= area.height)
            points = next(fitting, points)
            said = [wrapped(each, area.width - indent_of(each, points), points) for each in said]
        elif figures:
            area = replace(whole, top=whole.bottom - spare + 2 * AIR, height=spare - 2 * AIR)
        else:
            area = replace(whole, top=drawn.bottom + 2 * AIR, height=whole.bottom - drawn.bottom - 2 * AIR)
            points = next((size for size in _BESIDE_PT if height_of_all(said, area.width, size) <= area.height), points)
        for table in tables:
            caption, note = caption_of(table), texts_below(table)
            self.put(caption, area, TEXT_PT)
            room = area.below(height_of_all(caption, area.width, TEXT_PT))
            used = self.draw_grid(
                escape(table.title), grid_of(table), replace(room, height=height_within(grid_of(table), room)), TEXT_PT
            )
            self.put(note, room.below(used + AIR), LEAST_PT)
            self.sources += [source.expression for source in table.sources]
            area = area.below(height_of_table(table, area))
        self.put(said, area, points)

    def write_pair(
        self,
        head: Markup,
        figures: Sequence[FigureView],
        texts: Sequence[Paragraph],
        others: tuple[Block, ...],
        spare: float,
    ) -> None:
        """Write two figures side by side, each with its notes below it. `spare` points stay free at the foot for the
        `others`, whose footnotes are above them."""
        self.open(head, kind="chart")
        area = replace(self.content, height=self.content.height - spare)
        self.put(texts, area, TEXT_PT)
        area = area.below(height_of_all(texts, area.width, TEXT_PT) + AIR * bool(texts))
        left = half_of(area)
        halves = (left, replace(left, left=area.left + area.width - left.width))
        known = marks_in((head, texts, others))
        below = [[*texts_below(each), *self.notes.told(marks_in(each))] for each in figures]
        told = self.notes.told(tuple(mark for mark in known if mark not in marks_in(figures)))
        foot = height_of_all(told, area.width, LEAST_PT)
        small = max(height_of_all(each, left.width, LEAST_PT) for each in below)
        for figure, notes, half in zip(figures, below, halves, strict=True):
            room = replace(half, height=half.height - small - foot - AIR)
            self.sources += [source.expression for source in figure.sources]
            self.put(notes, half.below(room.height + AIR), LEAST_PT)
            self.draw_figure(figure, room)
        self.put(told, area.below(area.height - foot), LEAST_PT)

    def set_aside(self, noted: Iterable[Block]) -> None:
        """Add texts and tables to the notes of the slide, with their footnotes."""
        for block in noted:
            lines = said_in((block,)) if isinstance(block, TextView) else []
            if isinstance(block, TableView):
                self.aside.append(block.title)
                self.aside += ["\t".join(line) for line in grid_of(block).lines]
            self.aside += [line.text for line in lines]
            marks = marks_in(block)
            self.aside += [line.text for line in self.notes.told(marks)]

    def write_ending(self, topics: Sequence[Topic], terms: Sequence[Paragraph]) -> None:
        """Write the method with further `terms`, the other topics, the limits with a box about the disclosure right
        below them, and the small print."""
        view = self.view
        whole = self.masters.content
        legal = [*paragraphs(view.legal), *self.notes.told(marks_in((view.legal, view.legal_notes)))]
        small = height_of_all(legal, whole.width, LEAST_PT) + 2 * AIR if legal else 0.0
        code = code_of(self.brief, "PowerPoint") if view.limits else b""
        method, limits = endings_of(view, self.words, coded=bool(code)) if view.disclosed else (None, None)
        head = method.head if method else self.words["method"]
        own = Topic(head, (*(method.said if method else ()), *terms))
        if terms and not self.share_a_slide([own, *topics]):
            own = replace(own, said=own.said[: -len(terms)])
            topics = [Topic(self.words["terms"], tuple(terms)), *topics]
        self.write_topics([*((own,) if own.said else ()), *topics])
        self.used = math.inf
        if limits:
            disclosure = said_of(limits.items, self.words["colon"]) if limits.numbered else []
            foot = self.height_of_disclosure(disclosure, code, whole.width)
            self.slide_of_limits = len(self.masters.presentation.slides) + 1 if limits.numbered else 0
            said = limits.said_alone if limits.numbered else limits.said
            self.flow(limits.head, said, _LIMITS_PT, spare=small + foot)
            if foot and self.used + foot + small > self.content.height:
                self.open(self.words["full_disclosure"] if view.companion else view.title)
                self.used = 0.0
            if foot:
                self.write_disclosed(disclosure, code, replace(self.content.below(self.used), height=foot))
            self.used += foot
        self.write_legal(legal, small - 2 * AIR)

    def height_of_disclosure(self, said: Sequence[Paragraph], code: bytes, width: float) -> float:
        """Return the height of the box about the disclosure, including the space above it."""
        inner = width - 2 * _PAD - (_CODE + _PAD) * bool(code)
        return max(_CODE * bool(code), height_of_all(said, inner, TEXT_PT)) + 2 * _PAD + AIR if said else 0.0

    def write_disclosed(self, said: Sequence[Paragraph], code: bytes, area: Area) -> None:
        """Write a box about where the disclosure is and how to measure again. The QR code that links to the disclosure
        is at its right."""
        area = area.below(AIR)
        if self.ink:
            self.add_ground(area)
        width = area.width - 2 * _PAD - (_CODE + _PAD) * bool(code)
        inner = Area(area.left + _PAD, area.top + _PAD, width, area.height)
        self.put(said, inner, TEXT_PT)
        other = self.view.companion
        if said and other and code:
            left = Pt(area.left + area.width - _CODE - _PAD)
            picture = self.slide.shapes.add_picture(io.BytesIO(code), left, Pt(inner.top), Pt(_CODE), Pt(_CODE))
            picture.name = f"{self.words['scan']} (QR)"
            picture._element.nvPicPr.cNvPr.set("descr", writable(f"{picture.name}: {other.address or other.file}"))

    def write_legal(self, said: Sequence[Paragraph], height: float) -> None:
        """Write the small print at the foot of the last slide or, if there is no room, on a slide of its own."""
        area = self.content
        if said and self.used + 2 * AIR + height <= area.height:
            self.put(said, area.below(area.height - height), LEAST_PT)
        elif said:
            self.flow(self.view.title, said, most=LEAST_PT)
