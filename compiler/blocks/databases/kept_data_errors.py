"""Warnings of data that other cells change or replace (W0210, W0211)."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.diagnostics.plain_amounts import ticked


class AgedData(CompileProblem):
    """Cells on data to which an earlier cell wrote. `cells` are in their order."""

    code = "W0210"
    says = "{cells:plural cell} of database `{database}` would run on data that earlier cells have changed"
    mark = "{written_by:ticked} {write} to the data"
    hint = (
        "this concerns {cells:ticked 3}: write `reset = after_writes`, `drop_and_load`{faster}; or keep `reuse`, and "
        "the brief says how many cells have written to the data"
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


class ReplacedData(CompileProblem):
    """Cells that load data again after others replaced them. `seconds` is the time of these loads."""

    code = "W0211"
    says = (
        "{cells:plural cell} of database `{database}` would load data again that others replace: about "
        "{seconds:duration} of loading"
    )
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
    def sharing(self) -> str:
        return ticked(self.hardware) if len(self.hardware) > 1 else f"all data sets of {ticked(self.hardware)}"
