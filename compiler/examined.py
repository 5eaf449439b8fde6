"""The result of checking a spec, and the plan that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchbrief.compiler.blocks.experiments.experiments import databases_of
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate_some
from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.matrix.expand import expand
from benchbrief.compiler.model.resolve import Model
from benchbrief.compiler.planning.extension_words import with_measure_words
from benchbrief.compiler.planning.plan import Expect, Metric, Plan, Report, SpecRef
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


def assemble(
    name: str, examined: Examined, *, profile: str | None, params: Mapping[str, str], budget_s: float | None = None
) -> Plan | None:
    """Return the plan of a spec that was examined for planning; None when it has an error. `name` is its path as
    given."""
    if examined.loaded is None or examined.model is None or examined.failed:
        return None
    model = examined.model
    cells = expand(model.matrices, model.hosts, budget_s)
    experiments = {matrix.experiment.name: matrix.experiment for matrix in model.matrices}
    return Plan(
        spec=SpecRef(
            name=name,
            files=dict(sorted(examined.loaded.hashes.items())),
            profile=profile,
            params=dict(sorted(params.items())),
        ),
        hosts=dict(model.hosts),
        hardware={key: unit.hardware for key, unit in model.hardware.items()},
        clients=dict(model.clients),
        databases=databases_of(model.matrices),
        workloads={name: load.workload for name, load in model.workloads.items()},
        experiments=experiments,
        cells=cells,
        metrics=examined.metrics,
        expects=examined.expects,
        reports=tuple(with_measure_words(report, cells) for report in examined.reports),
        schedulers=dict(model.schedulers),
        budget_s=budget_s,
        estimate_s=estimate_some(cells, counted_cells(cells, experiments)),
    )
