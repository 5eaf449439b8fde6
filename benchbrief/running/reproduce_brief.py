"""Measures a published brief again: unpacks its capsule into a run, and judges the brief by the run's results."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import Stop, fail
from benchbrief.compiler.blocks.host_patterns import HostPatternError
from benchbrief.compiler.plan_elsewhere import on_hosts
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.read_files_below import FileBeyond, files_below
from benchbrief.model.extension_spec import LANGUAGES
from benchbrief.model.plan import Plan, Report
from benchbrief.model.version import benchbrief_version
from benchbrief.reports.capsule.capsule_file import ENDING, OpenCapsule, open_capsule
from benchbrief.reports.capsule.find_capsule import capsule_of
from benchbrief.reports.capsule.pack_capsule import files_used_by
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.run_folder import REPORTS
from benchbrief.runners.plain_files import own_folder, read_plain

if TYPE_CHECKING:
    from benchbrief.reports.capsule.held_against import HeldAgainst
    from benchbrief.results.store.store import Store

RUNS = "bench-out"
"""The folder of the runs, inside the folder of the capsule's files."""
_MOST = 32 << 20
_BRIEFS = (".pdf", ".html", ".zip", ".json", ".md", ".pptx", ".xlsx", ".docx")


def find_capsule(brief: Path, out: Path) -> OpenCapsule:
    """Return the capsule of a brief, given the brief's file, the capsule itself, or a run (whose last report is used).
    Raises BenchError if there is none."""
    from benchbrief.results.runs.find_runs import find_run

    if brief.is_file() or brief.suffix.lower() in _BRIEFS:
        return capsule_of(brief)
    run_dir = find_run(out, str(brief))
    found = sorted((run_dir / REPORTS).glob(f"*{ENDING}"), key=lambda path: path.stat().st_mtime_ns)
    if not found:
        raise fail(f"{run_dir.name} has no brief with a capsule", f"make it: bench report {run_dir.name}")
    return open_capsule(read_plain(found[-1], run_dir, _MOST), found[-1].name)


def require_extensions(capsule: OpenCapsule) -> None:
    """Raise Stop if the brief needs a package that is not installed. Packages are never installed automatically."""
    from importlib.metadata import PackageNotFoundError, version

    missing: dict[str, list[str]] = {}
    for what, package in capsule.about.extensions.items():
        name = package.partition(" ")[0]
        try:
            if not re.fullmatch(r"[A-Za-z0-9._-]{1,80}", name):
                raise PackageNotFoundError
            version(name)
        except PackageNotFoundError:
            missing.setdefault(package, []).append(what)
    if missing:
        named = "; ".join(f"{package} ({', '.join(each)})" for package, each in missing.items())
        raise fail(
            f"the brief needs packages that are not installed: {named}",
            "look at where they come from, and install those that you trust; benchbrief installs none",
        )


@contextmanager
def unpacked(capsule: OpenCapsule) -> Iterator[Path]:
    """Write a capsule's files into a temporary folder, for a look at the plan."""
    with tempfile.TemporaryDirectory() as folder:
        _write(capsule, Path(folder))
        yield Path(folder)


@contextmanager
def unpacked_to_run(capsule: OpenCapsule, into: Path) -> Iterator[Path]:
    """Write a capsule's files into a folder below the current one. The folder must be new, or have the same files
    already. A new folder is removed again if no run starts in it. Raises Stop."""
    from benchbrief.results.runs.find_runs import list_runs

    here = Path.cwd().resolve()
    if not into.resolve().is_relative_to(here) or into.resolve() == here:
        raise fail(f"{into} is not below the current folder", "name a folder in it, or change into another one")
    if into.is_symlink() or (into.exists() and not _has_all(capsule, into)):
        raise fail(f"{into} is there already, with other files", "name another one: --into FOLDER")
    is_new = not into.exists()
    _write(capsule, into)
    try:
        yield into
    finally:
        if is_new and not list_runs(into / RUNS):
            shutil.rmtree(into, ignore_errors=True)


def _has_all(capsule: OpenCapsule, folder: Path) -> bool:
    """Return whether a folder already has the capsule's files."""
    try:
        return all(read_plain(folder / name, folder) == content for name, content in capsule.files.items())
    except OSError:
        return False


def _write(capsule: OpenCapsule, folder: Path) -> None:
    for name, content in capsule.files.items():
        at = folder
        for step in Path(name).parent.parts:
            at = own_folder(at, step)
        write_durably(at / Path(name).name, content)


