"""Mistakes in experiments: ramps, searches, phases, measured loads and probes (E05xx)."""

from __future__ import annotations

from benchbrief.compiler.extension_samples import sample_bmc, sample_meter
from benchbrief.compiler.problems import Again, CompileProblem
from benchbrief.dsl.diagnostics.plain_amounts import duration, enough_time, quantity_of_bytes
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model.precision import COMPLETE
from benchbrief.model.tool_spec import Bound


class EventAfterEnd(CompileProblem):
    """An event after the measured time, or so late in it that a recovery would not be seen."""

    code = "E0590"
    says = "an event at {at_s:duration} leaves {left}: the measured time ends at {end_s:duration}"
    mark = "counts from the start of the measured time"
    hint = "write an earlier time, at most {latest}, or measure longer"
    at_s: float
    end_s: float
    steady_s: float

    @property
    def left(self) -> str:
        left = self.end_s - self.at_s
        return f"{duration(left)} after it, and needs {duration(self.steady_s)}" if left > 0 else "nothing after it"

    @property
    def latest(self) -> str:
        return duration(max(1.0, self.end_s - self.steady_s))


class NoTimeSeries(CompileProblem):
    code = "E0591"
    says = "`{tool}` gives no throughput by second, so nothing can be seen around an event"
    hint = ("take the event away, or {remedy}", "take the event away")
    tool: str
    remedy: str = ""


class NoEventHost(CompileProblem):
    code = "E0592"
    says = "the command of an event needs a host"
    hint = "write `on: first` for the first host of each cell, `on: each` for all, or the name of a host or a hardware"


class EventsTogether(Again):
    """Two events within one second, whose effects could not be told apart."""

    code = "E0593"
    says = "two events at {at_s:duration}: what each of them does could not be told apart"
    mark = "less than a second after the other"
    remark = "the other event is here"
    hint = 'give one of them another time, or run both commands as one: `command("first; second", ...)`'
    at_s: float


class BadEventLabel(CompileProblem):
    code = "E0594"
    says = "the label of an event {why}"
    hint = 'write what happens, on one line: `at 5 min "Primary stepped down" {{ ... }}`'
    why: str


class NotOneCommand(CompileProblem):
    code = "E0595"
    says = "an event runs one command, and this one has {count}"
    hint = 'write `command("...", on: first)` in it; several are joined in one, as in `command("a; b", on: first)`'
    count: str


class NoSuchEventHost(CompileProblem):
    """A host or a hardware group that some cells of the experiment lack."""

    code = "E0596"
    says = "`{word}` is not a host of {of}"
    hint = "write `on: first` or `on: each` for the hosts under test of each cell, or one of {known:ticked 12}"
    word: str
    of: str
    known: tuple[str, ...]

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.word, self.known)


class EventInLoad(CompileProblem):
    code = "E0597"
    says = "`{workload}` ends with its last record, so an event has no time in it"
    hint = "put the event in an experiment whose workloads run for a fixed time"
    workload: str


class NotPromised(CompileProblem):
    """A promise about something other than latencies and errors."""

    code = "E0555"
    says = "a promise limits the latency of an operation, or errors: `{what}` is neither"
    hint = "write `latency.p99[{operation}] < 5 ms` or `errors < 0.1 %`; the rate itself is what `highest` finds"
    what: str
    operation: str


class NotLimits(CompileProblem):
    """A condition that is not a list of upper limits."""

    code = "E0556"
    says = "a promise is made of upper limits, joined by `and`: this is {what}"
    hint = "write it as in `where: latency.p99[read] < 5 ms and errors < 0.1 %`"
    what: str


class TooManyRates(CompileProblem):
    """More candidate rates than a plan may have cells."""

    code = "E0565"
    says = "there are {count:,} rates {apart} apart between these ends; the limit is {limit:,}"
    hint = "write a larger `within:`, or move the ends nearer to what you expect"
    count: int
    apart: str
    limit: int


