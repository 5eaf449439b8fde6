"""Writes short topics side by side on slides, above a table of facts if there is room for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from markupsafe import escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import (
    FactsView,
    TextView,
)
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_blocks import BlockWriter
from benchbrief.reports.office.slide_cards import add_box
from benchbrief.reports.office.slide_look import AIR, LINE_LESS, READ_PT, RULE, TEXT_PT
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
    title_size,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    height_of_all,
)
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_topics import Topic, below, side_by_side
from benchbrief.reports.office.table_grid import grid_of_facts, plain_grid
from benchbrief.reports.view.arrange_elements import Slide

_FACTS_SHARE = 0.4
"""The largest share of a slide that a table of facts takes below texts."""
_LEAST_COLUMN_PT = 15.0
"""The smallest type of columns, except of those that close a brief."""
_COLUMN_GAP, _RULE_TOP = 48.0, 36.0
"""The room between columns, and where the line between them begins."""


@dataclass
class TopicWriter(BlockWriter):
    """Writes slides with one or several topics."""

    def topics_of(self, slide: Slide) -> list[Topic]:
        """Return the topics that make up one of our slides, or none if it has other elements than texts."""
        if not self.masters.is_ours:
            return []
        if slide.topics:
            return [topic for each in slide.topics for topic in self.topics_of(each)]
        head = slide.head or escape(self.view.title)
        said = said_in(slide.texts + slide.after)
        match slide.blocks:
            case ():
                return [Topic(head, tuple(said))] if said else []
            case (FactsView(common=common, beside=()) as facts,) if common:
                lines = _facts_in_lines(facts, self.words["colon"]) or paragraphs(escape(common))
                return [Topic(head, (*said, *lines), facts.notes, is_facts=not said)]
        return []

    def write_topics(self, topics: Sequence[Topic], spare: float = 0.0, least: float = _LEAST_COLUMN_PT) -> None:
        """Write topics in two columns of `least` points or more, as many on a slide as fit. A single topic is set as
        large as possible, with the headline below. The last slide keeps `spare` points free."""
        rest = list(topics)
        while rest:
            counts = range(len(rest), 1, -1)
            kept = {len(rest): spare}
            if not any(self.write_columns(rest[:n], kept.get(n, 0.0), least) for n in counts if self.ink):
                own = spare if len(rest) == 1 else 0.0
                self.flow(rest[0].head, rest[0].said, spare=own, closes=spare == 0, notes=rest[0].notes)
                taken = 1
            else:
                taken = self.taken
            self.slide_of_limits = self.slide_of_limits or self.slide_number(rest[:taken])
            rest = rest[taken:]

    def write_columns(
        self,
        topics: Sequence[Topic],
        spare: float,
        least: float = _LEAST_COLUMN_PT,
        under: Callable[[float], float] = lambda _: 0.0,
    ) -> Area | None:
        """Write topics in two columns of one slide, with room `under` the second one, of which it is given the width.
        Returns that room, or None if they do not fit in `least` points or more."""
        whole = self.masters.content
        width, usual = whole.width - _COLUMN_GAP, title_size(self.masters.others)
        narrow = replace(whole, width=width * 0.4)
        low = all(self.lines_at(escape(each.head), narrow, usual) < 2 for each in topics)
        notes = self.notes.told(marks_in(topics))
        small = height_of_all(notes, whole.width, LEAST_PT) + AIR if notes else 0.0
        spare += small
        columns = side_by_side(topics, width, whole.height - spare + LINE_LESS * low, least, under)
        if columns is None:
            return None
        at, points = columns.left, columns.points
        left = replace(whole, width=width * columns.share)
        right = replace(whole, left=left.left + left.width + _COLUMN_GAP, width=width - left.width)
        self.open(escape(topics[0].head), within=left, beside=(escape(topics[at].head), right))
        sides = [(left, below(topics[:at], self.brand)), (right, below(topics[at:], self.brand))]
        for area, said in sides:
            self.put(said, replace(area, top=self.content.top), points)
        first, second = (height_of_all(said, area.width, points) for area, said in sides)
        room = under(right.width)
        self.used = max(first, second + room)
        self.slide_of_limits = self.slide_of_limits or self.slide_number(topics)
        if spare == small:
            self.close_with_headline(whole.width, small)
        self.put(notes, Area(whole.left, whole.bottom - spare + AIR, whole.width, small), LEAST_PT)
        add_box(
            self.slide,
            Area(right.left - _COLUMN_GAP / 2, _RULE_TOP, 1.0, self.content.top + self.used - _RULE_TOP),
            RULE,
        )
        self.taken = len(topics)
        return Area(right.left, self.content.top + self.used - room, right.width, room)

    def slide_number(self, topics: Sequence[Topic]) -> int:
        """Return the current slide's number if one of these topics is the limits, or else 0."""
        has_limits = any(topic.head == self.words["limits"] for topic in topics)
        return len(self.masters.presentation.slides) if has_limits else 0

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
        height = height_of_all(said, whole.width, TEXT_PT) + (height_within(grid, whole) if grid else math.inf)
        if facts.notes or height > whole.height * _FACTS_SHARE:
            return False
        if not self.write_columns(topics, height + 2 * AIR, least=READ_PT - 1):
            return False
        area = replace(whole.below(whole.height - height), height=height)
        self.put(said, area, TEXT_PT)
        self.draw_grid(slide.head, grid or plain_grid((), 0), area.below(height_of_all(said, whole.width, TEXT_PT)))
        return True


def said_in(texts: Iterable[TextView]) -> list[Paragraph]:
    return [each for text in texts for each in paragraphs(text.html)]


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
