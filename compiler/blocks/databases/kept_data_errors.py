"""Warnings of data that other cells change or replace (W0210, W0211)."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.plain_amounts import duration
from benchbrief.compiler.problems import CompileProblem, ticked


@dataclass(frozen=True)
class AgedData(CompileProblem):
    """Cells on data to which an earlier cell wrote. `cells` are in their order."""

    code = "W0210"
    severity = "warning"
    says = "{count} of database `{database}` would run on data that earlier cells have changed"
    mark = "{writers} {write} to the data"
    hint = (
        "this concerns {some}: write `reset = after_writes`, `drop_and_load`{faster}; or keep `reuse`, and the "
        "brief says how many cells have written to the data"
    )
    database: str
    written_by: tuple[str, ...]
    cells: tuple[str, ...]
    quick: str = ""
    """A way to bring the data back in less time than a load, which the database can be declared with."""

    @property
    def write(self) -> str:
        return "writes" if len(self.written_by) == 1 else "write"

    @property
    def faster(self) -> str:
        return f" or `{self.quick}`" if self.quick else ""

    @property
    def count(self) -> str:
        return f"{len(self.cells):,} cell{'s' if len(self.cells) > 1 else ''}"

    @property
    def writers(self) -> str:
        return ticked(self.written_by)

    @property
    def some(self) -> str:
        return ticked(self.cells, 3)


@dataclass(frozen=True)
class ReplacedData(CompileProblem):
    """Cells that load data again after others replaced them. `seconds` is the time of these loads."""

    code = "W0211"
    severity = "warning"
    says = "{count} of database `{database}` would load data again that others replace: about {time} of loading"
    mark = "{sharing} keep their data in one place"
    hint = (
        'give each its own place, such as `path = "{{path}}/data"` with a `path` in each variant; or measure '
        "one hardware after the other, without `interleaved` and `random`"
    )
    database: str
    hardware: tuple[str, ...]
    cells: tuple[str, ...]
    seconds: float

    @property
    def count(self) -> str:
        return f"{len(self.cells):,} cell{'s' if len(self.cells) > 1 else ''}"

    @property
    def time(self) -> str:
        return duration(self.seconds)

    @property
    def sharing(self) -> str:
        return ticked(self.hardware) if len(self.hardware) > 1 else f"all data sets of {ticked(self.hardware)}"
