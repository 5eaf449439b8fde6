"""Writes texts on slides: a topic alone under its claim, and the method beside the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import FactsView, TextView
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_blocks import BlockWriter
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, LINE_LESS, LINES_ABOVE, TEXT_PT
from benchbrief.reports.office.slide_masters import LEAST_PT, Area
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import fits
from benchbrief.reports.office.slide_topics import SIZES, Topic, below, height_of_topics, shared
from benchbrief.reports.office.table_grid import grid_of_facts, told_facts
from benchbrief.reports.office.text_fit import lines_of
from benchbrief.reports.text.html_markup import plain_text
from benchbrief.reports.view.arrange_elements import Slide
from benchbrief.reports.words.brief_words import Words

_TEXTS_SHARES, _COLUMN_PAD = (0.57, 0.5, 0.64), 14.0
"""The shares of a slide's width that the method may have if the configuration is beside it, preferred ones first, and
the space around the configuration."""
_FEW_ROWS = 2
"""The most rows of a table of the configuration that are written as lines."""
_LEAST_REST = 2.0
"""The first sentence of a text becomes a title only if the rest of the text is higher than this, in multiples of the
type size."""
_CLAIM_PT, _CLAIM_LINES = 22.0, 2
"""The first sentence of a text becomes the title of its slide if it has at most this many lines in this type size."""
_FIRST_SENTENCE = re.compile(
    r"\s*(?:<p>|(?P<item><ul>\s*<li>))(?P<first>"
    r"(?>\b(?:vs|approx|ca|cf|etc|Corp|Inc|Ltd|Co|No|(?<!\d\s)[A-Za-z])\.(?=\s)|(?!</?(?:p|li|[ou]l)\b).){20,}?"
    r"(?:[。.]|(?<=[?!]))(?:\s*<sup\b[^>]*>(?:(?!</sup>).)*</sup>)?)(?=</(?:p|li)>|(?<=。)|\s+[^a-z\d])(?P<rest>.*)",
    re.DOTALL,
)
"""Matches a first sentence within the first paragraph or item. The full stop of an abbreviation or an initial does not
end it, but that of a unit such as `4.0 W` does. The mark of a footnote belongs to its sentence."""
_FULL_STOP = re.compile(r"[。.](?=(?:\s*<sup\b.*</sup>)?$)", re.DOTALL)
_TERM = re.compile(r"[:\uff1a]\s*</|</\w+>\s*[:\uff1a]")
_GOES_ON = re.compile(r"(?:Then|So|It|Its|That|They|Their|This|These|Those)\b|その|それ|これ|次に")
"""`_TERM` matches the part of a sentence that defines a term. `_GOES_ON` matches the beginning of a sentence that
continues the one before it."""


@dataclass
class TopicWriter(BlockWriter):
    """Writes slides that have only texts."""

    def topic_of(self, slide: Slide) -> Topic | None:
        """Return the topic of one of our slides, or None if the slide has anything but texts."""
        if slide.topics:
            first, *others = [topic for each in slide.topics if (topic := self.topic_of(each))]
            whole, less = (
                tuple(line for said in below([replace(first, said=of_first), *others], self.brand) for line in said)
                for of_first in (first.said, first.rest)
            )
            return Topic(first.head, whole, claim=first.claim, rest=less)
        head = slide.head or escape(self.view.title)
        said = said_in(slide.texts + slide.after)
        match slide.blocks if self.masters.is_ours else None:
            case ():
                claim, rest = claim_of(slide.texts + slide.after)
                return Topic(head, tuple(said), claim=claim, rest=tuple(said_in(rest))) if said else None
            case (FactsView() as facts,) if not said:
                few = len(facts.beside) <= _FEW_ROWS and len(facts.heads) == len(facts.sides)
                facts = replace(facts, rows=(*facts.rows, *facts.beside), beside=()) if few else facts
                grid = grid_of_facts(facts, self.words) if facts.beside or not (facts.common or facts.rows) else None
                lines = _facts_in_lines(facts, self.words) or paragraphs(escape(facts.common))
                return Topic(head, tuple(lines), facts.notes, facts=facts, grid=grid)
        return None

    def write_topic(self, topic: Topic) -> None:
        """Write a topic on a slide of its own. If the topic begins with a short sentence, that becomes the title."""
        if self.has_claim(topic):
            head = str(plain_text(escape(topic.head)))
            self.flow(topic.claim, topic.rest, topic="" if head == self.view.title else head, notes=topic.notes)
        else:
            self.flow(topic.head, topic.said, notes=topic.notes)

    def has_claim(self, topic: Topic) -> bool:
        """Return whether the first sentence of a topic can be the title of its slide."""
        fits = self.lines_at(topic.claim, self.masters.content, _CLAIM_PT) <= _CLAIM_LINES
        rest = height_of_all(topic.rest, self.masters.content.width, LARGE_PT)
        return bool(topic.claim) and fits and rest > _LEAST_REST * LARGE_PT

    def title_of(self, slide: Slide) -> Markup:
        """Return the title of one of our slides."""
        topic = self.topic_of(slide)
        return topic.claim if topic and self.has_claim(topic) else slide.head

    def write_topics(self, topics: Sequence[Topic]) -> None:
        """Write the method, the configuration and short texts below one another on as few of our slides as possible. A
        topic that does not fit, and every topic on a house's slides, gets slides of its own."""
        room = self.room_for(topics)
        groups = shared(topics, room) if self.masters.is_ours else [(0.0, [each]) for each in topics]
        if self.masters.is_ours and len(groups) > 1 and (found := _in_columns(topics, room))[0]:
            self.write_columns(topics, *found)
            return
        for points, group in groups:
            if points:
                self.write_group(group, points)
            elif group[0].facts and group[0].grid:
                self.write_block(escape(group[0].head), group[0].facts, [], [])
            else:
                self.flow(group[0].head, group[0].said, notes=group[0].notes)

    def room_for(self, topics: Sequence[Topic]) -> Area:
        """Return the room for topics on a slide with a title of one line, above their footnotes."""
        whole = self.masters.content
        return replace(whole, height=whole.height + LINE_LESS - self.height_of_notes(topics))

    def share_a_slide(self, topics: Sequence[Topic]) -> bool:
        room = self.room_for(topics)
        return len(shared(topics, room)) == 1 or _in_columns(topics, room)[0] > 0

    def height_of_notes(self, topics: Sequence[Topic]) -> float:
        notes = self.notes.told(marks_in(topics))
        return height_of_all(notes, self.masters.content.width, LEAST_PT) + AIR if notes else 0.0

    def write_group(self, topics: Sequence[Topic], points: float) -> None:
        """Write topics below one another on one slide."""
        self.open(topics[0].head)
        small = self.height_of_notes(topics)
        area = replace(self.content, height=self.content.height - small)
        self.write_stack(topics, below(topics, self.brand), area, points)
        self.put(self.notes.told(marks_in(topics)), self.content.below(area.height + AIR), LEAST_PT)

    def write_columns(self, topics: Sequence[Topic], points: float, share: float) -> None:
        """Write topics on one slide, with the configuration in a box at the right of the others, which have this share
        of the width."""
        self.open(topics[0].head)
        small = self.height_of_notes(topics)
        area = replace(self.content, height=self.content.height - small)
        texts, facts, left, right = _columns(topics, area, share)
        self.write_stack(texts, below(texts, self.brand), left, points)
        high = height_of_topics(facts, right, points) + _height_of_head(facts[0], right, points)
        pad = _COLUMN_PAD
        self.add_ground(Area(right.left - pad, right.top - pad / 2, right.width + 2 * pad, high + pad))
        self.write_stack(facts, _with_head(facts, self.brand), right, points)
        self.put(self.notes.told(marks_in(topics)), self.content.below(area.height + AIR), LEAST_PT)

    def write_stack(self, topics: Sequence[Topic], said: Sequence[list[Paragraph]], area: Area, points: float) -> None:
        """Write topics, whose paragraphs are `said`, and their tables below one another in an area."""
        texts = list[Paragraph]()
        for place, (topic, own_said) in enumerate(zip(topics, said, strict=True), 1):
            texts += own_said
            if topic.grid or place == len(topics):
                self.put(texts, area, points)
                area = area.below(height_of_all(texts, area.width, points))
                texts.clear()
            if topic.grid:
                own, whole = (height_of_topics(each, area, points) for each in ([topic], [topic, *topics[place:]]))
                room = replace(area, height=area.height - (whole - own))
                area = area.below(AIR + self.draw_grid(escape(topic.head), topic.grid, room, points))


