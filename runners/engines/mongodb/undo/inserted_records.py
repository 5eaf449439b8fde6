"""Deleting what cells have inserted (`reset = undo`), by the keys that the load generator numbers on from the load."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

from benchbrief.compiler.messages.text import Figure, figure
from benchbrief.compiler.planning.plan import Cell, Dataset
from benchbrief.runners.data_seams import NamesKeys
from benchbrief.runners.engines.mongodb.mongo_data import Data
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.engines.mongodb.undo.delete_routes import Routes
from benchbrief.runners.engines.mongodb.undo.key_naming import find_naming
from benchbrief.runners.errors import Interrupted
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import Stopping

_BATCH = 1000
"""So many keys are named in some milliseconds, far faster than a server deletes them."""
_AT_ONCE = 2
"""So many batches are under way on each route: the keys of one are named while the server deletes another."""
_EMPTY_BATCHES = 10
"""So many batches in a row without a record end the search. Inserts that failed leave gaps between the numbers."""


def can_delete(data: Data, cell: Cell) -> bool:
    """Return whether cells only inserted and updated records of the data set, by keys that we know.

    Raises ServerFailed.
    """
    if cell.dataset is None or not isinstance(driver(cell.tool.driver), NamesKeys):
        return False
    kept = data.kept(cell.dataset)
    return kept is not None and kept.changes == "inserts" and not data.foreign_changes(cell.dataset)


def delete(data: Data, cell: Cell, routes: Routes, stopping: Stopping) -> tuple[bool, str]:
    """Delete what cells inserted, over all routes. Returns whether the load's records are left, and a sentence on it.

    Raises ServerFailed, Interrupted.
    """
    names, dataset = driver(cell.tool.driver), cell.dataset
    if dataset is None or not isinstance(names, NamesKeys):
        return False, ""
    key = find_naming(data, dataset, names)
    if key is None:
        return False, say.keys_unknown(name=data.name, tool=names.name)
    deleted = _delete(data, routes, dataset, key, stopping)
    if deleted is None:
        return False, say.not_undone(name=data.name, found=_figure(data.count(dataset)), n=_figure(dataset.records))
    return True, say.undone(deleted=_figure(deleted), n=_figure(dataset.records), sent=routes.described)


def _figure(count: int) -> Figure:
    return figure(count, ",")


def _delete(data: Data, routes: Routes, dataset: Dataset, key: Callable[[int], str], stopping: Stopping) -> int | None:
    """Delete the records after those of the load. `key` returns the key of the record with a number, from 0.

    Returns how many were deleted; None when the data set has not as many records afterwards as were loaded. Until it
    has, our note says that anything may have changed. Raises ServerFailed, Interrupted.
    """
    kept = data.kept(dataset)
    if kept is None:
        return None
    data.undoing(dataset, kept)
    deleted = empty = 0
    number, at_once = dataset.records, _AT_ONCE * len(routes.data)

    def batch(of: Data, first: int) -> int:
        return of.delete([key(each) for each in range(first, first + _BATCH)])

    with ThreadPoolExecutor(at_once) as pool:
        while empty < _EMPTY_BATCHES:
            if stopping.is_set():
                raise Interrupted
            firsts = range(number, number + at_once * _BATCH, _BATCH)
            for gone in pool.map(batch, cycle(routes.data), firsts):
                deleted, empty = deleted + gone, 0 if gone else empty + 1
            number = firsts.stop
    if data.count(dataset) != dataset.records:
        return None
    data.undone(dataset, kept)
    return deleted
