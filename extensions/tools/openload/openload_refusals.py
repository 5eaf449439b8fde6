"""Errors of a cell for whose numbers openload does not stand, in words."""

from __future__ import annotations

from math import inf
from typing import Protocol

from benchbrief.extensions.tools.openload.openload_flags import arrivals_of, asked_latencies
from benchbrief.extensions.tools.openload.openload_record import OPERATIONS, OpenloadRun, Refusal
from benchbrief.model.message import Message, PrintedNumber, figure, joined, share_figure, speaker
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput, GeneratorLate, NotServed
from benchbrief.runners.jobs.tasks import JobOutput


class OpenloadMessages(Protocol):
    def openload_record(self, *, said: object) -> Message: ...
    def openload_log(self, *, said: object) -> Message: ...
    def openload_refused(self, *, said: object, code: object) -> Message: ...
    def openload_late(
        self, *, statistic: object, operation: object, late: object, latency: object, limit: object
    ) -> Message: ...
    def openload_woke_late(
        self, *, statistic: object, operation: object, late: object, latency: object, limit: object
    ) -> Message: ...
    def openload_all_operations(self) -> Message: ...
    def openload_queue_full(self, *, count: object, of: object) -> Message: ...
    def openload_failed(self, *, count: object, of: object) -> Message: ...
    def openload_no_record(self, *, count: object, of: object) -> Message: ...
    def openload_stalled(self, *, share: object, limit: object) -> Message: ...
    def openload_no_processor(self, *, share: object, limit: object) -> Message: ...
    def openload_paused(self, *, share: object, limit: object) -> Message: ...
    def openload_clock(self, *, seconds: object) -> Message: ...
    def openload_nothing(self) -> Message: ...
    def openload_gave_up(self, *, said: object) -> Message: ...
    def openload_cut(self, *, seconds: object, said: object) -> Message: ...
    def openload_foreign(self, *, flag: object, told: object, asked: object) -> Message: ...
    def openload_load_failed(self, *, failed: object, n: object, said: object) -> Message: ...
    def openload_constant(self) -> Message: ...
    def openload_poisson(self) -> Message: ...
    def openload_steps(
        self, *, n: object, first: object, last: object, seconds: object, spacing: object
    ) -> Message: ...
    def openload_burst(
        self, *, rate: object, burst: object, every: object, lasting: object, spacing: object
    ) -> Message: ...
    def openload_trace(self, *, file: object, n: object) -> Message: ...
    def openload_closed(self) -> Message: ...
    def openload_open(self) -> Message: ...
    def openload_evenly(self) -> Message: ...
    def openload_exponential(self) -> Message: ...
    def openload_queue(self, *, bound: object) -> Message: ...
    def openload_drops(self, *, allowed: object) -> Message: ...
    def openload_no_drops(self) -> Message: ...
    def openload_lag(self, *, limit: object) -> Message: ...
    def openload_own(self, *, cpu: object, pauses: object, longest: object) -> Message: ...
    def openload_hidden(self, *, intended: object, service: object) -> Message: ...
    def openload_percentiles(self) -> Message: ...
    def openload_late_beside(self, *, lowest: object, highest: object, late: object, latency: object) -> Message: ...
    def openload_late_unasked(self, *, statistic: object, late: object, latency: object) -> Message: ...  # earlier
    def openload_late_kept(self, *, said: object) -> Message: ...
    def openload_dropped(self, *, dropped: object, n: object, share: object) -> Message: ...
    def openload_not_found(self, *, n: object, of: object) -> Message: ...
    def openload_rmw(self) -> Message: ...
    def openload_no_counters(self, *, said: object) -> Message: ...
    def openload_ycsb_records(self) -> Message: ...
    def openload_db_bench_records(self) -> Message: ...
    def openload_statistics(self) -> Message: ...
    def hint_openload_late(self) -> Message: ...
    def hint_openload_late_lax(self) -> Message: ...
    def hint_openload_drops(self) -> Message: ...
    def openload_option_ends(self, *, name: object) -> Message: ...
    def hint_braces(self, *, example: object) -> Message: ...


say_openload: OpenloadMessages = speaker(OpenloadMessages)


_ALL = "all operations"
LATE, UNSERVED = frozenset({"lag", "hiccups", "cpu", "pauses"}), frozenset({"drops", "errors"})
"""The codes of refusals that the generator caused, and of those that the system under test caused."""
_ADVISED_LAG = 0.5
"""The `lag` that the hint `hint_openload_late` advises."""


