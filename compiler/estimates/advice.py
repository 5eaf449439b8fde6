"""Advises how to make a plan shorter: changes of the spec, each with the time that it saves by itself.

If a budget limits the time, a change may save no time but let every point be measured more often.

Each change is made to the model, and the changed plan is estimated. Only changes that keep cells comparable are
considered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from benchbrief.compiler.blocks.equipment_errors import KEEP
from benchbrief.compiler.blocks.experiments import Matrix, databases_of
from benchbrief.compiler.blocks.workloads import ReadWorkload
from benchbrief.compiler.estimates.budget_fit import BudgetFit, budget_fits, most_s, without_budgets
from benchbrief.compiler.estimates.estimate import (
    alone,
    counted_cells,
    estimate,
    estimate_some,
    held_out_wall_s,
    lanes,
    slots,
)
from benchbrief.compiler.estimates.estimate_warnings import USERS_OWN, WAYS, best_reset, with_reset
from benchbrief.compiler.expand import expand
from benchbrief.compiler.planning.plan_lanes import ONE_BY_ONE
from benchbrief.compiler.resolve import Model
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import Reset
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.tool_spec import MOST_LOAD_SPEED_UP

_Span = tuple[float, float]


@dataclass(frozen=True)
class HiddenLoad:
    """A load that runs while other hardware groups are measured.

    Of the load's `seconds`, `hidden_s` pass during measurements. `beside` are the cells that are measured meanwhile.
    """

    cell: str
    seconds: float
    hidden_s: float
    beside: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "cell": self.cell,
            "loading_s": round(self.seconds, 3),
            "hidden_s": round(self.hidden_s, 3),
            "beside": list(self.beside),
        }


def hidden_loads(plan: Plan) -> tuple[HiddenLoad, ...]:
    """Return the loads that are expected to run beside a measurement, in experiments with `overlap = loading`."""
    if not any(cell.turn for cell in plan.cells):
        return ()
    cells = _counted(plan)
    found = slots(cells)
    lane_of = lanes(cells)
    measured: dict[str, list[tuple[_Span, str]]] = {}
    for cell_id, slot in sorted(found.items(), key=lambda each: each[1].measured):
        measured.setdefault(slot.cell.turn, []).append((slot.measured, cell_id))
    hidden: list[HiddenLoad] = []
    for cell in cells:
        begin, end = found[cell.id].loading
        if not cell.turn or end <= begin:
            continue
        turns = measured[cell.turn]  # these run one after another, so few run beside a load
        first = max(0, bisect_right(turns, begin, key=lambda each: each[0][0]) - 1)
        beside = {
            other: min(end, until) - max(begin, since)
            for (since, until), other in takewhile(partial(_begins_before, end), turns[first:])
            if lane_of[other] != lane_of[cell.id] and min(end, until) > max(begin, since)
        }
        if beside:
            hidden.append(HiddenLoad(cell.id, end - begin, sum(beside.values()), tuple(beside)))
    return tuple(hidden)


def _begins_before(end: float, measured: tuple[_Span, str]) -> bool:
    return measured[0][0] < end


def one_by_one_s(plan: Plan) -> float:
    """Estimate how many seconds the plan would take if no load ran during a measurement."""
    return estimate(_alone(cell) if cell.turn else cell for cell in _counted(plan))


def loading_s(plan: Plan) -> float:
    """Return the seconds of all loads and resets of experiments with `overlap = loading`."""
    return sum(step.seconds for cell in _counted(plan) if cell.turn for step in cell.steps if step.kind == "load")


def _counted(plan: Plan) -> tuple[Cell, ...]:
    return alone(plan.cells, counted_cells(plan.cells, plan.experiments))


def _alone(cell: Cell) -> Cell:
    return cell.model_copy(update={"turn": "", "shares": (*cell.shares, f"{ONE_BY_ONE}{cell.turn}")})


MOST_CELLS = 5000
"""Advice is sought only for plans with at most this many cells, because the plan and its estimate are computed again
for each change."""
_MOST = 3
_MOST_ORDERED = 6
"""The most experiments for which other orders are tried, since the plan and its estimate are computed again for each
order."""
_LEAST_SHARE = 0.02
"""A change is advised only if it saves at least this share of the time."""
_LEAST_S = 60.0
_LEAST_SHARE_OF_LITTLE = 0.05
"""A change that saves less than a minute is advised only if it saves at least this share of the time."""
Estimate = Callable[[Plan], Plan]
"""Replaces a plan's built-in estimates by times that earlier runs took."""


