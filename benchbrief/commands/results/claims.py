"""`bench claims`: the claims of a run's briefs, and the evidence for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import chosen_run, open_results, out_option, run_argument
from benchbrief.cli.terminal import Stop, exit_codes, fail, one_line, show, show_data, show_json, show_wrapped
from benchbrief.dsl.bench_error import ExitCode

if TYPE_CHECKING:
    from benchbrief.history.read_series import Origin
    from benchbrief.model.plan import Plan


@click.command(
    epilog="""
\b
Examples:
  bench claims                     the claims of the last run's briefs
  bench claims 20260301 --json     of another run, for other programs
  bench claims --spec brief.bench  as the spec says them now
  bench claims --csv > claims.csv  a sheet for those who sign it

"""
    + exit_codes(ExitCode.DONE, ExitCode.SPEC_WRONG, ExitCode.USAGE, ExitCode.CELL_FAILED, ExitCode.EXPECT_FAILED)
)
@run_argument
@out_option
@click.option("--spec", type=click.Path(path_type=Path), help="Take claims, metrics and reports from this spec.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print as CSV; a formula of a spreadsheet becomes text.")
def command(run: str | None, out: Path, spec: Path | None, as_json: bool, as_csv: bool) -> None:
    """Show each claim of the briefs of RUN (the last one by default), its number, and whether the repeats decide it.

    The claims of one brief are judged together. If a claim is not decided, the brief does not state it, and says so in
    its place. `docs/claims.md` has the rules.
    """
    from benchbrief.cli.spec_options import with_reports_of
    from benchbrief.reports.claims_sheet import COLUMNS, claims_sheet
    from benchbrief.results.query import rows_to_csv
    from benchbrief.runners.journal.run_folder import load_plan

    if as_json and as_csv:
        raise fail("--json and --csv are two formats for one answer", "leave out one")
    run_dir = chosen_run(out, run)
    plan = load_plan(run_dir)
    if spec is not None:
        _, plan = with_reports_of(spec, plan)
    if not plan.claims:
        hint = 'write one: claim gain "{value:.1f}X the work" { value = max(ratio over threads) }; see docs/claims.md'
        raise fail(f"the spec of {run_dir.name} has no `claim`", hint)
    with open_results(run_dir) as results:
        sheet, simulated = claims_sheet(plan, results), results.simulated
        origin: Origin = "imported" if results.imported else "simulated" if simulated else "measured"
    held = {} if spec is not None or as_csv else _held(run_dir, plan, origin)
    if as_json:
        runs = {name: {"held": count, "of": of} for name, (count, of) in held.items()}
        claims = [{**row.document(), "sha256": row.digest, "runs": runs.get(row.verdict.claim.name)} for row in sheet]
        show_json({"run": run_dir.name, "simulated": simulated, "claims": claims})
    elif as_csv:
        show_data(rows_to_csv(COLUMNS, [row.cells() for row in sheet]).encode())
    else:
        if simulated:
            show_wrapped("Simulated: nothing was measured, so no claim of this run can be published.")
        for row in sheet:
            show(one_line(f"{row.name}: {row.judged}"))
            for line in (row.sentence, *row.lines, f"SHA-256: {row.digest}"):
                show_wrapped(f"  {line}")
            count, of = held.get(row.verdict.claim.name, (0, 0))
            if of > 1:
                show_wrapped(f"  held in {count} of the {of} runs of its series (`bench trend claim` shows them)")
        _show_briefs(plan)
        show("\napproved by: ______________________   on: ____________   signature: ______________________")
    states = {row.verdict.state for row in sheet}
    if "missing" in states:
        raise Stop(ExitCode.CELL_FAILED)
    if any(not row.verdict.is_said for row in sheet):
        raise Stop(ExitCode.EXPECT_FAILED)


def _show_briefs(plan: Plan) -> None:
    """For each brief, show the rules that its titles override, and its legal text."""
    from benchbrief.reports.claims_sheet import lines_of_brief
    from benchbrief.reports.words.brief_words import CATALOGUES

    for report in plan.reports:
        show(one_line(report.name))
        for line in lines_of_brief(report, plan, CATALOGUES["en"]):
            show_wrapped(f"  {line}")


def _held(run_dir: Path, plan: Plan, origin: Origin) -> dict[str, tuple[int, int]]:
    """For each claim, return in how many runs like this one the numbers supported the claim, and how many such runs
    there are."""
    from benchbrief.cli.store_options import run_progress
    from benchbrief.history.read_series import SeriesChoice, read_series
    from benchbrief.history.series_cache import RunFolder, open_series
    from benchbrief.history.series_rows import CLAIM
    from benchbrief.model.held_out import number_of
    from benchbrief.results.store_errors import ResultsError

    choice = SeriesChoice((CLAIM.rstrip("."),), spec=Path(plan.spec.name).name, origin=origin)
    try:
        with run_progress("reading runs") as progress, open_series(RunFolder(run_dir.parent), progress) as table:
            found = read_series(table, choice)
    except ResultsError:  # no run has ended yet
        return {}
    kept: dict[str, tuple[int, int]] = {}
    for series in found.series:
        for part in series.parts:
            if run_dir.name in {each.run_id for each in part.values}:
                held = sum(each.doubt.decided for each in part.known)
                kept[series.quantity.removeprefix(CLAIM)] = held, len(part.values)
    of_number = {number_of(each): kept[each.name] for each in plan.claims if each.name in kept}
    return {each.name: pair for each in plan.claims if (pair := of_number.get(number_of(each)))}
