"""Writes texts on slides: a topic alone under its claim, and the method beside the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.data.view_model import FactsView, TextView
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_blocks import BlockWriter
from benchbrief.reports.office.slide_cards import add_box
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, LINE_LESS, READ_PT, RULE, TEXT_PT
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, title_size
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_topics import SHARES, Topic, below, side_by_side
from benchbrief.reports.office.table_grid import grid_of_facts
from benchbrief.reports.office.text_fit import BOLDER
from benchbrief.reports.text.html_markup import plain_text
from benchbrief.reports.view.arrange_elements import Slide

_LEAST_COLUMN_PT = 15.0
"""The smallest type size of texts that share a slide."""
_METHOD_PT = (18.0, 17.0, READ_PT, _LEAST_COLUMN_PT)
"""The type sizes that the method may have, the largest first."""
_COLUMN_GAP, _RULE_TOP = 48.0, 36.0
"""The space between columns, and the place where the line between them begins."""
_LEAST_REST = 2.0
"""The least height of what follows a title that is a sentence, in multiples of its type."""
_CLAIM_PT, _CLAIM_LINES = 22.0, 2
"""The first sentence of a text becomes the title of its slide if it has at most this many lines in this type size."""
_ENDS_TERM = re.compile(r"[:\uff1a]$")
_AFTER_TERM, _WIDEST_TERM = 1.2, 20.0
"""The space after a term, and the greatest width of the column of terms, in multiples of the type size."""
_FIRST_SENTENCE = re.compile(
    r"\s*<p>(?P<first>(?>\b(?:vs|approx|ca|cf|etc|Corp|Inc|Ltd|Co|No|(?<!\d\s)[A-Za-z])\.(?=\s)|(?!</?(?:p|[ou]l)\b).){20,}?)"
    r"(?:[。.]|(?<=[?!]))(?=</p>|(?<=。)|\s+[^a-z\d])(?P<rest>.*)",
    re.DOTALL,
)
"""Matches a first sentence within the first paragraph. The full stop of an abbreviation or an initial does not end
it, but that of a unit such as `4.0 W` does."""

_TERM = re.compile(r"[:\uff1a]\s*</|</\w+>\s*[:\uff1a]")
_GOES_ON = re.compile(r"(?:Then|So|It|Its|They|Their|This|These|Those)\b|その|それ|これ|次に")
"""Part of a sentence that defines a term, and the beginning of a text that goes on from the sentence before it."""


@dataclass
class TopicWriter(BlockWriter):
    """Writes slides of texts."""

    def topic_of(self, slide: Slide) -> Topic | None:
        """Return the topic of one of our slides, or None if the slide has anything but texts."""
        if slide.topics:
            first, *others = (topic for each in slide.topics if (topic := self.topic_of(each)))
            return Topic(first.head, tuple(below((first, *others), self.brand)))
        head = slide.head or escape(self.view.title)
        said = said_in(slide.texts + slide.after)
        match slide.blocks if self.masters.is_ours else None:
            case ():
                claim, rest = claim_of(slide.texts + slide.after)
                return Topic(head, tuple(said), claim=claim, rest=rest) if said else None
            case (FactsView(common=common, beside=()) as facts,) if common:
                lines = _facts_in_lines(facts, self.words["colon"]) or paragraphs(escape(common))
                return Topic(head, (*said, *lines), facts.notes, is_facts=not said)
        return None

    def write_topic(self, topic: Topic) -> None:
        """Write a topic on a slide of its own. If the topic begins with a short sentence, that becomes the title."""
        fits = self.lines_at(topic.claim, self.masters.content, _CLAIM_PT) <= _CLAIM_LINES
        rest = height_of_all(topic.rest, self.masters.content.width, LARGE_PT)
        if topic.claim and fits and rest > _LEAST_REST * LARGE_PT:
            head = str(plain_text(escape(topic.head)))
            self.flow(topic.claim, topic.rest, topic="" if head == self.view.title else head, notes=topic.notes)
        else:
            self.flow(topic.head, topic.said, notes=topic.notes)

    def write_method(self, method: Topic | None, facts: Sequence[Topic], tables: Sequence[Slide]) -> None:
        """Write the method. The configuration is beside it or below it if one slide has room for both."""
        if method and self.ink and tables and not facts and self.write_above_table(method, tables[0]):
            tables = tables[1:]
        else:
            self.write_beside(method, facts)
        for slide in tables:
            self.write_block(slide.head, slide.blocks[0], said_in(slide.texts), said_in(slide.after))

    def write_beside(self, method: Topic | None, facts: Sequence[Topic]) -> None:
        """Write the method and the configuration side by side or, without room for that, on slides of their own."""
        topics = [method, *facts] if method else facts
        if not method or not self.ink:
            for topic in topics:
                self.flow(topic.head, topic.said, notes=topic.notes)
            return
        if facts and self.write_columns(topics):
            return
        for topic in topics:
            self.flow(topic.head, in_terms(topic.said), _METHOD_PT[0], notes=topic.notes)

    def write_columns(self, topics: Sequence[Topic]) -> bool:
        """Write topics in two columns of one slide, or return False if they do not fit."""
        whole = self.masters.content
        width, usual = whole.width - _COLUMN_GAP, title_size(self.masters.others)
        narrow = replace(whole, width=width * SHARES[0])
        low = all(self.lines_at(escape(each.head), narrow, usual) < 2 for each in topics)
        notes = self.notes.told(marks_in(topics))
        small = height_of_all(notes, whole.width, LEAST_PT) + AIR if notes else 0.0
        columns = side_by_side(topics, width, whole.height - small + LINE_LESS * low, _LEAST_COLUMN_PT)
        if columns is None:
            return False
        at, points = columns.left, columns.points
        left = replace(whole, width=width * columns.share)
        right = replace(whole, left=left.left + left.width + _COLUMN_GAP, width=width - left.width)
        self.open(escape(topics[0].head), within=left, beside=(escape(topics[at].head), right))
        sides = [(left, below(topics[:at], self.brand)), (right, below(topics[at:], self.brand))]
        for area, said in sides:
            self.put(said, replace(area, top=self.content.top), points)
        used = max(height_of_all(said, area.width, points) for area, said in sides)
        self.put(notes, Area(whole.left, whole.bottom - small + AIR, whole.width, small), LEAST_PT)
        rule = Area(right.left - _COLUMN_GAP / 2, _RULE_TOP, 1.0, self.content.top + used - _RULE_TOP)
        add_box(self.slide, rule, RULE)
        return True

    def write_above_table(self, topic: Topic, slide: Slide) -> bool:
        """Write a topic above a table of facts, or return False if one slide has no room for both."""
        match slide:
            case Slide(texts=(), blocks=(FactsView(notes=()) as facts,), after=()):
                grid = grid_of_facts(facts, self.words)
            case _:
                return False
        whole = self.masters.content
        of_table = [Paragraph(tuple(replace(run, bold=True, colour=self.brand) for run in runs_of(slide.head)))]
        of_table += paragraphs(escape(facts.common or ""))
        above = height_of_all(of_table, whole.width, TEXT_PT)
        height = above + (height_within(grid, whole) if grid else 0.0)
        said = in_terms(topic.said)
        room = whole.height + LINE_LESS - height - 3 * AIR
        sizes = (size for size in _METHOD_PT if height_of_all(said, whole.width, size) <= room)
        if not (points := next(sizes, 0.0)):
            return False
        self.open(topic.head)
        self.put(said, self.content, points)
        area = self.content.below(height_of_all(said, whole.width, points) + 3 * AIR)
        self.put(of_table, area, TEXT_PT)
        if grid:
            self.draw_grid(slide.head, grid, area.below(above), TEXT_PT)
        return True


def said_in(texts: Iterable[TextView]) -> list[Paragraph]:
    return [each for text in texts for each in paragraphs(text.html)]


def claim_of(texts: Sequence[TextView]) -> tuple[Markup, tuple[Paragraph, ...]]:
    """Return the first sentence of texts, without its full stop, and everything after it. Return nothing if the texts
    do not begin with a sentence, or have only this one. Also return nothing if the sentence defines a term, or if the
    text after it goes on from it."""
    found = _FIRST_SENTENCE.match(texts[0].html) if texts else None
    if found is None or len(re.findall("<[^/]", found["first"])) != found["first"].count("</"):
        return Markup(), ()
    rest = Markup("<p>{}").format(Markup(found["rest"].lstrip()))  # noqa: S704  # was HTML before
    said = (*paragraphs(rest), *said_in(texts[1:]))
    stands = said and not _TERM.search(found["first"]) and not _GOES_ON.match(said[0].text)
    return (Markup(found["first"]), said) if stands else (Markup(), ())  # noqa: S704  # was HTML before


def in_terms(said: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """If each paragraph begins with a term, return them with the terms in one column and the texts in another. Other
    paragraphs are returned unchanged."""
    kept = tuple(said)
    terms = [each.runs[0].text.rstrip() for each in kept if not each.item and len(each.runs) > 1 and each.runs[0].bold]
    wide = max((text_width(term, BOLDER) for term in terms), default=0.0) + _AFTER_TERM
    if len(terms) < len(kept) or wide > _WIDEST_TERM or not all(map(_ENDS_TERM.search, terms)):
        return kept
    made = []
    for each in kept:
        term, first, *others = each.runs
        first = replace(first, text=first.text.lstrip(" "))
        made.append(replace(each, runs=(term, Run("\t"), first, *others), hang=wide))
    return tuple(made)


def _facts_in_lines(facts: FactsView, colon: str) -> list[Paragraph]:
    """Return declared facts as lines, each of which begins with the fact's name and the thing that it describes. Return
    nothing if some facts were observed."""
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
