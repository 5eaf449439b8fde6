"""Searched rates that are only known from below: the highest candidate kept the promise, or the load generator could
not offer the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbrief.compiler.planning.plan import Query
from benchbrief.reports.text.number_format import points
from benchbrief.reports.view.report_data import Key, Results, reads_of
from benchbrief.results.analysis.promised_rates import Promised


def open_searches(results: Results, query: Query, where: Mapping[str, Key]) -> Iterator[str]:
    """Yield what to say of each such rate behind the value of a query at these keys."""
    reads = [read for read in reads_of(query) if read.view == "sustained"]
    for found in results.promises if reads else ():
        place = dict(zip(("experiment", "hardware", "workload"), found.place, strict=True))
        if all(where.get(dim, key) == key for dim, key in place.items()) and any(read.covers(place) for read in reads):
            yield from _told(found, results)


def by_cell(results: Results) -> dict[str, str]:
    """Return the same for the cells of such searches, by their ids."""
    told = {found.place: text for found in results.promises for text in _told(found, results)}
    places = {cell.cell_id: (cell.experiment, cell.hardware, cell.workload) for cell in results.cells}
    return {cell_id: told[place] for cell_id, place in places.items() if place in told}


def _told(found: Promised, results: Results) -> Iterator[str]:
    if found.sustained is None or not found.is_lower_bound:
        return
    key = "c_generator_at_least" if found.by_generator else "c_at_least"
    hardware, workload = results.plan.hardware[found.hardware].label, results.plan.workloads[found.workload].label
    yield results.words[key].format(rate=points([found.sustained]), hardware=hardware, workload=workload)
