"""Chooses the line breaks of titles and captions: no short last line, and no Japanese line that ends within a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from benchbrief.reports.office.rich_text import Run
from benchbrief.reports.office.text_fit import JAPANESE, lines_of
from benchbrief.reports.text.line_ends import phrases

_LAST_LINE = 12
"""The least letters of a title's last line."""


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


def broken(runs: Sequence[Run], width: float, points: float, *, bold: bool = True) -> tuple[Run, ...]:
    """Return the runs of a Japanese title or caption with line breaks between phrases, and between parts of the
    sentence if possible. It gets no more lines than without them."""
    text, made = "".join(run.text for run in runs), list[Run]()

    def lines(part: str) -> int:
        return lines_of(part.strip(), width, points, bold=bold)

    def ends_of_lines(first: int, most: int) -> list[int] | None:
        rest = text[first:]
        if lines(rest) == 1:
            return []
        ends = {*accumulate(map(len, phrases(rest))), *(found.end() for found in re.finditer("[：、]", rest))}
        fitting = [at for at in ends if 0 < at < len(rest) and lines(rest[:at]) == 1] if most > 1 else []
        for at in sorted(fitting, key=lambda at: (rest[at - 1] in "：、", at), reverse=True):
            if (others := ends_of_lines(first + at, most - 1)) is not None:
                return [first + at, *others]
        return None

    ends = ends_of_lines(0, lines(text)) if JAPANESE.search(text) and "\n" not in text else None
    at = 0
    for run in runs:
        cuts = [end - at for end in ends or () if at < end <= at + len(run.text)]
        parts = [run.text[first:end].strip() for first, end in zip((0, *cuts), (*cuts, None), strict=True)]
        made.append(replace(run, text="\n".join(parts)) if cuts else run)
        at += len(run.text)
    return tuple(made)
