"""Cells that are measured together: all of a group where its first cell stands, in an order that the group decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from benchbrief.compiler.planning.plan import Cell

_Group = TypeVar("_Group")


def at_first_cells(
    cells: Iterable[Cell], group_of: Mapping[str, _Group], measured: Callable[[_Group], Iterator[Cell]]
) -> Iterator[Cell]:
    """Yield the cells, and for each group, at its first cell, what `measured` gives. `group_of` is by the ids of
    cells; the others have no group."""
    done: set[int] = set()
    for cell in cells:
        group = group_of.get(cell.id)
        if group is None:
            yield cell
        elif id(group) not in done:
            done.add(id(group))
            yield from measured(group)
