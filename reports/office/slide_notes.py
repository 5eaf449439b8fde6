"""Finds the footnotes of a slide. Each footnote is repeated on every slide with its mark, and each slide's letters
start from a."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, fields, is_dataclass, replace

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.office.rich_text import Paragraph, Run, note_runs
from benchbrief.reports.text.html_markup import note_letter

_MARK = re.compile(r"#note-(\d+)")
_OF_NUMBERS = ("marks", "notes")
"""The fields of a view that hold the numbers of footnotes."""


def marks_in(part: object) -> tuple[int, ...]:
    """Return the numbers of the footnotes in one or several parts of a brief, in order."""
    return tuple(dict.fromkeys(_marks_in(part)))


def _marks_in(part: object) -> Iterator[int]:
    if isinstance(part, Footnote):
        yield part.number
    elif isinstance(part, str):
        yield from map(int, _MARK.findall(part))
    elif isinstance(part, tuple | list):
        for each in part:
            yield from _marks_in(each)
    elif isinstance(part, Run):
        yield from [part.note] if part.note else []
    elif is_dataclass(part):
        for each in fields(part):
            value = getattr(part, each.name)
            numbers = each.name in _OF_NUMBERS and all(isinstance(number, int) for number in value)
            yield from value if numbers else _marks_in(value)


@dataclass
class SlideNotes:
    """The footnotes of a brief, with their letters on one slide."""

    known: dict[int, Footnote]
    letters: dict[int, str] = field(default_factory=dict)

    def lettered(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """Return runs with the marks of the slide. Each new footnote gets the next letter."""
        return tuple(replace(run, text=self._letter(run.note)) if run.note else run for run in runs)

    def _letter(self, number: int) -> str:
        return self.letters.setdefault(number, note_letter(len(self.letters) + 1))

    def told(self, numbers: tuple[int, ...]) -> list[Paragraph]:
        """Return these footnotes as paragraphs, each with its mark."""
        made = []
        for note in (self.known[number] for number in numbers if number in self.known):
            mark, *text = note_runs(note)
            made.append(Paragraph((replace(mark, note=note.number), *text)))
        return made
