"""Sets topics, each a head with its texts, side by side on a slide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_parts import height_of_all

_SIZES = (20.0, 18.0, 16.0, 15.0, 14.0)


@dataclass(frozen=True)
class Topic:
    """`is_facts`: it says how the systems are set up, and does not stand alone."""

    head: str | Markup
    said: tuple[Paragraph, ...]
    is_facts: bool = False


def side_by_side(topics: Sequence[Topic], width: float, height: float) -> tuple[int, float] | None:
    """Return how many of the topics stand in the left of two columns, and the type in which all of them fit; None where
    they have no room. The first of each column has its head above it."""
    found: list[tuple[float, float, int]] = []
    for at in range(1, len(topics)):
        for points in _SIZES:
            heights = [height_of_all(below(column), width, points) for column in (topics[:at], topics[at:])]
            if max(heights) <= height:
                found.append((-points, max(heights), at))
                break
    return (min(found)[2], -min(found)[0]) if found else None


def below(topics: Iterable[Topic]) -> list[Paragraph]:
    """Return what stands in a column below the head of its first topic."""
    said: list[Paragraph] = []
    for place, topic in enumerate(topics):
        heads = (Run(run.text, bold=True, number=run.number) for run in runs_of(topic.head)) if place else ()
        head = tuple(heads)
        said += [*((Paragraph(()), Paragraph(head)) if head else ()), *topic.said]
    return said
