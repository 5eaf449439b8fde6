"""Which results of earlier runs what chooses its points can use: those that it would ask for without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.compiler.searches.rate_search import Vote
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.reuse.carried_results import Carried
from benchbrief.runners.scheduling.next_point import next_point
from benchbrief.runners.scheduling.point_choice import curves, ramps_of
from benchbrief.runners.scheduling.promise_search import Search, searches_of, vote_of


def without_unchosen(plan: Plan, found: Mapping[str, Carried]) -> dict[str, Carried]:
    """Return the results without those of adaptive ramps and searches for promises that do not follow from the others.

    The rule of a ramp is gone through from its beginning, up to the first point without a result for each of its cells.
    A point that an earlier ramp left out has none, so such a skip is never among the results.
    """
    kept = dict(found)
    ramps, searches = ramps_of(plan), searches_of(plan)
    if not ramps and not searches:
        return kept
    record = RunRecord.of(record for each in found.values() for record in each.own_records())
    for search in searches:
        asked = _asked_for(search, record)
        for cells in search.cells.values():
            for cell in cells:
                if cell.id not in asked:
                    kept.pop(cell.id, None)
    for ramp in ramps:
        chosen: list[float] = []
        count = ramp.experiment.adaptive.points if ramp.experiment.adaptive else 0
        while len(chosen) < count:
            choice = next_point(ramp.experiment.points, list(curves(ramp, chosen, record).values()))
            if choice is None or not _is_measured(ramp.cells[choice.point], found):
                break
            chosen.append(choice.point)
        for point, cells in ramp.cells.items():
            for cell in cells if point not in chosen else ():
                kept.pop(cell.id, None)
    return kept


def _asked_for(search: Search, record: RunRecord) -> set[str]:
    """Return the cells with results that a search asks for, one after another, from its beginning."""
    votes: dict[str, Vote] = {}
    while (cell := search.next(votes)[1]) is not None:
        vote = vote_of(record.cells.get(cell.id), cell, search.promise)
        if vote is None or vote == "failed":
            break
        votes[cell.id] = vote
    return set(votes)


def _is_measured(cells: Iterable[Cell], found: Mapping[str, Carried]) -> bool:
    """Return whether all cells of a point have results, and each of its hardware one that was measured.

    A rule for repeats skips some cells of a point, an adaptive ramp that does not choose it all of them.
    """
    cells = list(cells)
    measured = {cell.hardware for cell in cells if cell.id in found and not found[cell.id].skipped}
    return all(cell.id in found and cell.hardware in measured for cell in cells)
