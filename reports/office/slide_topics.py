"""Places topics, each with a head and its texts, side by side on a slide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_parts import height_of_all

SHARES = (0.45, 0.5, 0.55)
"""The shares of the width that the first column can have."""
_SIZES = (18.0, 17.0, 16.0, 15.0, 14.0)


@dataclass(frozen=True)
class Topic:
    """A topic of a slide. `notes` are footnotes that have no mark in its texts. `is_facts` means that the topic
    describes the systems' configuration and needs another topic beside it. `claim` is its first sentence, and `rest` is
    everything after that.
    """

    head: str | Markup
    said: tuple[Paragraph, ...]
    notes: tuple[Footnote, ...] = ()
    is_facts: bool = False
    claim: Markup = Markup()
    rest: tuple[Paragraph, ...] = ()


@dataclass(frozen=True)
class Columns:
    """The layout of two columns. The first has `left` topics and this `share` of the width. All texts have a type size
    of `points`."""

    left: int
    share: float
    points: float


def side_by_side(topics: Sequence[Topic], width: float, height: float, least: float = 0.0) -> Columns | None:
    """Return the two columns in which the topics have the largest type, or None if there is no room even in a type of
    `least` points. Each column begins with the head of its first topic."""
    found: list[tuple[float, float, float, int, float]] = []
    for at in range(1, len(topics)):
        for share in SHARES:
            rooms = (width * share, width * (1 - share))
            for points in (size for size in _SIZES if size >= least):
                columns = zip((topics[:at], topics[at:]), rooms, strict=True)
                first, second = (height_of_all(below(column), room, points) for column, room in columns)
                highest = max(first, second)
                if highest <= height:
                    found.append((-points, round(abs(share - 0.5), 2), highest, at, share))
                    break
    if not found:
        return None
    points, _, _, at, share = min(found)
    return Columns(at, share, -points)


def below(topics: Iterable[Topic], colour: str = "") -> list[Paragraph]:
    """Return the paragraphs of a column below the head of its first topic. The heads of its other topics have a
    `colour`."""
    said: list[Paragraph] = []
    for place, topic in enumerate(topics):
        if place:
            head = tuple(Run(run.text, bold=True, number=run.number, colour=colour) for run in runs_of(topic.head))
            said += [Paragraph(()), Paragraph(head)]
        said += topic.said
    return said
