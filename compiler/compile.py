"""From a spec to its plan, by trees, declarations, a model and queries. It runs nothing and uses no network."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchbrief.compiler.briefs.lower_report import Memory, lower
from benchbrief.compiler.briefs.text_lengths import check_lengths
from benchbrief.compiler.estimates.estimate_warnings import warn_by_estimates
from benchbrief.compiler.examined import Checked, Examined, assemble, distinct, shown_findings
from benchbrief.compiler.frontend.declarations import collect, parameters
from benchbrief.compiler.frontend.imports import Files, load
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import resolve
from benchbrief.dsl.diagnostics.diagnostic import SpecError


def check(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    budget_s: float | None = None,
) -> Checked:
    """Compile a spec to its plan. `diagnostics` has every mistake; `budget_s` is for all experiments together."""
    with no_collection():
        examined = examine(path, profile=profile, params=params, files=files, planning=True)
        plan = assemble(str(path), examined, profile=profile, params=params or {}, budget_s=budget_s)
        return Checked(plan, examined.in_context(), examined.model)


def examine(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    memory: Memory | None = None,
    planning: bool = False,
) -> Examined:
    """Check a spec without its plan. `memory` is from its last check; only `planning`, without one, makes queries."""
    with no_collection():
        return _examined(Path(path), profile, params, files, memory, planning=planning)


def _examined(
    path: Path,
    profile: str | None,
    params: Mapping[str, str] | None,
    files: Files | None,
    memory: Memory | None,
    *,
    planning: bool,
) -> Examined:
    findings = Findings()
    try:
        loaded = load(path, files)
        if loaded.broken and loaded.is_long:
            return Examined(shown_findings(findings, (), loaded), loaded)
        findings.failed = bool(loaded.broken)
        declarations = collect(loaded, findings)
        values = parameters(declarations, params or {}, findings)
        check_lengths((file.tree for file in loaded.files), values, findings)
        model = resolve(declarations, values, profile, findings, whole=loaded.whole)
        warn_by_estimates(model, findings)
        metrics, expects, reports, problems = lower(model.scope, memory, whole=model.whole, planning=planning)
    except SpecError as error:
        return Examined(distinct(error.diagnostics))
    return Examined(shown_findings(findings, problems, loaded), loaded, model, metrics, expects, reports)


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector: a compilation makes many objects, which all stay, and looking at them again and
    again takes a sixth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