class RatesTooNear(CompileProblem):
    """Candidates closer together than one operation a second."""

    code = "E0567"
    says = (
        "half of {within} of {rate:g} ops/s is less than one operation a second, the least that two rates can be apart"
    )
    hint = "write a larger `within:`, or search from {lowest:,} ops/s"
    within: str
    rate: float
    lowest: int


class HighestOfThreads(CompileProblem):
    """A `highest(...)` as the value of `threads`. Only a `target` has rates to search."""

    code = "E0557"
    says = "`highest` searches the offered load, not `threads`"
    hint = "write `target = highest(...)` beside one number of `threads`; `knee(...)` searches threads"


class OperationNotDone(CompileProblem):
    """A promise about an operation that some workload of the experiment does not perform."""

    code = "E0560"
    says = "workload `{workload}` does no `{operation}`, so this promise can't be judged"
    hint = "name one of its operations, {known:ticked}, or give each workload an experiment of its own"
    operation: str
    workload: str
    known: tuple[str, ...]


class TooFewJudging(CompileProblem):
    """Too few repeats to decide on a rate. The runs that keep the promise, or those that break it, must lead by
    `fewest`."""

    code = "E0561"
    says = "{count:plural repeat} can't decide whether a rate keeps its promise"
    mark = "one side has to lead by {fewest}"
    hint = "write `repeats = 5`, or leave it out: as many are measured at most, and only at the edge"
    count: int
    fewest: int


class RuleBesidePromise(CompileProblem):
    """A rule for repeats or their order in an experiment whose search has its own rule. `what` is the declared rule."""

    code = "E0564"
    says = "`{what}` can't be used with `highest`: the search itself decides which rate is measured next, and how often"
    hint = "{instead}"
    what: str
    instead: str


class ServicePromise(CompileProblem):
    """A promise about latency, measured by a tool that leaves out how long late operations wait."""

    code = "W0510"
    says = "this promise is judged by the latency of `{tool}`, which leaves out the time that late operations wait"
    mark = "coordinated omission: the promise seems kept at too high a rate"
    hint = (
        "use a tool that measures latency from when each operation was due: {others:ticked}",
        "promise `errors` alone, or say in the report that it is service time",
    )
    tool: str
    others: tuple[str, ...]
    """The engine's tools that measure latency from the time when each operation was due."""


class OtherSize(CompileProblem):
    """A workload with an amount of data that differs from its database's declared size. Sizes are in bytes."""

    code = "W0512"
    says = "workload `{workload}` has `records` of {records_text}, and database `{database}` a `size` of {size_text}"
    mark = "these are measured: `size` has no effect on `{workload}`"
    hint = "remove `records`, and there are as many as fill `size`; or remove `size`"
    workload: str
    records_bytes: float
    database: str
    size_bytes: float

    @property
    def records_text(self) -> str:
        return quantity_of_bytes(self.records_bytes)

    @property
    def size_text(self) -> str:
        return quantity_of_bytes(self.size_bytes)


class BareErrors(CompileProblem):
    """A limit on errors that is written without `%` and is large for a share (0.1 is 10 %)."""

    code = "W0511"
    says = "`{text}` is a share: the promise holds while {percent:g} % of the operations fail"
    hint = "write `{percent:g} %` if you mean that, or `{text} %`"
    mend = "{text} %"
    text: str
    percent: float


_LACKS: dict[Bound, str] = {
    "queue": "does not limit the operations that wait",
    "drops": "does not limit the operations that wait",
    "lag": "does not judge its own lateness",
    "stalls": "does not judge its own stalls",
    "timeout": "takes no time limit for an operation",
    "give_up": "takes no limit for the time without a success",
}


class ArrivalsNotOfTool(CompileProblem):
    """Arrivals that the tool can't offer. `known` are the arrivals that it can offer; `instead` are other tools of the
    engine that offer the declared ones."""

    code = "E0580"
    says = "`{tool}` can't offer a load with `{kind}` arrivals"
    mark = ("it offers {known:ticked}", "it does not tell how it spaces a load")
    hint = ("use `tool = {instead[0]}`, or remove `arrivals`", "remove `arrivals`")
    tool: str
    kind: str
    known: tuple[str, ...]
    instead: tuple[str, ...] = ()


