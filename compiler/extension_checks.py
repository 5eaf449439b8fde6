"""Lets the engines and load generators of other packages check a plan, by the `check` functions that their specs name.

The checks run while somebody types, so they have little time. An exception in a check becomes a warning, and stops
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from threading import Thread
from typing import cast

from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.frontend.name_errors import BrokenCheck, FoundByExtension, WarnedByExtension
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS, hung_checks
from benchbrief.dsl.source import Span
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.extension_spec import PlanFinding, raised
from benchbrief.model.plan import Plan
from benchbrief.model.tool_spec import ToolSpec

_LIMIT_S = 2.0
_MOST = 20
"""The most findings that are taken from one extension."""


def with_checks(matrices: Iterable[Matrix]) -> dict[str, tuple[EngineSpec | ToolSpec, Span]]:
    """Return the extensions in use that check plans, each with the span of the database that uses it. Their code is not
    imported."""
    found: dict[str, tuple[EngineSpec | ToolSpec, Span]] = {}
    for matrix in matrices:
        for spec in (matrix.database.engine, matrix.tool_spec):
            if spec.check:
                found.setdefault(spec.check, (spec, matrix.database.span))
    return found


def check_by_extensions(plan: Plan, asked: Iterable[tuple[EngineSpec | ToolSpec, Span]]) -> Iterator[CompileProblem]:
    """Yield the findings of these extensions about the plan."""
    for spec, span in asked:
        registry = ENGINE_SPECS if isinstance(spec, EngineSpec) else TOOL_SPECS
        source = registry.source(spec.name) or "benchbrief"
        found, wrong = _asked(spec.check, plan)
        if wrong:
            yield BrokenCheck(span, spec.kind, spec.name, source, wrong)
        for each in found[:_MOST]:
            kind = FoundByExtension if each.is_error else WarnedByExtension
            yield kind(span, spec.name, each.said, each.next_step)


def _asked(target: str, plan: Plan) -> tuple[list[PlanFinding], str]:
    """Return the findings of a check, and the reason why the check itself failed, or "" if it succeeded."""
    too_long = f"it took longer than {_LIMIT_S:g} s"
    if target in hung_checks():
        return [], too_long
    found: list[PlanFinding] = []
    failed: list[str] = []

    def ask() -> None:
        module, _, name = target.partition(":")
        try:
            check = cast(Callable[[Plan], Iterable[object]], getattr(import_module(module), name))
            found.extend(each for each in check(plan) if isinstance(each, PlanFinding))
        except BaseException as error:  # another package's code may raise anything
            failed.append(f"it raised {raised(error)}")

    asking = Thread(target=ask, name=target, daemon=True)  # a check that never ends can't keep the process alive
    asking.start()
    asking.join(_LIMIT_S)
    if asking.is_alive():
        hung_checks().add(target)
        return [], too_long
    return found, failed[0] if failed else ""
