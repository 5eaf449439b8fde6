"""Reduces a run's plan to some of its cells, to measure them again in a separate run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchbrief.cli.terminal import fail
from benchbrief.compiler.estimates.estimate import estimate
from benchbrief.model.plan import Cell, Plan


def reduced_plan(plan: Plan, cells: Iterable[Cell]) -> Plan:
    """Return a copy of the plan with only these cells, and without reports, expectations, claims,
    budgets and searches."""
    cells = tuple(cells)
    alone = {
        "budget_s": None,
        "confident": None,
        "search": None,
        "adaptive": None,
        "promise": None,
        "threads_from": None,
        "target_from": None,
        "requires": (),
    }
    used = {cell.experiment for cell in cells}
    experiments = {name: each.model_copy(update=alone) for name, each in plan.experiments.items() if name in used}
    return plan.model_copy(
        update={
            "cells": cells,
            "experiments": experiments,
            "reports": (),
            "expects": (),
            "claims": (),
            "budget_s": None,
            "estimate_s": estimate(cells),
        }
    )


def kept_spec_files(run_dir: Path, plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each spec file that the run keeps. Raises Stop."""
    for index, name in enumerate(plan.spec.files):
        try:
            yield name, (run_dir / "spec" / f"{index}-{Path(name).name}").read_bytes()
        except OSError as error:
            raise fail(
                f"the spec of {run_dir.name} can't be read: {error.strerror}", "put the file back from a copy"
            ) from error
