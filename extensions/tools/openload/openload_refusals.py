"""The errors, in words, of cells whose numbers openload refuses."""

from __future__ import annotations

from math import inf

from benchbrief.extend.common import (
    BadOutput,
    JobOutput,
    Message,
    PrintedNumber,
    figure,
    joined,
    share_figure,
)
from benchbrief.extend.tools import CellContext, GeneratorLate, NotServed
from benchbrief.extensions.tools.openload.openload_flags import arrivals_of, asked_latencies
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.openload.openload_record import OPERATIONS, OpenloadRun, Refusal

_ALL = "all operations"
LATE, UNSERVED = frozenset({"lag", "hiccups", "cpu", "pauses"}), frozenset({"drops", "errors"})
"""The codes of refusals caused by the generator, and of those caused by the system under test."""
_ADVISED_LAG = 0.5
"""The value of `lag` that `hint_openload_late` advises."""


def without_unasked(run: OpenloadRun, context: CellContext) -> OpenloadRun:
    """Return the record without refusals about latencies that the spec does not ask for. openload compares its lateness
    with each percentile of every operation, although the spec may ask only for the 99th of reads."""
    asked = asked_latencies(context)

    def is_asked(refusal: Refusal) -> bool:
        operation = "" if refusal.operation == _ALL else OPERATIONS.get(refusal.operation, refusal.operation)
        return not refusal.statistic or f"{refusal.statistic} {operation}".strip() in asked

    return run.model_copy(update={"refusals": type(run.refusals)(filter(is_asked, run.refusals))})


def refusal_error(run: OpenloadRun, output: JobOutput, context: CellContext) -> BadOutput | None:
    """Return the error for a run whose numbers openload refuses, or None if openload accepts them. The error depends on
    whether the generator was late or the system left work undone."""
    if not run.refusals:
        return None
    codes = {refusal.code for refusal in run.refusals}
    code = "not-found" if "not-found" in codes else run.refusals[0].code
    hints = {
        **dict.fromkeys(LATE, _hint_late(context)),
        "drops": say.hint_openload_drops(),
        "errors": say.hint_errors(),
        "not-found": say.hint_records_gone(),
    }
    hint = hints.get(code, say.hint_see(path=output.directory))
    kind = (GeneratorLate if codes & LATE else NotServed) if codes <= LATE | UNSERVED else BadOutput
    return kind(say.openload_refused(said=found_by(run, code), code=code), hint)


def found_by(run: OpenloadRun, code: str) -> str:
    """Return the findings of all refusals of a run, without the advice, which is in the hint. Findings with this code
    come first, then the findings farthest beyond their limits."""
    ordered = sorted(run.refusals, key=lambda each: (each.code == code, _excess(each)), reverse=True)
    return joined(map(_found, ordered), say.both)


def worst(run: OpenloadRun) -> str:
    """Return the finding that is farthest beyond its limit."""
    return _found(max(run.refusals, key=_excess))


def _excess(refusal: Refusal) -> float:
    return refusal.value / refusal.limit if refusal.limit else inf


def milliseconds(microseconds: float) -> PrintedNumber:
    """Return a time in milliseconds with three significant digits, or in whole milliseconds from 1000 ms on."""
    value = microseconds / 1e3
    return PrintedNumber(value, f"{value:,.0f} ms" if value >= 1e3 else f"{value:.3g} ms")


def _hint_late(context: CellContext) -> Message:
    """Return the hint for a generator that was late. It advises to raise `lag`, unless the spec already accepts that
    much."""
    arrivals = arrivals_of(context)
    is_lax = arrivals is not None and arrivals.lag >= _ADVISED_LAG
    return say.hint_openload_late_lax() if is_lax else say.hint_openload_late()


def _found(refusal: Refusal) -> str:
    """Return a refusal's finding as text. For records before version 1.4.0, this is openload's own sentence."""
    if refusal.advice is None:
        return refusal.text
    value, limit = share_figure(refusal.value, 1), share_figure(refusal.limit, 1)
    if refusal.late_us is not None and refusal.intended_us is not None:
        of_all = refusal.operation == _ALL
        say_late = say.openload_late if refusal.code == "lag" else say.openload_woke_late
        return say_late(
            statistic=refusal.statistic,
            operation=say.openload_all_operations() if of_all else refusal.operation,
            late=milliseconds(refusal.late_us),
            latency=milliseconds(refusal.intended_us),
            limit=limit,
        )
    counted = {
        "drops": say.openload_queue_full,
        "errors": say.openload_failed,
        "not-found": say.openload_no_record,
    }
    if refusal.code in counted and refusal.count is not None and refusal.of is not None:
        return counted[refusal.code](count=figure(refusal.count, ","), of=figure(refusal.of, ","))
    match refusal.code:
        case "hiccups":
            return say.openload_stalled(share=value, limit=limit)
        case "cpu":
            return say.openload_no_processor(share=value, limit=limit)
        case "pauses":
            return say.openload_paused(share=value, limit=limit)
        case "clock":
            return say.openload_clock(seconds=figure(refusal.value, "+.3f"))
        case "nothing":
            return say.openload_nothing()
    return refusal.text
