"""What a driver may tell whose tool has the database, a library, in its own process: beside `seams.Driver`."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from benchbrief.runners.execution.driver_contexts import CellContext
from benchbrief.runners.jobs.tasks import Command, JobOutput
from benchbrief.runners.measurement.measurement import Sample


@runtime_checkable
class TellsDatabase(Protocol):
    """A driver whose tool has the database in its own process. Only this tool can report the database's counters."""

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """Return samples of the probe `database` inside the window (epoch seconds, by the host's clock).

        Raises BadOutput when the output of the measured job has no samples.
        """
        ...


@runtime_checkable
class HoldsEngine(Protocol):
    """A driver whose tool has the database in its own process, and another version than the database's."""

    def engine_version(self, path: str) -> Command:
        """Return the command of the tool at this path that prints the library's version after its name."""
        ...
