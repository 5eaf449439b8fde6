"""The outcome of a run: its results, its exit code, and a sentence about each search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import duration, pad
from benchbrief.cli.verdict_files import MARKS, Case, inline, table
from benchbrief.compiler.estimates.estimate import ACTIVITY_WORDS
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import display_width
from benchbrief.model.planned_cells import UncountedCandidates
from benchbrief.model.run_record import is_candidate_left_out

if TYPE_CHECKING:
    from benchbrief.model.events import CellReused
    from benchbrief.model.plan import Plan
    from benchbrief.reports.claims_sheet import SheetRow
    from benchbrief.reports.render.render_report import ReportResult
    from benchbrief.results.analysis.cautions import Patchy
    from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict
    from benchbrief.results.analysis.promised_rates import Promised
    from benchbrief.results.ingest.run_evidence import Evidence
    from benchbrief.results.runs.times_taken import TimeCompared


def sentence(found: Promised) -> str:
    """Describe the result of a search: `e (on box, with a) keeps its promise at ≥ 2,000 ops/s: 4 of 4 runs there kept
    it, 1 of them held out`. Returns "" if the search found no valid rate, which a warning explains."""
    from benchbrief.model.plan import Levels

    if found.sustained is None:
        return ""
    where = f"{found.experiment} (on {found.hardware}, with {Levels(found.levels).behind(found.workload)})"
    here = [each for each in found.rates if each.rate == found.sustained]
    met, broken = sum(each.all_met for each in here), sum(each.all_broken for each in here)
    late = sum(each.late for each in here)
    text = f"{where} keeps its promise at {found.doubt.mark}{found.sustained:,.0f} ops/s: "
    text += f"{met} of {plural(met + broken, 'run')} there kept it, {found.held_met} of them held out"
    if late:
        text += f"; in {late} more the load generator was too late to tell"
    for each in found.lowered_late:
        of = plural(each.held_out, "held-out run")
        text += (
            f"; {each.rate:,.0f} ops/s was lowered, as the load generator was too late in {each.held_beyond} of {of}"
        )
    return text + _undecided(found)


def _undecided(found: Promised) -> str:
    """Return what an undecided search found out about the rate, in the words of `bench compare`."""
    from benchbrief.model.rate_search import CONFIDENCE

    if not found.is_undecided:
        return ""
    known = [f"no run broke it up to {found.kept_to:,.0f}"] if found.kept_to is not None else []
    known += [f"none kept it from {found.broken_from:,.0f} ops/s on"] if found.broken_from is not None else []
    runs = f": {', '.join(known)}" if known else ""
    return f"; not decided with {100 * CONFIDENCE:.0f} % confidence{runs}"


_MUCH = 0.1
"""The activity with the largest error is named if its error is above this share of the whole estimate."""


def short_text(times: TimeCompared) -> str:
    """Return the time taken and the estimate, and name the activity with the largest error."""
    text = _of_all(times)
    most = max(times.in_all, key=lambda each: abs(each.taken_s - each.estimated_s))
    if abs(most.taken_s - most.estimated_s) > _MUCH * times.wall_estimated_s:
        took, estimated = duration(most.taken_s), duration(most.estimated_s)
        text += f": {ACTIVITY_WORDS[most.activity]} took {took}, estimated {estimated}"
    return text


def _of_all(times: TimeCompared) -> str:
    made = " for the cells that were run" if times.of_those_made else ""
    return f"{duration(times.wall_taken_s)}, estimated {duration(times.wall_estimated_s)}{made}"


def full_lines(times: TimeCompared) -> list[str]:
    """Return a line for the whole run, then one for each activity that takes time, with the estimate and the time
    taken."""
    rows = [(ACTIVITY_WORDS[each.activity], each.estimated_s, each.taken_s) for each in times.in_all]
    shown = [row for row in rows if max(row[1:]) >= 0.5]
    learned = f" (learned from {', '.join(times.runs)})" if times.runs else ""
    return [
        f"time: {_of_all(times)}{learned}",
        *(
            f"  {name:<12} {duration(taken):>12}, estimated {duration(estimated):>12}"
            for name, estimated, taken in shown
        ),
    ]


@dataclass(frozen=True)
class Finished:
    """The outcome of a run. `reports` maps each report's name to its files, and `reused` are results from earlier
    runs."""

    run_dir: Path
    status: str
    message: str
    failed: dict[str, str] = field(default_factory=dict)
    without_room: dict[str, str] = field(default_factory=dict)
    """The cells that are missing because a budget had no room for their points, each with the reason."""
    verdicts: tuple[ExpectVerdict, ...] = ()
    claims: tuple[SheetRow, ...] = ()
    """The claims in the run's briefs."""
    sampled: tuple[Patchy, ...] = ()
    """The probes that sampled too little of the measured time."""
    lost: tuple[str, ...] = ()
    """Raw outputs that have vanished or changed since they were measured. The numbers from them are missing."""
    reports: dict[str, list[Path]] = field(default_factory=dict)
    results: dict[str, ReportResult] = field(default_factory=dict)
    """The title and main numbers of each report, by the report's name."""
    undrawn: tuple[str, ...] = ()
    """The figures that are missing from the reports, each with its reason."""
    reused: tuple[CellReused, ...] = ()
    simulated: bool = False
    plan: Plan | None = None
    evidence: Evidence | None = None
    """The contents of the journal when the last cell had ended."""
    next_steps: tuple[tuple[str, str], ...] | None = None
    """Suggested next steps, each with its command. The command is None for a step that concerns the run as a whole."""
    made: bool = True
    """Whether the tables and reports could be made from the measurements."""

    @property
    def code(self) -> ExitCode:
        if self.status == "interrupted":
            return ExitCode.INTERRUPTED
        if self.status == "failed" or self.lost or self.undrawn:
            return ExitCode.CELL_FAILED
        if not self.made:
            return ExitCode.BRIEF_NOT_MADE
        # A condition on simulated numbers neither holds nor fails.
        return ExitCode.DONE if self.simulated else code_of_verdicts((*self.verdicts, *self.claims))