def _columns(topics: Sequence[Topic], area: Area, share: float) -> tuple[list[Topic], list[Topic], Area, Area]:
    """Return the topics of the left column, the configuration, and the areas for both."""
    facts = [each for each in topics if each.facts]
    width = area.width * share
    right = Area(area.left + width + 3 * _COLUMN_PAD, area.top + _COLUMN_PAD / 2, 0.0, area.height - _COLUMN_PAD)
    right = replace(right, width=area.left + area.width - right.left - _COLUMN_PAD)
    return [each for each in topics if not each.facts], facts, replace(area, width=width), right


def _in_columns(topics: Sequence[Topic], area: Area) -> tuple[float, float]:
    """Return the largest type size that lets the configuration fit beside the other topics, or 0 if there is none, and
    the share of the width for the latter."""

    def size(share: float) -> float:
        texts, facts, left, right = _columns(topics, area, share)
        if not texts or not facts or any(each.grid and not fits(each.grid, right) for each in facts):
            return 0.0
        highs = (
            (points, height_of_topics(texts, left, points), height_of_topics(facts, right, points)) for points in SIZES
        )
        head = partial(_height_of_head, facts[0], right)
        return next((of for of, high, other in highs if max(high, head(of) + other) <= right.height), 0.0)

    share = max(_TEXTS_SHARES, key=size)
    return size(share), share


