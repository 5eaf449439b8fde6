"""Mistakes in the events of an experiment (E059x)."""

from __future__ import annotations

from benchbrief.compiler.problems import Again, CompileProblem
from benchbrief.dsl.diagnostics.plain_amounts import duration
from benchbrief.dsl.diagnostics.suggest import did_you_mean


class EventAfterEnd(CompileProblem):
    """An event after the measured time, or so late that nothing can be back before its end."""

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
    hint = "take the event away, or use a load generator that reports while it runs, such as `ycsb` or `db_bench`"
    tool: str


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
    """A host or a hardware that not every cell of the experiment has."""

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
