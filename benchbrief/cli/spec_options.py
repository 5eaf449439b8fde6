"""The arguments and options that several commands about a spec share."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.run_options import F
from benchbrief.cli.terminal import Stop, fail, show_painted, use_colour
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
    from benchbrief.model.plan import Plan

_OF_A_PLAN = frozenset({"W0704"})


def spec_options(function: F) -> F:
    """Add `--profile NAME` and `--param NAME=VALUE` (repeatable, passed on as a dict) to a command."""
    function = click.option(
        "--param",
        "-p",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_split,
        help="Set a `param` of the spec.",
    )(function)
    return click.option("--profile", metavar="NAME", help="Apply this `profile` of the spec.")(function)


def _split(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    params = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"`{item}` is not NAME=VALUE, as in --param records=10k")
        params[name.strip()] = value.strip()
    return params


_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_TIME = re.compile(rf"\s*(?:{_PART.pattern}\s*)+")


def budget_option(function: F) -> F:
    """Add `--budget TIME`, passed on in seconds, to a command."""
    return click.option(
        "--budget",
        metavar="TIME",
        callback=seconds_given,
        help="Spend this time on all cells: 12h, 3h30min.",
    )(function)


def seconds_given(_ctx: click.Context, _param: click.Parameter, given: str | None) -> float | None:
    from benchbrief.model.units import UnknownUnitError, base_unit, parse_unit

    if given is None:
        return None
    parts = _PART.findall(given) if _TIME.fullmatch(given) else []
    with suppress(UnknownUnitError):
        units = [parse_unit(unit) for _, unit in parts]
        factors = [unit.factor for unit in units if base_unit(unit.dimension) == "s"]
        if parts and len(factors) == len(parts) and factors == sorted(set(factors), reverse=True):
            seconds = sum(float(amount) * factor for (amount, _), factor in zip(parts, factors, strict=True))
            if not math.isfinite(seconds):
                raise click.BadParameter("the number is too large: write a time such as 12h, 3h30min or 45s")
            if seconds > 0:
                return seconds
    raise click.BadParameter(
        f"`{given}` is no time, such as 12h, 3h30min or 45s: a number above 0 with its unit in small letters, "
        "the larger unit first"
    )


def compile_or_stop(
    path: Path,
    profile: str | None,
    params: dict[str, str],
    *,
    planning: bool = False,
    budget_s: float | None = None,
) -> Any:
    """Compile the spec and its plan. Shows every diagnostic, and stops with code 1 if there is an error.

    Warnings about content that a brief will leave out are shown only when `planning`. During a run, the brief itself
    shows them.
    """
    from benchbrief.compiler.compile import check

    checked = check(path, profile=profile, params=params, budget_s=budget_s)
    show_diagnostics([one for one in checked.diagnostics if planning or one.code not in _OF_A_PLAN])
    if checked.plan is None:
        raise _wrong_spec(path, [one for one in checked.diagnostics if one.severity == "error"])
    return checked


def _wrong_spec(path: Path, errors: Sequence[Diagnostic]) -> Stop:
    """Return a Stop to raise, with the data that `--json` prints."""
    from benchbrief.dsl.diagnostics.render import as_json

    message = f"{path} has {plural(len(errors), 'error')}: {errors[0].summary}"
    return Stop(ExitCode.SPEC_WRONG, message, errors[0].help or "", diagnostics=[as_json(one) for one in errors])


def show_diagnostics(diagnostics: Any) -> None:
    if diagnostics:
        from benchbrief.dsl.diagnostics.render import render_all

        show_painted(render_all(diagnostics, colour=use_colour(sys.stderr)), err=True)


def with_reports_of(spec: Path, plan: Plan) -> tuple[Plan, Plan]:
    """Return two plans. The first is the plan of the given spec. The second is the run's plan, but with the metrics,
    expectations, claims and reports of that spec. Both plans must have the same cells."""
    newer: Plan = compile_or_stop(spec, plan.spec.profile, plan.spec.params).plan
    measured = {cell.id: cell.hash for cell in plan.cells}
    changed = [cell.id for cell in newer.cells if measured.get(cell.id) != cell.hash]
    if changed:
        raise fail(
            f"{len(changed)} of the {len(newer.cells)} cells of {spec} were not measured, first {changed[0]}",
            "only labels, prose, metrics, claims and reports may differ; run the spec again",
        )
    changes = {"metrics": newer.metrics, "expects": newer.expects, "claims": newer.claims, "reports": newer.reports}
    return newer, plan.model_copy(update=changes)
