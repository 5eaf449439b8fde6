"""openload, the project's own load generator. `loadgen/README.md` describes its interface.

openload fixes its schedule before the first operation, so a slow reply never delays the next operation. It counts
latencies both from when an operation was due and from when it was sent. openload also judges itself. It refuses a run
if its numbers would describe the generator and not the system, or if its queue dropped more operations than the spec
accepts. A refused run is not a measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import ClassVar

from benchbrief.extend.common import (
    Command,
    Job,
    JobOutput,
    Message,
    PlanRefused,
    Requirement,
    figure,
    read_script,
)
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Measurement,
    bad_output,
    best_line,
    is_kept_though_late,
    require_consistent,
    require_exit,
    require_few_errors,
    timeout_s,
)
from benchbrief.extensions.tools.openload import openload_invariants
from benchbrief.extensions.tools.openload.openload_flags import (
    Flags,
    environment,
    files_of,
    load_flags,
    recorded_flags,
    run_flags,
)
from benchbrief.extensions.tools.openload.openload_measurement import asked_of, measurement_of
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.openload.openload_record import (
    HICCUP,
    LOG,
    RECORD,
    BadOpenloadLog,
    NotRecord,
    OpenloadRun,
    interim,
    read_load,
    read_log,
    read_run,
    successes,
)
from benchbrief.extensions.tools.openload.openload_refusals import (
    LATE,
    refusal_error,
    without_unasked,
    worst,
)
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties
from benchbrief.extensions.tools.ycsb.ycsb_properties import inserted_key

_CHECK = read_script(__file__, "check.sh")
_REFUSED, _GAVE_UP = 1, 4
_SHORT_S = 1e-3
_LOG_S = 1.5
"""By how many seconds the log may understate the time since the last success, since it has one line per second."""

FIGURES = (r'\{"kind":"(second|final)".*\}', r"Tag=[a-z-]{1,40},[0-9.]+,[0-9.]+,[0-9.]+,HIST[A-Za-z0-9+/=]*")
"""Patterns of the lines that are read: see `tasks.Job.figures`."""


class Openload:
    """The driver of openload for a MongoDB server, and the base class of openload's drivers for other systems.
    Implements `seams.Driver`."""

    name: ClassVar[str] = "openload"
    program: ClassVar[str] = "openload-mongodb"
    telling: ClassVar[frozenset[str]] = frozenset(
        {"target", "record-count", "distribution", "arrivals", "rate", "steps", "warm-up", "duration", "workers"}
        | {"seed", "steady-within", "steady-from"}
    )
    """The flags that identify the cell. The record must contain them with the requested values."""
    hint: ClassVar[str] = "build it again for this machine: `tools/setup.sh openload` in a checkout"
    oldest: ClassVar[str] = "1.4.0"
    """The oldest supported version. It is the first one that records findings separately from advice, and whose load
    generators take turns even if some begin before midnight (UTC) and others after it."""

    def target(self, context: CellContext) -> Flags:
        """Return flags that describe the target, but only those that are also known when an output is read again."""
        del context  # the environment names the server, as its address has a password
        return {"target": "mongodb"}

    def loading(self, context: CellContext) -> Flags:
        """Return the flags that name the target for a load."""
        return self.running(context)

    def running(self, context: CellContext) -> Flags:
        """Return the flags that tell openload which server to use during a run. Raises PlanRefused if the endpoint has
        no URI."""
        if context.endpoint.uri is None:
            raise PlanRefused(say.needs_place(tool="openload", place=say.a_server()), say.hint_uri_of())
        return self.target(context)

    def own_files(self, context: CellContext) -> tuple[str, ...]:
        """Return the names of the files that a run writes beside its record and its log."""
        del context
        return ()

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (configured, *(f"{configured.rstrip('/')}/{part}{self.program}" for part in ("", "bin/")))
        return (*(f"{folder}/openload/bin/{self.program}" for folder in tool_dirs), self.program)

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        check = Command(("sh", "-c", _CHECK, "sh", path, self.oldest))
        return (Requirement(self.program, check, self.hint),)

    def load(self, context: CellContext) -> Job | None:
        arguments = load_flags(context, self.loading(context))
        command = Command((context.tool_path, "load", *arguments), env=environment(context))
        timeout = timeout_s(context.cell, "load")
        return Job("load", command, timeout, collect=(RECORD,), figures=FIGURES)

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        require_exit(output, self.program, accepted=(0, _REFUSED))
        try:
            found = read_load(output.directory)
        except NotRecord as error:
            raise bad_output(output, say.openload_record(said=str(error))) from error
        if found.failed:
            records = properties.count_records(context.workload)
            said = found.errors[0].text if found.errors else best_line(output)
            raise bad_output(output, say.openload_load_failed(failed=found.failed, n=records, said=said))
        if output.exit_code or not found.complete or found.refusals:
            raise bad_output(output, say.load_unfinished(tool=self.program, said=best_line(output)))
        if found.completed != found.records:
            counts = f"it has {found.completed} completed inserts, and {found.records} records"
            require_consistent(output, self.program, (counts,))
        return found.completed

    def warm_up(self, context: CellContext) -> Job | None:
        del context  # the warm-up is the first part of the measured process
        return None

    def measure(self, context: CellContext) -> Job:
        arguments = run_flags(context, self.running(context))
        command = Command((context.tool_path, "run", *arguments), env=environment(context))
        return Job(
            "measure",
            command,
            timeout_s(context.cell, "measure"),
            files=files_of(context),
            collect=(RECORD, LOG, *self.own_files(context)),
            figures=FIGURES,
        )

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        """Return the measurement. Raises BadOutput unless the record and the log prove the measurement, and openload
        accepts it."""
        recorded = self._record(output)
        run = without_unasked(recorded, context)
        refused = refusal_error(run, output, context)
        late_alone = {refusal.code for refusal in run.refusals} <= LATE
        if refused and not (context.experiment.promise and late_alone):
            raise refused
        if not run.complete or (output.exit_code and not recorded.refusals):
            raise bad_output(output, _why_cut(run, output))
        try:
            log = read_log(output.directory / LOG)
        except BadOpenloadLog as error:
            raise bad_output(output, say.openload_log(said=str(error))) from error
        require_consistent(output, self.program, openload_invariants.find_problems(run, log))
        for flag, asked in recorded_flags(context, self.target(context)).items():
            if flag not in self.telling:
                continue
            if run.settings.get(flag) != asked:
                found = run.settings.get(flag, "")
                raise bad_output(output, say.openload_foreign(flag=flag, told=found, asked=asked))
        rule = context.experiment.until_steady
        wanted = rule.from_s if rule and run.steady and run.steady.steady else context.cell.measure_s
        if run.window_s < wanted - _SHORT_S and "operations" not in context.workload.properties:
            seconds, said = figure(run.window_s, ".1f"), best_line(output)
            raise bad_output(
                output,
                say.ended_early(tool=self.program, seconds=seconds, wanted=figure(wanted, "g"), said=said),
            )
        allowed = context.accepted_errors
        why = run.errors[0].text if run.errors else ""
        require_few_errors(output, self.program, run.failed, run.completed, allowed, why)
        measured = measurement_of(asked_of(context), run, log) if run.completed else None
        if measured is None or not measured.total.count:
            raise bad_output(output, say.no_operations(tool=self.program, said=best_line(output)))
        if refused:
            if not is_kept_though_late(context.experiment, context.cell, measured):
                raise refused
            late = say.openload_late_kept(said=worst(run))
            measured = replace(measured, warnings=(*measured.warnings, late))
        return measured

    def interim(self, context: CellContext, text: str) -> Interim | None:
        """Implement `seams.TellsInterim`, from openload's last complete line."""
        del context
        return interim(text)

    def key(self, number: int, *, ordered: bool = False, padding: int = 1) -> str:
        """Implement `seams.NamesKeys`: openload uses YCSB's keys."""
        return inserted_key(number, None if ordered else "little", padding)

    def _record(self, output: JobOutput) -> OpenloadRun:
        """Return a run's record. Raises BadOutput for a run that was interrupted, or whose server was gone."""
        require_exit(output, self.program, accepted=(0, _REFUSED, _GAVE_UP))
        try:
            run = read_run(output.directory)
        except NotRecord as error:
            raise bad_output(output, say.openload_record(said=str(error))) from error
        if run.ended == "interrupted" or _is_server_gone(run, output):  # whether or not it accepts its numbers
            raise bad_output(output, _why_cut(run, output))
        return run


def _is_server_gone(run: OpenloadRun, output: JobOutput) -> bool:
    """Return whether the run was cut because operations no longer succeeded.

    A run is also cut if operations succeed, but its queue is too long to be worked off in time. Such a run still shows
    how the system behaves under the load.
    """
    return run.ended == "gave-up" and _silence_s(output) >= _give_up_s(run) - _LOG_S


def _silence_s(output: JobOutput) -> float:
    """Return how many seconds before the log's end the last operation succeeded, or infinity if the log does not show
    it."""
    try:
        log = read_log(output.directory / LOG)
    except BadOpenloadLog:
        return inf
    done = max((piece.end for piece in successes(log)), default=-inf)
    return max((piece.end for piece in log.slices.get(HICCUP, ())), default=inf) - done


def _give_up_s(run: OpenloadRun) -> float:
    try:
        return float(run.settings.get("give-up", ""))
    except ValueError:
        return 0.0


def _why_cut(run: OpenloadRun, output: JobOutput) -> Message:
    said = run.errors[0].text if run.errors else best_line(output)
    if _is_server_gone(run, output):
        return say.openload_cut(seconds=figure(_give_up_s(run), "g"), said=said)
    return say.openload_gave_up(said=said)
