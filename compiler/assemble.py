"""Makes a plan from the model of a spec and its queries."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.experiments.experiments import databases_of
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate_some
from benchbrief.compiler.examined import Examined
from benchbrief.compiler.matrix.expand import expand
from benchbrief.compiler.planning.extension_words import with_measure_words
from benchbrief.compiler.planning.plan import Plan, SpecRef


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
