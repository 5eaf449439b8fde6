"""Mistakes in the schedule of a run (E055x), and a warning of it."""

from __future__ import annotations

from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.diagnostics.plain_amounts import enough_time

_NAMED = 4
"""A message names so many at most, and counts the rest."""


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
    """A `to:` that is not above `from:`, so that confidence can save no repeat."""

    code = "E0551"
    says = "`to: {most}` must be above `from: {fewest}`, or no repeat can be saved"
    hint = "write a larger `to:`, or `repeats = {most}` for a fixed number"
    fewest: int
    most: int


class BudgetOfSearch(CompileProblem):
    """A budget of an experiment that searches a knee."""

    code = "E0552"
    says = "a search has no `budget`: it judges each point by all its repeats"
    hint = "give the `budget` to the experiment that uses the knee, or write `bench run --budget` for the whole run"


class NoRepeatsToChoose(CompileProblem):
    """A budget of an experiment that measures each point once."""

    code = "E0553"
    says = "a `budget` chooses which points are repeated, and nothing is repeated here"
    hint = "write `repeats = confident(within: 5 %, from: 3, to: 10)`, or a number of repeats such as `repeats = 5`"


class _BudgetTooSmall(CompileProblem):
    """A budget in which one pass does not fit. `pass_s` is what one takes by the estimates, and `loading_s` the part of
    it that loads and resets."""

    budget_s: float
    pass_s: float
    loading_s: float

    @property
    def enough(self) -> str:
        return enough_time(self.pass_s)


class BudgetBelowPass(_BudgetTooSmall):
    """A budget in which not even each point can be measured once, by the times that the spec declares."""

    code = "E0554"
    says = (
        "the budget of {budget_s:duration} is below one pass: to measure each point once takes {declared_s:duration}, "
        "without any load"
    )
    mark = "less than {declared_s:duration}"
    hint = "write `budget = {enough}` or more, which includes loading; or measure fewer points, or for a shorter time"
    declared_s: float


class BudgetBelowEstimate(_BudgetTooSmall):
    """A budget in which each point can be measured once by the declared times, but not with the estimated loads."""

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
    """As many points as the ramp may well have."""
    ends: tuple[str, str]

    @property
    def help(self) -> str:
        listed = f"for fewer points, list them: `{self.key} = [{', '.join(self.ends)}]`"
        return f"write `points: {self.usual}`, say; {listed}" if self.usual >= self.fewest else listed


class TooFewCandidates(CompileProblem):
    """An adaptive ramp that is to measure more points than it has candidates."""

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
    """A budget of an experiment whose points are chosen by all their repeats."""

    code = "E0549"
    says = "an adaptive ramp has no `budget`: each point is chosen by all repeats of those before"
    hint = "remove `budget` and lower `points:`, or list the points; `bench run --budget` is for the whole run"


class NoOverlap(CompileProblem):
    """An `overlap` between hardware groups that share what a measurement would see. `shared` is empty where other
    groups join them."""

    code = "W0508"
    says = "`overlap = {word}` does not hold for {groups}: {why}"
    mark = "measured one after another, with nothing beside"
    word: str
    names: tuple[str, ...]
    shared: tuple[str, ...]
    variants: bool = False
    """Whether they are variants of one hardware group."""
    one_client: bool = False
    """Whether they share no more than the hosts of the experiment's client."""

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
    """`able` are tools of the same engine that can end by themselves."""

    code = "E0576"
    says = "`{tool}` runs for a time set in advance, so it can't end as soon as it is steady"
    hint = (
        "write a time, as in `measure = 10 min`, or use {able:ticked}, which can",
        "write a time, as in `measure = 10 min`",
    )
    tool: str
    able: tuple[str, ...] = ()


class TooSoon(CompileProblem):
    """A first look before there are enough batches."""

    code = "E0577"
    says = "`from: {said}` is too early to tell a steady state from chance"
    mark = "the rule needs {least_s:duration} at least"
    hint = "write `from: 2 min`; a later first look leaves less to chance"
    said: str
    least_s: float


class NoTimeToEnd(CompileProblem):
    """A longest time that is not above the shortest one."""

    code = "E0578"
    says = "`to: {most}` must be above `from: {soonest}`: these are the longest and the shortest measured time"
    hint = "write a larger `to:`, or `measure = {most}` for a fixed time"
    soonest: str
    most: str


class NeverSteady(CompileProblem):
    """A load that is not to be steady, or that has another end. `what` is that, and `why` says it."""

    code = "E0579"
    says = "experiment `{experiment}` is measured until it is steady, and {why}"
    hint = "write a time, as in `measure = 10 min`, or remove {what}"
    experiment: str
    what: str
    why: str


class SteadyOfSeveral(CompileProblem):
    """Several load generators, each of which would end by itself."""

    code = "E0589"
    says = "client `{client}` has {hosts} hosts: each would end when its own part of the load is steady"
    mark = "the others would go on with less load"
    hint = "give the client one host, or write a time, as in `measure = 10 min`"
    client: str
    hosts: int
