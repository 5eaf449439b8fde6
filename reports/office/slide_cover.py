"""Writes the first slide: titles, the origin of the numbers, the headline and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import escape
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.office.brief_frame import Front
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_cards import add_box
from benchbrief.reports.office.slide_look import AIR, TAG, TAG_INK
from benchbrief.reports.office.slide_masters import (
    COVER,
    LEAST_PT,
    TITLES,
    Area,
    area_of,
    place_shape,
    placeholder,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    add_text,
    closed_up,
    fill,
    fill_placeholder,
    height_of_all,
)
from benchbrief.reports.office.slide_writer import SlideWriter, cards_of
from benchbrief.reports.office.text_fit import (
    lines_of,
    shortened,
)

_FOOT = 22.0
"""The space below the texts of the first slide."""
_NO_TAGS = 30.0
"""How much lower the titles of the first slide are placed if there are no tags below them."""
_TAG_WIDER, _TAG_PAD = 1.03, 16.0
"""The factor by which the text of a tag may be wider than estimated, and the sum of the spaces at its two sides."""


@dataclass
class CoverWriter(SlideWriter):
    """Writes the first slide."""

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
            self.write_cards(cards_of(self.headline, ""), replace(area, height=area.height - height - AIR), 54.0)
            self.put(said, area.below(area.height - height), LEAST_PT)
        else:
            self.flow(escape(view.title), said)

    def write_cover(self, front: Front, said: Sequence[Paragraph]) -> None:
        """Write the texts around title and subtitle on our own first slide: the kind of document, the origin of its
        numbers, the headline, and the limits."""
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
        foot = self.masters.height - _FOOT
        height = height_of_all(said, whole.width, 14.0)
        points = 14.0 if height <= 60 else LEAST_PT
        height = min(120.0, height_of_all(said, whole.width, points))
        area = Area(whole.left, COVER + 24, whole.width, foot - height - COVER - 24 - 14)
        if self.headline:
            self.write_headline(self.headline, area, 110.0)
        self.put(said, Area(whole.left, foot - height, whole.width, height), points)

    def write_tags(self, texts: Sequence[str], area: Area) -> None:
        """Write the origin of the numbers as tags above the lower edge of the band."""
        left = area.left
        for text in texts:
            most = area.left + area.width - left
            points = 14.0 if text_width(text, 14.0) * _TAG_WIDER + _TAG_PAD <= most else LEAST_PT
            width = min(text_width(text, points) * _TAG_WIDER + _TAG_PAD, most)
            if width < 80:
                self.aside.append(text)
                continue
            tag = add_box(self.slide, Area(left, COVER - 42, width, 28), TAG, is_round=True)
            shown = shortened(text, most - _TAG_PAD, points, 1, bold=True)
            self.aside += [text] if shown != text else []
            frame = tag.text_frame
            frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
            frame.vertical_anchor, frame.word_wrap = MSO_ANCHOR.MIDDLE, False
            frame.paragraphs[0].alignment = PP_ALIGN.CENTER
            fill(frame.paragraphs[0], [Run(shown)], points, TAG_INK, bold=True)
            left += width + 12

    def write_subtitle(self, shape: Any, subtitle: tuple[Run, ...], below: Sequence[tuple[Run, ...]]) -> None:
        """Write the subtitle and the lines below it. If the subtitle is too long, it is shortened here, and the notes
        have all of it."""
        area = area_of(shape)
        width = max(200.0, area.width - 15)
        own = "".join(run.text for run in subtitle)
        others = ["".join(run.text for run in line) for line in below]

        def left(points: float) -> int:
            """Return how many lines the other texts leave free."""
            return int(area.height / (points * 1.25)) - sum(lines_of(text, width, points) for text in others)

        points = next((size for size in (16.0, 14.0) if lines_of(own, width, size) <= left(size)), LEAST_PT)
        if lines_of(own, width, points) > max(1, left(points)):
            self.aside.append(own)
            subtitle = (Run(shortened(own, width, points, max(1, left(points)))),)
        fill_placeholder(shape, [subtitle, *below] if own else below, points)

    def name_slide_of_limits(self) -> None:
        """Add the number of the slide with the limits to the line about limits on the first slides."""
        line, slides = closed_up(self.view.limits_line), list(self.masters.presentation.slides)
        if not line or not self.slide_of_limits:
            return
        for shape in (shape for slide in slides[:2] for shape in slide.shapes if shape.has_text_frame):
            for run in (run for each in shape.text_frame.paragraphs for run in each.runs[-1:]):
                if run.text.endswith(line):
                    where = self.words["on_slide"].format(n=self.slide_of_limits)
                    run.text += where.replace(" ", "\N{NO-BREAK SPACE}")
                    shape.click_action.target_slide = slides[self.slide_of_limits - 1]