class ArrivalsWithoutTarget(CompileProblem):
    """Arrivals in an experiment that offers no load."""

    code = "E0581"
    says = "`{kind}` arrivals need a rate, and experiment `{experiment}` has no `target`"
    hint = "add `target = 1k ops/s`; without one, each thread sends its next operation when the last one has ended"
    kind: str
    experiment: str


class ArrivalsBesideTarget(CompileProblem):
    code = "E0582"
    says = "{what}, and experiment `{experiment}` has a `target` too"
    hint = "remove `target`{other}"
    kind: str
    experiment: str

    @property
    def what(self) -> str:
        if self.kind == "closed":
            return "a closed loop has no rate"
        return f"`{self.kind}` arrivals have rates of their own"

    @property
    def other(self) -> str:
        return ", or write `poisson` or `constant` in place of `closed`" if self.kind == "closed" else ""


class TimesOfSteps(CompileProblem):
    code = "E0583"
    says = "`steps(...)` sets the measured time, and experiment `{experiment}` has `{key}` too"
    hint = "remove `{key}`: {steps} steps of {each} are measured for {whole}"
    experiment: str
    key: str
    steps: int
    each: str
    whole: str


class BadTrace(CompileProblem):
    """A trace with a bad `line`: it is not a due time, is out of order, follows a gap, or ends the trace too early."""

    code = "E0584"
    says = "line {line} of `{file}` {why}"
    hint = (
        "{instead}",
        (
            "write a due time in each line, in seconds from the start, in rising order and at most 10 s apart; lines "
            "with `#` are left out"
        ),
    )
    file: str
    line: int
    why: str
    instead: str = ""
    """Advice for a trace that is correct but too short. It replaces the usual hint."""


class BoundNotOfTool(CompileProblem):
    code = "E0585"
    says = "`{tool}` {lacks}, so `{key}` has no effect"
    hint = "remove `{key}`"
    tool: str
    key: Bound

    @property
    def lacks(self) -> str:
        return _LACKS[self.key]


class LongBursts(CompileProblem):
    code = "E0586"
    says = "a burst of {lasting} that begins every {every} leaves no time between bursts"
    hint = "write a shorter `lasting:`, or a longer `every:`"
    lasting: str
    every: str


class NotOfTool(CompileProblem):
    """A value of a workload's attribute that this tool does not know. `instead` is a tool that knows the value."""

    code = "E0587"
    says = "`{tool}` does not know `{key} = {value}` of workload `{workload}`"
    hint = ("write another `{key}`, or use `tool = {instead}`", "write another `{key}`")
    tool: str
    key: str
    value: str
    workload: str
    instead: str = ""


class LoadingNotTimed(CompileProblem):
    code = "E0588"
    says = "`{tool}` can load data, but can't measure `{workload}`"
    hint = ("remove it from `workloads`, or use `tool = {instead}`", "remove it from `workloads`")
    tool: str
    workload: str
    instead: str = ""


_NAMED = 4
"""The most names that a message lists. It only counts the others."""


class TooFewRepeats(CompileProblem):
    """Too few repeats for a useful confidence interval."""

    code = "E0550"
    says = "{count:plural repeat} {are} too few for a useful confidence interval"
    hint = "write `from: {fewest}` or more, or leave it out"
    count: int
    fewest: int

    @property
    def are(self) -> str:
        return "is" if self.count == 1 else "are"


class NoRoomToStop(CompileProblem):
    """A `to:` that is not above `from:`, so that the repeats can't end early."""

    code = "E0551"
    says = "`to: {most}` must be above `from: {fewest}`, or no repeat can be saved"
    hint = "write a larger `to:`, or `repeats = {most}` for a fixed number"
    fewest: int
    most: int


