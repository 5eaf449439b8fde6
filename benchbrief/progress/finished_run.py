"""What a run left, and the exit code that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.compiler.planning.planned_cells import UncountedCandidates
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.runners.journal.cell_history import is_candidate_left_out

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Plan
    from benchbrief.results.analysis.expectation_verdicts import Verdict
    from benchbrief.results.ingest.run_evidence import Evidence
    from benchbrief.results.samples.sample_coverage import Patchy
    from benchbrief.runners.journal.events import CellReused


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
