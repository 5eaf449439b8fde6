"""Prints the final output of `bench run` and `bench resume`: results, failures with reasons, the brief, and what to
type next."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import click

from benchbrief.cli.run_options import SHORT, SIMULATED, F, metrics_option, run_name, wait_option, with_options
from benchbrief.cli.store_options import STORE
from benchbrief.cli.terminal import Stop, show, show_json, show_wrapped
from benchbrief.cli.verdict_files import verdict_options, write_markdown, write_verdicts
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.precision import COMPLETE, share_text
from benchbrief.model.run_record import is_candidate_left_out, is_refused
from benchbrief.progress.earlier_results import Retake, budget_advice, reused_as_dict
from benchbrief.progress.finished_run import (
    Finished,
    not_run,
    result_lines,
    run_cases,
    run_markdown,
    sentence,
    short_text,
)
from benchbrief.progress.run_progress import Progress
from benchbrief.reports.text.merged_remarks import busy_host, merge_remarks
from benchbrief.results.ingest.ingest_run import promised
from benchbrief.results.runs.times_taken import TimeCompared, compare_times
from benchbrief.runners.execution.retries import NotTried, shape_of_failure

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.results.analysis.cautions import Patchy
    from benchbrief.results.analysis.promised_rates import Promised
    from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence

_ALIKE = 3
"""If more cells than this fail for one reason, they are shown together."""
_MOST = 8
"""The most warnings, and the most kept expectations, to show. Further ones are only counted."""


class EndingOptions(TypedDict):
    no_report: bool
    quiet: bool
    wait: bool
    metrics: Path | None
    junit: Path | None
    markdown: Path | None
    push: str | None
    as_json: bool


def ending_options(function: F) -> F:
    """The options of a command that are passed on to `run_and_report`."""
    return with_options(
        function,
        click.option("--no-report", is_flag=True, help="Keep the results, but make no brief."),
        click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
        wait_option,
        metrics_option,
        verdict_options,
        click.option(
            "--push",
            metavar="URL",
            envvar=STORE,
            show_envvar=True,
            help="Push the run to a shared store when it has ended.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON."),
    )


def run_and_report(
    run_dir: Path, progress: Progress, asked: EndingOptions, warned: Iterable[str] = (), retake: Retake | None = None
) -> None:
    """Run a run's plan, report how it ended, and stop with its exit code. The report includes files for a build server.

    `warned` are the warnings given before the run started. They are repeated at its end. `retake` is as for `run_plan`.
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


def report_as_asked(finished: Finished, asked: EndingOptions, warned: Iterable[str]) -> None:
    """Push a finished run, report it as the command's options say, and stop with its exit code."""
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
    """Report how a run ended, and stop with its exit code. The report includes files for a build server."""
    from benchbrief.results.ingest.run_evidence import read_evidence
    from benchbrief.running.make_brief import note_far_hosts

    evidence = finished.evidence or read_evidence(finished.run_dir, finished.plan)
    summary = summarise_end(finished, evidence, report=report)
    summary = replace(summary, warnings=(*summary.warnings, *((text, 0) for text in warned)))
    if as_json:
        show_json(as_dict(finished, summary))
    else:
        tell(finished, summary)
        note_far_hosts(evidence.plan, finished.reports)
    write_verdicts(finished.run_dir.name, list(run_cases(finished, evidence)), junit)
    write_markdown(run_markdown(finished, summary.counts), markdown)
    if finished.code is not ExitCode.DONE:
        raise Stop(finished.code)


@dataclass(frozen=True)
class Summary:
    """A summary of the run. `counts` are numbers of cells by outcome. `warnings` has each warning with the number of
    cells that it concerns, or with 0 if it concerns the run itself.

    `next` has each suggested next step with its command.
    """

    counts: Mapping[str, int]
    warnings: tuple[tuple[str, int], ...]
    next: tuple[tuple[str, str], ...]
    promises: tuple[Promised, ...] = ()
    """The results of searches for promises."""
    times: TimeCompared | None = None
    """The time taken against the estimate, or None if there is no estimate, or if the run was interrupted."""


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
    # Only the remarks on a cell's last attempt are shown, because remarks do not name their attempt.
    for cell, remarks in evidence.record.remarks.items():
        for remark in dict.fromkeys(each.text for each in remarks if each.severity == "warning"):
            warnings[remark] = warnings.get(remark, 0) + (cell is not None)
    times = None if finished.status == "interrupted" else compare_times(finished.run_dir, evidence.plan)
    promises = tuple(promised(ended, evidence.plan) for ended in evidence.record.promises.values())
    return Summary(counts, tuple(warnings.items()), tuple(_next(finished, evidence, report=report)), promises, times)


_Next = Iterator[tuple[str, str]]


