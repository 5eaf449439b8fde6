"""How `bench run` and `bench resume` end: what failed and why, where the brief is, what to type next."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from benchbrief.earlier import reused_as_dict
from benchbrief.pipeline import Finished, run_plan, said
from benchbrief.progress import Progress
from benchbrief.terminal import ExitCode, Stop, printable, use_colour


def run_and_tell(run_dir: Path, progress: Progress, *, report: bool, as_json: bool) -> None:
    """Run a run's plan, tell how it ended, and stop with its exit code."""
    finished = run_plan(run_dir, progress, report=report)
    if as_json:
        click.echo(json.dumps(as_dict(finished), indent=1, ensure_ascii=False))
    else:
        tell(finished)
    if finished.code is not ExitCode.DONE:
        raise Stop(finished.code)


def as_dict(finished: Finished) -> dict[str, object]:
    return {
        "run": finished.run_dir.name,
        "directory": str(finished.run_dir),
        "status": finished.status,
        "message": finished.message,
        "exit_code": int(finished.code),
        "reused": reused_as_dict(finished.reused),
        "failed": [{"cell": cell, "reason": reason} for cell, reason in finished.failed.items()],
        "expects": [
            {"expect": verdict.text, "holds": verdict.holds, "detail": verdict.detail, "origin": verdict.origin}
            for verdict in finished.verdicts
        ],
        "reports": {name: [str(path) for path in paths] for name, paths in finished.reports.items()},
    }


def tell(finished: Finished) -> None:
    paint = use_colour(sys.stdout)

    def say(text: str, colour: str | None = None) -> None:
        click.echo(click.style(printable(text), fg=colour) if paint and colour else printable(text), color=paint)

    colour = {"done": "green", "failed": "red"}.get(finished.status, "yellow")
    say(f"\nrun {finished.run_dir.name}: {finished.status}, {finished.message}", colour)
    for cell, reason in finished.failed.items():
        say(f"  failed  {cell}: {reason}", "red")
    for verdict in finished.verdicts:
        if verdict.holds is not True:
            word = "does not hold" if verdict.holds is False else "can't be known"
            say(f"  expect {word}: {verdict.text} ({verdict.detail}) at {verdict.origin}", "red")
    for paths in finished.reports.values():
        for path in paths:
            say(f"{path.suffix[1:].upper():<5} {path}")
    if finished.status == "interrupted":
        say(f"go on with: bench resume {said(finished.run_dir)}")
    elif finished.status == "failed":
        say(f"outputs are kept in {finished.run_dir / 'raw'}")
        say(f"try the failed cells again with: bench resume {said(finished.run_dir)}")
