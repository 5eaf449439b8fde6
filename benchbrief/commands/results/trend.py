from __future__ import annotations

import sys
from pathlib import Path
from typing import Unpack

import click

from benchbrief.cli.sections import CHOSEN_RUNS, SectionedCommand
from benchbrief.cli.store_options import History, history_options, read_history
from benchbrief.cli.terminal import columns_of, exit_codes, fail, one_line, show, show_json, show_wrapped
from benchbrief.dsl.bench_error import ExitCode


@click.command(
    cls=SectionedCommand,
    sections={"Runs and points": CHOSEN_RUNS},
    epilog="""
\b
Examples:
  bench trend                                 what changed, in all quantities
  bench trend --all                           all of them, changed or not
  bench trend throughput --where hardware=nvme --where threads=8
  bench trend latency.p99 --from s3://bench/nightly --html trend.html
  bench trend claim                           the claims: how often they held
  bench trend --across 'database version'     the version is what is tested

A series is one quantity at one point of a spec and profile. Another environment (host facts, versions of tools and
servers) or another definition begins a new part of it, which is never compared with the part before. Changes are found
by E-divisive means with a t test. A change that hardware with `control = true` shows too is said to be the lab's.

"""
    + exit_codes(ExitCode.DONE, ExitCode.USAGE),
)
@click.argument("metrics", nargs=-1, metavar="[METRIC]...")
@history_options
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write charts to FILE, one page that needs no network.",
)
@click.option("--all", "every", is_flag=True, help="Show all series, not only those that changed.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(metrics: tuple[str, ...], html: Path | None, every: bool, as_json: bool, **asked: Unpack[History]) -> None:
    """Show which quantities changed over all runs: where, when, by how much, and how sure that is.

    The last line counts the series that did not change or can't be judged. --json and --html have all series.

    METRIC is throughput, latency.p99, latency.p99[read], errors, sustained, a metric of the spec, or
    claim (claim.NAME).
    """
    from benchbrief.comparing.trend_output import (
        as_dict,
        changed_series,
        name_redefinitions,
        select_series,
        trend_lines,
    )
    from benchbrief.history.series_changes import read_verdicts, trend_of
    from benchbrief.results.store.searched_doubts import explain_marks

    verdicts = read_verdicts(asked["verdicts"])
    found = read_history(asked, metrics)
    shown, left_out = select_series(found.series, named=bool(metrics) or as_json)
    named = name_redefinitions(shown, Path(asked["place"]))
    trends = [trend_of(series, found.controls, verdicts) for series in named]
    signs = explain_marks(each.doubt for series in shown for part in series.parts for each in part.known)
    notes = (*found.notes, *left_out, *([signs] if signs else ()))
    if html is not None:
        from benchbrief.history.site.trend_page import trend_page

        try:
            html.parent.mkdir(parents=True, exist_ok=True)
            html.write_text(trend_page(trends, notes), encoding="utf-8")
        except OSError as error:
            raise fail(f"{html} can't be written: {error.strerror}", "name a file that can be") from error
    if as_json:
        show_json(as_dict(trends, notes))
        return
    changed, counts = changed_series(trends)
    for line, colour in trend_lines(trends if every else changed, columns_of(sys.stdout) or 100):
        show(one_line(line) if line.strip() else "", colour=colour)
    show()
    if trends and not every:
        show_wrapped(counts, indent=2)
    for note in notes:
        show_wrapped(f"note: {one_line(note)}", indent=6)
    if html is not None:
        show(f"wrote {html}")
