"""Measures the points of a run's claims again at the end of the run. Each claim is measured in a run of its own, inside
the run's folder.

The winner is written to the run's journal before it is measured again, so that a killed run resumes with the same
winner. If the run's own results have changed, so that another point wins, that point is measured instead. This counts
as a new attempt, which the claim discloses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.estimates.estimate import alone
from benchbrief.model.events import HeldOutBegan, RunEnded
from benchbrief.model.held_out import cells_held_out, held_out_cells, number_digest, numbers_held_out
from benchbrief.model.plan import Claim, HeldOut, Plan
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import RunRecord
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.run_progress import Progress
from benchbrief.results.analysis.expectation_verdicts import reading
from benchbrief.results.analysis.held_out_repeats import same_claim, winner_of
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.open_store import fresh_store
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import Journal, read_run
from benchbrief.runners.journal.run_folder import (
    PLAN,
    create_run,
    held_out_folder,
    load_plan,
    revision_in,
    simulation_of,
)
from benchbrief.running.measure import measure
from benchbrief.running.reduced_plan import kept_spec_files, reduced_plan


def has_held_out(plan: Plan) -> bool:
    return any(claim.held_out for claim in plan.claims)


def held_out_to_measure(run_dir: Path, plan: Plan) -> list[str]:
    """Return the names of the claims whose held-out repeats are still to be measured."""
    held = read_run(run_dir).held_out if has_held_out(plan) else {}
    done = {name for name, last in held.items() if _is_done(held_out_folder(run_dir, last.folder))}
    return [claim.name for claim in numbers_held_out(plan) if claim.name not in done]


def measure_held_out(finished: Finished, plan: Plan, progress: Progress, *, wait_s: float) -> Finished:
    """Measure the held-out repeats that are not done yet. Raises RunnerError.

    They come after all other cells. So if a run is interrupted, they are only measured once it is resumed.
    """
    if finished.status == "interrupted" or not has_held_out(plan):
        return finished
    run_dir = finished.run_dir
    begun = list(_to_measure(run_dir, plan, progress))
    if not begun:
        return finished
    done, failed = 0, dict[str, str]()
    with closing(Journal(run_dir, progress.record)) as journal:
        for claim, record, folder_of in begun:
            journal.write(record.model_copy(update={"at": now()}))
            try:
                folder = folder_of(record)
                with Monitor(folder) as monitor:
                    found = measure(
                        load_plan(folder), folder, progress, monitor, wait_s=wait_s, report=False, of=run_dir
                    )
                    monitor.ended(found.code)
            except RunnerError as error:
                progress.warn(say.held_out_stopped(claim=claim.name, said=error.one_line))
                return _ended(finished, plan, journal, "interrupted", say.stopped_before_held_out(claim=claim.name))
            if found.status == "interrupted":
                return _ended(finished, plan, journal, "interrupted", say.stopped_before_held_out(claim=claim.name))
            failed |= found.failed
            done += len(load_plan(folder).cells) - len(found.failed)
        said = say.with_held_out(said=finished.message, n=done)
        if failed:
            said = say.with_failed_held_out(said=said, n=len(failed))
        finished = replace(finished, failed={**finished.failed, **failed})
        return _ended(finished, plan, journal, "failed" if failed else finished.status, said)


def _ended(finished: Finished, plan: Plan, journal: Journal, status: str, message: str) -> Finished:
    """Record how the run ended, including its held-out repeats."""
    journal.write(RunEnded.model_validate({"at": now(), "status": status, "message": message}))
    evidence = read_evidence(finished.run_dir, plan)
    return replace(finished, status=status, message=message, evidence=evidence)


_FolderOf = Callable[[HeldOutBegan], Path]


def _to_measure(run_dir: Path, plan: Plan, progress: Progress) -> Iterator[tuple[Claim, HeldOutBegan, _FolderOf]]:
    """Yield the claims whose held-out repeats still have to be measured, each with its winner and a function that makes
    its folder."""
    before = read_run(run_dir)
    with fresh_store(run_dir) as store:
        winners = {claim.name: winner_of(claim, reading(store)) for claim in numbers_held_out(plan)}
    for claim in numbers_held_out(plan):
        rule = claim.held_out
        if rule is None:
            continue
        if (winner := winners[claim.name]) is None:
            progress.warn(say.no_winner(claim=claim.name))
            continue
        last = before.held_out.get(claim.name)
        known = last is not None and same_claim(claim, last) and last.places == winner.places
        if last is not None and known and _is_done(held_out_folder(run_dir, last.folder)):
            continue
        attempt = last.attempt if last is not None and known else 1 + _attempts(run_dir, before, claim)
        record = HeldOutBegan(
            at=now(),
            claim=claim.name,
            folder=f"{claim.name}-{attempt}",
            attempt=attempt,
            places=tuple(dict(place) for place in winner.places),
            points=winner.points,
            value=winner.value,
            sha256=number_digest(claim),
        )
        yield claim, record, lambda record, claim=claim, rule=rule: _folder(run_dir, plan, claim, rule, record)  # type: ignore[misc]  # of this turn


def _is_done(folder: Path) -> bool:
    end = read_run(folder).end if (folder / PLAN).is_file() else None
    return end is not None and end.status == "done"


def _attempts(run_dir: Path, record: RunRecord, claim: Claim) -> int:
    """Return how many times the claim's winning point has already been measured again, by this run or the runs whose
    results it reuses."""
    runs = dict.fromkeys(each.reused_from for each in record.reused.values())
    found = [record, *(read_run(run_dir.parent / run) for run in runs if (run_dir.parent / run).is_dir())]
    return max((each.held_out[claim.name].attempt for each in found if claim.name in each.held_out), default=0)


def _folder(run_dir: Path, plan: Plan, claim: Claim, rule: HeldOut, record: HeldOutBegan) -> Path:
    """Return the folder of the run that measures the winner again, making the folder if necessary."""
    folder = held_out_folder(run_dir, record.folder)
    if (folder / PLAN).is_file():
        return folder
    measured = {each.cell.id: each.cell for each in read_evidence(run_dir, plan).verdicts if each.status == "ok"}
    won = cells_held_out(plan, claim, rule, record.places, measured.values())
    # A search has found their load, which is a number now.
    found = {cell.id: cell.model_copy(update={"threads_from": None, "target_from": None}) for cell in won}
    cells = [found[cell.id].model_copy(update={"steps": cell.steps}) for cell in alone(plan.cells, found)]
    simulated = simulation_of(run_dir)
    return create_run(
        folder.parent,
        reduced_plan(plan, held_out_cells(cells, rule.times)),
        dict(kept_spec_files(run_dir, plan)),
        simulated=simulated and simulated.model_copy(update={"seed": simulated.seed + 1_000_003 * record.attempt}),
        revision=revision_in(run_dir),
        into=folder,
    )
