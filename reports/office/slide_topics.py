"""Places topics, each with a head and its texts, below one another on as few slides as have room for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.data.view_model import FactsView, Footnote
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_look import AIR, TEXT_PT
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.office.slide_parts import height_of_all
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.table_grid import Grid
from benchbrief.reports.office.text_fit import BOLDER

SIZES = (20.0, 19.0, 18.0, 17.0, 16.0, 15.0, TEXT_PT)
"""The type sizes that topics may have, the largest first."""
_APART = 12.0
"""The space between two topics."""
_ENDS_TERM = re.compile(r"[:\uff1a]$")
_AFTER_TERM, _WIDEST_TERM = 1.2, 20.0
"""The space after a term, and the greatest width of the column of terms, in multiples of the type size."""


@dataclass(frozen=True)
class Topic:
    """A topic of a slide. `notes` are footnotes that have no mark in its texts. `claim` is its first sentence, and
    `rest` is everything after that. The topic of the systems' configuration has `facts`, perhaps with a `grid` of them.
    """

    head: str | Markup
    said: tuple[Paragraph, ...]
    notes: tuple[Footnote, ...] = ()
    claim: Markup = Markup()
    rest: tuple[Paragraph, ...] = ()
    facts: FactsView | None = None
    grid: Grid | None = None


def shared(topics: Sequence[Topic], area: Area) -> list[tuple[float, list[Topic]]]:
    """Divide topics into slides, and return them with their type sizes. The last slide is the fullest. A size is 0 if a
    slide's only topic does not fit."""
    found: list[tuple[float, list[Topic]]] = []
    for topic in reversed(topics):
        if found and (points := _size([topic, *found[0][1]], area)):
            found[0] = (points, [topic, *found[0][1]])
        else:
            found.insert(0, (_size([topic], area), [topic]))
    return found


def _size(topics: Sequence[Topic], area: Area) -> float:
    """Return the largest type size that lets topics fit into an area, or 0 if there is none."""
    return next((points for points in SIZES if height_of_topics(topics, area, points) <= area.height), 0.0)


def height_of_topics(topics: Sequence[Topic], area: Area, points: float) -> float:
    """Return the height of topics without the head of the first one, with tables in their usual type."""
    tables = sum(height_within(each.grid, area) + AIR for each in topics if each.grid)
    return tables + sum(height_of_all(said, area.width, points) for said in below(topics))


def below(topics: Iterable[Topic], colour: str = "") -> list[list[Paragraph]]:
    """Return the paragraphs of each topic. Except for the first topic, they begin with the topic's head in this
    `colour`. Their terms are in a column that is equally wide in all topics."""
    kept = list(topics)
    found = [in_terms(topic.said) for topic in kept]
    widest = max((each.hang for said in found for each in said), default=0.0)
    made = [[replace(each, hang=widest) if each.hang else each for each in said] for said in found]
    for said, topic in list(zip(made, kept, strict=True))[1:]:
        head = tuple(replace(run, bold=True, colour=colour) for run in runs_of(topic.head))
        said.insert(0, Paragraph(head, above=_APART))
    return made


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
