"""How `bench run` and `bench resume` end: what was done, what failed and why, where the brief is, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from benchbrief.ci.verdict_files import run_cases, run_markdown, verdict_options, write_markdown, write_verdicts
from benchbrief.cli.run_options import SHORT, SIMULATED, F, metrics_option, run_name, wait_option, with_options
from benchbrief.cli.store_options import STORE
from benchbrief.cli.terminal import Stop, show, show_json
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.model.cell_history import is_candidate_left_out, is_refused
from benchbrief.model.precision import share_text
from benchbrief.progress.earlier_results import Retake, budget_advice, reused_as_dict
from benchbrief.progress.finished_run import Finished, not_run, short_text
from benchbrief.progress.run_progress import Progress
from benchbrief.progress.searched_rates import sentence
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.results.ingest.ingest_run import promised
from benchbrief.results.ingest.sample_coverage import COMPLETE
from benchbrief.results.runs.times_taken import TimeCompared, compare_times
from benchbrief.runners.execution.retries import NotTried, shape_of_failure

if TYPE_CHECKING:
    from benchbrief.results.analysis.expectation_verdicts import Verdict
    from benchbrief.results.analysis.promised_rates import Promised
    from benchbrief.results.ingest.run_evidence import Evidence
    from benchbrief.results.ingest.sample_coverage import Patchy

_ALIKE = 3
"""More failed cells than these with one reason are shown together."""
_MOST = 8
"""More warnings or kept expectations than these are counted only."""


class Ending(TypedDict):
    no_report: bool
    quiet: bool
    wait: bool
    metrics: Path | None
    junit: Path | None
    markdown: Path | None
    push: str | None
    as_json: bool


def ending_options(function: F) -> F:
    """The options of a command that runs cells, to be passed on to `run_and_report`."""
    return with_options(
        function,
        click.option("--no-report", is_flag=True, help="Keep the results, render nothing."),
        click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
        wait_option,
        metrics_option,
        verdict_options,
        click.option(
            "--push",
            metavar="URL",
            envvar=STORE,
            show_envvar=True,
            help="Push the run to a shared store when it has ended; when that is away, later: bench push --queued.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON."),
    )


def run_and_report(
    run_dir: Path, progress: Progress, asked: Ending, warned: Iterable[str] = (), retake: Retake | None = None
) -> None:
    """Run a run's plan, tell how it ended, also in files for a build server, and stop with its exit code.

    `warned` holds the warnings given before the run began. The end of the run repeats them. `retake`
    is as for `run_plan`.
    """
    from benchbrief.pipeline import run_plan

    note_simulation(run_dir, progress)
    report = not asked["no_report"]
    finished = run_plan(run_dir, progress, report=report, metrics=asked["metrics"], wait=asked["wait"], retake=retake)
    report_as_asked(finished, asked, warned)


def note_simulation(run_dir: Path, progress: Progress) -> None:
    from benchbrief.runners.journal.run_folder import simulation_of

    if simulation_of(run_dir):
        progress.note(SIMULATED)


def report_as_asked(finished: Finished, asked: Ending, warned: Iterable[str]) -> None:
    """Push a run that has ended, tell how as the options of the command say, and stop with its exit code."""
    if asked["push"] and finished.status != "interrupted":
        from benchbrief.running.push_or_queue import push_or_explain

        if problem := push_or_explain(finished.run_dir, asked["push"]):
            warned = (*warned, problem)
    report_end(
        finished,
        report=not asked["no_report"],
        as_json=asked["as_json"],
        junit=asked["junit"],
        markdown=asked["markdown"],
        warned=warned,
    )


def report_end(
    finished: Finished,
    *,
    report: bool,
    as_json: bool,
    junit: Path | None = None,
    markdown: Path | None = None,
    warned: Iterable[str] = (),
) -> None:
    """Tell how a run ended, also in files for a build server, and stop with its exit code."""
    from benchbrief.results.ingest.run_evidence import read_evidence

    evidence = finished.evidence or read_evidence(finished.run_dir, finished.plan)
    summary = summarise_end(finished, evidence, report=report)
    summary = replace(summary, warnings=(*summary.warnings, *((text, 0) for text in warned)))
    if as_json:
        show_json(as_dict(finished, summary))
    else:
        tell(finished, summary)
    write_verdicts(finished.run_dir.name, list(run_cases(finished, evidence)), junit)
    write_markdown(run_markdown(finished, summary.counts), markdown)
    if finished.code is not ExitCode.DONE:
        raise Stop(finished.code)


@dataclass(frozen=True)
class Summary:
    """`counts` are cells by what became of them; `warnings` pairs each with how many cells it is of (0: of the run).

    `next` pairs what can be done with the command for it.
    """

    counts: Mapping[str, int]
    warnings: tuple[tuple[str, int], ...]
    next: tuple[tuple[str, str], ...]
    promises: tuple[Promised, ...] = ()
    """What searches for promises found."""
    times: TimeCompared | None = None
    """What the run took against its estimate; None where there is none, and for an interrupted run."""


def summarise_end(finished: Finished, evidence: Evidence, *, report: bool) -> Summary:
    verdicts = evidence.verdicts
    not_chosen = sum(is_candidate_left_out(each.reason) for each in verdicts)
    refused = sum(is_refused(each.reason) for each in verdicts)
    counts = {
        "ok": sum(each.status == "ok" for each in verdicts),
        "failed": sum(each.status == "failed" for each in verdicts),
        "refused": refused,
        "without room": sum(each.no_room == "point" for each in verdicts),
        "skipped": sum(each.status == "skipped" for each in verdicts) - not_chosen - refused,
        "not run": not_run(evidence),
        "retried": len(evidence.record.retried),
        "reused": len(finished.reused),
    }
    warnings: dict[str, int] = {}
    # Of a cell, the remarks of its last attempt alone count; the journal does not tell attempts apart in them.
    for cell, remarks in evidence.remarks.items():
        for remark in dict.fromkeys(each.text for each in remarks if each.severity == "warning"):
            warnings[remark] = warnings.get(remark, 0) + (cell is not None)
    times = None if finished.status == "interrupted" else compare_times(finished.run_dir, evidence.plan)
    promises = tuple(promised(ended, evidence.plan) for ended in evidence.record.promises.values())
    return Summary(counts, tuple(warnings.items()), tuple(_next(finished, evidence, report=report)), promises, times)


def _next(finished: Finished, evidence: Evidence, *, report: bool) -> Iterable[tuple[str, str]]:
    """What helps: a resumption where cells are missing, a look at the hosts where no job ever ran, and so on."""
    if finished.next_steps is not None:
        yield from finished.next_steps
        return
    run, spec = run_name(finished.run_dir), shlex.quote(evidence.plan.spec.name)
    profile = f" --profile {shlex.quote(evidence.plan.spec.profile)}" if evidence.plan.spec.profile else ""
    failed = [each for each in evidence.verdicts if each.status == "failed"]
    if finished.lost:
        again = f"bench merge {run}" if any(start.merged for start in evidence.starts) else f"bench rebuild {run}"
        yield "put the files back from a copy (the numbers read from them are missing), then", again
    if not finished.made and evidence.plan.reports:
        yield "what was measured is kept; make the brief with", f"bench report {run}"
    if finished.status == "interrupted":
        yield "go on with", f"bench resume {run}"
    elif failed and finished.simulated:
        if _fails_for_good(evidence):
            yield "simulate again, without what makes cells fail, with", f"bench run {spec}{profile} --simulate"
        elif any(each.by_plan for each in failed):
            yield "mend the spec, and simulate it again with", f"bench run {spec}{profile} --simulate"
        else:
            yield "try the failed cells again with", f"bench resume {run}"
    elif failed:
        passing = [each for each in failed if not each.by_plan]
        unclear = [each for each in passing if not each.by_host]
        again = f"bench run {spec}{profile}"
        if any(not each.jobs and getattr(each.reason, "code", "") != NotTried.code for each in passing):
            yield "see what is missing on the hosts with", f"bench doctor {spec}{profile}"
        if len(passing) < len(failed):
            yield "mend the spec, and run what is not measured yet with", again
        elif unclear:
            yield "if the spec is the cause, mend it, and run what is not measured yet with", again
        if unclear:
            yield "if a host is the cause, mend it, and try the failed cells again with", f"bench resume {run}"
        elif passing:
            yield "once that is mended, try the failed cells again with", f"bench resume {run}"
    elif finished.without_room:
        pass
    elif not evidence.plan.reports:
        yield "add a `report` block to the spec, and make a brief with", f"bench report {run} --spec {spec}"
    elif not report:
        yield "render the brief with", f"bench report {run}"
    elif finished.undrawn:
        yield "render the brief again with", f"bench report {run}"
    elif finished.code is ExitCode.EXPECT_FAILED:
        yield "measure all of it again with", f"bench run {spec}{profile} --fresh"
    if finished.without_room:
        mode = " --simulate" if finished.simulated else ""
        yield budget_advice(evidence.plan, f"bench run {spec}{profile}{mode}", simulated=finished.simulated)


def _fails_for_good(evidence: Evidence) -> bool:
    """Whether a simulated run was asked to let cells fail each time: tried again, they fail again."""
    simulated = evidence.simulated
    return simulated is not None and (simulated.errors > 0 or any(each.share >= 1 for each in simulated.failing))


_OF_VERDICT = ("label", "holds", "decided", "detail", "origin")


def as_dict(finished: Finished, summary: Summary) -> dict[str, object]:
    return {
        "run": finished.run_dir.name,
        "directory": str(finished.run_dir),
        "simulated": finished.simulated,
        "status": finished.status,
        "message": finished.message,
        "exit_code": int(finished.code),
        "cells": dict(summary.counts),
        "reused": reused_as_dict(finished.reused),
        "time": summary.times and summary.times.as_dict(),
        "failed": [{"cell": cell, "reason": reason} for cell, reason in finished.failed.items()],
        "without_room": [{"cell": cell, "reason": reason} for cell, reason in finished.without_room.items()],
        "warnings": [{"text": text, "cells": cells} for text, cells in summary.warnings],
        "sampled": [each._asdict() for each in finished.sampled],
        "promises": [found.as_dict() for found in summary.promises],
        "expects": [
            {"expect": each.text, **{name: getattr(each, name) for name in _OF_VERDICT}} for each in finished.verdicts
        ],
        "reports": {name: [str(path) for path in paths] for name, paths in finished.reports.items()},
        "made": finished.made,
        "lost": list(finished.lost),
        "undrawn": list(finished.undrawn),
        "next": [{"to": what, "type": command} for what, command in summary.next],
    }


def tell(finished: Finished, summary: Summary) -> None:
    run = run_name(finished.run_dir)
    mark = f" ({SHORT})" if finished.simulated else ""
    colour = {"done": "green", "failed": "red"}.get(finished.status, "yellow")
    show()
    show(f"run {finished.run_dir.name}: {finished.status}, {finished.message}{mark}", colour=colour)
    counted = [f"{count} {what}" for what, count in summary.counts.items() if count]
    if len(counted) > 1:
        show(f"  cells   {', '.join(counted)}")
    if summary.times:
        show(f"  time    {short_text(summary.times)}")
    for each in summary.promises:
        if said := sentence(each):
            show(f"  found   {said}")
    for what, missing in (("failed ", finished.failed), ("no room", finished.without_room)):
        for cells, reason in grouped(missing):
            if len(cells) <= _ALIKE:
                for cell in cells:
                    show(f"  {what} {cell}: {missing[cell]}", colour="red")
            else:
                show(f"  {what} {len(cells)} cells, from {cells[0]} to {cells[-1]}: {reason}", colour="red")
    warnings = merge_remarks(("warning", text, cells) for text, cells in summary.warnings)
    for _, text, count in warnings[:_MOST]:
        show(f"  warning {text}" + (f" ({count} cells)" if count > 1 else ""), colour="yellow")
    if len(warnings) > _MOST:
        where = "all in the brief" if finished.reports else "for all: " + f'bench query --run {run} "FROM notes"'
        show(f"  warning and {len(warnings) - _MOST} more, {where}", colour="yellow")
    for probe in finished.sampled:
        show(f"  warning {_sampled(probe)}", colour="yellow")
    if finished.simulated:
        for verdict in finished.verdicts[:_MOST]:
            show(f"  {verdict.of_simulated}")
        judged: Sequence[Verdict] = ()
    else:
        judged = finished.verdicts
    kept = [verdict for verdict in judged if verdict.holds is True and verdict.decided is not False]
    for verdict in kept if len(kept) <= _MOST else ():
        show(f"  expect holds: {verdict.name} ({verdict.detail})", colour="green")
    if len(kept) > _MOST:
        show(f"  expect holds: {len(kept)} of {len(judged)} expectations", colour="green")
    for verdict in judged:
        if verdict not in kept:
            show(f"  {verdict.warning}", colour="yellow" if verdict.holds else "red")
    for text in finished.lost[:_MOST]:
        show(f"  missing {text}", colour="red")
    if len(finished.lost) > _MOST:
        show(f"  missing and {len(finished.lost) - _MOST} more, for all: bench rebuild {run}", colour="red")
    for text in finished.undrawn:
        show(f"  missing {text}", colour="red")
    for paths in finished.reports.values():
        for path in paths:
            if path.suffix not in (".csv", ".svg"):
                show(f"{path.suffix[1:].upper():<5} {path}")
        for folder in dict.fromkeys(path.parent for path in paths if path.suffix == ".csv"):
            show(f"CSV   {folder}")
    if summary.counts["failed"]:
        show(f"outputs are kept in {finished.run_dir / 'raw'}")
    for what, command in summary.next:
        show(f"{what}: {command}")


def _sampled(probe: Patchy) -> str:
    every = plural(probe.of, "cell")
    if probe.without:
        return f"{probe.probe} was not sampled in {probe.without} of {every}, such as {probe.cell}"
    return (
        f"{probe.probe} was sampled for {share_text(probe.share)} of the measured time in {probe.cell}, "
        f"and for less than {share_text(COMPLETE)} in {probe.cells} of {every}"
    )


def grouped(failed: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Cells that failed for one reason, whatever the numbers in it; the reason is the first one's."""
    groups: dict[Hashable, tuple[list[str], str]] = {}
    for cell, reason in failed.items():
        groups.setdefault(shape_of_failure(cell, reason), ([], reason))[0].append(cell)
    return list(groups.values())
