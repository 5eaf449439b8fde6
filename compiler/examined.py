"""The result of checking a spec: diagnostics, model and plan."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.model.resolve import Model
from benchbrief.compiler.planning.plan import Expect, Metric, Plan, Report
from benchbrief.compiler.planning.planned_cells import most_cells
from benchbrief.compiler.shown_findings import in_context
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic


@dataclass(frozen=True)
class Checked:
    """The mistakes of a spec, and its plan when none is an error, with the model that it was made from."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    model: Model | None = None


@dataclass(frozen=True)
class Examined:
    """The mistakes of a spec, and its model; None when files can't be used.

    Metrics, expectations and reports have queries only on request.
    """

    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded | None = None
    model: Model | None = None
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    reports: tuple[Report, ...] = ()

    @property
    def failed(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def cells(self) -> int | None:
        """The number of cells that a run measures at most; None when there can be no plan."""
        return (
            None
            if self.model is None or self.failed
            else sum(most_cells(matrix.experiment) for matrix in self.model.matrices)
        )

    def in_context(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics, each with the head of its block."""
        files = self.loaded.files if self.loaded else ()
        return in_context(self.diagnostics, {file.tree.span.source: file.tree for file in files})
