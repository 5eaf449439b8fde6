"""What an engine may know of the changes to its data sets, beside what `seams.Engine` asks of all."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from benchbrief.compiler.planning.plan import Cell
from benchbrief.runners.seams import Transport


@runtime_checkable
class HasStandIn(Protocol):
    """An engine that starts a stand-in for its server: `server` may be `embedded` in its spec."""

    @staticmethod
    def find_stand_in(transport: Transport) -> str:
        """Return the stand-in's path on a host. Raises ToolMissing."""
        ...


@runtime_checkable
class KnowsChanges(Protocol):
    """An engine that remembers what cells did to a data set, and so can keep it for cells that do not notice.

    `begin` takes a cell that writes for one that leaves unknown data, until `finish`.
    """

    def finish(self, cell: Cell) -> None:
        """Remember what the cell changed: it has ended well. Raises RunnerError."""
        ...

    def doubt(self, cell: Cell) -> str:
        """Return why a data set that should be there is not, when `holds` said no; "" when it is no surprise."""
        ...


@runtime_checkable
class KnowsUnchanged(Protocol):
    """An engine that can tell that cells have only read a data set: then a snapshot need not bring it back."""

    def is_unchanged(self, cell: Cell) -> bool:
        """Return whether the data set is there as its load left it. Called when `holds` found the snapshot whole."""
        ...


@runtime_checkable
class CountsWriters(Protocol):
    """An engine that remembers beside the data which cells have written to them."""

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Count the cell among those that write, if it does: its load generator is about to start.

        Only from now on is the data set another than its load left. A cell that is interrupted before this, in its wait
        for a turn too, leaves it as it found it. Returns remarks on the cells before it. Raises RunnerError.
        """
        ...


@runtime_checkable
class Undoes(Protocol):
    """An engine that can delete what cells have inserted."""

    def can_undo(self, cell: Cell) -> bool:
        """Return whether the cell's data set is there, and cells did no more to it than insert and update records."""
        ...

    def undo(self, cell: Cell) -> tuple[bool, str]:
        """Delete what was inserted. Returns whether the data set is as many records as its load left, and a sentence.

        Raises ServerFailed, Interrupted; the data set is then one that has to be loaded again.
        """
        ...


@runtime_checkable
class NamesKeys(Protocol):
    """A driver that knows the keys of the records that it inserts."""

    def key(self, number: int, *, ordered: bool = False, padding: int = 1) -> str:
        """Return the key of the record with this number. The first one of the load is 0.

        `ordered`: the keys have the order of the numbers, and are not hashed. Fewer digits than `padding` are filled up
        with zeros.
        """
        ...


class Room(NamedTuple):
    """How many bytes a load needs, and what that is made of, in words."""

    needed: int
    why: str


@runtime_checkable
class KnowsRoom(Protocol):
    """An engine that refuses a load for which there is too little room."""

    def room_for_load(self, cell: Cell) -> Room:
        """Return what the cell's load needs."""
        ...
