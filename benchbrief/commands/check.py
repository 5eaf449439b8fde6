"""`bench check`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from benchbrief.spec_options import show_diagnostics, spec_options
from benchbrief.terminal import ExitCode, Stop


@click.command(
    epilog="""
\b
Examples:
  bench check brief.bench
  bench check examples/*.bench --json
  bench check brief.bench --profile smoke
"""
)
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@spec_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(specs: tuple[Path, ...], profile: str | None, params: dict[str, str], as_json: bool) -> None:
    """Check SPECS: names, units, dimensions, values. Runs nothing and touches no host.

    Ends with code 1 when any spec has an error; warnings do not count.
    """
    from benchbrief.compiler.compile import check
    from benchbrief.dsl.render import as_json as diagnostic_json

    wrong = False
    found = []
    for spec in specs:
        checked = check(spec, profile=profile, params=params)
        wrong |= checked.plan is None
        if as_json:
            found.append(
                {
                    "file": str(spec),
                    "ok": checked.plan is not None,
                    "cells": len(checked.plan.cells) if checked.plan else None,
                    "diagnostics": [diagnostic_json(d) for d in checked.diagnostics],
                }
            )
            continue
        show_diagnostics(checked.diagnostics)
        if checked.plan:
            click.echo(f"{spec}: ok, {len(checked.plan.cells)} cells")
        else:
            errors = sum(d.severity == "error" for d in checked.diagnostics)
            click.echo(f"{spec}: {errors} error{'s' if errors != 1 else ''}", err=True)
    if as_json:
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
    if wrong:
        raise Stop(ExitCode.SPEC_WRONG)
