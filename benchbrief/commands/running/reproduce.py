"""`bench reproduce`: measures a published brief again, and reports which of its claims hold."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import (
    Share,
    chosen_run,
    open_results,
    out_option,
    removed_unbegun,
    require_runnable,
    run_name,
    simulate_options,
)
from benchbrief.cli.sections import SIMULATION, SectionedCommand
from benchbrief.cli.spec_options import budget_option
from benchbrief.cli.terminal import (
    ENDS,
    Stop,
    duration,
    exit_codes,
    fail,
    one_line,
    show,
    show_json,
    show_wrapped,
    warn,
)
from benchbrief.cli.verdict_files import require_writable, verdict_options, write_markdown, write_verdicts
from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan_commands import Brought
    from benchbrief.history.shared_store.signatures import SignatureState
    from benchbrief.model.events import Simulated
    from benchbrief.model.plan import Plan
    from benchbrief.progress.finished_run import Finished
    from benchbrief.reports.capsule.capsule_file import OpenCapsule


@click.command(
    cls=SectionedCommand,
    sections={
        "What is allowed": ("--allow", "--yes", "--dry-run", "--allowed-signers", "--into"),
        "Simulated hosts": SIMULATION,
    },
    epilog="""
\b
Examples:
  bench reproduce brief.pdf --dry-run          what it would run, and where
  bench reproduce brief.pdf --allow all --yes  measure it here, unasked
  bench reproduce brief.html --on lab-1,lab-2  on hosts of your own
  bench reproduce brief.pdf --profile smoke --budget 2h
  bench reproduce 20260301 --same-machine      a run of one's own, again
  bench reproduce brief.pdf --by 20260302      judge a run that is there

The brief's PDF has its capsule inside; that of a page lies beside it. Its files are written into a new folder below the
current one, and the run is made there. Commands, hosts, programs, folders and secrets of a stranger's spec are listed
with their places, and need --allow, each by its text. Packages that it needs are named, and never installed.

"""
    + exit_codes(*ENDS, fails="a claim or an expectation of the brief does not hold"),
)
@click.argument("brief", type=click.Path(path_type=Path))
@out_option
@click.option("--on", "hosts", metavar="HOSTS", help="Measure on these hosts, in the order of the plan's: lab-1,lab-2.")
@click.option("--profile", metavar="NAME", help="Apply this `profile` of the spec, and not that of the brief.")
@budget_option
@click.option("--same-machine", is_flag=True, help="Refuse another machine than that of the brief.")
@click.option("--by", metavar="RUN", help="Judge by this run, and measure nothing.")
@click.option(
    "--margin",
    type=Share(),
    default=0.1,
    metavar="SHARE",
    help="What its interval may differ by, and a number by half.  [default: 10%]",
)
@click.option("--allow", multiple=True, metavar="TEXT", help="Allow this of the list, or `all`. Repeatable.")
@click.option("--yes", is_flag=True, help="Do not ask before measuring.")
@click.option("--dry-run", is_flag=True, help="Show what it would do, and write nothing.")
@click.option(
    "--allowed-signers",
    "allowed",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Refuse a capsule that is not signed by one of the keys in FILE.",
)
@click.option("--into", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder for its files and its run.")
@simulate_options
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@verdict_options
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def command(
    brief: Path,
    out: Path,
    hosts: str | None,
    profile: str | None,
    budget: float | None,
    same_machine: bool,
    by: str | None,
    margin: float,
    allow: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    allowed: Path | None,
    into: Path | None,
    simulated: Simulated | None,
    quiet: bool,
    junit: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Measure BRIEF (a PDF, a page, a capsule or a run) again, and give a verdict on each claim and expectation."""
    from benchbrief.compiler.planning.plan_commands import brought_by, not_allowed
    from benchbrief.running.reproduce_brief import (
        find_capsule,
        folder_for,
        plan_of,
        require_extensions,
        require_same_machine,
        unpacked,
        unpacked_to_run,
    )

    require_writable(junit, markdown)
    if not 0 < margin < 1:
        raise click.UsageError("--margin is a share above 0 and below 1, such as 10%")
    if same_machine and simulated:
        raise click.UsageError("--same-machine looks at real hosts: leave it or --simulate out")
    own = (("--on", hosts), ("--profile", profile), ("--budget", budget), ("--same-machine", same_machine))
    if by is not None and (given := [option for option, value in own if value]):
        raise click.UsageError(f"--by measures nothing: leave it or {given[0]} out")
    capsule = find_capsule(brief, out)
    signed = _require_signature(capsule, allowed)
    _introduce(capsule, signed, quiet=as_json)
    if by is not None:
        _judge(capsule, signed, chosen_run(out, by), margin, junit, markdown, as_json=as_json)
        return
    require_extensions(capsule)
    named = tuple(filter(None, (each.strip() for each in hosts.split(",")))) if hosts else ()
    with unpacked(capsule) as folder:
        plan = plan_of(capsule, folder, profile, budget, named)
        brought = brought_by(plan, named)
        _warn_of_unused_allow(brought, allow)
        open_ones = [] if simulated else not_allowed(brought, allow)
        if not as_json:
            _show_plan(plan, brought, open_ones, folder)
        elif dry_run:
            show_json(_plan_document(capsule, signed, plan, brought, open_ones, folder))
    if dry_run:
        return
    if open_ones:
        raise fail(
            f"{plural(len(open_ones), 'thing')} of the spec {'is' if len(open_ones) == 1 else 'are'} not allowed: "
            f"first {open_ones[0].text}",
            "allow each by its text, --allow TEXT, or all of them: --allow all",
        )
    if same_machine:
        require_same_machine(capsule, plan)
    _ask(plan, yes=yes)
    with unpacked_to_run(capsule, into or folder_for(capsule)) as folder:
        plan = plan_of(capsule, folder, profile, budget, named)
        finished = _measure(plan, folder, simulated, quiet=quiet or as_json)
    if finished.status == "interrupted":
        run = run_name(finished.run_dir)
        raise fail("interrupted", f"go on: bench resume {run}; then: --by {run}", ExitCode.INTERRUPTED)
    for cell, reason in finished.failed.items():
        warn(one_line(f"{cell} failed: {reason}"))
    _judge(capsule, signed, finished.run_dir, margin, junit, markdown, as_json=as_json, measured=finished)


