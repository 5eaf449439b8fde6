"""The test configuration in a brief for customers: a line with everything that all sides share, and a table of the
rest.

The disclosure has all facts, and distinguishes declared facts from observed ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import FactLine, FactRow, FactsView
from benchbrief.reports.disclosure.systems_under_test import fact_groups, fact_lines, within_sentence
from benchbrief.reports.text.number_format import quantity
from benchbrief.reports.words.brief_words import Words, sentences

_MOST_BESIDE = 4
"""The most columns of facts that fit a page next to the names of the rows."""
_FEW_APART = 3
"""The most facts that differ between two sides without needing a table."""
_Sides = Sequence[Mapping[str, FactLine]]
"""The facts of each side of the comparison, by fact name."""


def compared_facts(hardware: Sequence[str], results: Results, number: int, title: str) -> FactsView:
    """Return the facts of compared hardware. If all sides share a fact that was only observed, it is mostly left
    out."""
    words = results.words
    machines = [results.plan.hardware[key] for key in hardware]
    sides = [{line.name: line for line in fact_lines(each, results, machines)} for each in machines]
    names = dict.fromkeys(name for side in sides for name in side)
    labels = [each.label for each in machines]
    rows = [_row(name, sides, labels, words) for name in names]
    apart = [row for row in rows if len(row.cells) == len(sides) > 1 or row.differs]
    alike = [row for row in rows if row not in apart and not _is_detail(row.name, sides)]
    listed = [row for row in alike if not _is_prose(row.cells[0], words)]
    common = words["semicolon"].join(_said(row, words) for row in listed)
    if common and len(sides) > 1:
        common = words["same_for_both" if len(sides) == 2 else "same_for_all"].format(facts=common)
    prose = [words["fact_sentence"].format(fact=row.name, value=row.cells[0]) for row in alike if row not in listed]
    lines = alike
    if (told := _told(apart, labels, words)) is not None:
        lines = [*alike, *apart]
        apart, prose = [], [*told, *prose]
    common = sentences([common, *prose], words) if prose else common
    groups, table = fact_groups(hardware, results), _table(apart, labels, words)
    common = common[:1].upper() + common[1:]
    shared = words["shared_by_both" if len(sides) == 2 else "shared_by_all"] if alike and len(sides) > 1 else ""
    if shared and told:
        shared = words["shared_unless"].format(shared=shared)
    return FactsView(number, title, groups, *table, common, rows=tuple(lines), sides=tuple(labels), shared=shared)


def _row(name: str, sides: _Sides, labels: Sequence[str], words: Words) -> FactRow:
    """Return a fact with one cell for each side, or one for all sides together."""
    lines = [side.get(name) for side in sides]
    cells = [_cell(line, words) for line in lines]
    shared = len(set(cells)) == 1
    each = [f"{label}{words['colon']}{cell}" for label, line, cell in zip(labels, lines, cells, strict=True) if line]
    told, cells = (cells[:1], cells[:1]) if shared else (each, cells)
    return FactRow(name, tuple(cells), any(line.differs for line in lines if line), tuple(told))


def _cell(line: FactLine | None, words: Words) -> str:
    """Return the declared fact or, if there is none, the observed one. If they contradict each other, return both."""
    if line is None:
        return words["missing"]
    if line.differs and line.observed:
        return words["stated_and_observed"].format(stated=line.declared, observed=line.observed)
    return line.declared or line.observed


def _is_prose(text: str, words: Words) -> bool:
    """Return whether a fact contains whole sentences, which would break a list."""
    return any(
        words[sign] in text for sign in ("stop", "colon", "semicolon") if words[sign] != words.locale.listed(("", ""))
    )


def _is_detail(name: str, sides: _Sides) -> bool:
    return any(side[name].detail for side in sides if name in side)


def _said(row: FactRow, words: Words) -> str:
    """Return a fact as a phrase, such as "3 nodes" or "memory 16 GB"."""
    (text,) = row.cells
    if row.name == words["nodes"] and text.isdecimal():
        return quantity(float(text), "nodes")
    return words["fact_said"].format(fact=within_sentence(row.name), value=text)


def _told(apart: Sequence[FactRow], sides: Sequence[str], words: Words) -> list[str] | None:
    """If only one fact differs, return a sentence on it, such as "Drive: SSD (Box 0); HDD (Box 1)". If few facts differ
    between two sides, return a sentence on each side. Return None if a table is needed."""
    few = 1 <= len(apart) <= (_FEW_APART if len(sides) == 2 else 1) and len(sides) <= _MOST_BESIDE
    if not few or any(row.differs or len(row.cells) != len(sides) for row in apart):
        return None
    if len(apart) == 1:
        each = [cell + words["aside"].format(text=side) for cell, side in zip(apart[0].cells, sides, strict=True)]
        return [words["fact_sentence"].format(fact=apart[0].name, value=words["semicolon"].join(each))]
    if any(_is_prose(cell, words) for row in apart for cell in row.cells):
        return None
    known = ([row for row in apart if row.cells[at] != words["missing"]] or apart for at in range(len(sides)))
    of_sides = [[_said(FactRow(row.name, (row.cells[at],)), words) for row in rows] for at, rows in enumerate(known)]
    return [
        words["fact_sentence"].format(fact=side, value=words["semicolon"].join(facts))
        for side, facts in zip(sides, of_sides, strict=True)
    ]


def _table(
    apart: Sequence[FactRow], sides: Sequence[str], words: Words
) -> tuple[tuple[str, ...], tuple[FactRow, ...], str]:
    """Return the heads, the rows and the corner of the table. Each side has a column or, if there are many sides, a
    row."""
    if not apart:
        return (), (), ""
    if len(sides) <= _MOST_BESIDE:
        return tuple(sides), tuple(apart), words["fact"]
    heads = tuple(row.name for row in apart)
    of_sides = list(zip(*(row.cells if len(row.cells) > 1 else row.cells * len(sides) for row in apart), strict=True))
    if len(heads) > _MOST_BESIDE:  # too many for columns of their own
        of_sides = [
            (
                words["semicolon"].join(
                    words["fact_said"].format(fact=f, value=v) for f, v in zip(heads, each, strict=True)
                ),
            )
            for each in of_sides
        ]
        heads = (words["configuration"],)
    return heads, tuple(map(FactRow, sides, of_sides)), words.dimension("hardware")
