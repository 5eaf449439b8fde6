"""The end of a plan in words: how long it takes, and what the time is spent on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchbrief.compiler.estimates.advice import Advice
from benchbrief.compiler.estimates.budget_fit import BudgetFit, most_s, without_budgets
from benchbrief.compiler.estimates.counted_cells import counted_cells, of_which, up_to
from benchbrief.compiler.estimates.estimate import estimate_some
from benchbrief.compiler.estimates.estimate_warnings import PlannedUse, shared_places
from benchbrief.compiler.estimates.learned import Estimated, Source
from benchbrief.compiler.estimates.time_spent import (
    ACTIVITIES,
    ACTIVITY_WORDS,
    Spent,
    TimeSpent,
    rendering_text,
    time_spent,
)
from benchbrief.compiler.explain.explain_lanes import explain_overlap
from benchbrief.compiler.explain.plain_text import Page
from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.compiler.planning.planned_cells import planned_cells
from benchbrief.dsl.diagnostics.plain_amounts import about, duration, plural

_WIDEST = max(map(len, ACTIVITY_WORDS.values()))
_UNITS = ((7200.0, 3600.0, "h"), (120.0, 60.0, "min"))
"""From how many seconds in all a unit is used, the unit's seconds, and its name."""
_BAR = 24
"""The columns of a bar that stands for all of the time."""


def explain_time(estimated: Estimated, advised: Sequence[Advice], fits: Sequence[BudgetFit], page: Page) -> None:
    plan = estimated.plan
    spent = time_spent(plan, estimated.rendering_s)
    refused = not all(fit.fits for fit in fits)
    shown = without_budgets(plan) if refused else plan
    _total(shown, spent, page, refused=refused)
    if fits:
        page.heading("Budget")
        for fit in fits:
            page.paragraph(fit.text)
    explain_overlap(plan, page)
    page.heading("Where the time goes (for all repeats)" if fits else "Where the time goes")
    unit = _unit(sum(spent.in_all.values()))
    _shares("in all", spent.in_all, unit, page)
    if len(plan.experiments) > 1:
        for name, experiment in plan.experiments.items():
            called = name if experiment.label == name else f"{experiment.label} ({name})"
            _shares(called, spent.experiments[name], unit, page)
    _sources(estimated.sources, page)
    if advised:
        page.heading(
            "What would save time, or use it better" if any(each.gains for each in advised) else "What would save time"
        )
        wall_s = most_s(shown) + spent.rendering_s
        for each in advised:
            share = f"{100 * each.saves_s / wall_s:.0f} %"
            gained = [f"saves {duration(each.saves_s)} ({share})"] if each.saves_s else []
            gained += [f"lets {each.gains}"] if each.gains else []
            page.paragraph(f"{each.change} for {each.of} {' and '.join(gained)}: {each.why}")


def _total(plan: Plan, spent: TimeSpent, page: Page, *, refused: bool) -> None:
    """Add what it takes. Where `bench run` refuses a budget, that is what it would take without one."""
    page.heading("Total, without the budget that is refused" if refused else "Total")
    most = "up to " if any(up_to(e, plan.budget_s) for e in plan.experiments.values()) else ""
    cells_s = most_s(plan)
    wall_s, alone_s = cells_s + spent.rendering_s, sum(spent.in_all.values())
    measured, count = counted_cells(plan.cells, plan.experiments), planned_cells(plan)
    fewer = of_which(plan)
    text = f"{'up to ' if fewer else most}{plural(count, 'cell')}, {most}{about(wall_s)}{fewer}"
    if cells_s == plan.estimate_s and wall_s < alone_s - 1:
        text += f" with independent hosts side by side ({duration(alone_s)} one after another)"
    page.paragraph(text + rendering_text(spent.rendering_s, wall_s))
    if span := steady_span(plan):
        low, high = (duration(round(seconds + spent.rendering_s)) for seconds in span)
        page.paragraph(
            f"between {low} and {high}: cells are measured until they are steady, and nobody knows before when that is"
        )
    uses = (PlannedUse.of(cell, plan.workloads) for cell in plan.cells if cell.id in measured)
    for shared in shared_places(uses, plan.hardware, plan.databases, plan.hosts):
        owed = f"{plural(len(shared.cells), 'cell loads', 'cells load')} again what others have replaced in one place"
        out = "give each a `path` or server of its own, or measure one hardware after the other"
        page.paragraph(f"database {shared.database}: {owed}, {about(shared.seconds)} of that time; {out}")
    if len(plan.experiments) > 1:
        page.table(
            (name, f"{up_to(e, plan.budget_s)}{about(most_s(plan, name))}") for name, e in plan.experiments.items()
        )


def _unit(total_s: float) -> tuple[float, str]:
    """Return one unit for all rows, so that their numbers can be compared: its seconds, and its name."""
    return next(((seconds, name) for least, seconds, name in _UNITS if total_s >= least), (1.0, "s"))


def _shares(title: str, spent: Spent, unit: tuple[float, str], page: Page) -> None:
    """Add a line for the whole, and one for each activity that takes time: amount, per cent and a bar."""
    total = sum(spent.values())
    page.paragraph(f"{title}: {_amount(total, unit)}")
    rows = []
    for activity in ACTIVITIES:
        if taken := spent[activity]:
            share = taken / total
            percent = f"{100 * share:.0f} %" if share >= 0.005 else "< 1 %"
            label, bar = f"  {ACTIVITY_WORDS[activity]:<{_WIDEST}}", "#" * round(_BAR * share)
            rows.append((label, f"{_amount(taken, unit):>9}", percent, bar))
    page.table(rows, right=(1, 2))


def _sources(sources: Iterable[Source], page: Page) -> None:
    """Add where each estimate comes from: those that a run was seen to take before the built-in ones."""
    page.heading("Estimates")
    by_run: dict[str, list[Source]] = {}
    for each in sorted(sources, key=lambda each: (not each.run, ACTIVITIES.index(each.activity))):
        by_run.setdefault(each.run, []).append(each)
    for run, seen in by_run.items():
        page.paragraph(f"as in run {run}:" if run else "built in, as no earlier run tells:")
        found: dict[tuple[str, str], list[str]] = {}
        for each in seen:
            found.setdefault((f"  {ACTIVITY_WORDS[each.activity]:<{_WIDEST}}", each.text), []).append(each.of)
        page.first_rows((label, f"{text} ({_some(of)})") for (label, text), of in found.items())


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _amount(seconds: float, unit: tuple[float, str]) -> str:
    amount, name = seconds / unit[0], unit[1]
    return f"{amount:,.1f} {name}" if amount >= 0.05 else f"< 0.1 {name}"


def steady_span(plan: Plan) -> tuple[float, float] | None:
    """Return the wall seconds when each such cell ends at its first look, and when none is ever steady; None for a plan
    without any."""
    if not any(each.until_steady for each in plan.experiments.values()):
        return None
    return _wall_s(plan, longest=False), _wall_s(plan, longest=True)


def _wall_s(plan: Plan, *, longest: bool) -> float:
    cells = [_lasting(plan, cell, longest=longest) for cell in plan.cells]
    return estimate_some(cells, counted_cells(cells, plan.experiments))


def _lasting(plan: Plan, cell: Cell, *, longest: bool) -> Cell:
    rule = plan.experiments[cell.experiment].until_steady
    if rule is None:
        return cell
    seconds = cell.measure_s if longest else rule.from_s
    steps = (s.model_copy(update={"seconds": seconds}) if s.kind == "measure" else s for s in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})
