from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.spec_options import compile_or_stop, spec_options
from benchbrief.cli.terminal import Stop, one_line, show, show_json, show_painted
from benchbrief.dsl.bench_error import ExitCode

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.runners.host_checks import Finding


@click.command(
    epilog="""
\b
Examples:
  bench doctor                          this machine and its tools
  bench doctor brief.bench              and all that the spec names
  bench doctor brief.bench --json
  bench doctor brief.bench --strict && bench run brief.bench

Ends with code 3 if something is missing (without SPEC: every load generator), or a run of this controller has left
something on a host. It also names what another controller has left, and what keeps a host busy or holds it; with
--strict the code is 3 for these, too.
"""
)
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@spec_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--strict", is_flag=True, help="End with code 3 also for a busy host, and for what others have left.")
def command(spec: Path | None, profile: str | None, params: dict[str, str], as_json: bool, strict: bool) -> None:
    """Say what is missing on this machine and on the hosts of SPEC, and how to get it. Starts and changes nothing."""
    plan = compile_or_stop(spec, profile, params).plan if spec else None
    findings = []
    for finding in _all_findings(plan):
        findings.append(finding)
        if not as_json:
            word = (
                finding.what if finding.what in ("stray", "busy", "held") else "missing" if finding.needed else "absent"
            )
            mark = (
                click.style("ok", fg="green")
                if finding.ok
                else click.style(word, fg="red" if finding.ours and finding.needed else "yellow")
            )
            pad = " " * (7 - len(click.unstyle(mark)))
            line = f"{mark}{pad}  {one_line(finding.host):<16} {one_line(finding.what):<28} {one_line(finding.detail)}"
            show_painted(line)
            if finding.hint and not finding.ok:
                show(f"         {finding.hint}")
    if as_json:
        show_json([asdict(finding) for finding in findings])
    if any(not finding.ok and finding.needed and (finding.ours or strict) for finding in findings):
        raise Stop(ExitCode.CELL_FAILED)
    if not as_json:
        absent = any(not finding.needed and not finding.ok for finding in findings)
        show("nothing is missing" + (", unless a spec needs what is absent" if absent else ""))


def _all_findings(plan: Plan | None) -> Iterator[Finding]:
    from benchbrief.runners.host_checks import check_hosts

    yield from _reports()
    yield from _typefaces(plan) if plan else ()
    yield from check_hosts(plan) if plan else _default_tools()


def _reports() -> Iterator[Finding]:
    """Check the libraries that render a brief. WeasyPrint needs Pango, which pip can't install."""
    from benchbrief.runners.host_checks import Finding

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
    """Check the typefaces that the reports need. Without them, a brief looks different, and people may notice this
    late."""
    from benchbrief.reports.view.house_style import missing_typefaces
    from benchbrief.runners.host_checks import Finding

    for report in plan.reports:
        lost = missing_typefaces(report)
        detail, _, hint = lost.partition(": ")
        yield Finding("controller", f"typefaces of {report.name}", not lost, detail or "as the report asks", hint)


def _default_tools() -> Iterator[Finding]:
    """Look for the load generators on this machine. One is enough, since a spec needs only some of them."""
    from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
    from benchbrief.model.plan import Host
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.host_checks import Finding
    from benchbrief.runners.hosts import tool_discovery
    from benchbrief.runners.hosts.host_connections import open_transport
    from benchbrief.runners.plugins import driver, find_stand_in

    local = open_transport(Host(id="local", transport="local", name="127.0.0.1"))
    tools = []
    for name in TOOL_SPECS.names:
        try:
            found = tool_discovery.find(local, driver(name), None)
        except RunnerError as error:
            tools.append(Finding("local", name, False, str(error), error.hint))
        else:
            tools.append(Finding("local", name, True, f"{found.version or 'no version reported'} at {found.path}"))
    needed = not any(each.ok for each in tools)
    yield from (replace(each, needed=needed) for each in tools)
    for engine in ENGINE_SPECS.own.values():
        if not engine.has_stand_in:
            continue
        try:
            yield Finding("local", f"{engine.label} stand-in", True, find_stand_in(engine.name, local))
        except RunnerError as error:
            yield Finding("local", f"{engine.label} stand-in", False, str(error), error.hint, needed=False)
