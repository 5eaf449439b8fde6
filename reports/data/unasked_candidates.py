"""The candidates of searches and adaptive ramps that are no measurements of a run: it has not asked for them."""

from __future__ import annotations

from benchbrief.model.message import Message
from benchbrief.reports.data.report_data import CellRow, Results

_NEVER_BEGAN = ("not_run_yet", "not_run_because", "not_run_as")
_LEFT_OUT = ("point_not_needed", "rate_not_needed", "rate_unanswered")


def find_unasked(results: Results) -> dict[str, frozenset[str]]:
    """Return the ids of the candidates that each search or adaptive ramp would still ask for, by its experiment."""
    found: dict[str, set[str]] = {}
    for cell in results.cells:
        experiment = results.plan.experiments[cell.experiment]
        chosen = experiment.promise or experiment.adaptive
        if chosen and cell.status != "ok" and _code(cell, results) in _NEVER_BEGAN:
            found.setdefault(cell.experiment, set()).add(cell.cell_id)
    return {name: frozenset(ids) for name, ids in found.items()}


def asked_cells(results: Results) -> list[CellRow]:
    """Return all planned cells but such candidates, and those that were not chosen."""
    open_ids = frozenset[str]().union(*results.once(find_unasked).values())
    return [c for c in results.cells if c.cell_id not in open_ids and _code(c, results) not in _LEFT_OUT]


def name_candidates(experiment: str, results: Results) -> str:
    """Return what stands for the candidates that an experiment would still ask for."""
    key = "d_unasked_rates" if results.plan.experiments[experiment].promise else "d_unasked_points"
    return results.words[key].format(experiment=experiment)


def _code(cell: CellRow, results: Results) -> str:
    said = results.words.sentences.get(cell.reason)
    return said.code if isinstance(said, Message) else ""
