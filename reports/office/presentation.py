"""Writes a brief as a presentation for PowerPoint, with one message on each slide. Charts, tables and texts can be
edited, and the notes say where their numbers come from."""

from __future__ import annotations

import io
from collections.abc import Sequence

from markupsafe import escape
from pptx.enum.text import MSO_ANCHOR
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import (
    FormulaView,
    TableView,
    figures_of,
)
from benchbrief.reports.office.brief_frame import endings_of, front_of, properties_of
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.rich_text import Paragraph, paragraphs
from benchbrief.reports.office.slide_blocks import with_unit
from benchbrief.reports.office.slide_columns import TopicWriter, said_in
from benchbrief.reports.office.slide_cover import CoverWriter
from benchbrief.reports.office.slide_examples import ExampleWriter
from benchbrief.reports.office.slide_look import AIR, GROUND, RULE, TAG_INK, TEXT_PT, TEXT_SHARE
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    add_text,
    height_of_all,
)
from benchbrief.reports.office.slide_theme import set_language, set_theme
from benchbrief.reports.office.slide_topics import Topic
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide, headline_of, slides_of

_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_CODE = (70.0, 100.0)
"""The smallest and the largest size of the code that links to the disclosure."""


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

    def write_slide(self, slide: Slide) -> None:
        head = slide.head or escape(self.view.title)
        texts, after = said_in(slide.texts), said_in(slide.after)
        if slide.topics:
            for topic in slide.topics:
                self.flow(topic.head or head, said_in(topic.texts))
            return
        if not slide.blocks:
            self.flow(head, [*texts, *after])
            return
        area = self.masters.content
        if height_of_all(texts, area.width, TEXT_PT) > area.height * TEXT_SHARE:
            self.flow(head, texts)
            texts = []
        match slide.blocks:
            case (TableView() as table, FormulaView() as formula):
                self.write_with_example(with_unit(head, table), table, formula, after)
                return
        for block in slide.blocks:
            claim = block.title_html if isinstance(block, TableView) and len(slide.blocks) > 1 else head
            self.write_block(with_unit(claim, block), block, texts, after)
            texts, after = [], []

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
        spare = small + 2 * AIR if legal else 1.0
        has_code = bool(view.companion and view.companion.qr)
        self.write_topics(last, spare=spare, under=_CODE[0] + 2 * AIR if has_code else 0.0)
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
        beside = Area(area.left + size + AIR * 2, area.top, area.width - size - AIR * 2, size)
        add_text(self.slide, beside, paragraphs(escape(self.words["scan"])), TEXT_PT, INK, anchor=MSO_ANCHOR.MIDDLE)
        picture.name = f"{self.words['full_disclosure']} (QR)"
        picture._element.nvPicPr.cNvPr.set("descr", writable(f"{picture.name}: {other.address or other.file}"))

    def write_legal(self, said: Sequence[Paragraph], height: float) -> None:
        """Write the small print at the foot of the last slide, or on a slide of its own."""
        area = self.content
        if said and self.used + 2 * AIR + height <= area.height:
            self.put(said, area.below(area.height - height), LEAST_PT)
        elif said:
            self.flow(self.view.title, said, most=LEAST_PT)