def code_of_verdicts(verdicts: Iterable[ExpectVerdict | SheetRow]) -> ExitCode:
    """Return the exit code. If a verdict is missing, the code is the one for a missing result, and not the one for a
    failed condition."""
    held = {verdict.holds for verdict in verdicts}
    return ExitCode.EXPECT_FAILED if False in held else ExitCode.CELL_FAILED if None in held else ExitCode.DONE


def result_lines(results: Iterable[ReportResult]) -> Iterator[str]:
    """Yield the title of each report that has main numbers, followed by a column of these numbers."""
    for result in results:
        if result.numbers:
            yield result.title
            width = max(display_width(value) for value, _ in result.numbers)
            yield from (f"  {pad(value, width)}  {text}" for value, text in result.numbers)


def not_run(evidence: Evidence) -> int:
    """Return how many cells did not run. Candidates that ramps and searches would have left out anyway do not count."""
    missing = sum(each.status == "missing" and not each.no_room for each in evidence.verdicts)
    not_chosen = [each.cell.id for each in evidence.verdicts if is_candidate_left_out(each.reason)]
    uncounted = UncountedCandidates(evidence.plan, not_chosen).count
    return max(0, missing - (uncounted - len(not_chosen)))


# --- for build servers ---

_NOT_MADE = "what was measured is kept; its tables or its brief could not be made"