def _next(finished: Finished, evidence: Evidence, *, report: bool) -> _Next:
    """Yield helpful next steps: resume if cells are missing, check the hosts if no job ever ran, and so on."""
    if finished.next_steps is not None:
        yield from finished.next_steps
        return
    run, spec = run_name(finished.run_dir), evidence.plan.spec
    named = shlex.quote(spec.name) + (f" --profile {shlex.quote(spec.profile)}" if spec.profile else "")
    anew = f"bench run {named}{' --simulate' if finished.simulated else ''}"
    failed = [each for each in evidence.verdicts if each.status == "failed"]
    if finished.lost:
        again = f"bench merge {run}" if any(start.merged for start in evidence.starts) else f"bench rebuild {run}"
        yield "put the files back from a copy (the numbers read from them are missing), then", again
    if not finished.made and evidence.plan.reports:
        yield "what was measured is kept; make the brief with", f"bench report {run}"
    if finished.status == "interrupted":
        yield "go on with", f"bench resume {run}"
    elif failed and finished.simulated:
        yield _after_simulated_failures(failed, evidence, run, anew)
    elif failed:
        yield from _after_failures(failed, run, anew, f"bench doctor {named}")
    elif not finished.without_room:
        yield from _after_success(finished, evidence.plan, run, anew, report=report)
    if finished.without_room:
        yield budget_advice(evidence.plan, anew, simulated=finished.simulated)


def _after_simulated_failures(
    failed: Sequence[CellVerdict], evidence: Evidence, run: str, anew: str
) -> tuple[str, str]:
    if _fails_for_good(evidence):
        return "simulate again, without what makes cells fail, with", anew
    if any(each.by_plan for each in failed):
        return "mend the spec, and simulate it again with", anew
    return "try the failed cells again with", f"bench resume {run}"


def _after_failures(failed: Sequence[CellVerdict], run: str, anew: str, doctor: str) -> _Next:
    by_plan = any(each.by_plan for each in failed)
    others = [each for each in failed if not each.by_plan]
    unclear = not all(each.by_host for each in others)
    if any(not each.jobs and getattr(each.reason, "code", "") != NotTried.code for each in others):
        yield "see what is missing on the hosts with", doctor
    if by_plan:
        yield "mend the spec, and run what is not measured yet with", anew
    elif unclear:
        yield "if the spec is the cause, mend it, and run what is not measured yet with", anew
    if others:
        cause = "if a host is the cause, mend it, and" if unclear else "once that is mended,"
        yield f"{cause} try the failed cells again with", f"bench resume {run}"


def _after_success(finished: Finished, plan: Plan, run: str, anew: str, *, report: bool) -> _Next:
    if not plan.reports:
        spec = shlex.quote(plan.spec.name)
        yield "add a `report` block to the spec, and make a brief with", f"bench report {run} --spec {spec}"
    elif not report and finished.made:
        yield "render the brief with", f"bench report {run}"
    elif finished.undrawn:
        yield "render the brief again with", f"bench report {run}"
    elif finished.code is ExitCode.EXPECT_FAILED:
        yield "measure all of it again with", f"{anew} --fresh"


def _fails_for_good(evidence: Evidence) -> bool:
    """Return whether another attempt would fail too, because a simulated run was told to make cells fail each time."""
    simulated = evidence.simulated
    return simulated is not None and (simulated.errors > 0 or any(each.share >= 1 for each in simulated.failing))


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
        "expects": [each.as_dict() for each in finished.verdicts],
        "claims": [row.document() for row in finished.claims],
        "results": [said.as_dict(name) for name, said in finished.results.items()],
        "reports": {name: [str(path) for path in paths] for name, paths in finished.reports.items()},
        "made": finished.made,
        "lost": list(finished.lost),
        "undrawn": list(finished.undrawn),
        "next": [{"to": what, "type": command} for what, command in summary.next],
    }


def tell(finished: Finished, summary: Summary) -> None:
    """Print the result, how the run ended, what is missing, where the brief is, and what to type next."""
    show()
    result = [*map(_Line, result_lines(finished.results.values())), *_expectations(finished)]
    for line in (*result, *[_Line("")][: len(result)], *_lines(finished, summary)):
        indent = _INDENT if line.text.startswith("  ") else 4
        show_wrapped(line.text, indent=indent, colour=line.colour, whole=line.whole)


_INDENT = 10
"""The width of `  warning ` and of the other words at the start of a line."""


class _Line(NamedTuple):
    """A line to print. It ends with `whole`, a command or a path, which is never broken, so that users can copy it."""

    text: str
    colour: str | None = None
    whole: str = ""


