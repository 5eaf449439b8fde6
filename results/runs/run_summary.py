"""Summarises a run from its plan and journal alone, so that the summary is available while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Literal

from benchbrief.compiler.estimates.estimate import counted_cells
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.measurement import SteadyEnd
from benchbrief.model.message import Message
from benchbrief.model.plan import Cell, Levels, Plan
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.rate_search import Vote
from benchbrief.model.run_record import is_candidate_left_out, is_refused
from benchbrief.results.analysis.promised_rates import Promised
from benchbrief.results.ingest.ingest_run import promised
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, read_evidence
from benchbrief.results.result_messages import say
from benchbrief.results.runs.find_runs import RunState, run_state
from benchbrief.results.runs.times_taken import Pace, pace_of, timed_plan, times_taken
from benchbrief.runners.execution.live_numbers import (
    JobReading,
    LiveLoad,
    load_of,
    measures_of,
    present_readings,
    read_live,
)
from benchbrief.runners.journal.controller_clock import now_in_run
from benchbrief.runners.journal.run_folder import PLAN, held_out_folder
from benchbrief.runners.scheduling.budgeted_repeats import spent_s
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.scheduling.promise_search import vote_of, votes_of
from benchbrief.runners.session import is_making_brief

CellState = Literal[
    "waiting", "running", "ok", "failed", "refused", "no_room", "interrupted", "skipped", "not_chosen", "missing"
]
"""The state of a cell:

- `refused`: it has no numbers, but it answers its search, because its rate breaks the promise or can't be offered.
- `no_room`: its point is missing, because the budget had no time for it.
- `skipped`: it was not needed, because its search or its repeats are over.
- `not_chosen`: its adaptive ramp left its point out. Such a cell is not part of any total.
- `missing`: it is not in the imported files.
"""


Kept = Literal["kept", "broken", "not offered"]
KEPT: Mapping[Vote | None, Kept] = {"met": "kept", "broken": "broken", "beyond": "not offered"}
"""For each vote of a cell in a search for a promise, whether the promise was kept. Votes of failed cells are not
included."""


@dataclass(frozen=True)
class CellStatus:
    """A cell's progress. `step` is the current step. `seconds` is the time taken so far. `origin` is the cell's line in
    the spec."""

    cell_id: str
    status: CellState
    step: str | None
    attempt: int | None
    seconds: float | None
    ops_per_s: float | None
    reason: str | None
    origin: str
    reused_from: str | None
    """The earlier run that measured the cell, or None if this run did."""
    now: LiveLoad | None
    """The current numbers of the cell's load generators while the cell is measured."""
    measuring: SteadyEnd | None = None
    """The end of a measurement that lasts until the load is steady, or None for other measurements."""
    promise: Kept | None = None
    """Whether the promise of the cell's search was kept. None for a failed cell, or for a cell without a search."""
    candidate_of: str = ""
    """The experiment whose ramp or search has not chosen the cell yet, or "" for any other cell."""


@dataclass(frozen=True)
class HeldOutStatus:
    """The held-out repeats of a claim: the number of the `attempt`, and how many of the `total` cells are done or have
    failed."""

    claim: str
    attempt: int
    done: int
    failed: int
    total: int


def _held_out(evidence: Evidence) -> Iterator[HeldOutStatus]:
    for began in evidence.record.held_out.values():
        folder = held_out_folder(evidence.run_dir, began.folder)
        verdicts = read_evidence(folder).verdicts if (folder / PLAN).is_file() else ()
        ended = Counter(each.status for each in verdicts)
        yield HeldOutStatus(began.claim, began.attempt, ended["ok"], ended["failed"], len(verdicts))


