"""What is known of a run before it goes on: its times as estimated, and what an earlier controller has done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.progress.run_view import Known

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Plan
    from benchbrief.runners.journal.events import TimeEstimated
    from benchbrief.runners.journal.run_record import RunRecord


def known_before(plan: Plan, run_dir: Path, before: RunRecord, expected: TimeEstimated | None) -> Known:
    from benchbrief.results.runs.learned_times import timed_plan
    from benchbrief.results.runs.pace import Pace, pace_of
    from benchbrief.results.runs.times_taken import times_taken

    timed = timed_plan(plan, run_dir)
    done = before.finished(plan) - before.not_chosen
    took = {name: None if name in before.reused else before.times.seconds.get(name) for name in done}
    pace = pace_of(timed, times_taken(run_dir)) if before.starts else Pace()
    estimated = expected or before.estimated
    return Known(
        timed,
        took,
        pace,
        rendering_s=estimated.rendering_s if estimated else 0.0,
        wall_s=expected.wall_s if expected else None,
        spent_s=before.elapsed_s(before.last_at) if before.last_at is not None else 0.0,
        left_out=before.not_chosen & {cell.id for cell in plan.cells},
    )