class BudgetOfSearch(CompileProblem):
    """A budget in an experiment that searches for a knee."""

    code = "E0552"
    says = "a search has no `budget`: it judges each point by all its repeats"
    hint = "give the `budget` to the experiment that uses the knee, or write `bench run --budget` for the whole run"


class NoRepeatsToChoose(CompileProblem):
    """A budget in an experiment that measures each point once."""

    code = "E0553"
    says = "a `budget` chooses which points are repeated, and nothing is repeated here"
    hint = "write `repeats = confident(within: 5 %, from: 3, to: 10)`, or a number of repeats such as `repeats = 5`"


class _BudgetTooSmall(CompileProblem):
    """A budget too short for one pass. `pass_s` is the estimated time of a pass, including `loading_s` for loads and
    resets."""

    budget_s: float
    pass_s: float
    loading_s: float

    @property
    def enough(self) -> str:
        return enough_time(self.pass_s)


class BudgetBelowPass(_BudgetTooSmall):
    """A budget too short to measure each point once, even if only the declared times count."""

    code = "E0554"
    says = (
        "the budget of {budget_s:duration} is below one pass: to measure each point once takes {declared_s:duration}, "
        "without any load"
    )
    mark = "less than {declared_s:duration}"
    hint = "write `budget = {enough}` or more, which includes loading; or measure fewer points, or for a shorter time"
    declared_s: float


class BudgetBelowEstimate(_BudgetTooSmall):
    """A budget that covers the declared times of one pass, but not the estimated loads in addition."""

    code = "W0509"
    says = (
        "the budget of {budget_s:duration} is below one pass by the estimates: to measure each point once takes about "
        "{pass_s:duration}, {loading_s:duration} of it to load and reset data"
    )
    mark = "less than about {pass_s:duration}"
    hint = "write `budget = {enough}` or more: `bench run` refuses less, unless earlier runs show that it is enough"


class TooFewAdaptivePoints(CompileProblem):
    """An adaptive ramp with too few points to show a bend."""

    code = "E0546"
    says = "an adaptive ramp has {fewest} points or more, and this one has {count}"
    mark = "the ends, and a point between them"
    key: str
    count: int
    fewest: int
    usual: int
    """The number of points that the ramp would have by default."""
    ends: tuple[str, str]

    @property
    def help(self) -> str:
        listed = f"for fewer points, list them: `{self.key} = [{', '.join(self.ends)}]`"
        return f"write `points: {self.usual}`, say; {listed}" if self.usual >= self.fewest else listed


class TooFewCandidates(CompileProblem):
    """An adaptive ramp that should measure more points than there are candidates."""

    code = "E0547"
    says = "{count} points are to be measured, and this ramp of `{key}` has {candidates} from {least:g} to {greatest:g}"
    mark = "more than {candidates}"
    key: str
    count: int
    candidates: int
    least: float
    greatest: float

    @property
    def help(self) -> str:
        if self.candidates < 3:
            return f"move the ends apart, or list the points: `{self.key} = [...]`"
        return f"write `points: {self.candidates}` or fewer, or move the ends apart"


class AdaptiveInRandomOrder(CompileProblem):
    """An adaptive ramp in an experiment whose cells are shuffled."""

    code = "E0548"
    says = "each point of an adaptive ramp depends on those before, so it can't be in random order"
    hint = "write `grouped`, or `interleaved` to measure every hardware at each point in turn"


class BudgetOfAdaptive(CompileProblem):
    """A budget for an experiment that can't choose its points without all repeats."""

    code = "E0549"
    says = "an adaptive ramp has no `budget`: each point is chosen by all repeats of those before"
    hint = "remove `budget` and lower `points:`, or list the points; `bench run --budget` is for the whole run"