def folder_for(capsule: OpenCapsule) -> Path:
    """Return the usual folder for a reproduction, named after the brief."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", capsule.about.report).strip("-")[:60] or "brief"
    return Path(f"{stem}-reproduction")


def plan_of(
    capsule: OpenCapsule, folder: Path, profile: str | None, budget_s: float | None, hosts: Sequence[str]
) -> Plan:
    """Return the plan of a folder's spec, with these hosts if any are given. Raises Stop if the spec has errors, or
    reads files from outside its capsule."""
    from benchbrief.cli.spec_options import show_diagnostics
    from benchbrief.compiler.compile import check

    about = capsule.about
    path, chosen = folder / about.spec, profile or about.profile
    try:
        with files_below(folder):
            checked = check(path, profile=chosen, params=about.params, budget_s=budget_s)
    except FileBeyond as error:
        raise _beyond(error.name) from None
    if checked.plan is None:  # warnings about a stranger's spec are not ours to fix
        errors = [each for each in checked.diagnostics if each.severity == "error"]
        show_diagnostics(errors)
        own = benchbrief_version()
        hint = "" if about.benchbrief == own else f"benchbrief {about.benchbrief} made it, and this is {own}"
        raise fail(f"the spec of the brief has {plural(len(errors), 'error')} here", hint, ExitCode.SPEC_WRONG)
    plan = checked.plan
    for name in files_used_by(plan):
        path = Path(os.path.abspath(name))  # noqa: PTH100  # links are not followed
        if not path.is_relative_to(folder.absolute()) or str(path.relative_to(folder.absolute())) not in capsule.files:
            raise _beyond(name)
    if not hosts:
        return plan
    try:
        return on_hosts(plan, hosts)
    except (ValueError, HostPatternError) as error:
        there = ", ".join(plan.hosts)
        raise fail(f"--on {','.join(hosts)}: {error}", f"name one for each of: {there}") from error


def _beyond(name: str) -> Stop:
    return fail(
        f"the spec reads a file that is not in its capsule: {name}",
        "its text would come from this machine, so nothing is run",
        ExitCode.SPEC_WRONG,
    )


def require_same_machine(capsule: OpenCapsule, plan: Plan) -> None:
    """Raise Stop unless the hosts' current facts show that the brief was measured on the same hosts."""
    from benchbrief.reports.capsule.held_against import facts_of_capsule, other_machine
    from benchbrief.runners.hosts.host_connections import HostPool
    from benchbrief.runners.hosts.host_facts import observe

    with HostPool(plan) as pool:
        observed = {host: observe(pool[host], ()) for host in plan.hosts}
    found = other_machine(facts_of_capsule(capsule), observed)
    if found:
        told = "; ".join(f"{each.what} {each.first or 'unknown'}, here {each.second or 'unknown'}" for each in found)
        raise fail(f"this is not the machine of the brief: {told}", "leave out --same-machine to judge what can be")


def report_in(capsule: OpenCapsule, plan: Plan) -> Report:
    """Return the plan's report that has the name of the brief's report. Raises Stop."""
    found = next((each for each in plan.reports if each.name == capsule.about.report), None)
    if found is None:
        raise fail(f"the spec has no report `{capsule.about.report}`", "", ExitCode.SPEC_WRONG)
    return found


def judge(capsule: OpenCapsule, plan: Plan, results: Store, margin: float) -> HeldAgainst:
    """Return the verdicts on a brief, judged by a run's results."""
    from benchbrief.reports.capsule.held_against import hold_against

    return hold_against(capsule, plan, results, report_in(capsule, plan), margin)


def write_brief(run_dir: Path, found: HeldAgainst, plan: Plan, results: Store) -> list[Path]:
    """Write the brief about a reproduction beside its run's briefs. Returns its files."""
    from benchbrief.reports.capsule.reproduced_brief import report_on
    from benchbrief.reports.words.brief_words import words_of
    from benchbrief.running.make_brief import render_briefs

    own = next(each for each in plan.reports if each.name == found.about.report)
    if found.about.language in LANGUAGES:
        own = own.model_copy(update={"language": found.about.language, "words": {}})
    report = report_on(found, words_of(own), own)
    changed = plan.model_copy(update={"reports": (report,)})
    return render_briefs(run_dir, changed, results, own_languages={report.name: report.language}).files[report.name]
