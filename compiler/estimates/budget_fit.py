"""Estimates before a run what fits in a budget: how often all points can be measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

from benchbrief.compiler.blocks.experiment_errors import BudgetBelowEstimate, BudgetBelowPass
from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.estimates.estimate import (
    MOST_CHECKED_CELLS,
    alone,
    cool_down,
    counted_cells,
    estimate,
    estimate_some,
    held_out_wall_s,
    lanes,
    seconds,
)
from benchbrief.compiler.expand import expand
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model
from benchbrief.dsl.diagnostics.plain_amounts import about, duration, enough_time_in_words
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import chooses, first_pass, is_budgeted, needed_cells
from benchbrief.model.held_out import held_out_s, numbers_held_out
from benchbrief.model.plan import Cell, Experiment, Plan, StepKind
from benchbrief.model.points import Point

_DECLARED: tuple[StepKind, ...] = ("warm_up", "measure", "cool_down")
"""The kinds of steps whose times the spec declares."""


@dataclass(frozen=True)
class BudgetFit:
    """A budget compared with the estimates, in seconds. `of` is the experiment that has the budget, or "" for the whole
    run.

    `pass_s` is the time of one pass, which measures each point once, or with all repeats in an experiment that chooses
    its points (see `passes`). `loading_s` is the time for loads and resets within a pass, on the slowest group of
    hosts. `all_s` is the time for all repeats. `times` is how often every point can be measured within the budget.
    """

    of: str
    budget_s: float
    pass_s: float
    loading_s: float
    all_s: float
    times: int
    most: int
    passes: str = "each point once"
    """A phrase for what one pass measures. It follows "to measure" in a sentence."""

    @property
    def fits(self) -> bool:
        return self.pass_s <= self.budget_s

    @property
    def whose(self) -> str:
        return f"experiment {self.of}" if self.of else "the run"

    @property
    def text(self) -> str:
        """Return a text that says how much fits in the budget, or how much time one pass needs."""
        if not self.fits:
            return f"{duration(self.budget_s)} for {self.whose} is {self.too_small}"
        if self.pass_s >= self.all_s:
            return f"{duration(self.budget_s)} for {self.whose}: all cells together take {about(self.all_s)}"
        once = f"one pass takes {about(self.pass_s)}"
        if self.all_s <= self.budget_s:
            return f"{duration(self.budget_s)} for {self.whose}: {once}, and all repeats {about(self.all_s)}"
        each = "once" if self.times == 1 else f"{self.times} times"
        return (
            f"{duration(self.budget_s)} for {self.whose}: {once}; every point can be measured {each}, and the time "
            f"that is left goes where intervals are widest; all {self.most} repeats, {about(self.all_s)}, "
            "do not fit"
        )

    @property
    def too_small(self) -> str:
        loading = f", {about(self.loading_s)} of it to load and reset data" if self.loading_s >= 1 else ""
        return f"below one pass: to measure {self.passes} takes {about(self.pass_s)}{loading}"

    @property
    def mended(self) -> str:
        """Return, in words, the changes that would make the plan fit."""
        fewer = "fewer points or repeats" if "repeats" in self.passes else "fewer points"
        return f"a budget of {enough_time_in_words(self.pass_s)} or more, {fewer}, or a shorter time for each"

    def as_dict(self) -> dict[str, object]:
        return {
            "experiment": self.of or None,
            "budget_s": self.budget_s,
            "one_pass_s": round(self.pass_s, 3),
            "all_repeats_s": round(self.all_s, 3),
            "fits": self.fits,
            "times_each_point": self.times,
        }


def without_budgets(plan: Plan) -> Plan:
    """Return the plan without its budgets, for use in estimates."""
    free = {name: each.model_copy(update={"budget_s": None}) for name, each in plan.experiments.items()}
    return plan.model_copy(update={"budget_s": None, "experiments": free})


def budget_fits(plan: Plan, taken: Collection[str] = ()) -> tuple[BudgetFit, ...]:
    """Return how much fits in each budget of a plan, by the times of its steps. Learned times must be in the plan
    already. Cells whose ids are in `taken` have results from earlier runs, and take no time."""
    return tuple(_fits(plan, set(taken)))


def _fits(plan: Plan, taken: set[str]) -> Iterator[BudgetFit]:
    for name, experiment in plan.experiments.items():
        if experiment.budget_s is not None and is_budgeted(plan, experiment):
            yield _fit(plan, (name,), name, experiment.budget_s, taken)
    if plan.budget_s is not None:
        yield _fit(plan, tuple(plan.experiments), "", plan.budget_s, taken)


def _fit(plan: Plan, names: Collection[str], of: str, budget_s: float, taken: set[str]) -> BudgetFit:
    theirs = [cell for cell in plan.cells if cell.experiment in names]
    # Points of an adaptive ramp that have results already are among those that it measures.
    counted = counted_cells(theirs, plan.experiments, taken) - taken
    needed = needed_cells(plan, {name: plan.experiments[name] for name in names}) & counted
    seen: Counter[Point] = Counter()
    at: dict[str, int] = {}
    for cell in theirs:
        seen[Point.of(cell)] += 1
        at[cell.id] = 1 if cell.id in needed else seen[Point.of(cell)]
    most = max((at[cell.id] for cell in theirs if cell.id in counted or cell.id in taken), default=1)
    lane_of = lanes(plan.cells)
    reserved_s = max(_reserved_s(plan, names, lane_of).values(), default=0.0)

    def seconds_of(times: int) -> float:
        some = {cell_id for cell_id in counted if at[cell_id] <= times}
        return estimate_some(theirs, some, lane_of) + reserved_s

    times, pass_s, all_s = 1, seconds_of(1), seconds_of(most)
    while times < most and (all_s <= budget_s or seconds_of(times + 1) <= budget_s):
        times += 1
    loading_s, passes = _loading_s(alone(theirs, needed), lane_of), _passes([plan.experiments[name] for name in names])
    return BudgetFit(of, budget_s, pass_s, loading_s, all_s, times if pass_s <= budget_s else 0, most, passes)


def _passes(experiments: Collection[Experiment]) -> str:
    """Return a phrase for what one pass of the experiments measures. An experiment that chooses its points needs all
    repeats."""
    whole = [each for each in experiments if chooses(each)]
    kinds = [*(["searches"] if any(each.search or each.promise for each in whole) else ())]
    kinds += ["adaptive ramps"] if any(each.adaptive for each in whole) else []
    if not whole:
        return "each point once"
    chosen = f"the points that {' and '.join(kinds)} choose"
    if any(each.repeats > 1 for each in whole):
        chosen += ", with all their repeats,"
    return chosen if len(whole) == len(experiments) else f"each point once, and {chosen}"


def _loading_s(cells: Collection[Cell], lane_of: Mapping[str, str]) -> float:
    """Return the time for loading and resetting on the slowest group of hosts, since the groups work in parallel."""
    whole: dict[str, float] = defaultdict(float)
    loading: dict[str, float] = defaultdict(float)
    for cell in cells:
        whole[lane_of[cell.id]] += seconds(cell)
        loading[lane_of[cell.id]] += sum(step.seconds for step in cell.steps if step.reset)
    return loading[max(whole, key=lambda lane: whole[lane])] if whole else 0.0


def most_s(plan: Plan, experiment: str | None = None) -> float:
    """Estimate the wall time in seconds of all cells that can begin within the budgets, or of only one experiment's
    cells.

    Each group of hosts may use the whole budget, and counts as many of its cells as fit. The time of all cells includes
    the held-out repeats, since a budget leaves room for them.
    """
    left: dict[tuple[str, str], float] = {}
    """The seconds that each experiment may still use on each group of hosts."""
    lane_of = lanes(plan.cells)
    within: list[Cell] = []
    for cell in alone(plan.cells, counted_cells(plan.cells, plan.experiments)):
        if experiment not in (None, cell.experiment):
            continue
        budget_s = plan.experiments[cell.experiment].budget_s
        if budget_s is not None:
            key = cell.experiment, lane_of[cell.id]
            if (known := left.get(key)) is None:
                known = max(0.0, budget_s - _reserved_s(plan, {cell.experiment}, lane_of).get(key[1], 0.0))
            left[key] = known - min(known, seconds(cell) + cool_down(cell))
            within.append(_shortened(cell, known))
        else:
            within.append(cell)
    needed_s = estimate(within, lane_of) + (held_out_wall_s(plan) if experiment is None else 0.0)
    return needed_s if plan.budget_s is None else min(needed_s, plan.budget_s)


def _reserved_s(plan: Plan, experiments: Collection[str], lane_of: Mapping[str, str]) -> dict[str, float]:
    """Return the seconds that these experiments' budgets reserve for held-out repeats, by group of hosts."""
    claims = numbers_held_out(plan)
    by_lane: dict[str, list[Cell]] = defaultdict(list)
    for cell in plan.cells if claims else ():
        if cell.experiment in experiments:
            by_lane[lane_of[cell.id]].append(cell)
    return {lane: sum(held_out_s(plan, claim, cells) for claim in claims) for lane, cells in by_lane.items()}


