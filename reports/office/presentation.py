"""Writes a brief as a presentation for PowerPoint, with one message on each slide. Charts, tables and texts can be
edited, and the notes say where their numbers come from."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup, escape
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import (
    Block,
    FormulaView,
    TableView,
    TextView,
    figures_of,
)
from benchbrief.reports.office.brief_frame import code_of, endings_of, front_of, properties_of, said_of
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.prose_tables import with_tables
from benchbrief.reports.office.rich_text import Paragraph, paragraphs
from benchbrief.reports.office.slide_blocks import with_unit
from benchbrief.reports.office.slide_cover import CoverWriter
from benchbrief.reports.office.slide_examples import ExampleWriter
from benchbrief.reports.office.slide_folds import filled, has_room
from benchbrief.reports.office.slide_look import AIR, GROUND, READ_PT, RULE, TAG_INK, TEXT_PT, TEXT_SHARE
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    height_of_all,
)
from benchbrief.reports.office.slide_texts import TopicWriter, said_in
from benchbrief.reports.office.slide_theme import set_language, set_theme
from benchbrief.reports.office.slide_topics import Topic
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide, headline_of, holds_facts_alone, single_slides_of

_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_LIMITS_PT = 20.0
_CODE = 84.0
"""The size of the code that links to the disclosure."""


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
        facts: list[Topic] = []
        tables: list[Slide] = []
        slides = self.with_examples(single_slides_of(with_tables(blocks)))
        for slide in filled(slides, self.masters.content) if self.masters.is_ours else slides:
            topic = self.topic_of(slide)
            if topic and topic.is_facts:
                facts.append(topic)
            elif topic:
                self.write_topic(topic)
            elif self.masters.is_ours and holds_facts_alone(slide):
                tables.append(slide)
            else:
                self.write_slide(slide)
        if not self.view.blocks:
            self.flow(self.view.title, paragraphs(self.words["empty_report"]))
        self.write_ending(facts, tables)
        self.close()
        self.name_slide_of_limits()

    def write_slide(self, slide: Slide) -> None:
        head = slide.head or escape(self.view.title)
        texts, after = said_in(slide.texts), said_in(slide.after)
        if not slide.blocks:
            self.flow(head, [*texts, *after])
            return
        area = self.masters.content
        if height_of_all(texts, area.width, TEXT_PT) > area.height * TEXT_SHARE:
            self.flow(head, texts)
            texts = []
        match slide.blocks:
            case (TableView() as table, *others) if others:
                examples = [each for each in others if isinstance(each, FormulaView)]
                if len(examples) == len(others):
                    self.write_with_examples(with_unit(head, table), table, examples, after)
                    return
        if after and self.masters.is_ours and has_room(slide, area):
            self.write_above(head, slide.blocks[0], texts, slide.after)
            return
        for block in slide.blocks:
            claim = block.title_html if isinstance(block, TableView) and len(slide.blocks) > 1 else head
            self.write_block(with_unit(claim, block), block, texts, after)
            texts, after = [], []

    def write_above(self, head: Markup, block: Block, texts: Sequence[Paragraph], after: tuple[TextView, ...]) -> None:
        """Write a figure or a table above the texts in `after`, which are as large as a table's texts."""
        said, whole = said_in(after), self.masters.content
        height = height_of_all(said, whole.width, READ_PT)
        self.write_block(with_unit(head, block), block, texts, [], after, spare=height + 2 * AIR)
        self.put(said, replace(whole, top=whole.bottom - height, height=height), READ_PT)

    def write_ending(self, facts: Sequence[Topic], tables: Sequence[Slide]) -> None:
        """Write the method and the configuration, the limits with the references to the disclosure below them, and the
        small print."""
        view = self.view
        whole = self.masters.content
        legal = [*paragraphs(view.legal), *self.notes.told(marks_in((view.legal, view.legal_notes)))]
        small = height_of_all(legal, whole.width, LEAST_PT) + 2 * AIR if legal else 0.0
        code = code_of(self.brief, "PowerPoint") if view.limits else b""
        method, limits = endings_of(view, self.words, coded=bool(code)) if view.disclosed else (None, None)
        self.write_method(Topic(method.head, method.said) if method else None, facts, tables)
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
            top = max(self.used, self.content.height - small - foot) if self.used else 0.0
            self.used = top + foot
            self.write_disclosed(disclosure, code, replace(self.content.below(top), height=foot))
        self.write_legal(legal, small - 2 * AIR)

    def height_of_disclosure(self, said: Sequence[Paragraph], code: bytes, width: float) -> float:
        """Return the height of the texts about the disclosure, which are beside its code, including the space above
        them."""
        size = _CODE if code else 0.0
        beside = width - (size + 2 * AIR if code else 0.0)
        return max(size, height_of_all(said, beside, TEXT_PT)) + 2 * AIR if said else 0.0

    def write_disclosed(self, said: Sequence[Paragraph], code: bytes, area: Area) -> None:
        """Write where the disclosure is and how to measure again. The code that links to the disclosure is at the
        right."""
        inner = replace(area.below(2 * AIR), width=area.width - (_CODE + 2 * AIR) * bool(code))
        self.put(said, inner, TEXT_PT)
        other = self.view.companion
        if said and other and code:
            left = Pt(area.left + area.width - _CODE)
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
