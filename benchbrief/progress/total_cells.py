"""How many cells of a run's total have not been run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.compiler.planning.planned_cells import UncountedCandidates
from benchbrief.runners.journal.cell_history import is_candidate_left_out

if TYPE_CHECKING:
    from benchbrief.results.ingest.run_evidence import Evidence


def not_run(evidence: Evidence) -> int:
    """Return how many cells have no verdict, without the candidates that adaptive ramps and searches would have left
    out at last."""
    missing = sum(each.status == "missing" and not each.no_room for each in evidence.verdicts)
    not_chosen = [each.cell.id for each in evidence.verdicts if is_candidate_left_out(each.reason)]
    uncounted = UncountedCandidates(evidence.plan, not_chosen).count
    return max(0, missing - (uncounted - len(not_chosen)))