class NoOverlap(CompileProblem):
    """An `overlap` between hardware groups that would disturb each other's measurements, because they share something.
    `shared` is empty for groups that are joined only through other groups."""

    code = "W0508"
    says = "`overlap = {word}` does not hold for {groups}: {why}"
    mark = "measured one after another, with nothing beside"
    word: str
    names: tuple[str, ...]
    shared: tuple[str, ...]
    variants: bool = False
    """Whether the two are variants of one hardware group."""
    one_client: bool = False
    """Whether the groups share nothing but the hosts of the experiment's client."""

    @property
    def help(self) -> str:
        if self.variants:
            return "variants are states of the same hosts: leave `overlap` out, or compare hardware on hosts of its own"
        if self.one_client:
            return (
                "an experiment has one `client`: write one experiment for each group, each with a client of its own, "
                "and they run side by side, measurements too; or leave `overlap` out"
            )
        return "give each group its own, and the next one can load meanwhile; or leave `overlap` out"

    @property
    def groups(self) -> str:
        *before, last = (f"`{name}`" for name in self.names[:_NAMED])
        if len(self.names) > _NAMED:
            return f"{', '.join((*before, last))} and {len(self.names) - _NAMED} more"
        return f"{', '.join(before)} and {last}"

    @property
    def why(self) -> str:
        if not self.shared:
            return "other groups or experiments of the spec join them"
        more = f" and {len(self.shared) - _NAMED} more" if len(self.shared) > _NAMED else ""
        return f"they share {', '.join(self.shared[:_NAMED])}{more}"


# --- measuring until it is steady: `measure = until_steady(within: 2 %, from: 2 min, to: 30 min)` --------------------


class NotUntilSteady(CompileProblem):
    code = "E0576"
    says = "`{tool}` runs for a time set in advance, so it can't end as soon as it is steady"
    hint = ("write a time, as in `measure = 10 min`, or {remedy}", "write a time, as in `measure = 10 min`")
    tool: str
    remedy: str = ""


class TooSoon(CompileProblem):
    """A `from:` of `until_steady` that is so early that there are too few batches to judge."""

    code = "E0577"
    says = "`from: {said}` is too early to tell a steady state from chance"
    mark = "the rule needs {least_s:duration} at least"
    hint = "write `from: 2 min`; a later first look leaves less to chance"
    said: str
    least_s: float


class NoTimeToEnd(CompileProblem):
    """A `to:` that is not above `from:`, so that the measured time can't end early."""

    code = "E0578"
    says = "`to: {most}` must be above `from: {soonest}`: these are the longest and the shortest measured time"
    hint = "write a larger `to:`, or `measure = {most}` for a fixed time"
    soonest: str
    most: str


class NeverSteady(CompileProblem):
    """A measurement that should last until the load is steady, although the load can't become steady, or ends by a rule
    of its own. `what` is the cause, and `why` explains it."""

    code = "E0579"
    says = "experiment `{experiment}` is measured until it is steady, and {why}"
    hint = "write a time, as in `measure = 10 min`, or remove {what}"
    experiment: str
    what: str
    why: str


class SteadyOfSeveral(CompileProblem):
    """A client with several hosts in an experiment with `until_steady`. Each host would end at a different time."""

    code = "E0589"
    says = "client `{client}` has {hosts} hosts: each would end when its own part of the load is steady"
    mark = "the others would go on with less load"
    hint = "give the client one host, or write a time, as in `measure = 10 min`"
    client: str
    hosts: int


class NoMeasuredTime(CompileProblem):
    code = "E0524"
    says = "experiment `{experiment}` has no measured time"
    hint = "add `measure = 10 min`, or `phases = 6 x 10 min` for consecutive intervals of one run"
    experiment: str


class ClosedLoopOnly(CompileProblem):
    code = "E0525"
    says = "`{tool}` runs as fast as it can: it can't offer a `target` load"
    hint = ("{remedy}, or remove `target`, and ramp `threads`", "remove `target`, and ramp `threads`")
    tool: str
    remedy: str = ""