@dataclass(frozen=True)
class Advice:
    """A change of the spec. `change` is its text, `of` is the block to change, and `saves_s` are the seconds that it
    takes off the plan's total. `gains` says what else then fits in the budgets, as the end of a sentence that begins
    with "it lets".
    """

    change: str
    of: str
    why: str
    saves_s: float
    gains: str = ""

    def as_dict(self) -> dict[str, object]:
        values = {"change": self.change, "of": self.of, "why": self.why, "saves_s": round(self.saves_s, 3)}
        return {**values, "gains": self.gains}


def advice(model: Model, plan: Plan, learned: Estimate) -> tuple[Advice, ...]:
    """Return the changes that save the most time, the best first. `plan` is the model's plan, and `learned` replaces
    its built-in estimates."""
    if len(plan.cells) > MOST_CELLS:
        return ()
    now = learned(plan)
    before = budget_fits(now)
    refused = not all(fit.fits for fit in before)

    def planned(matrices: tuple[Matrix, ...]) -> Plan:
        cells = expand(matrices, model.hosts)
        estimate_s = estimate_some(cells, counted_cells(cells, plan.experiments))
        loads = {key: load for each in matrices for key, load in each.loads_at.items()}
        workloads = plan.workloads | {key: load.workload for key, load in loads.items()}
        changed = {
            "cells": cells,
            "databases": databases_of(matrices),
            "workloads": workloads,
            "estimate_s": estimate_s,
        }
        found = plan.model_copy(update=changed)
        return learned(found.model_copy(update={"estimate_s": estimate_s + held_out_wall_s(found)}))

    def shown_s(each: Plan) -> float:
        return most_s(without_budgets(each) if refused else each)

    def saves_s(matrices: tuple[Matrix, ...]) -> float:
        return now.estimate_s - planned(matrices).estimate_s

    now_s, found = shown_s(now), []
    changes = (
        *_resets(model.matrices, saves_s),
        *_orders(model.matrices),
        *_load_threads(model.matrices),
        *_overlaps(model.matrices),
        *_places(model.matrices, saves_s),
    )
    for change in changes:
        then = planned(change.matrices)
        saved_s, gains = max(0.0, now_s - shown_s(then)), _gains(before, budget_fits(then))
        if gains or _is_worth_it(saved_s, now_s):
            found.append(Advice(change.change, change.of, change.why, saved_s, gains))
    return tuple(sorted(found, key=lambda each: -each.saves_s)[:_MOST])


def _is_worth_it(saves_s: float, of_s: float) -> bool:
    return saves_s >= _LEAST_SHARE * of_s and (saves_s >= _LEAST_S or saves_s >= _LEAST_SHARE_OF_LITTLE * of_s > 0)


def _gains(before: Sequence[BudgetFit], after: Sequence[BudgetFit]) -> str:
    """Return, in words, what fits in the budgets after a change but not before."""
    found = []
    for was, fit in zip(before, after, strict=True):
        if fit.times > was.times and was.times:
            times = "once" if was.times == 1 else f"{was.times} times"
            of = f" of experiment {fit.of}" if fit.of else ""
            found.append(f"every point{of} be measured {fit.times} times instead of {times}")
        elif fit.times > was.times:
            found.append(f"one pass fit in the budget of {fit.whose}")
    return " and ".join(found)


class _Change(NamedTuple):
    """A possible change of the spec: its text, the block that it changes (`of`), the reason, and the matrices
    after it."""

    change: str
    of: str
    why: str
    matrices: tuple[Matrix, ...]


_Saves = Callable[[tuple[Matrix, ...]], float]


def _resets(matrices: tuple[Matrix, ...], saves_s: _Saves) -> Iterator[_Change]:
    """Yield the best reset for each database. Databases are skipped if only the user knows what their reset does."""
    for name in dict.fromkeys(matrix.database.name for matrix in matrices):
        database = next(matrix.database for matrix in matrices if matrix.database.name == name)
        if database.reset.how in USERS_OWN:
            continue

        def saved(how: Reset, name: str = name) -> float:
            return saves_s(with_reset(matrices, name, how))

        if found := best_reset(database, saved):
            how, _ = found
            why = f"{WAYS[how]}; {KEEP}" if database.reset.how == "drop_and_load" else WAYS[how]
            yield _Change(f"`reset = {how}`", f"database {name}", why, with_reset(matrices, name, how))


