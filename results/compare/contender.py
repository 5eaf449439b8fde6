"""What is compared: a run, or one hardware of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchbrief.compiler.metrics.sql.sql_text import sql_text
from benchbrief.compiler.planning.plan import Plan, Query
from benchbrief.results.store.searched_doubts import Answering


class ReadSide(Answering, Protocol):
    """The part of a run's `Store` that is used here."""

    def query(self, query: Query) -> Sequence[Sequence[Any]]: ...


@dataclass(frozen=True)
class Contender:
    """A finished run, or its part with `hardware`. `label` is the user's name for it.

    `origin` says where its numbers are from: measured, simulated or imported.
    """

    label: str
    plan: Plan
    store: ReadSide
    hardware: str | None = None
    origin: str = "measured"

    @property
    def condition(self) -> str:
        """Return the SQL condition for the rows `c` of its part of the run."""
        return "true" if self.hardware is None else f"c.hardware = {sql_text(self.hardware)}"