def _with_head(topics: Sequence[Topic], colour: str) -> list[list[Paragraph]]:
    """Return the paragraphs of each topic below its head."""
    (first, *said), *others = below((Topic("", ()), *topics), colour)[1:]
    return [[replace(first, above=0.0), *said], *others]


def _height_of_head(topic: Topic, area: Area, points: float) -> float:
    return height_of_all([Paragraph(runs_of(topic.head))], area.width, points)


def said_in(texts: Iterable[TextView]) -> list[Paragraph]:
    return [each for text in texts for each in paragraphs(text.html)]


def claim_of(texts: Sequence[TextView]) -> tuple[Markup, tuple[TextView, ...]]:
    """Return the first sentence of texts or of their list, without its full stop, and everything after it. Return
    nothing if the texts do not begin with a sentence, or have only this one. Also return nothing if the sentence
    defines a term, or if the text after it goes on from it."""
    first, rest = first_sentence(texts)
    said = said_in(rest)
    stands = said and not _TERM.search(first) and not _GOES_ON.match(said[0].text)
    return (Markup(_FULL_STOP.sub("", first)), rest) if stands else (Markup(), ())  # noqa: S704  # was HTML before


def first_sentence(texts: Sequence[TextView]) -> tuple[Markup, tuple[TextView, ...]]:
    """Return the first sentence of texts or of their list, and everything after it. Return nothing if they do not begin
    with a sentence."""
    found = _FIRST_SENTENCE.match(texts[0].html) if texts else None
    if found is None or len(re.findall("<[^/]", found["first"])) != found["first"].count("</"):
        return Markup(), ()
    rest = found["rest"].lstrip()
    if rest.startswith("</"):
        rest = rest.partition(">")[2].lstrip()  # the end of the sentence's paragraph or item
        rest = f"<ul>{rest}" if found["item"] and rest.startswith("<li>") else rest.removeprefix("</ul>")
    else:
        rest = f"<ul><li>{rest}" if found["item"] else f"<p>{rest}"
    left = (replace(texts[0], html=Markup(rest)),) if rest.strip() else ()  # noqa: S704  # was HTML before
    return Markup(found["first"]), (*left, *texts[1:])  # noqa: S704  # was HTML before


def lead_of(texts: Sequence[TextView], width: float) -> tuple[tuple[TextView, ...], tuple[TextView, ...]]:
    """Return as many of the first sentences as fit above a figure. If some do not fit, also return all of the texts."""
    kept, rest = Markup(), tuple(texts)
    while rest:
        sentence, others = first_sentence(rest)
        more = Markup("{} {}").format(kept, sentence) if kept else sentence
        if not sentence or (kept and lines_of(more.striptags(), width, TEXT_PT) > LINES_ABOVE):
            break
        kept, rest = more, others
    if not rest or not kept:
        return tuple(texts), ()
    return (replace(texts[0], html=Markup("<p>{}</p>").format(kept)),), tuple(texts)


def _facts_in_lines(facts: FactsView, words: Words) -> list[Paragraph]:
    """Return the facts that are not in the table as paragraphs that begin with the facts' names."""
    colon = words["colon"]
    blank = Run(" " if colon.endswith(" ") else "")
    told = told_facts(facts, words)
    return [Paragraph((Run(f"{name}{colon.rstrip()}", bold=True), blank, *runs_of(value))) for name, value in told]
