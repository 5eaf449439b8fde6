"""Warnings that follow from the estimated time of a plan (W0213)."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem

KEEP = "or keep it where no cell may find traces of another, such as a warm cache"
"""Why a costly reset may be right, as the end of advice against one."""


class CostlyReset(CompileProblem):
    """A declared reset that takes longer than what is measured. `better` is a reset that takes less."""

    code = "W0213"
    says = (
        "resetting the data of database `{database}` would take about {seconds:duration}, and all its measuring "
        "{measured_s:duration}"
    )
    mark = "{count}"
    hint = "write `reset = {better}`, which takes about {better_s:duration}: {why}"
    database: str
    cells: int
    seconds: float
    measured_s: float
    better: str
    why: str
    better_s: float

    @property
    def count(self) -> str:
        return f"{self.cells:,} cells reset their data" if self.cells > 1 else "one cell resets its data"
