"""Prints and writes the results of `bench compare`: two contenders side by side, or more of them as a ranking."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.cli.terminal import align_columns, columns_of, one_line, show, show_json, show_wrapped
from benchbrief.cli.verdict_files import Case, write_file, write_markdown, write_verdicts
from benchbrief.comparing import compare_output as output
from benchbrief.comparing import ranking_output as ranked
from benchbrief.comparing.compare_output import (
    find_constant_dimensions,
    format_change,
    format_point,
    format_values,
    shorten_reason,
    verdict_word,
)
from benchbrief.comparing.judged_contenders import JudgedContenders, NamedContender
from benchbrief.comparing.ranking_output import explain_unranked
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.source import display_width
from benchbrief.history.site.comparison_pages import ranking_view, step_view
from benchbrief.history.site.render_site import comparison_page
from benchbrief.model.message import mapped
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.compare.contender import Difference

if TYPE_CHECKING:
    from benchbrief.results.compare.comparison import Comparison

_HEAD = ("metric, point", "A", "B", "change", "verdict")
_MOST_NAMED = 2
_MOST_REASONS = 6


class FittedLine(NamedTuple):
    """A line of the table. `row` is the line's comparison, or None for a header."""

    text: str
    row: Comparison | None = None


class FittedTable(NamedTuple):
    """The lines of a table that fit the screen, and sentences that replace the other rows."""

    lines: tuple[FittedLine, ...]
    notes: tuple[str, ...]


def table_of(comparisons: Sequence[Comparison], columns: int | None) -> FittedTable:
    """Return the table. It has at most this many columns, if the points' names are short enough. None means any width.

    To save room, intervals are dropped first; then each point takes two or three lines. If a value is missing, or is 0
    on both sides, its row becomes a sentence.
    """
    rows = [row for row in comparisons if not _is_zero(row) and not _is_missing(row)]
    notes = [*_zeros(comparisons), *_explain_unknown(comparisons)]
    for with_spread, with_interval in ((True, True), (False, True), (False, False)):
        lines = _aligned(rows, with_spread=with_spread, with_interval=with_interval)
        if columns is None or max((display_width(line.text) for line in lines), default=0) <= columns:
            break
    else:
        lines = _stacked(rows, columns)
    if not (with_spread and with_interval):
        notes.append("there is no room for all intervals: a wider terminal, or --json, shows them")
    return FittedTable(tuple(lines), tuple(notes))


def _is_zero(row: Comparison) -> bool:
    return row.first is not None and row.second is not None and row.first.value == row.second.value == 0


def _is_missing(row: Comparison) -> bool:
    return all(side is None or not side.is_known for side in (row.first, row.second))


