"""The plan of a spec that is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbrief.compiler.compile import check
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.model.plan import Plan


def compile_spec(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    budget_s: float | None = None,
) -> Plan:
    """Raises SpecError, which tells all mistakes, when there is one."""
    checked = check(path, profile=profile, params=params, budget_s=budget_s)
    if checked.plan is None:
        raise SpecError(checked.diagnostics)
    return checked.plan


def compile_text(text: str, folder: Path) -> Plan:
    """The same of a text, which becomes `brief.bench` in a folder."""
    path = folder / "brief.bench"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path)
