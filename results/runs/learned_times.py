"""What the steps of earlier runs in a folder took, for the estimates of the next one."""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchbrief.compiler.estimates.learned import Keys, SeenStep, rendering_key, with_history
from benchbrief.compiler.extensions.registry import TRANSPORT_SPECS
from benchbrief.compiler.planning.plan import Plan
from benchbrief.dsl.bench_error import BenchError
from benchbrief.results.runs.find_runs import is_simulated, list_real_runs
from benchbrief.results.runs.times_taken import times_taken
from benchbrief.runners.journal.run_folder import load_plan

_RUNS = 20
"""So many of a folder's last runs are looked at."""
_UNREADABLE = (BenchError, OSError, ValueError)
_RESETS = {"snapshot": "copy"}
"""How a database with such a `reset` gets its data set back, where that has another name."""


def timed_plan(plan: Plan, run_dir: Path) -> Plan:
    """Return a run's plan with the times that `bench plan` gave it: as the folder's runs before it took them.

    A simulated run takes the times of its plan.
    """
    if is_simulated(run_dir):
        return plan
    history = learned_times(run_dir.parent, before=run_dir)
    return with_history(plan, history).plan if history else plan


def learned_times(out: Path, before: Path | None = None) -> dict[str, SeenStep]:
    """Return what steps took, by the keys of `compiler/estimates/learned.py`: of each, in the last run that had it.

    `before`: only in runs before that one. A run that can't be read counts for nothing: `bench status` says what is
    wrong with it.
    """
    found: dict[str, SeenStep] = {}
    try:
        runs = list_real_runs(out)
    except _UNREADABLE:
        return found
    older = [run_dir for run_dir in runs if before is None or run_dir.name < before.name]
    for run_dir in reversed(older[-_RUNS:]):
        try:
            of_run = _of_run(run_dir)
        except _UNREADABLE:
            continue
        for key, seen in of_run.items():
            found.setdefault(key, seen)
    return found


class _Step(NamedTuple):
    seconds: float
    amount: float = 0.0


def _of_run(run_dir: Path) -> dict[str, SeenStep]:
    plan, taken = load_plan(run_dir), times_taken(run_dir)
    steps: dict[str, list[_Step]] = defaultdict(list)
    cells = {cell.id: cell for cell in plan.cells}
    for attempt in taken.attempts.values():
        cell = cells.get(attempt.cell)
        if (
            cell is None
            or not attempt.good
            or not attempt.whole
            or not _same_machines(plan, cell.locks, taken.hostnames)
        ):
            continue
        keys, spent = Keys.of(plan, cell), attempt.spent(cell)
        steps[keys.start_up].append(_Step(spent["start_up"]))
        if keys.steadied:
            steps[keys.steadied].append(_Step(spent["measuring"]))
        if attempt.loaded:
            steps[keys.load].append(_Step(spent["loading"], keys.amount))
        elif spent["resets"]:
            how = _RESETS.get(reset := plan.databases[cell.database].reset, reset)
            planned_s = sum(step.seconds for step in cell.steps if step.reset == how)
            steps[keys.reset(how)].append(_Step(spent["resets"], keys.reset_amount(how, planned_s)))
    for report in plan.reports if _same_machines(plan, plan.hosts, taken.hostnames) else ():
        if report.name in taken.reports:
            steps[rendering_key(report.template)].append(_Step(taken.reports[report.name]))
    return {key: _median(each, run_dir.name) for key, each in steps.items()}


def _median(steps: list[_Step], run: str) -> SeenStep:
    """Return the median over the steps with the largest amount."""
    amount = max(step.amount for step in steps)
    return SeenStep(median(step.seconds for step in steps if step.amount == amount), run, amount)


def _same_machines(plan: Plan, hosts: Iterable[str], hostnames: Mapping[str, str]) -> bool:
    """Return whether the hosts that a plan finds on the controller are this machine: a folder may be a copy."""
    for key in hosts:
        spec = TRANSPORT_SPECS.usable(plan.hosts[key].transport)
        if spec and spec.on_controller and hostnames.get(key) != socket.gethostname():
            return False
    return True
