"""Mistakes in searches for a promise: `highest(1k ops/s..200k ops/s, where: ..., within: 3 %)`."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem


class NotPromised(CompileProblem):
    """A promise of something other than latencies and errors."""

    code = "E0555"
    says = "a promise limits the latency of an operation, or errors: `{what}` is neither"
    hint = "write `latency.p99[{operation}] < 5 ms` or `errors < 0.1 %`; the rate itself is what `highest` finds"
    what: str
    operation: str


class NotLimits(CompileProblem):
    """A condition that is no list of upper limits."""

    code = "E0556"
    says = "a promise is made of upper limits, joined by `and`: this is {what}"
    hint = "write it as in `where: latency.p99[read] < 5 ms and errors < 0.1 %`"
    what: str


class TooManyRates(CompileProblem):
    """More candidates than a plan may have cells for."""

    code = "E0565"
    says = "there are {count:,} rates {apart} apart between these ends; the limit is {limit:,}"
    hint = "write a larger `within:`, or move the ends nearer to what you expect"
    count: int
    apart: str
    limit: int


class RatesTooNear(CompileProblem):
    """Rates nearer to each other than one operation a second."""

    code = "E0567"
    says = (
        "half of {within} of {rate:g} ops/s is less than one operation a second, the least that two rates can be apart"
    )
    hint = "write a larger `within:`, or search from {lowest:,} ops/s"
    within: str
    rate: float
    lowest: int


class HighestOfThreads(CompileProblem):
    """A search for a promise on the axis of threads."""

    code = "E0557"
    says = "`highest` searches the offered load, not `threads`"
    hint = "write `target = highest(...)` beside one number of `threads`; `knee(...)` searches threads"


class OperationNotDone(CompileProblem):
    """A promise on an operation that a workload of the experiment does not do."""

    code = "E0560"
    says = "workload `{workload}` does no `{operation}`, so this promise can't be judged"
    hint = "name one of its operations, {known:ticked}, or give each workload an experiment of its own"
    operation: str
    workload: str
    known: tuple[str, ...]


class TooFewJudging(CompileProblem):
    """Fewer repeats than one side has to lead by."""

    code = "E0561"
    says = "{count:plural repeat} can't decide whether a rate keeps its promise"
    mark = "one side has to lead by {fewest}"
    hint = "write `repeats = 5`, or leave it out: as many are measured at most, and only at the edge"
    count: int
    fewest: int


class RuleBesidePromise(CompileProblem):
    """Another rule for repeats or order than the search's own. `what` is that rule."""

    code = "E0564"
    says = "`{what}` can't be used with `highest`: the search itself decides which rate is measured next, and how often"
    hint = "{instead}"
    what: str
    instead: str


class ServicePromise(CompileProblem):
    """A promise on latency, with a tool that leaves out the time that late operations wait."""

    code = "W0510"
    says = "this promise is judged by the latency of `{tool}`, which leaves out the time that late operations wait"
    mark = "coordinated omission: the promise seems kept at too high a rate"
    hint = (
        "use a tool that measures latency from when each operation was due: {others:ticked}",
        "promise `errors` alone, or say in the report that it is service time",
    )
    tool: str
    others: tuple[str, ...]
    """The tools of the engine that measure from when each operation was due."""


class BareErrors(CompileProblem):
    """A limit of errors without `%` that is large as a share: 0.1 is 10 %."""

    code = "W0511"
    says = "`{text}` is a share: the promise holds while {percent:g} % of the operations fail"
    hint = "write `{percent:g} %` if you mean that, or `{text} %`"
    mend = "{text} %"
    text: str
    percent: float