def _lines(finished: Finished, summary: Summary) -> Iterator[_Line]:
    mark = f" ({SHORT})" if finished.simulated else ""
    colour = {"done": "green", "interrupted": "yellow"}.get(ended := _ended(finished), "red")
    yield _Line(f"run {finished.run_dir.name}: {ended}, {finished.message}{mark}", colour)
    counted = [f"{count} {what}" for what, count in summary.counts.items() if count]
    if len(counted) > 1:
        yield _Line(f"  cells   {', '.join(counted)}")
    if summary.times:
        yield _Line(f"  time    {short_text(summary.times)}")
    for each in summary.promises:
        if said := sentence(each):
            yield _Line(f"  found   {said}")
    yield from _without_result("failed ", finished.failed)
    yield from _without_result("no room", finished.without_room)
    yield from _warnings(finished, summary)
    for text in finished.lost[:_MOST]:
        yield _Line(f"  missing {text}", "red")
    if len(finished.lost) > _MOST:
        more = f"  missing and {len(finished.lost) - _MOST} more, for all:"
        yield _Line(more, "red", f"bench rebuild {run_name(finished.run_dir)}")
    for text in finished.undrawn:
        yield _Line(f"  missing {text}", "red")
    for paths in finished.reports.values():
        pages = ((path.suffix[1:].upper(), path) for path in paths if path.suffix not in (".csv", ".svg", ".png"))
        folders = dict.fromkeys(("CSV, SVG, PNG", path.parent) for path in paths if path.suffix == ".csv")
        for kind, path in (*pages, *folders):
            yield _Line("", whole=f"{kind:<5} {path}")
    if summary.counts["failed"]:
        yield _Line("outputs are kept in", whole=str(finished.run_dir / "raw"))
    for what, command in summary.next:
        yield _Line(f"{what}:", whole=command)


def _ended(finished: Finished) -> str:
    """Return a run's status. If the run has finished, also return what its results lack."""
    if finished.status == "done":
        if finished.lost:
            return f"done, but {plural(len(finished.lost), 'raw output')} missing or changed"
        if not finished.made:
            return "done, but its tables or its brief could not be made"
        if finished.undrawn:
            return "done, but its brief lacks a part"
    return finished.status


def _without_result(what: str, missing: Mapping[str, str]) -> Iterator[_Line]:
    for cells, reason in grouped(missing):
        if len(cells) <= _ALIKE:
            yield from (_Line(f"  {what} {cell}: {missing[cell]}", "red") for cell in cells)
        else:
            yield _Line(f"  {what} {len(cells)} cells, from {cells[0]} to {cells[-1]}: {reason}", "red")


def _warnings(finished: Finished, summary: Summary) -> Iterator[_Line]:
    found = merge_remarks(("warning", text, cells) for text, cells in summary.warnings)
    # Each busy host has one line. A remark about the measurement is preferred to one about its start.
    kept = {host: text for _, text, _ in found if (host := busy_host(text))}
    warnings = [each for each in found if kept.get(busy_host(each[1]), each[1]) is each[1]]
    for _, text, count in warnings[:_MOST]:
        yield _Line(f"  warning {text}" + (f" ({count} cells)" if count > 1 else ""), "yellow")
    if len(warnings) > _MOST:
        more = f"  warning and {len(warnings) - _MOST} more,"
        if finished.reports:
            yield _Line(f"{more} all in the brief", "yellow")
        else:
            query = f'bench query --run {run_name(finished.run_dir)} "FROM notes"'
            yield _Line(f"{more} for all:", "yellow", query)
    yield from (_Line(f"  warning {_sampled(probe)}", "yellow") for probe in finished.sampled)


def _expectations(finished: Finished) -> Iterator[_Line]:
    if finished.simulated:
        yield from (_Line(f"  {verdict.of_simulated}") for verdict in finished.verdicts[:_MOST])
        return
    kept = [each for each in finished.verdicts if each.holds is True and each.decided is not False]
    if len(kept) > _MOST:
        yield _Line(f"  expect holds: {len(kept)} of {len(finished.verdicts)} expectations", "green")
    else:
        yield from (_Line(f"  expect holds: {each.name} ({each.detail})", "green") for each in kept)
    for verdict in finished.verdicts:
        if verdict not in kept:
            yield _Line(f"  {verdict.warning}", "yellow" if verdict.holds else "red")
    for row in finished.claims:
        if row.is_withheld:
            yield _Line(f"  {row.warning}", "yellow" if row.holds else "red")


def _sampled(probe: Patchy) -> str:
    every = plural(probe.of, "cell")
    if probe.without:
        return f"{probe.probe} was not sampled in {probe.without} of {every}, such as {probe.cell}"
    return (
        f"{probe.probe} was sampled for {share_text(probe.share)} of the measured time in {probe.cell}, "
        f"and for less than {share_text(COMPLETE)} in {probe.cells} of {every}"
    )


def grouped(failed: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Group cells that failed for the same reason, ignoring the numbers in it. A group shows its first cell's
    reason."""
    groups: dict[Hashable, tuple[list[str], str]] = {}
    for cell, reason in failed.items():
        groups.setdefault(shape_of_failure(cell, reason), ([], reason))[0].append(cell)
    return list(groups.values())
