"""A comparison's letters: no test of their repeats finds a difference between contenders with one in common.

All pairs of contenders in all rows of a quantity are one family, which `results/compare/rankings.py` corrects together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.model.budgets import strictest_level
from benchbrief.model.points import DimKey, PointKeys
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import counted
from benchbrief.results.compare.comparison import Quantity, Values
from benchbrief.results.compare.rankings import Pair, rank

Place = tuple[p.Query, DimKey]
"""A query of a line, and a key of the table's dimension."""


@dataclass(frozen=True)
class Letters:
    """`of` has the letters of each ranked value, "" where its row is not ranked; `note` says what they mean."""

    of: Mapping[tuple[str, DimKey], str]
    note: str = ""


def letters_of(element: p.TableElement, results: Results) -> Letters:
    """Return the letters of a comparison; of any other table none, and no note."""
    groups: dict[str, list[p.Line]] = {}
    for line in element.lines:
        if line.tested and line.query:
            groups.setdefault(line.tested.of, []).append(line)
    if not groups:
        return Letters({})
    found: dict[tuple[str, DimKey], str] = {}
    tests, places, unranked = 0, 0, 0
    for name, lines in groups.items():
        field = rank(_pairs(name, lines, element, results)) if len(lines) > 1 else None
        tests += sum(
            row.p is not None for each in (field.outcomes.values() if field else ()) for row in each.comparisons
        )
        ranked = {dict(each.point)[element.dim]: each for each in (field.rankings if field else ())}
        for key in element.keys:
            ranking = ranked.get(key.value)
            places += 1
            unranked += not (ranking and ranking.order)
            for place, line in enumerate(lines):
                if line.query:
                    found[line.query.sql, key.value] = ranking.letters[place] if ranking else ""
    words = results.words
    note = words["compared_none"] if not tests else counted(words, "compared", tests)
    if tests and unranked:
        note += " " + counted(words, "compared_unranked", unranked, of=places)
    return Letters(found, note)


def letters_beside(line: p.Line, letters: str) -> Markup:
    """Return the letters beside a number: also of none, so that the numbers of a column stay below each other."""
    return Markup(' <span class="letters">{}</span>').format(letters) if line.tested else Markup("")


def letters_in(elements: Iterable[p.Element], results: Results) -> Iterator[tuple[p.Query, dict[str, DimKey], str]]:
    """Yield each value of all comparisons that has letters, with its keys and these."""
    for element in elements:
        if isinstance(element, p.SectionElement):
            yield from letters_in(element.elements, results)
        elif isinstance(element, p.TableElement):
            of = letters_of(element, results).of
            for line in element.lines:
                for key in element.keys if line.query and line.tested else ():
                    if line.query and (letters := of.get((line.query.sql, key.value))):
                        yield line.query, {element.dim: key.value}, letters


def _pairs(name: str, lines: list[p.Line], element: p.TableElement, results: Results) -> dict[Pair, list[Quantity]]:
    values = [[_values(line, element.dim, key.value, results) for key in element.keys] for line in lines]
    unit = lines[0].query.unit if lines[0].query else ""
    better = lines[0].tested.better if lines[0].tested else None
    exact = all(line.query is not None and line.query.exact for line in lines)
    found = {}
    for one, other in combinations(range(len(lines)), 2):
        points: dict[PointKeys, tuple[Values | None, Values | None]] = {
            ((element.dim, key.value),): (values[one][at], values[other][at]) for at, key in enumerate(element.keys)
        }
        found[one, other] = [Quantity(name, unit, better, points, exact=exact)]
    return found


def _values(line: p.Line, dim: str, key: DimKey, results: Results) -> Values | None:
    """Return a contender's value with those of its repeats. Where a planned repeat has none, it is not ranked: the
    others are another sample than the planned one."""
    if line.query is None or line.tested is None:
        return None
    value = results.at(line.query, **{dim: key})
    repeats: tuple[float, ...] = ()
    if of := line.tested.repeats:
        repeats = tuple(results.spread(of, **{dim: key}))
        if len(repeats) < len(results.keys(of, "repeat", **{dim: key})):
            value = None
    return Values(value, repeats, line.tested.percentile, level=strictest_level(results.plan))
