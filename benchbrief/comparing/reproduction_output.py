"""Formats the verdicts of `bench reproduce` as text, as JSON, and for build servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from benchbrief.cli.terminal import one_line
from benchbrief.cli.verdict_files import Case, inline, table
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.reports.capsule.held_against import HeldAgainst
from benchbrief.reports.capsule.reproduced_brief import number_text, ratio_text, verdict_text, why_text
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.reproduction import Reproduced, ReproductionVerdict


def code_of_reproduction(found: HeldAgainst) -> ExitCode:
    """Return the exit code, which is the same as for an `expect`. Neither the verdict `not comparable` nor any verdict
    on a simulated run counts as a failure."""
    if found.simulated:
        return ExitCode.DONE
    if found.count("fails"):
        return ExitCode.EXPECT_FAILED
    missing = any(each.verdict == "open" and each.why == "missing" for each in found.verdicts)
    return ExitCode.CELL_FAILED if missing else ExitCode.DONE


def reproduction_lines(found: HeldAgainst) -> Iterator[str]:
    """Yield each verdict with its numbers and its reason, then the differences, and then how many verdicts there are of
    each kind."""
    words = CATALOGUES["en"]
    with written_as(words.locale):
        for each in found.verdicts:
            yield one_line(f"{verdict_text(each, words)}: {each.stated.sentence or each.stated.name}")
            sides = f"{number_text(each.before, each, words)} in the brief, {number_text(each.now, each, words)} here"
            ratio = f"; ratio {text}" if (text := ratio_text(each, words)) else ""
            at = f" at {each.place}" if each.place else ""
            yield one_line(f"    {sides}{ratio}{at}")
            yield one_line(f"    {why_text(each, words)}")
    if not found.verdicts:
        yield one_line(words["repro_nothing"])
    elif found.of_shown_numbers:
        yield "the brief claims nothing and its spec expects nothing: judged is what it shows, where it differs most"
    for fact in found.differences:
        yield one_line(f"differs: {fact.what}: {fact.first or 'unknown'} in the brief, {fact.second or 'unknown'} here")
    known = {name: found.count(name) for name in get_args(ReproductionVerdict)}
    if counts := ", ".join(f"{words[f'repro_{name}']} {count}" for name, count in known.items() if count):
        yield f"{plural(len(found.verdicts), 'statement')}: {counts}"
    if found.simulated:
        yield "simulated: nothing was measured, so no verdict counts"


def reproduction_document(found: HeldAgainst, run_dir: Path, files: Sequence[Path]) -> dict[str, object]:
    """Return the verdicts and differences as a JSON object."""
    return {
        "brief": found.about.title,
        "brief_run": found.about.run,
        "run": str(run_dir),
        "simulated": found.simulated,
        "unlike": found.unlike or None,
        "verdicts": [each.document() for each in found.verdicts],
        "differs": [{"what": each.what, "brief": each.first, "here": each.second} for each in found.differences],
        "files": [str(path) for path in files],
    }


def reproduction_cases(found: HeldAgainst) -> list[Case]:
    """Return a case for each verdict. A verdict that is undecided or not comparable is skipped."""
    return [_case(each, found) for each in found.verdicts]


def _case(each: Reproduced, found: HeldAgainst) -> Case:
    words = CATALOGUES["en"]
    name, detail = each.stated.sentence or each.stated.name, f"{verdict_text(each, words)}: {why_text(each, words)}"
    if found.simulated:
        return Case(each.stated.kind, name, "skipped", f"simulated, nothing was measured: {detail}")
    if each.verdict == "open" and each.why == "missing":
        return Case(each.stated.kind, name, "error", detail)
    if each.verdict == "holds":
        return Case(each.stated.kind, name, "ok", remark=detail)
    return Case(each.stated.kind, name, "failure" if each.verdict == "fails" else "skipped", detail)


def reproduction_markdown(found: HeldAgainst) -> str:
    """Return the verdicts as a table for a job's page."""
    words = CATALOGUES["en"]
    with written_as(words.locale):
        rows = [
            (
                verdict_text(each, words),
                each.stated.sentence or each.stated.name,
                number_text(each.before, each, words),
                number_text(each.now, each, words),
                ratio_text(each, words),
            )
            for each in found.verdicts
        ]
    lines = [f"## Reproduction of {inline(found.about.title)}", ""]
    lines += [*table(("verdict", "statement", "brief", "here", "ratio"), rows), ""] if rows else []
    if found.simulated:
        lines += ["Simulated: nothing was measured, and no verdict counts.", ""]
    return "\n".join(lines)