class TwoRamps(CompileProblem):
    code = "E0526"
    says = "`threads` {ramp}, and `target` is set too: an experiment has one ramp"
    hint = "write one number of threads, or one experiment for each number"
    ramp: str
    """A phrase that describes the threads, such as "has 3 points" or "is a search"."""


class NoPhases(CompileProblem):
    code = "E0528"
    says = "`{tool}` reports the latencies of a whole run only, so it can't measure phases"
    hint = ("write `measure = ...` instead, or {remedy}", "write `measure = ...` instead")
    tool: str
    remedy: str = ""


class TwoSizes(CompileProblem):
    """A workload without `records` that is used with databases of different sizes."""

    code = "E0529"
    says = "workload `{workload}` has no `records`, and its databases give different numbers: {records}"
    hint = "set `records` in the workload in place of `size`, or declare a workload for each database"
    workload: str
    records: str


class NoSearch(CompileProblem):
    """A reference `other.knee` to an experiment that does not search for a knee of this axis. `searched` describes what
    the other experiment does instead."""

    code = "E0532"
    says = "experiment `{experiment}` finds no knee of `{key}`: {searched}"
    mark = "no such knee"
    experiment: str
    key: str
    searched: str

    @property
    def help(self) -> str:
        first, last = ("1", "512") if self.key == "threads" else ("1k ops/s", "100k ops/s")
        return (
            f"let it search with `{self.key} = knee(from: {first}, factor: 2, to: {last})` in `{self.experiment}`, "
            "or write the number here"
        )


class ManyKnees(CompileProblem):
    """A reference to an experiment with several knees, but none for the cell's hardware or workload."""

    code = "E0533"
    says = "experiment `{experiment}` finds a knee for each {kind}, and none for `{wanted}`"
    mark = "which one?"
    hint = "it searches with {known:ticked}: let it search with `{wanted}` too, or with one {kind} only"
    experiment: str
    kind: str
    wanted: str
    known: tuple[str, ...]


class SearchInRandomOrder(CompileProblem):
    code = "E0534"
    says = "a search goes upwards from point to point, so it can't be in random order"
    hint = "write `grouped`, or `interleaved` to measure every hardware at each point in turn"


class NoMeasuredLoad(CompileProblem):
    code = "E0535"
    says = "`load({workload})` can't be measured: the loads of {tool} are workloads of their own"
    hint = "declare `workload fill from {tool}.{fill}`, and measure `fill`"
    workload: str
    tool: str
    fill: str


class LoadInPhases(CompileProblem):
    code = "E0536"
    says = "`{workload}` ends with its last record, so it can't be measured in phases"
    hint = "measure it in an experiment of its own, with `measure = ...`"
    workload: str


class MeterCount(CompileProblem):
    code = "E0537"
    says = "`{meter}` names {meter_count:plural meter}, and hardware `{hardware}` has {host_count:plural host}"
    mark = "{meter_count:plural meter}"
    hint = "name one meter for each host, in the order of the hosts; for a meter of all hosts, write `shared: true`"
    meter: str
    hardware: str
    meter_count: int
    host_count: int


class NoMeter(CompileProblem):
    """The probe `power` on hardware without a power meter. `declared` is the fact that the hardware declares
    instead."""

    code = "E0538"
    says = "the probe `power` needs a power meter, and {names:ticked} {have} none"
    hint = (
        (
            "`power = {declared}` in `{names[0]}` is a declared number: write a meter in its place, or remove the "
            "probe and compute with the number"
        ),
        'add a meter to `{names[0]}`: `power = {bmc}`, `{on_host}` or `command("...")`',
    )
    names: tuple[str, ...]
    declared: str

    @property
    def bmc(self) -> str:
        return sample_bmc().strip("`")

    @property
    def on_host(self) -> str:
        return sample_meter()

    @property
    def have(self) -> str:
        return "have" if len(self.names) > 1 else "has"