@dataclass(frozen=True)
class RunStatus:
    """A run's progress. `elapsed_s` is the time spent running, without pauses in which nothing ran.

    `remaining_s` is an estimate from the plan, corrected by how long steps have taken in this run. It is None if
    nothing is left.
    """

    run_id: str
    directory: str
    spec: str
    profile: str | None
    simulated: bool
    """True if the numbers are simulated and nothing was measured."""
    origin: str
    """measured | simulated | imported"""
    source: str
    """The source of an imported run's numbers, or "" for other runs."""
    status: RunState
    message: str
    done: int
    failed: int
    refused: int
    """The number of cells with refused numbers, which a search for a promise takes as an answer."""
    no_room: int
    """The number of cells whose points are missing because the budget had no time left for them."""
    skipped: int
    """The number of cells that were not needed. Repeats that the budget had no time for count, too."""
    unrepeated: int
    """The number of repeats that the budget had no time for."""
    reused: int
    """The number of done cells that were reused from earlier runs."""
    total: int
    """The most cells that the run may measure, not counting candidates that ramps and searches leave out."""
    not_chosen: int
    """The number of cells that ramps and searches have left out so far."""
    elapsed_s: float
    remaining_s: float | None
    cells: tuple[CellStatus, ...]
    hosts: dict[str, dict[str, float]]
    """The current values of the probes, by host and measure."""
    waits: tuple[str, ...] = ()
    """Sentences on what a run in progress is waiting for."""
    budgets: tuple[BudgetSpent, ...] = ()
    choices: tuple[RampChoice, ...] = ()
    promises: tuple[Promised, ...] = ()
    """The results of the searches for promises that have ended."""
    making_brief: bool = False
    """Whether all cells are finished and a process is making the tables and the brief."""
    held_out: tuple[HeldOutStatus, ...] = ()
    """The progress of the held-out repeats of claims."""


def summarise(run_dir: Path) -> RunStatus:
    """Summarise a run. Raises RunnerError if the plan or the journal can't be read."""
    evidence = read_evidence(run_dir)
    status = run_state(run_dir)
    start = evidence.starts[-1] if evidence.starts else None
    now = now_in_run(start) if status == "running" else evidence.record.last_at or 0.0
    readings = present_readings(run_dir, now) if status == "running" else ()
    cells = tuple(_cell_status(evidence, verdict, status, now, readings) for verdict in evidence.verdicts)
    not_chosen = [cell.cell_id for cell in cells if cell.status == "not_chosen"]
    return RunStatus(
        run_id=evidence.run_id,
        directory=str(run_dir),
        spec=evidence.plan.spec.name,
        profile=evidence.plan.spec.profile,
        simulated=evidence.simulated is not None,
        origin=evidence.origin,
        source=evidence.imported.cited if evidence.imported else "",
        status=status,
        message=evidence.record.end.message if evidence.record.end and status != "running" else "",
        done=sum(cell.status == "ok" for cell in cells),
        failed=sum(cell.status == "failed" for cell in cells),
        refused=sum(cell.status == "refused" for cell in cells),
        no_room=sum(cell.status == "no_room" for cell in cells),
        skipped=sum(cell.status == "skipped" for cell in cells),
        unrepeated=sum(each.no_room == "repeat" for each in evidence.verdicts),
        reused=len(evidence.reused),
        total=planned_cells(evidence.plan, not_chosen),
        not_chosen=len(not_chosen),
        elapsed_s=evidence.record.elapsed_s(now),
        remaining_s=_remaining_s(evidence, run_dir, cells),
        cells=cells,
        hosts=measures_of(readings),
        budgets=budgets_spent(evidence),
        choices=tuple(explain_choices(evidence)),
        promises=tuple(promised(ended, evidence.plan) for ended in evidence.record.promises.values()),
        waits=live.waits if status == "running" and (live := read_live(run_dir)) else (),
        making_brief=is_making_brief(run_dir),
        held_out=tuple(_held_out(evidence)),
    )


def _remaining_s(evidence: Evidence, run_dir: Path, cells: Sequence[CellStatus]) -> float | None:
    """Estimate the remaining seconds as `bench run` does, including the time for the brief."""
    if all(cell.status not in ("waiting", "running", "interrupted") for cell in cells):
        return None
    timed = timed_plan(evidence.plan, run_dir)
    left = remaining_s(
        ((planned, cell.status, cell.seconds) for planned, cell in zip(timed.cells, cells, strict=True)),
        pace_of(timed, times_taken(run_dir)) if evidence.starts else Pace(),
        timed,
        evidence.reused,
        votes_of(evidence.plan, evidence.record),
    )
    rendering_s = evidence.record.estimated.rendering_s if evidence.record.estimated else 0.0
    return left + rendering_s if left is not None else None


