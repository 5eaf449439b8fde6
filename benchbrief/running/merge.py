"""The lanes of a run, merged: their journals and raw outputs become those of the run."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchbrief.cli.run_options import label_of, run_name
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.model.plan import Plan
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.run_progress import Progress
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.runs.find_runs import run_state
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.merge_lanes import Merged, merge_lanes
from benchbrief.runners.fleet.submitted_run import is_driven, submitted_run
from benchbrief.runners.journal.run_folder import PLAN, load_plan

_NAMED = 3
"""So many lanes that are not whole have their command shown."""


def merge(plan: Plan, run_dir: Path, folders: Sequence[Path], progress: Progress) -> Finished:
    """Merge the lanes that the run holds, and those in `folders`. Raises RunnerError."""
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    with progress.doing("merging the lanes"):
        merged = merge_lanes(run_dir, plan, digest, folders)
    evidence = read_evidence(run_dir, plan, merged.record)
    return Finished(
        run_dir,
        merged.end.status,
        merged.end.message,
        {each.cell.id: each.reason or "" for each in evidence.verdicts if each.status == "failed"},
        {each.cell.id: each.reason or "" for each in evidence.verdicts if each.no_room == "point"},
        simulated=evidence.simulated is not None,
        plan=plan,
        evidence=evidence,
        next_steps=_next(run_dir, merged),
    )


def merge_so_far(run_dir: Path) -> None:
    """Merge what the lanes of a run have, where they are jobs of a scheduler that goes on or was left: who asks after
    the run sees them all. Does nothing while another process does the same."""
    if submitted_run(run_dir) is None:
        return
    if is_driven(run_dir) or run_state(run_dir) in ("running", "interrupted"):
        digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
        with suppress(RunnerError):  # nothing has begun, or it is merged right now
            merge_lanes(run_dir, load_plan(run_dir), digest, ())


def _next(run_dir: Path, merged: Merged) -> tuple[tuple[str, str], ...] | None:
    if not merged.missing:
        return None
    run = run_name(run_dir)
    submitted = submitted_run(run_dir)
    if submitted is not None:
        some = plural(len(merged.missing), "lane is", "lanes are")
        what = f"{some} not whole, whose jobs are those of {label_of(submitted.scheduler)}; go on with"
        return ((what, f"bench resume {run}"),)
    lanes = [
        (f"lane {lane} is not whole; go on with", _lane(run_dir, lane, merged)) for lane in merged.missing[:_NAMED]
    ]
    if more := len(merged.missing) - _NAMED:
        lanes += [(f"{more} more lanes are not whole; see them with", f"bench status {run}")] if more > 0 else []
    return (*lanes, ("then merge again with", f"bench merge {run}"))


def _lane(run_dir: Path, lane: int, merged: Merged) -> str:
    """Return the command for a lane, in the folder that it has begun in."""
    results = merged.lanes.get(lane)
    within = results is None or results.folder.resolve().is_relative_to(run_dir.resolve())
    into = "" if results is None or within else f" --into {shlex.quote(str(results.folder))}"
    return f"bench lane {run_name(run_dir)} {lane}{into}"
