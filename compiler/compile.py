"""From a spec's path to its plan: the whole compiler. It runs nothing and uses no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbrief.compiler.assemble import assemble
from benchbrief.compiler.briefs.lower_report import Memory, lower
from benchbrief.compiler.briefs.text_lengths import check_lengths
from benchbrief.compiler.estimates.budget_fit import check_budgets
from benchbrief.compiler.estimates.costly_resets import warn_of_costly_resets
from benchbrief.compiler.estimates.replaced_data import warn_of_replaced_data
from benchbrief.compiler.examined import Checked, Examined
from benchbrief.compiler.frontend.declarations import collect
from benchbrief.compiler.frontend.imports import Files, load
from benchbrief.compiler.frontend.parameters import parameters
from benchbrief.compiler.model.profiles import apply_profile
from benchbrief.compiler.model.resolve import resolve
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.shown_findings import distinct, shown_findings
from benchbrief.dsl.diagnostics.diagnostic import SpecError


def check(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    budget_s: float | None = None,
) -> Checked:
    """Compile a spec to its plan. `diagnostics` has every mistake, in the order of the text.

    `budget_s` is for all experiments together."""
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
    """Check a spec without making its plan. `diagnostics` has every mistake, in the order of the text.

    `memory` is from the last check of the spec. Only `planning`, which has no memory, makes queries.
    """
    findings = Findings()
    try:
        loaded = load(Path(path), files)  # the files' texts -> trees
        if loaded.broken and loaded.is_long:
            return Examined(shown_findings(findings, (), loaded), loaded)
        findings.failed = bool(loaded.broken)
        declarations = collect(loaded, findings)  # trees -> declarations by name
        values = parameters(declarations, params or {}, findings)
        check_lengths((file.tree for file in loaded.files), values, findings)
        apply_profile(declarations, profile, findings)
        model = resolve(declarations, values, profile, findings, whole=loaded.whole)  # -> hosts, databases, matrices
        warn_of_replaced_data(model, findings)
        warn_of_costly_resets(model, findings)
        check_budgets(model, findings)
        lowered = lower(model.scope, memory, whole=model.whole, planning=planning)  # expressions -> queries
    except SpecError as error:
        return Examined(distinct(error.diagnostics))
    metrics, expects, reports, of_queries = lowered
    return Examined(shown_findings(findings, of_queries, loaded), loaded, model, metrics, expects, reports)
