"""`bench plan`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchbrief.spec_options import compile_or_stop, spec_options
from benchbrief.terminal import use_colour


@click.command(
    epilog="""
\b
Examples:
  bench plan brief.bench
  bench plan brief.bench --profile smoke --param records=10k
  bench plan brief.bench --json | jq '.cells | length'
"""
)
@click.argument("spec", type=click.Path(path_type=Path))
@spec_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as JSON.")
def command(spec: Path, profile: str | None, params: dict[str, str], as_json: bool) -> None:
    """Show what SPEC would run: the matrix, the hosts, the order, and an estimate of the time. Runs nothing."""
    plan = compile_or_stop(spec, profile, params).plan
    if as_json:
        click.echo(plan.model_dump_json(indent=1))
        return

    import shutil

    from benchbrief.compiler.explain import explain

    click.echo(explain(plan, width=shutil.get_terminal_size((100, 24)).columns, color=use_colour(sys.stdout)))