def run_cases(finished: Finished, evidence: Evidence) -> Iterator[Case]:
    """Yield a case for each expectation and claim, and for each cell that failed or did not fit in a budget. If there
    are no such cells, one case represents all cells.

    A cell's seconds are those of its last attempt. Verdicts have no seconds. A verdict that can't be known is an error,
    as it is for the exit code. Expectations and claims of a simulated run are skipped, because nothing was measured.
    """
    took = {each.cell.id: each.seconds or 0.0 for each in evidence.verdicts}
    good = [each for each in evidence.verdicts if each.status == "ok"]
    seconds = sum(took[each.cell.id] for each in good)
    if not finished.failed and not finished.without_room:
        missing = not_run(evidence)
        state, detail = ("error", f"{plural(missing, 'cell was', 'cells were')} not run") if missing else ("ok", "")
        every = len(good) + missing
        yield Case("cells", f"all {plural(every, 'cell')}" if every > 1 else "the only cell", state, detail, seconds)  # type: ignore[arg-type]  # one of both
    elif good:
        yield Case("cells", plural(len(good), "other cell"), "ok", "", seconds)
    for cell, reason in finished.failed.items():
        yield Case("cells", cell, "failure", reason, took.get(cell, 0.0))
    for cell, reason in finished.without_room.items():
        yield Case("cells", cell, "error", reason)
    for text in finished.lost:
        yield Case("raw outputs", text.partition(" ")[0], "failure", text)
    for text in finished.undrawn:
        yield Case("brief", text.partition(":")[0], "failure", text)
    if not finished.made:
        yield Case("brief", "the tables and the brief", "error", _NOT_MADE)
    for verdict in finished.verdicts:
        yield expect_case(verdict, simulated=finished.simulated)
    for row in finished.claims:
        yield claim_case(row, simulated=finished.simulated)


def expect_case(verdict: ExpectVerdict, *, simulated: bool = False) -> Case:
    said = f"{verdict.text}: " if verdict.name != verdict.text else ""
    detail = f"{said}{verdict.judged_detail} at {verdict.origin}"
    name = verdict.label
    if simulated:
        return Case("expect", name, "skipped", f"simulated, nothing was measured: {detail}")
    if verdict.holds is None:
        return Case("expect", name, "error", detail)
    remark = detail if verdict.decided is False else ""
    return Case("expect", name, "ok" if verdict.holds else "failure", detail, remark=remark)


def claim_case(row: SheetRow, *, simulated: bool = False) -> Case:
    """Return the case of a claim. The case is skipped if the repeats do not decide the claim, because then the brief
    does not state it."""
    detail = f"{row.judged}: {row.sentence} at {row.verdict.claim.origin}"
    if simulated:
        return Case("claim", row.name, "skipped", f"simulated, nothing was measured: {detail}")
    if row.holds is None:
        return Case("claim", row.name, "error", detail)
    if row.is_withheld:
        return Case("claim", row.name, "skipped" if row.holds else "failure", detail)
    return Case("claim", row.name, "ok", remark=detail)


def run_markdown(finished: Finished, counts: Mapping[str, int]) -> str:
    lines = [f"## {inline(finished.run_dir.name)}: {inline(finished.status)}", "", inline(finished.message), ""]
    lines += [", ".join(f"{count} {what}" for what, count in counts.items() if count), ""]
    if finished.failed:
        lines += [*table(("failed cell", "reason"), list(finished.failed.items())), ""]
    if finished.without_room:
        lines += [*table(("cell without room in the budget", "reason"), list(finished.without_room.items())), ""]
    lines += [line for text in finished.lost for line in (f"Missing: {inline(text)}", "")]
    for text in finished.undrawn:
        lines += [f"Missing from the brief: {inline(text)}", ""]
    if not finished.made:
        lines += [f"{MARKS['error']} {_NOT_MADE}", ""]
    if finished.verdicts:
        rows_of = [(_marked(each, finished.simulated), each.name, each.detail) for each in finished.verdicts]
        lines += [*table(("verdict", "expect", "detail"), rows_of), ""]
    if finished.claims:
        cases = [(claim_case(row, simulated=finished.simulated), row) for row in finished.claims]
        said = [(f"{MARKS[case.state]} {row.judged}", row.name, row.sentence) for case, row in cases]
        lines += [*table(("verdict", "claim", "sentence"), said), ""]
    if finished.simulated:
        lines += ["Simulated: nothing was measured, and no expectation or claim counts.", ""]
    return "\n".join(lines)


def _marked(verdict: ExpectVerdict, simulated: bool) -> str:
    return f"{MARKS[expect_case(verdict, simulated=simulated).state]} {verdict.judged}"
