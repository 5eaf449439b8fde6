"""What a reader must know of repeats that a budget sent where intervals were widest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from benchbrief.model import plan as p
from benchbrief.model.budgets import first_look, looks
from benchbrief.model.message import Message, spanning
from benchbrief.reports.data.report_data import CellRow, Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import NBSP, duration, percent
from benchbrief.reports.words.brief_words import counted
from benchbrief.results.statistics.repeat_spread import t_interval

_MOST_REASONS = 3
"""A notice lists so many reasons at most, and counts the rest."""


def disclose_budget(experiment: p.Experiment, results: Results) -> Iterable[Item]:
    """Return the rule, how often points were measured, the level of the intervals, and why no repeat followed."""
    words, rows = results.words, _rows(experiment, results)
    if not rows:
        return
    counts = [count for count, _ in rows]
    holes = {"label": experiment.label, "budget": _budget(experiment, results.plan)}
    if min(counts) == max(counts):
        yield Item("", counted(words, "v_budget_alike", max(counts), **holes))
    else:
        yield Item("", words["v_budget"].format(**holes, fewest=min(counts), most=max(counts)))
    if lost := sum(_is_lost(cell, experiment, results) for cell in results.cells):
        yield Item("", counted(words, "v_budget_missing", lost), emphasis=True)
    yield Item("", words["v_budget_first"].format(first=first_look(experiment)))
    yield Item("", words["v_budget_turns"])
    most = max(looks(results.plan, each) for each in results.plan.experiments.values())
    if most > 1:
        yield Item("", words["v_budget_level"].format(looks=most))
    if wide := _wide(experiment, [width for _, width in rows], results):
        yield Item("", wide, emphasis=True)
    reasons = _reasons(experiment, results)
    for why in reasons[:_MOST_REASONS]:
        yield Item("", words["v_budget_end"].format(why=words.said(why)))
    if more := len(reasons[_MOST_REASONS:]):
        yield Item("", counted(words, "v_budget_more_ends", more))


def budget_setting(experiment: p.Experiment, results: Results) -> str:
    """Return the setting of the experiment in the disclosure."""
    return results.words["d_budget"].format(budget=_budget(experiment, results.plan), high=experiment.repeats)


def _budget(experiment: p.Experiment, plan: p.Plan) -> str:
    known = [seconds for seconds in (experiment.budget_s, plan.budget_s) if seconds is not None]
    return duration(min(known))


def _rows(experiment: p.Experiment, results: Results) -> list[tuple[int, float | None]]:
    """Return for each point how often it was measured, and half the width of its interval as a share of the mean.

    The interval has the level that the brief draws, also where the experiment's own looks would do with a lower."""
    found: list[tuple[int, float | None]] = []
    for name, repeats, mean, sd in results.store.sql(
        "SELECT experiment, repeats, mean, sd FROM measure.spread "
        "WHERE phase IS NULL AND operation = 'all' AND mean > 0"
    ).rows:
        if name == experiment.name:
            low, high = t_interval(int(repeats), float(mean), None if sd is None else float(sd), results.words.level)
            width = (high - low) / 2 / float(mean) if low is not None and high is not None else None
            found.append((int(repeats), width))
    return found


def _wide(experiment: p.Experiment, widths: list[float | None], results: Results) -> str:
    """Return how many points stayed wider than the target, or without an interval; "" without a target."""
    if experiment.confident is None:
        return ""
    within = experiment.confident.within
    wide = [width for width in widths if width is None or width > within]
    known = [width for width in wide if width is not None]
    if not wide:
        return ""
    widest = results.words["v_budget_widest"].format(widest=percent(max(known), 1, unlike=within)) if known else ""
    holes = {"within": f"{100 * within:g}{NBSP}%", "widest": widest}
    return counted(results.words, "v_budget_wide", len(wide), **holes)


def _reasons(experiment: p.Experiment, results: Results) -> list[str]:
    """Return why the last repeats were not made. Those that differ in their numbers only are one, with their range."""
    known = results.words.sentences
    of_points = {cell.reason for cell in results.cells if _is_lost(cell, experiment, results)}
    alike: dict[Hashable, list[str]] = {}
    for cell in results.cells:
        mine = cell.experiment == experiment.name and cell.status == "skipped"
        if mine and cell.reason and cell.reason not in of_points:
            said = known.get(cell.reason, cell.reason)
            alike.setdefault(said.shape if isinstance(said, Message) else said, []).append(said)
    return [_as_one(group) for group in alike.values()]


def _is_lost(cell: CellRow, experiment: p.Experiment, results: Results) -> bool:
    """Return whether the budget had no room for the first measurement of a point."""
    said = results.words.sentences.get(cell.reason or "")
    of_budget = isinstance(said, Message) and said.code == "budget_no_room"
    return cell.experiment == experiment.name and cell.status == "missing" and of_budget


def _as_one(group: list[str]) -> str:
    texts = [each for each in group if isinstance(each, Message)]
    return spanning(texts) if texts else group[0]