def _zeros(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for metric, rows in groupby(comparisons, key=lambda row: row.quantity):
        of = list(rows)
        if count := sum(map(_is_zero, of)):
            where = f"all {plural(count, 'point')}" if count == len(of) > 1 else plural(count, "point")
            yield f"{metric}: 0 in A and in B, at {where}"


def _explain_unknown(rows: Sequence[Comparison]) -> Iterator[str]:
    """Explain why values are missing. Each reason comes with the points that it applies to."""
    found: dict[str, list[str]] = {}
    hidden = find_constant_dimensions(rows)
    for row in rows:
        if row.verdict == "unknown":
            found.setdefault(row.reason, []).append(f"{row.quantity} at {format_point(row, hidden)}")
    for reason, points in list(found.items())[:_MOST_REASONS]:
        more = f", and {len(points) - _MOST_NAMED} more" if len(points) > _MOST_NAMED else ""
        yield f"{verdict_word('unknown')}: {shorten_reason(reason)} ({', '.join(points[:_MOST_NAMED])}{more})"
    if left := sum(len(points) for points in list(found.values())[_MOST_REASONS:]):
        yield f"{verdict_word('unknown')} for further reasons at {plural(left, 'point')}: --json has them"


def _cells(row: Comparison, *, with_spread: bool, with_interval: bool) -> tuple[str, str, str, str]:
    first, second = (format_values(side, row.unit, with_spread=with_spread) for side in (row.first, row.second))
    shown = row if with_interval else replace(row, interval=None, difference_interval=None, p=None)
    return first, second, format_change(shown), verdict_word(row.verdict)


def _aligned(rows: Sequence[Comparison], *, with_spread: bool, with_interval: bool) -> list[FittedLine]:
    """Return an aligned table. Each metric's name is on its own line above the metric's points."""
    hidden = find_constant_dimensions(rows)
    cells = [
        (f"  {one_line(format_point(row, hidden))}", *_cells(row, with_spread=with_spread, with_interval=with_interval))
        for row in rows
    ]
    head, rule, *texts = align_columns([_HEAD, *cells])
    lines = [FittedLine(head), FittedLine(rule)]
    for metric, pairs in groupby(zip(rows, texts, strict=True), key=lambda pair: pair[0].quantity):
        lines += [FittedLine(one_line(metric)), *(FittedLine(text, row) for row, text in pairs)]
    return lines


def _stacked(rows: Sequence[Comparison], columns: int | None) -> list[FittedLine]:
    """Return two lines for each point if the values do not fit beside its name, or three if the change does not fit
    either."""
    hidden = find_constant_dimensions(rows)
    lines = []
    for metric, of in groupby(rows, key=lambda row: row.quantity):
        lines.append(FittedLine(one_line(metric)))
        for row in of:
            first, second, change, verdict = _cells(row, with_spread=False, with_interval=False)
            shown = [f"    A {first}, B {second}: {change}, {verdict}"]
            if columns is not None and display_width(shown[0]) > columns:
                shown = [f"    A {first}, B {second}:", f"      {change}, {verdict}"]
            lines += [FittedLine(text, row) for text in (f"  {one_line(format_point(row, hidden))}", *shown)]
    return lines


def write_page(file: Path, judged: JudgedContenders, language: str) -> None:
    """Write the comparison as one page that needs no other file. Raises Stop if the file can't be written."""
    words = CATALOGUES[language]
    names = list(judged.names)
    differing = tuple((each.what, *each.each) for each in judged.differing)

    def known(text: str) -> str:
        """Turn the store's sentences within a text back into translatable messages."""
        return mapped(text, lambda part: judged.sentences.get(part, part))

    if len(names) == 2:
        (outcome,) = judged.outcomes.values()
        rows = [replace(row, reason=known(row.reason)) for row in outcome.comparisons]
        made = step_view(words["site_comparison"], rows, names, words, judged.labels, differing)
        notes = judged.notes
    else:
        rankings = [replace(each, reason=known(each.reason)) for each in judged.rankings]
        made = ranking_view(words["site_comparison"], rankings, names, words, judged.labels)
        notes = (*explain_unranked(judged), *judged.notes)
    if made is None:  # nothing in common, which is refused before
        return
    contenders = tuple((name, named(each)) for name, each in zip(names, judged.references, strict=True))
    worded = tuple(words.said(known(note)) for note in notes)
    view = replace(made, contenders=contenders, differing=differing, notes=worded)
    first, *others = (run for _, run in contenders)
    title = words["site_step_of"].format(run=words.locale.listed(others), before=first)
    write_file(file, comparison_page(view, title, words))


def print_comparison(
    judged: JudgedContenders,
    *,
    strict: bool,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
    html: Path | None,
    language: str,
) -> None:
    """Print the comparison, and write the requested files. `language` is the page's language. Raises Stop if a file
    can't be written."""
    title = titled(judged.references)
    if len(judged.names) == 2:
        (outcome,) = judged.outcomes.values()
        found = [Difference(each.what, *each.each) for each in judged.differing]
        cases: list[Case] = list(output.cases(outcome, strict=strict))
        summary = output.markdown(title, outcome, found, judged.notes)
        document = output.as_dict(judged.references, outcome, found, judged.threshold, judged.origins)
    else:
        cases = list(ranked.ranking_cases(judged, strict=strict))
        summary = ranked.ranking_markdown(title, judged)
        document = ranked.ranking_dict(judged)
    write_verdicts(title, cases, junit)
    write_markdown(summary, markdown)
    if html is not None:
        write_page(html, judged, language)
    if as_json:
        show_json(document)
    else:
        _show(judged)


def titled(references: Sequence[NamedContender]) -> str:
    """Return the title of a comparison: `B against A`, `B and C against A`."""
    first, *others = map(named, references)
    listed = " and ".join((", ".join(others[:-1]), others[-1])) if len(others) > 1 else others[0]
    return f"{listed} against {first}"


def named(reference: NamedContender) -> str:
    return ":".join(filter(None, (reference.run_dir.name, reference.part)))


def _show(judged: JudgedContenders) -> None:
    for letter, reference in zip(judged.names, judged.references, strict=True):
        show(f"{letter}  {named(reference)}")
    different = list(output.difference_lines([(each.what, each.each) for each in judged.differing]))
    if different:
        show()
        show(f"what else differs, {' | '.join(judged.names)}:")
        for line in different:
            show_wrapped(f"  {one_line(line)}", indent=4)
    show()
    if len(judged.names) == 2:
        _show_two(judged)
    else:
        _show_ranking(judged)
    for note in judged.notes:
        show_wrapped(f"note: {note}", indent=6)


def _show_two(judged: JudgedContenders) -> None:
    (outcome,) = judged.outcomes.values()
    table = table_of(outcome.comparisons, columns_of(sys.stdout))
    for line, row in table.lines:
        show(line, colour=output.COLOURS.get(row.verdict) if row else None)
    show()
    show(output.count_verdicts(outcome), colour="red" if outcome.worse else None)
    for text in table.notes:
        show_wrapped(text, indent=2)


def _show_ranking(judged: JudgedContenders) -> None:
    for text, colour in ranked.ranked_table(judged, columns_of(sys.stdout)):
        show(text, colour=colour)
    show()
    for line, outcome in zip(ranked.summary(judged), judged.against_first.values(), strict=True):
        show(line, colour="red" if outcome.worse else None)
    for text in ranked.explain_unranked(judged):
        show_wrapped(text, indent=2)
