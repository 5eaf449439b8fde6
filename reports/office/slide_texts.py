"""Writes texts on slides: a topic alone under its claim, and the method beside the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import FactsView, TextView
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_blocks import BlockWriter
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, LINE_LESS, LINES_ABOVE, TEXT_PT
from benchbrief.reports.office.slide_masters import LEAST_PT, Area
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_topics import Topic, below, height_of_topics, shared
from benchbrief.reports.office.table_grid import grid_of_facts
from benchbrief.reports.office.text_fit import lines_of
from benchbrief.reports.text.html_markup import plain_text
from benchbrief.reports.view.arrange_elements import Slide

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
            topics = [topic for each in slide.topics if (topic := self.topic_of(each))]
            return Topic(topics[0].head, tuple(line for said in below(topics, self.brand) for line in said))
        head = slide.head or escape(self.view.title)
        said = said_in(slide.texts + slide.after)
        match slide.blocks if self.masters.is_ours else None:
            case ():
                claim, rest = claim_of(slide.texts + slide.after)
                return Topic(head, tuple(said), claim=claim, rest=tuple(said_in(rest))) if said else None
            case (FactsView() as facts,) if not said:
                grid = grid_of_facts(facts, self.words) if facts.beside or not facts.common else None
                lines = [] if facts.beside else _facts_in_lines(facts, self.words["colon"])
                said = lines or list(paragraphs(escape(facts.common)))
                return Topic(head, tuple(said), facts.notes, facts=facts, grid=grid)
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
        for points, group in shared(topics, room) if self.masters.is_ours else [(0.0, [each]) for each in topics]:
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
        return len(shared(topics, self.room_for(topics))) == 1

    def height_of_notes(self, topics: Sequence[Topic]) -> float:
        notes = self.notes.told(marks_in(topics))
        return height_of_all(notes, self.masters.content.width, LEAST_PT) + AIR if notes else 0.0

    def write_group(self, topics: Sequence[Topic], points: float) -> None:
        """Write topics below one another on one slide."""
        self.open(topics[0].head)
        small = self.height_of_notes(topics)
        area = replace(self.content, height=self.content.height - small)
        foot, texts = self.content.below(area.height + AIR), list[Paragraph]()
        for place, (topic, said) in enumerate(zip(topics, below(topics, self.brand), strict=True), 1):
            texts += said
            if topic.grid or place == len(topics):
                self.put(texts, area, points)
                area = area.below(height_of_all(texts, area.width, points))
                texts.clear()
            if topic.grid:
                own, whole = (height_of_topics(each, area, points) for each in ([topic], [topic, *topics[place:]]))
                room = replace(area, height=area.height - (whole - own))
                area = area.below(AIR + self.draw_grid(escape(topic.head), topic.grid, room, points))
        self.put(self.notes.told(marks_in(topics)), foot, LEAST_PT)


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


def _facts_in_lines(facts: FactsView, colon: str) -> list[Paragraph]:
    """Return declared facts as paragraphs that begin with the facts' names. If a fact differs, its paragraph
    has a line for each system. Return nothing if some facts were observed."""
    if facts.observed:
        return []
    found: dict[str, list[Markup]] = {}
    for place, group in enumerate(facts.groups):
        for line in group.lines:
            found.setdefault(line.name, []).append(escape(f"{group.label}{colon}" * bool(place) + line.declared))
    made = []
    for name, texts in found.items():
        term = (Run(f"{name}{colon.rstrip()}", bold=True), Run(" " if colon.endswith(" ") else ""))
        made.append(Paragraph((*term, *runs_of(Markup("<br>").join(texts)))))
    return made
