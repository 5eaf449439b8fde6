"""What a run left, and the exit code that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import duration
from benchbrief.compiler.estimates.estimate import ACTIVITY_WORDS
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.model.planned_cells import UncountedCandidates
from benchbrief.model.run_record import is_candidate_left_out

if TYPE_CHECKING:
    from benchbrief.model.events import CellReused
    from benchbrief.model.plan import Plan
    from benchbrief.results.analysis.expectation_verdicts import Verdict
    from benchbrief.results.ingest.run_evidence import Evidence
    from benchbrief.results.ingest.sample_coverage import Patchy
    from benchbrief.results.runs.times_taken import TimeCompared

_MUCH = 0.1
"""The share of the time that an activity has to be off by, to be named."""


def short_text(times: TimeCompared) -> str:
    """Return what the run took and was estimated to take, with the activity that was furthest from its estimate."""
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
    """Return a line for the whole and one for each activity that takes time, by what it was estimated and took."""
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
    """What a run left. `reports` maps each report's name to its files; `reused` are results of earlier runs."""

    run_dir: Path
    status: str
    message: str
    failed: dict[str, str] = field(default_factory=dict)
    without_room: dict[str, str] = field(default_factory=dict)
    """Cells whose points are missing, as a budget had no room for them, each with the reason."""
    verdicts: tuple[Verdict, ...] = ()
    sampled: tuple[Patchy, ...] = ()
    """The probes that sampled too little."""
    lost: tuple[str, ...] = ()
    """The raw outputs that are gone or were changed since they were measured. Their numbers are missing."""
    reports: dict[str, list[Path]] = field(default_factory=dict)
    undrawn: tuple[str, ...] = ()
    """The figures that are missing from the reports, each with its reason."""
    reused: tuple[CellReused, ...] = ()
    simulated: bool = False
    plan: Plan | None = None
    evidence: Evidence | None = None
    """What the journal said when the last cell had ended."""
    next_steps: tuple[tuple[str, str], ...] | None = None
    """What can be done next, each with its command; None for what helps a run as a whole."""
    made: bool = True
    """Whether the tables and the reports could be made of what was measured."""

    @property
    def code(self) -> ExitCode:
        if self.status == "interrupted":
            return ExitCode.INTERRUPTED
        if self.status == "failed" or self.lost or self.undrawn:
            return ExitCode.CELL_FAILED
        if not self.made:
            return ExitCode.BRIEF_NOT_MADE
        # A condition on simulated numbers neither holds nor fails.
        return ExitCode.DONE if self.simulated else code_of_verdicts(self.verdicts)


def code_of_verdicts(verdicts: Iterable[Verdict]) -> ExitCode:
    """A verdict that is missing is a missing result, and not a condition that fails."""
    held = {verdict.holds for verdict in verdicts}
    return ExitCode.EXPECT_FAILED if False in held else ExitCode.CELL_FAILED if None in held else ExitCode.DONE


def not_run(evidence: Evidence) -> int:
    """Return how many cells have no verdict, without the candidates that adaptive ramps and searches would have left
    out at last."""
    missing = sum(each.status == "missing" and not each.no_room for each in evidence.verdicts)
    not_chosen = [each.cell.id for each in evidence.verdicts if is_candidate_left_out(each.reason)]
    uncounted = UncountedCandidates(evidence.plan, not_chosen).count
    return max(0, missing - (uncounted - len(not_chosen)))
