"""`bench status`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.pipeline import said
from benchbrief.progress import duration
from benchbrief.run_options import chosen_run, out_option, run_argument
from benchbrief.terminal import printable, use_colour, warn

if TYPE_CHECKING:
    from benchbrief.results.summary import RunStatus

_COLOURS = {
    "done": "green",
    "ok": "green",
    "failed": "red",
    "interrupted": "yellow",
    "running": "cyan",
    "skipped": "bright_black",
}


@click.command(
    epilog="""
\b
Examples:
  bench status                 the last run, also while it goes on in another shell
  bench status --all           every run of the folder
  bench status 20260301 --json
"""
)
@run_argument
@out_option
@click.option("--all", "every", is_flag=True, help="One line for each run.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(run: str | None, out: Path, every: bool, as_json: bool) -> None:
    """Show how far RUN (the last one by default) has come: each cell's state, what failed and why, the time left."""
    from benchbrief.results.summary import summarise

    runs = list(_all(out)) if every else [summarise(chosen_run(out, run))]
    if as_json:
        documents = [asdict(each) for each in runs]
        click.echo(json.dumps(documents if every else documents[0], indent=1, default=str, ensure_ascii=False))
        return
    paint = use_colour(sys.stdout)

    def state(word: str, width: int = 0) -> str:
        return click.style(f"{word:<{width}}", fg=_COLOURS.get(word)) if paint else f"{word:<{width}}"

    for each in runs:
        taken = f" ({each.reused} of them by earlier runs)" if each.reused else ""
        left = f", about {duration(each.remaining_s)} left" if each.remaining_s else ""
        skipped = f"{each.skipped} not needed, " if each.skipped else ""
        click.echo(
            f"{each.run_id}  {state(each.status, 11)} {each.done}/{each.total} cells done{taken}, "
            f"{each.failed} failed, {skipped}{duration(each.elapsed_s)}{left}"
        )
        if every:
            continue
        for cell in each.cells:
            detail = (
                f"{cell.ops_per_s:>12,.0f} ops/s"
                if cell.ops_per_s is not None
                else printable(cell.reason or cell.step or "")
            )
            if cell.reused_from:
                detail += f"  from run {printable(cell.reused_from)}"
            click.echo(f"  {state(cell.status, 8)} {cell.cell_id:<44} {detail}")
        if each.status in ("interrupted", "failed"):
            click.echo(f"go on with: bench resume {said(Path(each.directory))}")


def _all(out: Path) -> Iterator[RunStatus]:
    """A run that can't be read, such as one of another version, does not hide the others."""
    from benchbrief.results.runs import list_runs
    from benchbrief.results.summary import summarise
    from benchbrief.runners.seams import RunnerError

    for path in list_runs(out):
        try:
            yield summarise(path)
        except RunnerError as error:
            warn(str(error))