def _interrupted(reason: str | None) -> str | None:
    """Return the reason to give for an attempt without an end if no process drives the run."""
    match reason:
        case Message(code="unended", args=args):
            return say.interrupted_attempt(**args)
        case Message(code="failed_before", args={"said": str(said), "n": n, "what": what}):
            return say.failed_before(said=_interrupted(said), n=n, what=what)
    return reason


def _cell_status(
    evidence: Evidence, verdict: CellVerdict, run: RunState, now: float, readings: Sequence[JobReading]
) -> CellStatus:
    cell, state = verdict.cell, _state(verdict, run, imported=evidence.imported is not None)
    reused = evidence.reused.get(cell.id)
    experiment = evidence.plan.experiments[cell.experiment]
    chosen_while_running = experiment.adaptive is not None or experiment.promise is not None
    # No process drives a run that is not running, even when its journal has no end.
    reason = verdict.reason if run == "running" else _interrupted(verdict.reason)
    so_far = now - verdict.started_at if verdict.started_at is not None else None
    return CellStatus(
        cell_id=cell.id,
        status=state,
        step=evidence.record.cells[cell.id].step or None if state == "running" else None,
        attempt=verdict.attempt,
        seconds=so_far if verdict.seconds is None else verdict.seconds,
        ops_per_s=verdict.ops_per_s,
        reason=reason
        if state in ("failed", "refused", "no_room", "interrupted", "skipped", "not_chosen", "missing")
        else None,
        origin=str(cell.origin),
        reused_from=reused.reused_from if reused else None,
        now=load_of(cell.id, readings) if state == "running" else None,
        measuring=_measuring(evidence, verdict) if state == "ok" else None,
        promise=_promise(evidence, cell) if state in ("ok", "refused") else None,
        candidate_of=cell.experiment if state == "waiting" and chosen_while_running else "",
    )


def _promise(evidence: Evidence, cell: Cell) -> Kept | None:
    promise = evidence.plan.experiments[cell.experiment].promise
    return KEPT.get(vote_of(evidence.record.cells.get(cell.id), cell, promise)) if promise else None


def _measuring(evidence: Evidence, verdict: CellVerdict) -> SteadyEnd | None:
    """For a cell that measures until it is steady, return how its measurement ended. Reads no records of other
    cells."""
    if evidence.plan.experiments[verdict.cell.experiment].until_steady is None:
        return None
    if (ended := verdict.measuring_ended) is None:
        return None
    return SteadyEnd(**ended.model_dump(include={field.name for field in fields(SteadyEnd)}))


def _state(verdict: CellVerdict, run: RunState, *, imported: bool) -> CellState:
    if verdict.no_room == "point":
        return "no_room"
    if is_candidate_left_out(verdict.reason):
        return "not_chosen"
    if is_refused(verdict.reason):
        return "refused"
    if verdict.status != "missing":
        return verdict.status
    if verdict.attempt is None:
        return "missing" if imported else "waiting"
    return "running" if run == "running" else "interrupted"