def _require_signature(capsule: OpenCapsule, allowed: Path | None) -> SignatureState:
    """Return who signed the capsule. Raises Stop if the signature is for another capsule, or not from an allowed
    signer."""
    from benchbrief.history.shared_store.signatures import check

    found = check(capsule.listed, capsule.signature, allowed)
    if found.state == "wrong" or (allowed and found.state != "holds"):
        raise fail(one_line(f"the capsule is {found.text}"), "take the brief from where it was published")
    return found


def _warn_of_unused_allow(brought: Sequence[Brought], allowed: Sequence[str]) -> None:
    """Warn of each text given with `--allow` that matches nothing in the spec, since it may be misspelt."""
    for text in dict.fromkeys(allowed):
        if text != "all" and all(each.text != text for each in brought):
            warn(one_line(f"--allow {text}: the spec brings nothing along with this text"))


def _introduce(capsule: OpenCapsule, signed: SignatureState, *, quiet: bool) -> None:
    """Show which brief is reproduced: its title, run and signature, and how many claims, expectations and numbers it
    has."""
    from benchbrief.reports.capsule.held_against import stated_in

    about, stated = capsule.about, stated_in(capsule)
    if quiet:
        return
    kinds = Counter(each.kind for each in stated)
    counted = f"{plural(kinds['claim'], 'claim')}, {plural(kinds['expect'], 'expectation')}"
    if kinds["number"]:
        counted += f"; {plural(kinds['number'], 'number')} of its figures and tables"
    show(one_line(f"{about.title}"))
    show(one_line(f"  run {about.run} ({about.kind}), by benchbrief {about.benchbrief}; {counted}"))
    show(one_line(f"  {signed.text}"))


