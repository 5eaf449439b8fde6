"""What an engine may know of the changes to its data sets, beside what `seams.Engine` asks of all."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from benchbrief.compiler.planning.plan import Cell


@runtime_checkable
class KnowsChanges(Protocol):
    """An engine that remembers what cells did to a data set, and so can keep it for cells that do not notice.

    `settle` takes a cell that writes for one that leaves unknown data, until `finish`.
    """

    def finish(self, cell: Cell) -> None:
        """Remember what the cell changed: it has ended well. Raises RunnerError."""
        ...

    def doubt(self, cell: Cell) -> str:
        """Return why a data set that should be there is not, when `holds` said no; "" when it is no surprise."""
        ...
