"""`bench doctor`."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.spec_options import compile_or_stop, spec_options
from benchbrief.terminal import ExitCode, Stop, printable, use_colour

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.runners.doctor import Finding


@click.command(
    epilog="""
\b
Examples:
  bench doctor                          this machine: the report generator and the default tools
  bench doctor brief.bench              also every host, tool, directory and server that the spec names
  bench doctor brief.bench --json
  bench doctor brief.bench --strict && bench run brief.bench

Ends with code 3 when something is missing, or a run of this controller has left something on a host. What another
controller has left, or keeps a host busy, is said; with --strict, it ends with code 3 for that, too.
"""
)
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@spec_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--strict", is_flag=True, help="End with code 3 also for a busy host, and for what others have left.")
def command(spec: Path | None, profile: str | None, params: dict[str, str], as_json: bool, strict: bool) -> None:
    """Say what is missing on this machine and on the hosts of SPEC, and how to get it. Starts and changes nothing."""
    plan = compile_or_stop(spec, profile, params).plan if spec else None
    paint = use_colour(sys.stdout)
    findings = []
    for finding in _all_findings(plan):
        findings.append(finding)
        if not as_json:
            word = finding.what if finding.what in ("stray", "busy") else "missing"
            mark = (
                click.style("ok", fg="green")
                if finding.ok
                else click.style(word, fg="red" if finding.ours else "yellow")
            )
            pad = " " * (7 - len(click.unstyle(mark)))
            line = f"{mark}{pad}  {finding.host:<16} {finding.what:<28} {printable(finding.detail)}"
            click.echo(line if paint else click.unstyle(line), color=paint)
            if finding.hint and not finding.ok:
                click.echo(f"         {printable(finding.hint)}")
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1, ensure_ascii=False))
    if any(not finding.ok and (finding.ours or strict) for finding in findings):
        raise Stop(ExitCode.CELL_FAILED)
    if not as_json:
        click.echo("nothing is missing")


def _all_findings(plan: Plan | None) -> Iterator[Finding]:
    from benchbrief.runners.doctor import examine

    yield from _reports()
    yield from _typefaces(plan) if plan else ()
    yield from examine(plan) if plan else _default_tools()


def _reports() -> Iterator[Finding]:
    """The libraries that render a brief: WeasyPrint needs Pango, which pip can't bring."""
    from benchbrief.runners.doctor import Finding

    for module, what in (
        ("weasyprint", "PDF writer"),
        ("altair", "charts"),
        ("vl_convert", "charts to SVG"),
        ("duckdb", "store"),
    ):
        try:
            found = importlib.import_module(module)
        except (ImportError, OSError) as error:
            yield Finding(
                "controller",
                what,
                False,
                str(error).splitlines()[0],
                "Debian: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0; "
                "macOS: brew install pango",
            )
        else:
            yield Finding("controller", what, True, f"{module} {getattr(found, '__version__', '')}".strip())


def _typefaces(plan: Plan) -> Iterator[Finding]:
    """Those that the reports name or need: without them a brief's looks differ, which is seen late."""
    from benchbrief.reports.fonts import missing_for
    from benchbrief.runners.doctor import Finding

    for report in plan.reports:
        lost = missing_for(report)
        detail, _, hint = lost.partition(": ")
        yield Finding("controller", f"typefaces of {report.name}", not lost, detail or "as the report asks", hint)


def _default_tools() -> Iterator[Finding]:
    from benchbrief.compiler.plan import Host
    from benchbrief.runners import tools
    from benchbrief.runners.doctor import Finding
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.plugins import driver, names
    from benchbrief.runners.transports import open_transport

    local = open_transport(Host(id="local", transport="local", name="127.0.0.1"))
    for name in names("drivers"):
        try:
            found = tools.find(local, driver(name), None)
        except RunnerError as error:
            yield Finding("local", name, False, str(error), error.hint)
        else:
            yield Finding("local", name, True, f"{found.version or 'no version told'} at {found.path}")
    try:
        yield Finding("local", "MongoDB stand-in", True, tools.find_stand_in(local))
    except RunnerError as error:
        yield Finding("local", "MongoDB stand-in", False, str(error), error.hint)
