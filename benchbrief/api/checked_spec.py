"""Checks a spec from Python, and plans its run."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.api.answer import Answer, with_hints
from benchbrief.dsl.bench_error import BenchError, ExitCode

if TYPE_CHECKING:
    from benchbrief.compiler.compile import Examined
    from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
    from benchbrief.model.plan import Plan


class SpecWrong(BenchError):
    """Raised when a spec has errors, so that it can't be planned. `diagnostics` holds its errors and warnings."""

    code = "spec_wrong"
    ends_with = ExitCode.SPEC_WRONG

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


@with_hints
def check(path: str | Path, *, profile: str | None = None, params: Mapping[str, object] | None = None) -> CheckedSpec:
    """Check a spec as `bench check` does, without running anything or contacting a host."""
    from benchbrief.compiler.compile import examine

    return CheckedSpec(Path(path), examine(Path(path), profile=profile, params=_texts(params)))


@with_hints
def plan(path: str | Path, *, profile: str | None = None, params: Mapping[str, object] | None = None) -> PlannedSpec:
    """Plan a spec's run without running it. Times are the built-in estimates. Raises SpecWrong."""
    from benchbrief.compiler.compile import check as compiled

    checked = compiled(Path(path), profile=profile, params=_texts(params))
    if checked.plan is None:
        from benchbrief.dsl.diagnostics.render import render_all

        raise SpecWrong(f"{path} has errors\n\n{render_all(checked.diagnostics)}", checked.diagnostics)
    return PlannedSpec(checked.plan)


def _texts(params: Mapping[str, object] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (params or {}).items()}


class CheckedSpec:
    """The result of checking a spec. `diagnostics` holds errors and warnings in the order of the text."""

    def __init__(self, path: Path, examined: Examined) -> None:
        self.path = path
        self.diagnostics = examined.in_context()
        self.ok = not examined.failed
        self.cells = examined.cells
        """The largest number of cells that a run can measure, or None if the spec's run can't be planned."""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        """Return the diagnostics as `bench check` prints them."""
        from benchbrief.dsl.diagnostics.render import render_all

        return render_all(self.diagnostics) or f"{self.path}: ok"

    def __repr__(self) -> str:
        errors = sum(diagnostic.severity == "error" for diagnostic in self.diagnostics)
        return f"<{self.path}: {errors} errors, {len(self.diagnostics) - errors} warnings>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class PlannedSpec:
    """A plan: `plan` is the plan itself, and `cells` is a table of its cells."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def seconds(self) -> float:
        """The estimated wall time of the run."""
        return self.plan.estimate_s

    @property
    def cells(self) -> Answer:
        """The cells in running order, with a column for each factor. The column `seconds` holds each cell's estimated
        time."""
        import pyarrow as pa

        from benchbrief.compiler.estimates.estimate import seconds

        numbers = {"threads": pa.int64(), "target": pa.float64(), "repeat": pa.int64()}
        levels = [cell.levels.keys for cell in self.plan.cells]
        columns = {}
        for name in ("id", *self.plan.point_dims, "repeat"):
            if factor := self.plan.factors.get(name):
                kind = pa.string() if isinstance(factor.default, str) else pa.float64()
                columns[name] = pa.array([keys.get(name) for keys in levels], kind)
            else:
                kind = numbers.get(name, pa.string())
                columns[name] = pa.array([getattr(cell, name) for cell in self.plan.cells], kind)
        return Answer(pa.table({**columns, "seconds": pa.array(map(seconds, self.plan.cells), pa.float64())}))

    def __repr__(self) -> str:
        from benchbrief.dsl.diagnostics.plain_amounts import about, plural

        cells = plural(len(self.plan.cells), "cell")
        return f"<plan of {self.plan.spec.name}: {cells}, {about(self.seconds)}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.cells._repr_html_()}"
