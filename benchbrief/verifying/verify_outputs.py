"""What `bench verify` shows of a run that has no brief: its raw outputs, its tables, and its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbrief.cli.run_names import run_name
from benchbrief.cli.terminal import fail, one_line, show, warn
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.results.runs.kept_files import KeptFiles
    from benchbrief.results.shared_store.signed_run import SignedCheck

_MOST = 20
"""More lines than these are counted only."""


def verify_outputs(
    run_dir: Path, allowed: Path | None, *, is_enough: bool, quiet: bool
) -> tuple[dict[str, Any], ExitCode]:
    """Hold what a run keeps against its journal, and the signature against `allowed`. Returns the document of `--json`
    and how the command ends; tells them unless `quiet`. That the run should have a brief is an error, unless its
    outputs are enough. Raises RunnerError, OSError."""
    from benchbrief.results.building.open_store import store_problem
    from benchbrief.results.ingest.unchanged_outputs import check_raw_outputs
    from benchbrief.results.shared_store.signed_run import check_signed
    from benchbrief.runners.journal.run_folder import load_plan

    found, damaged = check_raw_outputs(run_dir), store_problem(run_dir)
    signed = check_signed(run_dir, (), allowed, raw=True) if allowed else None
    kept = [f"{run_dir / 'store'}: {damaged}; for tables that are: bench rebuild"] if damaged else []
    is_signed = signed is None or signed.holds
    is_sound = not found.problems and not kept
    document: dict[str, Any] = {
        "brief": None,
        "run": str(run_dir),
        "holds": is_signed and is_sound,
        "raw_files": found.files,
        "raw": found.problems,
        "kept": kept,
    }
    if signed:
        document["signed"] = asdict(signed)
    if not quiet:
        state = f"{len(found.problems):,} missing or changed" if found.problems else "as recorded"
        show(one_line(f"{run_dir.name}: raw outputs: {plural(found.files, 'file')}, {state}"))
        warn_of_first([*kept, *found.problems.values()])
        if signed:
            show_signature(signed)
    if not is_signed or not is_sound:
        return document, ExitCode.SPEC_WRONG if not is_signed else ExitCode.CELL_FAILED
    if is_enough or not load_plan(run_dir).reports:
        return document, ExitCode.DONE
    hint = f"make it first: bench report {run_name(run_dir)}; --raw looks at the raw outputs alone"
    return document, fail(f"{run_dir.name} has no brief in its folder", hint).exit_code


def code_of_kept(files: KeptFiles) -> ExitCode:
    """Return how the command ends for these files of a run."""
    if files.edited:
        return ExitCode.SPEC_WRONG
    return ExitCode.CELL_FAILED if files.missing or files.unrecorded else ExitCode.DONE


def show_kept(run_dir: Path, files: KeptFiles, not_looked_at: str) -> None:
    """Show what was not looked at of a run, then its raw outputs and the files of its reports."""
    looked = f"not looked at: {not_looked_at}" if not_looked_at else "all that it keeps is looked at"
    show(one_line(f"{run_dir.name}: {looked}"))
    there = f"{len(files.missing):,} missing" if files.missing else "none missing"
    wrong = len(files.edited) + len(files.unrecorded)
    state = f"{wrong:,} edited, or not recorded" if wrong else "as they were made"
    reports = f"; reports: {plural(files.reports, 'file')}, {state}" if files.reports else ""
    show(f"raw outputs: {plural(files.raw, 'file')}, {there}{reports}")
    warn_of_first([*files.edited, *files.unrecorded, *files.missing])


def show_signature(signed: SignedCheck) -> None:
    """Show the verdict on a signature, and what differs from what was signed."""
    verdict = signed.verdict
    key = f" ({verdict.key})" if verdict.key else ""
    match verdict.state:
        case "holds":
            count = len(signed.differing)
            are = "is" if count == 1 else "are"
            state = "as it was signed" if not count else f"{plural(count, 'file')} {are} not as signed"
            show(one_line(f"signed by {verdict.signer}{key}: {state}"))
        case "unknown":
            warn(one_line(f"the run is signed by a key that is not among the allowed signers{key}"))
        case "wrong":
            warn("the signature of the run does not fit: it is of something else, or its manifest was changed")
        case "absent":
            warn("the run is not signed: nobody vouches for it; `bench push --sign KEY` signs it")
    warn_of_first(signed.differing)


def warn_of_first(lines: Sequence[str]) -> None:
    """Show the first lines as warnings, and count the others; `--json` has them all."""
    for line in lines[:_MOST]:
        warn(one_line(line))
    if len(lines) > _MOST:
        warn(f"and {len(lines) - _MOST:,} more; --json has them all")