def remaining_s(
    states: Iterable[tuple[Cell, CellState, float | None]],
    pace: Pace,
    plan: Plan | None = None,
    reused: Container[str] = (),
    votes: Mapping[str, Vote] | None = None,
) -> float | None:
    """Estimate the longest time, in seconds, that any host is still needed, or None if nothing is left.

    Cells that share a host or other equipment run one after another. So do the measurements of cells in one turn. Each
    cell comes with its state and its seconds so far. The plan's estimates are corrected by the `pace` of each kind of
    step, and by the time that finished cells needed in addition to their steps.

    With a `plan`, the remaining budgets of each experiment and of the run limit how long a host is needed. Cells in
    `reused` took no time from the budgets. An adaptive ramp takes the time of the points that it
    still has to measure, and a search for a promise that of the cells that it still asks for, according to its `votes`.
    """
    planned = list(states)
    experiments = plan.experiments if plan else {}
    begun = {cell.id for cell, state, _ in planned if state not in ("waiting", "missing", "skipped", "not_chosen")}
    counted = counted_cells((cell for cell, _, _ in planned), experiments, begun, votes)
    finished = [(pace.stepped(cell), seconds) for cell, state, seconds in planned if state == "ok" and seconds]
    plan_s = sum(stepped for stepped, _ in finished)
    factor = sum(seconds for _, seconds in finished) / plan_s if plan_s > 0 else 1.0
    needed: dict[str, dict[str, float]] = {}
    """For each host, and for equipment shared by several groups, the remaining seconds by experiment."""
    spent: dict[str, dict[str, float]] = {}
    turns: dict[str, _Turn] = {}
    for cell, state, seconds in planned:
        for held in cell.holds if cell.id not in reused else ():
            of = spent.setdefault(held, {})
            of[cell.experiment] = of.get(cell.experiment, 0.0) + (seconds or 0.0)
        if state not in ("waiting", "running", "interrupted") or cell.id not in counted:
            continue
        left = pace.expected(cell) * factor  # a cell's own time ends before its hosts cool down
        if state == "running":
            left = max(0.0, left - (seconds or 0.0))
        if cell.turn:
            turn = turns.setdefault(cell.turn, _Turn(cell.experiment))
            turn.seconds += min(left, pace.measuring(cell) * factor)  # a cell ends with its measurement
            turn.held.update(cell.holds)
        left += sum(step.seconds for step in cell.steps if step.kind == "cool_down")
        for held in cell.holds:
            to_do = needed.setdefault(held, {})
            to_do[cell.experiment] = to_do.get(cell.experiment, 0.0) + left
    found = [_within_budgets(left, spent.get(held, {}), plan) for held, left in needed.items()]
    # Groups that take turns are measured one after another, even if they share nothing.
    found += [
        max(_within_budgets({turn.experiment: turn.seconds}, spent.get(held, {}), plan) for held in turn.held)
        for turn in turns.values()
    ]
    return max(found, default=None)


@dataclass
class _Turn:
    """The cells of one turn: how many seconds of measuring are left, and which hosts and equipment the cells hold."""

    experiment: str
    seconds: float = 0.0
    held: set[str] = field(default_factory=set)


def _within_budgets(needed: Mapping[str, float], spent: Mapping[str, float], plan: Plan | None) -> float:
    """Return how many more seconds a host is needed, limited by what is left of the budgets. `needed` and `spent` are
    the host's seconds by experiment."""
    if plan is None:
        return sum(needed.values())
    total = 0.0
    for name, left in needed.items():
        budget_s = plan.experiments[name].budget_s
        total += left if budget_s is None else min(left, max(0.0, budget_s - spent.get(name, 0.0)))
    return total if plan.budget_s is None else min(total, max(0.0, plan.budget_s - sum(spent.values())))


@dataclass(frozen=True)
class RampChoice:
    """A ramp's choice of its `number`th point, for all of its hardware, with the reason."""

    experiment: str
    hardware: tuple[str, ...]
    workload: str
    levels: Levels
    axis: Literal["threads", "target"]
    point: float
    number: int
    why: str


def explain_choices(evidence: Evidence) -> Iterator[RampChoice]:
    """Yield the choices of each ramp in turn, in the order in which they were made."""
    for of_ramp in evidence.record.choices.values():
        for each in of_ramp.values():
            place = (each.experiment, each.hardware, each.workload, each.levels, each.axis)
            yield RampChoice(*place, each.point, each.number, each.why)


@dataclass(frozen=True)
class BudgetSpent:
    """A budget, and how many seconds of it the busiest group of hosts has used. `experiment` is None for the budget of
    the whole run."""

    experiment: str | None
    budget_s: float
    spent_s: float


def budgets_spent(evidence: Evidence) -> tuple[BudgetSpent, ...]:
    plan = evidence.plan
    found: list[tuple[str | None, float]] = [
        (name, each.budget_s) for name, each in plan.experiments.items() if each.budget_s is not None
    ]
    if plan.budget_s is not None:
        found.append((None, plan.budget_s))
    return tuple(BudgetSpent(name, budget_s, round(_most(evidence, plan, name), 3)) for name, budget_s in found)


def _most(evidence: Evidence, plan: Plan, name: str | None) -> float:
    simulated = evidence.simulated is not None
    sums = (
        sum(spent_s(cell, evidence.record, simulated=simulated) for cell in lane if name in (None, cell.experiment))
        for lane in lanes(plan.cells)
    )
    return max(sums, default=0.0)