def _shortened(cell: Cell, left_s: float) -> Cell:
    """Return the cell, shortened if necessary to the remaining time."""
    whole_s = seconds(cell) + cool_down(cell)
    if whole_s <= left_s:
        return cell
    share = left_s / whole_s
    steps = (step.model_copy(update={"seconds": step.seconds * share}) for step in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})


def check_budgets(model: Model, findings: Findings) -> None:
    """Report budgets that are too short for the declared times of one pass. Warn of budgets that are too short only
    because of the estimated loads. A spec with very many cells is judged only before its run, to keep the checks in
    editors fast.
    """
    found = _budgeted(model)
    if not found or unjudged_budgets(model):
        return
    cells = expand(model.matrices, model.hosts)
    first, lane_of = first_pass(cells), lanes(cells)
    for matrix in found:
        declared = [
            cell.model_copy(update={"steps": tuple(step for step in cell.steps if step.kind in _DECLARED)})
            for cell in cells
            if cell.experiment == matrix.experiment.name and cell.id in first
        ]
        theirs = [cell for cell in cells if cell.experiment == matrix.experiment.name]
        needed_s, budget_s, once = estimate(declared, lane_of), matrix.experiment.budget_s or 0.0, alone(theirs, first)
        pass_s, loading_s = estimate(once, lane_of), _loading_s(once, lane_of)
        if needed_s > budget_s:
            findings.add(BudgetBelowPass(matrix.places["budget"], budget_s, pass_s, loading_s, needed_s))
        elif pass_s > budget_s:
            findings.add(BudgetBelowEstimate(matrix.places["budget"], budget_s, pass_s, loading_s))


def unjudged_budgets(model: Model) -> bool:
    """Return whether the spec has budgets that this check skips because there are too many cells. A run judges them
    before it begins."""
    return bool(_budgeted(model)) and sum(matrix.cells for matrix in model.matrices) > MOST_CHECKED_CELLS


def _budgeted(model: Model) -> list[Matrix]:
    return [each for each in model.matrices if each.experiment.budget_s is not None and "budget" in each.places]
