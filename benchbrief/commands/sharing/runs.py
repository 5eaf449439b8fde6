from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import out_option
from benchbrief.cli.store_options import from_option
from benchbrief.cli.terminal import one_line, show, show_json, show_lines, warn

if TYPE_CHECKING:
    from benchbrief.history.shared_store.listed_runs import ListedRun

_NONE = "–"


@click.command(
    epilog="""
\b
Examples:
  bench runs                            those of bench-out
  bench runs --from s3://lab-results/nightly
  bench runs --from file:///srv/bench --tag release
  bench runs --from s3://lab/nightly --json | jq -r '.[].run'
"""
)
@from_option
@out_option
@click.option("--tag", metavar="TAG", help="Only runs with this tag.")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
def command(url: str | None, out: Path, tag: str | None, as_json: bool) -> None:
    """List the runs of a shared store, or of the folder of runs: when, what, where, and how many cells are good.

    Times are UTC. `signed` means that there is a signature; `bench verify --allowed-signers` checks it.
    """
    found = [each for each in _found(url, out) if tag is None or tag in each.tags]
    if as_json:
        show_json([_as_dict(each) for each in found])
    elif not found:
        show("no runs")
    else:
        from benchbrief.results.query import to_text
        from benchbrief.results.store.user_query import QueryAnswer

        columns = ("run", "measured", "title", "hardware", "cells", "state", "origin", "tags", "signed")
        rows = tuple(_row(each) for each in found)
        show_lines(to_text(QueryAnswer(columns, ("VARCHAR",) * len(columns), rows)) + "\n")


def _found(url: str | None, out: Path) -> list[ListedRun]:
    from benchbrief.history.shared_store.listed_runs import ListedRun, runs_in_folder, runs_in_store
    from benchbrief.history.shared_store.shared_store import open_store

    if url is None:
        listed = list(runs_in_folder(out))
        problems = [str(each) for each in listed if not isinstance(each, ListedRun)]
        found = [each for each in listed if isinstance(each, ListedRun)]
    else:
        store = open_store(url)
        found = runs_in_store(store)
        problems = [f"{problem} ({problem.hint})" for problem in store.problems]
    for problem in problems:
        warn(one_line(problem))
    return found


def _row(run: ListedRun) -> tuple[str, ...]:
    cells = f"{run.good} of {run.total}" + (f", {run.failed} failed" if run.failed else "")
    return (
        run.run,
        f"{run.measured_at:%Y-%m-%d %H:%M}",
        run.title,
        ", ".join(run.hardware),
        cells,
        run.state,
        run.origin,
        ", ".join(run.tags) or _NONE,
        "yes" if run.signed else _NONE,
    )


def _as_dict(run: ListedRun) -> dict[str, object]:
    pushed = run.pushed_at and run.pushed_at.isoformat()
    return {**asdict(run), "measured_at": run.measured_at.isoformat(), "pushed_at": pushed}
