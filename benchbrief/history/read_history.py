"""The series of a place, read with progress shown on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.cli.store_options import run_progress

if TYPE_CHECKING:
    from benchbrief.results.history.read_series import Choice, Found


def read_history(place: str, choice: Choice) -> Found:
    """Return the chosen series of a folder of runs or a shared store. Raises RunnerError."""
    from benchbrief.results.history.read_series import read_series
    from benchbrief.results.history.run_sources import run_source
    from benchbrief.results.history.series_cache import open_series

    with run_progress("reading runs") as progress, open_series(run_source(place), progress) as table:
        return read_series(table, choice)
