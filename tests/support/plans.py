"""Makes the plan of a valid spec."""

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
    """Return the plan of a spec. If the spec has mistakes, raise SpecError with all of them."""
    checked = check(path, profile=profile, params=params, budget_s=budget_s)
    if checked.plan is None:
        raise SpecError(checked.diagnostics)
    return checked.plan


def compile_text(text: str, folder: Path) -> Plan:
    """Return the plan of a text, after writing the text to `brief.bench` in a folder."""
    path = folder / "brief.bench"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path)