def _show_plan(plan: Plan, brought: Sequence[Brought], open_ones: Sequence[Brought], folder: Path) -> None:
    """Show what would be measured. Also show everything in the spec that may affect this machine or its hosts, marked
    as allowed or not allowed."""
    hosts = ", ".join(plan.hosts)
    show(one_line(f"  {plural(len(plan.cells), 'cell')} on {hosts}, about {duration(plan.estimate_s)}"))
    if brought:
        show("the spec brings along:")
    for each in brought:
        mark = "not allowed" if each in open_ones else "allowed"
        show_wrapped(one_line(f"  {each.reach:<9} {each.text}"), indent=12)
        show_wrapped(one_line(f"            {each.what}; {_place(each, folder)}; {mark}"), indent=12)


def _place(brought: Brought, folder: Path) -> str:
    """Return the place in the spec, without the temporary folder that holds the spec's files."""
    return brought.place.replace(f"{folder}/", "", 1)


def _plan_document(
    capsule: OpenCapsule,
    signed: SignatureState,
    plan: Plan,
    brought: Sequence[Brought],
    open_ones: Sequence[Brought],
    folder: Path,
) -> dict[str, object]:
    return {
        "brief": capsule.about.title,
        "run": capsule.about.run,
        "kind": capsule.about.kind,
        "signed": asdict(signed),
        "cells": len(plan.cells),
        "hosts": list(plan.hosts),
        "estimate_s": plan.estimate_s,
        "brings": [
            {
                "reach": each.reach,
                "text": each.text,
                "what": each.what,
                "place": _place(each, folder),
                "allowed": each not in open_ones,
            }
            for each in brought
        ],
    }


def _ask(plan: Plan, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise fail("nobody is there to be asked", "look at what it would do, --dry-run, and then say --yes")
    if not click.confirm(f"measure {plural(len(plan.cells), 'cell')} now?", err=True):
        show("nothing was measured or written", err=True)
        raise Stop(ExitCode.USAGE)


def _measure(plan: Plan, folder: Path, simulated: Simulated | None, *, quiet: bool) -> Finished:
    """Measure all cells in a new run below the folder, without reusing earlier results."""
    from benchbrief.pipeline import run_plan
    from benchbrief.progress.earlier_results import refuse_small_budgets
    from benchbrief.runners.journal.run_folder import create_run
    from benchbrief.running.reproduce_brief import RUNS

    progress, out = Progress(quiet=quiet), folder / RUNS
    require_runnable(plan, plan.spec.name, simulated)
    refuse_small_budgets(plan, out, simulated=simulated is not None, progress=progress)
    files = {name: Path(name).read_bytes() for name in plan.spec.files}
    run_dir = create_run(out, plan, files, simulated=simulated)
    with removed_unbegun(run_dir):
        return run_plan(run_dir, progress)


def _judge(
    capsule: OpenCapsule,
    signed: SignatureState,
    run_dir: Path,
    margin: float,
    junit: Path | None,
    markdown: Path | None,
    *,
    as_json: bool,
    measured: Finished | None = None,
) -> None:
    """Judge the brief by a run, show the verdicts, and stop with the exit code."""
    from benchbrief.comparing.reproduction_output import (
        code_of_reproduction,
        reproduction_cases,
        reproduction_document,
        reproduction_lines,
        reproduction_markdown,
    )
    from benchbrief.runners.journal.run_folder import load_plan
    from benchbrief.running.reproduce_brief import judge, write_brief

    plan = load_plan(run_dir)
    files, unmade = list[Path](), None
    with open_results(run_dir) as results:
        found = judge(capsule, plan, results, margin)
        if not as_json:
            for line in reproduction_lines(found):
                show_wrapped(line, indent=4)
        write_verdicts(f"reproduction of {found.about.run}", reproduction_cases(found), junit)
        write_markdown(reproduction_markdown(found), markdown)
        try:
            files = write_brief(run_dir, found, plan, results)
        except BenchError as error:  # the verdicts took hours, and are valid without the brief
            unmade = error
    if as_json:
        show_json({**reproduction_document(found, run_dir, files), "signed": asdict(signed)})
    for path in files:
        if not as_json and path.suffix in (".pdf", ".html"):
            show(path)
    if unmade:
        warn(one_line(f"the brief on the reproduction was not made: {unmade.message}"))
        raise Stop(ExitCode.BRIEF_NOT_MADE)
    if code := ExitCode.CELL_FAILED if measured and measured.status == "failed" else code_of_reproduction(found):
        raise Stop(code)
