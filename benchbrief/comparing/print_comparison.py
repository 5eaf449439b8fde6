"""What `bench compare` prints and writes of judged contenders: two side by side, and more as a ranking."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchbrief.ci.junit import Case
from benchbrief.ci.verdict_files import write_markdown, write_verdicts
from benchbrief.cli.terminal import columns_of, one_line, show, show_json, show_wrapped
from benchbrief.comparing import compare_output as output
from benchbrief.comparing import ranking_output as ranked
from benchbrief.comparing.compare_table import table_of
from benchbrief.comparing.comparison_html import write_page
from benchbrief.comparing.judged_contenders import Judged
from benchbrief.comparing.named_contenders import Reference
from benchbrief.results.compare.contender_differences import Difference


def print_comparison(
    judged: Judged,
    *,
    strict: bool,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
    html: Path | None,
    language: str,
) -> None:
    """`language` is that of the page. Raises Stop where a file can't be written."""
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


def titled(references: Sequence[Reference]) -> str:
    """`B against A`, `B and C against A`."""
    first, *others = map(named, references)
    listed = " and ".join((", ".join(others[:-1]), others[-1])) if len(others) > 1 else others[0]
    return f"{listed} against {first}"


def named(reference: Reference) -> str:
    hardware = f":{reference.hardware}" if reference.hardware else ""
    return f"{reference.run_dir.name}{hardware}"


def _show(judged: Judged) -> None:
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


def _show_two(judged: Judged) -> None:
    (outcome,) = judged.outcomes.values()
    table = table_of(outcome.comparisons, columns_of(sys.stdout))
    for line, row in table.lines:
        show(line, colour=output.COLOURS.get(row.verdict) if row else None)
    show()
    show(output.count_verdicts(outcome), colour="red" if outcome.worse else None)
    for text in table.notes:
        show_wrapped(text, indent=2)


def _show_ranking(judged: Judged) -> None:
    for text, colour in ranked.ranked_table(judged, columns_of(sys.stdout)):
        show(text, colour=colour)
    show()
    for line, outcome in zip(ranked.summary(judged), judged.against_first.values(), strict=True):
        show(line, colour="red" if outcome.worse else None)
    for text in ranked.explain_unranked(judged):
        show_wrapped(text, indent=2)