class FewThreads(CompileProblem):
    """Fewer threads than hosts. `threads` is the total of all load generators; `search` names the experiment whose
    search starts with that number."""

    code = "E0540"
    says = (
        (
            "`threads` are the total over all load generators, and {threads}, where the search of `{search}` begins, "
            "can't be split over {hosts} hosts"
        ),
        "`threads` are the total over all load generators, and {threads} can't be split over {hosts} hosts",
    )
    mark = "client `{client}` has {hosts} hosts"
    hint = (
        "start the search of `{search}` at {hosts} threads, or give the client fewer hosts",
        "start with {hosts} threads or more, or give the client fewer hosts",
    )
    threads: int
    client: str
    hosts: int
    search: str = ""


class SmallTarget(CompileProblem):
    """A target too small to split over the hosts (see `FewThreads` for threads)."""

    code = "E0541"
    says = (
        (
            "`target` is the total over all load generators, and {target:g} ops/s, where the search of `{search}` "
            "begins, can't be split over {hosts} hosts"
        ),
        "`target` is the total over all load generators, and {target:g} ops/s can't be split over {hosts} hosts",
    )
    mark = "client `{client}` has {hosts} hosts"
    hint = (
        "start the search of `{search}` at {hosts} ops/s, or give the client fewer hosts",
        "offer {hosts} ops/s or more, or give the client fewer hosts",
    )
    target: float
    client: str
    hosts: int
    search: str = ""


class NotForThisProbe(CompileProblem):
    """An `on` for a kind of probe that has no `on`. `known` are the kinds that have one."""

    code = "E0558"
    says = "the probe `{kind}` has no `{key}`"
    key: str
    kind: str
    known: tuple[tuple[str, str], ...]

    @property
    def help(self) -> str:
        known = dict(self.known)
        if self.kind in known:
            return f"did you mean `{known[self.kind]}`?"
        owner = next(kind for kind, key in self.known if key == self.key)
        return f"remove it: `{self.key}` is for the probe `{owner}`"


class NoProbeOfEngine(CompileProblem):
    """A probe of the database, used with an engine that the probe does not support."""

    code = "E0559"
    says = "the probe `{probe}` can't read {engine}"
    mark = "it reads databases of other engines"
    hint = ("use {probes:ticked} for {engine}", "remove it from `probes`")
    probe: str
    engine: str
    probes: tuple[str, ...]


class ShortForProbe(CompileProblem):
    """A measured time that is too short for a probe.

    Either the probe reads at most once in this time, or a load generator's intervals leave out much of it. For a load
    generator, `consequence` is empty. Times are in seconds.
    """

    code = "W0506"
    says = "experiment `{experiment}` measures for {measure_s:g} s: {read}"
    mark = ("{consequence}", "the load generator gives whole seconds, and its first and last interval may be missing")
    hint = "measure for {enough} or longer{or_shorter}"
    experiment: str
    kind: str
    every_s: float
    measure_s: float
    consequence: str

    @property
    def read(self) -> str:
        if self.consequence:
            return f"`{self.kind} every {self.every_s:g} s` reads at most once in that time"
        share = max(0.0, 1 - 2 * self.every_s / self.measure_s)
        return f"`{self.kind}` may cover as little as {share:.0%} of it".replace("%", " %")

    @property
    def enough(self) -> str:
        return f"{(3 if self.consequence else 2 / (1 - COMPLETE)) * self.every_s:g} s"

    @property
    def or_shorter(self) -> str:
        return ", or write a shorter `every`" if self.consequence or self.every_s > 1 else ""


class ClientsUnfit(CompileProblem):
    """A list of clients with a wrong number of clients (there must be one for each hardware group), or with clients
    that use different tools (`unlike`)."""

    code = "E0599"
    says = (
        "the clients {unlike:ticked} have different tools",
        "`client` names {clients} clients, and `hardware` {groups:plural group}",
    )
    clients: int
    groups: int
    unlike: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        if self.unlike:
            return "write the same `tool` in both: numbers of different load generators do not compare"
        return "name one client for each group, in the order of `hardware`, or one for all"
