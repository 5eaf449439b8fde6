"""Chooses the line breaks of titles and captions: no short last line, and no Japanese line that ends within a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from markupsafe import Markup

from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.text_fit import JAPANESE, lines_of
from benchbrief.reports.text.line_ends import phrases

_LAST_LINE, _MOST_LINES = 12, 4
"""The least letters of a title's last line, and the most lines of a Japanese title whose lines are chosen."""


def closed(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return the runs of a title or a caption with its last words kept on one line if they are short."""
    at = max((place for place, run in enumerate(runs) if not run.raised), default=None)
    if at is None or runs[at].code or runs[at].number:
        return runs
    *before, last = runs[at].text.split(" ")
    while before and len(last) < _LAST_LINE:
        last = f"{before.pop()}\N{NO-BREAK SPACE}{last}"
    kept = replace(runs[at], text=" ".join((*before, last)))
    marks = (replace(run, text=run.text.replace(" ", "\N{NO-BREAK SPACE}")) for run in runs[at + 1 :])
    return (*runs[:at], kept, *marks)


def lines_of_title(title: Markup, width: float, points: float) -> int:
    """Return how many lines a title takes on a slide. Each of the claims in it begins a line."""
    return lines_of("".join(run.text for run in closed(runs_of(title))), width, points, bold=True)


def broken(runs: Sequence[Run], width: float, points: float, *, bold: bool = True) -> tuple[Run, ...]:
    """Return the runs of a Japanese title or caption with line breaks between phrases, and between parts of the
    sentence if possible. It gets no more lines than without them."""
    text, ends = "".join(run.text for run in runs), _ends(runs)

    def lines(part: str) -> int:
        return lines_of(part.strip(), width, points, bold=bold)

    def cuts(first: int, most: int) -> list[int] | None:
        if lines(text[first:]) == 1:
            return []
        fitting = [at for at in ends if at > first and lines(text[first:at]) == 1] if most > 1 else []
        for at in sorted(fitting, key=lambda at: (text[at - 1] in "：、", at), reverse=True):
            if (others := cuts(at, most - 1)) is not None:
                return [at, *others]
        return None

    return _cut(runs, (ends and cuts(0, min(lines(text), _MOST_LINES))) or [])


def wrapped(paragraph: Paragraph, width: float, points: float) -> Paragraph:
    """Return a Japanese paragraph of a narrow column with its lines as full as possible without breaking a phrase."""
    ends, text, at, cuts = _ends(paragraph.runs), paragraph.text, 0, list[int]()
    while ends and lines_of(text[at:].strip(), width, points) > 1:
        fitting = [end for end in ends if end > at and lines_of(text[at:end].strip(), width, points) == 1]
        if not fitting:
            return paragraph
        at = max(fitting)
        cuts.append(at)
    return replace(paragraph, runs=_cut(paragraph.runs, cuts))


def _ends(runs: Sequence[Run]) -> list[int]:
    """Return where phrases of a Japanese text end, but not within its numbers. Return nothing for other texts."""
    text = "".join(run.text for run in runs)
    if not JAPANESE.search(text) or "\n" in text:
        return []
    ends, at = {*accumulate(map(len, phrases(text))), *(found.end() for found in re.finditer("[：、。]", text))}, 0
    for run in runs:
        ends -= set(range(at + 1, at + len(run.text))) if run.number or run.code else set()
        at += len(run.text)
    return sorted(end for end in ends if 0 < end < len(text))


def _cut(runs: Sequence[Run], ends: Sequence[int]) -> tuple[Run, ...]:
    """Return runs with line breaks at these places of their text, without the blanks around the breaks."""
    made, at = list[Run](), 0
    for run in runs:
        cuts = [end - at for end in ends if at < end <= at + len(run.text)]
        parts = (run.text[first:end] for first, end in zip((0, *cuts), (*cuts, None), strict=True))
        text = re.sub(r"\s*\n\s*", "\n", "\n".join(parts)) if cuts else run.text
        made.append(replace(run, text=text.lstrip() if at in ends else text))
        at += len(run.text)
    return tuple(made)
