from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.spec_options import show_diagnostics, spec_options
from benchbrief.cli.terminal import Stop, show, show_json
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.compiler.compile import Examined
    from benchbrief.dsl.diagnostics.diagnostic import Diagnostic

FORMATS = ["text", "json", "sarif", "github"]


@click.command(
    epilog="""
\b
Examples:
  bench check brief.bench
  bench check examples/*/*.bench --json
  bench check brief.bench --profile smoke
  bench check specs/*.bench --format sarif > bench.sarif
  bench check specs/*.bench --format github
"""
)
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@spec_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to print the findings: for people (text), as JSON, as SARIF 2.1.0, or as GitHub annotations.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    specs: tuple[Path, ...], profile: str | None, params: dict[str, str], form: str | None, as_json: bool
) -> None:
    """Check SPECS: names, units, dimensions, values, metrics and reports. Runs nothing and touches no host.

    Says how many cells a right spec has, how often its data are loaded, and how long a run takes, by the built-in
    estimates: `bench plan` knows what earlier runs took, and where the time goes. A spec of more than 2,000 cells has
    no time.

    Ends with code 1 when any spec has an error; warnings do not count.
    """
    from benchbrief.compiler.compile import examine

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} ask for two formats")
    show = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}["json" if as_json else form or "text"]
    checked = [(spec, examine(spec, profile=profile, params=params)) for spec in specs]
    show(checked)
    if any(each.failed for _, each in checked):
        raise Stop(ExitCode.SPEC_WRONG)


def _text(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief.compiler.estimates.checked_time import checked_time

    for spec, each in checked:
        show_diagnostics(each.in_context())
        if not each.failed:
            time = checked_time(each)
            known = f", {time.text}" if time else ""
            searched = each.model is not None and any(matrix.experiment.promise for matrix in each.model.matrices)
            cells = f"{'up to ' if searched else ''}{plural(each.cells or 0, 'cell')}"
            show(f"{spec}: {', '.join(['ok', *_counts(each)])}, {cells}{known}{_unjudged(each, spec)}")
        else:
            show(f"{spec}: {', '.join(_counts(each))}", err=True)
    found = sorted((diagnostic for _, diagnostic in _findings(checked)), key=lambda each: each.severity != "error")
    if found:
        show(f"for more: bench explain {found[0].code}", err=True)


def _counts(examined: Examined) -> list[str]:
    """Return `1 error` and `2 warnings`, as far as there are any."""
    found = Counter(diagnostic.severity for diagnostic in examined.diagnostics)
    return [plural(found[severity], severity) for severity in ("error", "warning") if found[severity]]


def _unjudged(examined: Examined, spec: Path) -> str:
    """Say where the check leaves budgets to others."""
    from benchbrief.compiler.estimates.budget_fit import unjudged_budgets

    if examined.model is None or not unjudged_budgets(examined.model):
        return ""
    return f"; whether its budgets suffice is judged by: bench plan {shlex.quote(str(spec))}"


def _json(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief.compiler.estimates.checked_time import checked_time
    from benchbrief.dsl.diagnostics.render import as_json

    found: list[dict[str, Any]] = [
        {
            "file": str(spec),
            "ok": not each.failed,
            "cells": each.cells,
            "time": time.as_dict() if (time := checked_time(each)) else None,
            "diagnostics": [as_json(diagnostic) for diagnostic in each.in_context()],
        }
        for spec, each in checked
    ]
    show_json(found)


def _sarif(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief import __version__
    from benchbrief.ci.sarif import sarif

    show_json(sarif(_findings(checked), __version__))


def _github(checked: list[tuple[Path, Examined]]) -> None:
    from benchbrief.ci.sarif import annotation

    for spec, diagnostic in _findings(checked):
        show(annotation(spec, diagnostic))


def _findings(checked: list[tuple[Path, Examined]]) -> list[tuple[Path, Diagnostic]]:
    """Every finding once, although several specs may use the file that it is in."""
    found: dict[object, tuple[Path, Diagnostic]] = {}
    for spec, each in checked:
        for diagnostic in each.in_context():
            span = diagnostic.span
            place = (span.source.name, span.start, span.end) if span else (str(spec),)
            found.setdefault((diagnostic.code, diagnostic.summary, *place), (spec, diagnostic))
    return list(found.values())
