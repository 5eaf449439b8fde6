from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import OUT
from benchbrief.cli.store_options import run_progress, trend_rules
from benchbrief.cli.terminal import Stop, exit_codes, show, show_json, warn
from benchbrief.dsl.bench_error import ExitCode


@click.command(
    epilog="""
\b
Examples:
  bench site --to site                            the runs of this folder
  bench site --from file:///srv/bench --to /srv/www/bench
  bench site --from s3://lab/bench --to site --title "Storage lab"
  bench site --to site --language ja

The pages need no server and no network: open index.html, or put the folder on a file share. Run the command again after
new runs: it reads and renders only what is new or has changed.

"""
    + exit_codes(ExitCode.DONE, ExitCode.USAGE, ExitCode.BRIEF_NOT_MADE)
)
@click.option(
    "--from",
    "place",
    default=OUT,
    show_default=True,
    metavar="STORE|FOLDER",
    help="The runs: a folder of them, or a shared store such as s3://bucket/prefix.",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder of the site: an empty one, one to be made, or that of an earlier site.",
)
@click.option("--title", default="Benchmarks", show_default=True, help="What the site is called.")
@click.option("--language", type=click.Choice(["en", "ja"]), default="en", show_default=True, help="That of the pages.")
@trend_rules
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def command(
    place: str, to: Path, title: str, language: str, across: tuple[str, ...], verdicts: Path, as_json: bool
) -> None:
    """Make a web site of all runs of a folder or a store: briefs, trends, comparisons and hardware.

    Trends are those of `bench trend`: the same series, changes, control groups and verdicts. If a run can't be read,
    the site names it. Files in DIR that do not belong to the site are never touched.
    """
    from benchbrief.history.many_runs import run_place
    from benchbrief.history.series_changes import read_verdicts
    from benchbrief.history.site.render_site import render_site
    from benchbrief.history.site.site_folder import open_site
    from benchbrief.history.site.site_trends import TrendRules
    from benchbrief.reports.words.brief_words import words

    rules = TrendRules(across, read_verdicts(verdicts))
    runs = run_place(place)
    runs.stamps()  # if there are no runs, fail before making a folder
    folder = open_site(to, place)
    with run_progress("reading runs", quiet=as_json) as progress:
        made = render_site(runs, folder, title, words(language), rules, progress)
    index = to / "index.html"
    if as_json:
        broken = [{"run": run.id, "problem": run.problem} for run in made.broken]
        counts = {"runs": made.runs, "read": made.read, "written": made.written}
        show_json(
            {"site": str(index), **counts, "broken": broken, "kept": list(made.kept), "problems": list(made.problems)}
        )
    else:
        show(f"{index}: {made.runs} runs, {made.read} of them read, {made.written} files written")
        for run in made.broken:
            warn(f"run {run.id} can't be read: {run.problem}")
        for text in made.problems:
            warn(f"a brief is left out: {text}")
        for name in made.kept:
            warn(f"{to / name} is no longer of the site, but was changed: it is left as it is")
    if made.problems:
        raise Stop(ExitCode.BRIEF_NOT_MADE)