def _orders(matrices: tuple[Matrix, ...]) -> Iterator[_Change]:
    """Yield a better order for experiments that load more often because their hardware takes turns, or because they are
    shuffled."""
    for at, matrix in enumerate(matrices):
        experiment = matrix.experiment
        if experiment.order != "grouped":
            grouped = replace(matrix, experiment=experiment.model_copy(update={"order": "grouped", "seed": None}))
            yield _Change(
                f"`grouped` in place of `{experiment.order}` in `repeats`",
                f"experiment {experiment.name}",
                "one hardware after the other; but then drift may fall on one of them",
                (*matrices[:at], grouped, *matrices[at + 1 :]),
            )


def _load_threads(matrices: tuple[Matrix, ...]) -> Iterator[_Change]:
    """Yield a larger number of load threads for databases that are loaded with the usual number, although the tool can
    use more threads."""
    for name in dict.fromkeys(matrix.database.name for matrix in matrices):
        of = [matrix for matrix in matrices if matrix.database.name == name]
        loads = {load.workload.name: load for matrix in of for load in matrix.loads if not load.of and load.existing}
        sets = {load.family.load_threads for load in loads.values() if load.family.load_threads}
        hosts = max(len(each.load_hosts(unit, load)) for each in of for unit in each.units for load in each.loads)
        for attribute, on_each in sorted(sets):
            theirs = [
                load.workload.name
                for load in loads.values()
                if load.family.load_threads == (attribute, on_each) and attribute not in load.workload.properties
            ]
            threads = int(MOST_LOAD_SPEED_UP * on_each * hosts)
            if theirs:
                yield _Change(
                    f"`{attribute} = {threads}`",
                    f"{'workload' if len(theirs) == 1 else 'workloads'} {', '.join(theirs)}",
                    "more threads load at once; how many the server has use for is a guess until a run has tried them",
                    _with_property(matrices, theirs, attribute, float(threads)),
                )


def _with_property(matrices: tuple[Matrix, ...], names: Collection[str], key: str, value: float) -> tuple[Matrix, ...]:
    def changed(load: ReadWorkload) -> ReadWorkload:
        if load.workload.name not in names:
            return load
        properties = {**load.workload.properties, key: value}
        return replace(load, workload=load.workload.model_copy(update={"properties": properties}))

    return tuple(
        replace(
            matrix,
            loads=tuple(map(changed, matrix.loads)),
            loads_at={key: changed(load) for key, load in matrix.loads_at.items()},
        )
        for matrix in matrices
    )


def _overlaps(matrices: tuple[Matrix, ...]) -> Iterator[_Change]:
    """Yield `overlap = loading` for experiments that let nothing run during a measurement, although other hardware
    could load its data then."""
    for at, matrix in enumerate(matrices):
        experiment = matrix.experiment
        if experiment.overlap == "none" and len(experiment.hardware) > 1:
            loading = replace(matrix, experiment=experiment.model_copy(update={"overlap": "loading"}))
            yield _Change(
                "`overlap = loading` in place of `none`",
                f"experiment {experiment.name}",
                "other hardware, which shares nothing with it, loads while one is measured",
                (*matrices[:at], loading, *matrices[at + 1 :]),
            )


def _places(matrices: tuple[Matrix, ...], saves_s: _Saves) -> Iterator[_Change]:
    """Yield the move that saves the most time: one experiment is moved before another that replaces its data."""
    if len(matrices) > _MOST_ORDERED:
        return
    moved = [
        (later, earlier, (*matrices[:to], later, *matrices[to:at], *matrices[at + 1 :]))
        for at, later in enumerate(matrices)
        for to, earlier in enumerate(matrices[:at])
        if not {each.experiment.name for each in matrices[to:at]} & set(later.experiment.requires)
    ]
    if not moved:
        return
    saved = [saves_s(each) for _, _, each in moved]
    later, earlier, found = moved[saved.index(max(saved))]
    yield _Change(
        f"`experiment {later.experiment.name}` before `experiment {earlier.experiment.name}`",
        "the spec",
        "it then finds data there which the other one replaces",
        found,
    )