def without_unasked(run: OpenloadRun, context: CellContext) -> OpenloadRun:
    """Return the record without refusals for a latency that the spec does not ask for. openload compares its lateness
    with each percentile of every operation, and the spec may ask for the 99th of reads alone."""
    asked = asked_latencies(context)

    def is_asked(refusal: Refusal) -> bool:
        operation = "" if refusal.operation == _ALL else OPERATIONS.get(refusal.operation, refusal.operation)
        return not refusal.statistic or f"{refusal.statistic} {operation}".strip() in asked

    return run.model_copy(update={"refusals": type(run.refusals)(filter(is_asked, run.refusals))})


def refusal_error(run: OpenloadRun, output: JobOutput, context: CellContext) -> BadOutput | None:
    """Return why openload does not stand by its numbers; None when it does. A late generator and a system that did not
    do its work are different errors."""
    if not run.refusals:
        return None
    codes = {refusal.code for refusal in run.refusals}
    code = "not-found" if "not-found" in codes else run.refusals[0].code
    hints = {
        **dict.fromkeys(LATE, _hint_late(context)),
        "drops": say_openload.hint_openload_drops(),
        "errors": say.hint_errors(),
        "not-found": say.hint_records_gone(),
    }
    hint = hints.get(code, say.hint_see(path=output.directory))
    kind = (GeneratorLate if codes & LATE else NotServed) if codes <= LATE | UNSERVED else BadOutput
    return kind(say_openload.openload_refused(said=found_by(run, code), code=code), hint)


def found_by(run: OpenloadRun, code: str) -> str:
    """Return the reasons of all of a run's refusals: those with this code first, then those farthest beyond their
    limits. The advice is left to the hint."""
    ordered = sorted(run.refusals, key=lambda each: (each.code == code, _excess(each)), reverse=True)
    return joined(map(_found, ordered), say.both)


def worst(run: OpenloadRun) -> str:
    """Return the finding that is the farthest beyond its limit."""
    return _found(max(run.refusals, key=_excess))


def _excess(refusal: Refusal) -> float:
    return refusal.value / refusal.limit if refusal.limit else inf


def milliseconds(microseconds: float) -> PrintedNumber:
    """Return a time in milliseconds with three digits, or more when it has more before the decimal point."""
    value = microseconds / 1e3
    return PrintedNumber(value, f"{value:,.0f} ms" if value >= 1e3 else f"{value:.3g} ms")


def _hint_late(context: CellContext) -> Message:
    """Return the hint for a generator that was late. It advises a higher `lag`, unless the spec already accepts
    as much."""
    arrivals = arrivals_of(context)
    is_lax = arrivals is not None and arrivals.lag >= _ADVISED_LAG
    return say_openload.hint_openload_late_lax() if is_lax else say_openload.hint_openload_late()


def _found(refusal: Refusal) -> str:
    """Return what a refusal found, in words. Records before version 1.4.0 have only openload's own sentence."""
    if refusal.advice is None:
        return refusal.text
    value, limit = share_figure(refusal.value, 1), share_figure(refusal.limit, 1)
    if refusal.late_us is not None and refusal.intended_us is not None:
        of_all = refusal.operation == _ALL
        say_late = say_openload.openload_late if refusal.code == "lag" else say_openload.openload_woke_late
        return say_late(
            statistic=refusal.statistic,
            operation=say_openload.openload_all_operations() if of_all else refusal.operation,
            late=milliseconds(refusal.late_us),
            latency=milliseconds(refusal.intended_us),
            limit=limit,
        )
    counted = {
        "drops": say_openload.openload_queue_full,
        "errors": say_openload.openload_failed,
        "not-found": say_openload.openload_no_record,
    }
    if refusal.code in counted and refusal.count is not None and refusal.of is not None:
        return counted[refusal.code](count=figure(refusal.count, ","), of=figure(refusal.of, ","))
    match refusal.code:
        case "hiccups":
            return say_openload.openload_stalled(share=value, limit=limit)
        case "cpu":
            return say_openload.openload_no_processor(share=value, limit=limit)
        case "pauses":
            return say_openload.openload_paused(share=value, limit=limit)
        case "clock":
            return say_openload.openload_clock(seconds=figure(refusal.value, "+.3f"))
        case "nothing":
            return say_openload.openload_nothing()
    return refusal.text
