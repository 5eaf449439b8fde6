"""Estimates from the times of earlier runs: for loads, resets, start-up, rendering, and measuring until the load is
steady.

A time from an earlier run counts only for the same hosts, database and tool. Otherwise, the built-in estimate is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from operator import is_

from benchbrief.compiler.estimates.estimate import (
    RENDERING_S,
    Activity,
    activity_of,
    counted_cells,
    estimate_some,
    held_out_wall_s,
)
from benchbrief.compiler.registry import TOOL_SPECS, tool_word
from benchbrief.dsl.diagnostics.plain_amounts import duration
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.fingerprint import database_parts, digest, machines, workload_parts
from benchbrief.model.plan import Cell, Plan, Step

MOST_TIMES = 20.0
"""The time of a load, copy or undo is derived from a measured one only if its amount is at most this many times the
measured amount."""
_SHOWN_SHARE = 0.02
"""A part of a load's time is shown only if it is at least this share of the whole time."""
_ROUNDED_S = 10.0
"""The shortest load (in seconds) whose rate is shown in a built-in estimate. A shorter time, rounded to seconds, gives
no useful rate."""
_NOT_OF_A_LOAD = ("reset", "drop_caches", "max_lag_s")


@dataclass(frozen=True)
class SeenStep:
    """How long a step took in a run, in seconds: the median over the run's cells.

    For a load or a copy, `amount` is the number of records, or of bytes if the data set has no records. For an undo, it
    is how many seconds cells were planned to insert. For other steps, it is 0.
    """

    seconds: float
    run: str
    amount: float = 0.0


History = Mapping[str, SeenStep]
"""The times of earlier runs by key (see `Keys`)."""


@dataclass(frozen=True)
class Keys:
    """Keys for the times of a cell's steps. Steps with equal keys take equal time, except for loads, whose time also
    depends on the amount."""

    load: str
    amount: float
    start_up: str
    resets: str
    steadied: str = ""
    """The key of a measurement that lasts until the load is steady, or "" for any other measurement."""

    @classmethod
    def of(cls, plan: Plan, cell: Cell) -> Keys:
        hardware, workload = plan.hardware[cell.hardware], plan.workload_of(cell)
        database = plan.databases[cell.database]
        on = [
            machines(hardware.hosts, plan.hosts),
            machines(cell.load_hosts, plan.hosts),
            list(hardware.prepare),
            {key: value for key, value in database_parts(database).items() if key not in _NOT_OF_A_LOAD},
            [cell.tool.driver, cell.tool.package.partition("+")[0]],
        ]
        spec = TOOL_SPECS.usable(workload.family)
        shaping = {key for key, each in spec.attributes.items() if each.shapes_data} if spec else set()
        shaping = (shaping | {"load_threads"}) - {"records"}
        shape = {key: value for key, value in workload.properties.items() if key in shaping}
        amount = float(workload.properties.get("records", database.size_bytes or 0.0))
        planned = [
            step.seconds for step in cell.steps if step.kind == "prepare"
        ]  # it shows whether the cell starts a server
        experiment = plan.experiments[cell.experiment]
        steadied = ""
        if rule := experiment.until_steady:
            load = [workload_parts(workload), experiment.axis, experiment.warm_up_s, experiment.measure_s]
            steadied = digest(["steadied", *on, *load, rule.model_dump()])
        return cls(
            digest(["load", *on, shape]),
            amount,
            digest(["start_up", *on, planned]),
            digest(["resets", *on, shape]),
            steadied,
        )

    def reset(self, how: str) -> str:
        """Return the key for one way to reset the data set, such as `copy`."""
        return digest([how, self.resets])

    def reset_amount(self, how: str, planned_s: float) -> float:
        """Return the amount that a reset's time depends on: for a copy, the number of records or bytes; for an undo,
        `planned_s`; for other resets, 0.

        `planned_s` is how many seconds cells were planned to insert.
        """
        return {"copy": self.amount, "undo": planned_s}.get(how, 0.0)


def rendering_key(template: str) -> str:
    return f"rendering {template}"


@dataclass(frozen=True)
class TimesSource:
    """The source of an estimate. `run` is the run that took this time, or "" for a built-in estimate."""

    activity: Activity
    of: str
    text: str
    run: str

    def as_dict(self) -> dict[str, str]:
        return {"activity": self.activity, "of": self.of, "estimate": self.text, "run": self.run}


@dataclass(frozen=True)
class Estimated:
    """A plan whose steps take as long as in earlier runs. Also has the seconds for rendering, and the sources of all
    these times."""

    plan: Plan
    rendering_s: float
    sources: tuple[TimesSource, ...] = ()


@dataclass
class _Learning:
    plan: Plan
    history: History
    sources: dict[TimesSource, None] = field(default_factory=dict)
    _steps: dict[tuple[object, ...], tuple[Step, ...]] = field(default_factory=dict)
    _prepared: dict[tuple[object, ...], set[float]] = field(default_factory=dict)
    """The planned times to prepare a cell of one database and tool. There are two if only some of the cells start a
    server."""

    def __post_init__(self) -> None:
        for cell in self.plan.cells:
            times = self._prepared.setdefault((cell.database.database, cell.tool.driver), set())
            times.update(step.seconds for step in cell.steps if step.kind == "prepare")

    def steps(self, cell: Cell) -> tuple[Step, ...]:
        """Return the steps of a cell, which all cells of a block share."""
        block = (cell.experiment, cell.database, cell.workload, cell.load_hosts, cell.tool.driver, id(cell.steps))
        if block not in self._steps:
            self._steps[block] = tuple(self._learned(cell))
        return self._steps[block]

    def _learned(self, cell: Cell) -> Iterator[Step]:
        keys = Keys.of(self.plan, cell)
        of = f"{cell.database.database} on {cell.hardware} by {tool_word(cell.tool.driver)}"
        for step in cell.steps:
            match activity_of(step):
                case "loading" if step.seconds:
                    seconds, run = self._load_s(cell, keys, step)
                    self._note("loading", of, _load_text(cell, keys.amount, seconds, is_seen=bool(run)), run)
                case "resets":
                    how = step.reset
                    seen = self.history.get(keys.reset(how))
                    known = in_proportion(seen, keys.reset_amount(how, step.seconds)) if seen else None
                    seconds, run = (step.seconds, "") if seen is None or known is None else (known, seen.run)
                    text = f"{duration(_short(seconds))} each" if seconds else "unknown, counted as 0 s"
                    self._note("resets", f"{how} for {of}", text, run)
                case "start_up" if step.kind == "prepare":
                    seen = self.history.get(keys.start_up)
                    collect_s = sum(each.seconds for each in cell.steps if each.kind == "collect")
                    seconds, run = (max(0.0, seen.seconds - collect_s), seen.run) if seen else (step.seconds, "")
                    self._note(
                        "start_up", of, f"{duration(_short(seconds + collect_s))} {self._which(cell, step)}", run
                    )
                case "measuring" if rule := self.plan.experiments[cell.experiment].until_steady:
                    seen = self.history.get(keys.steadied)
                    seconds, run = (seen.seconds, seen.run) if seen else (step.seconds, "")
                    ends = f"between {duration(rule.from_s)} and {duration(cell.measure_s)}"
                    self._note("measuring", cell.experiment, f"{duration(_short(seconds))} a cell, {ends}", run)
                case _:
                    seconds = step.seconds
            yield step if seconds == step.seconds else step.model_copy(update={"seconds": round(seconds, 3)})

    def _which(self, cell: Cell, step: Step) -> str:
        times = self._prepared[cell.database.database, cell.tool.driver]
        if len(times) < 2:
            return "a cell"
        return "a cell that starts the server" if step.seconds == max(times) else "a cell whose server is up"

    def _load_s(self, cell: Cell, keys: Keys, step: Step) -> tuple[float, str]:
        """Return the seconds of a load, derived from an earlier run, and that run. If there is none, return the planned
        seconds and ""."""
        seen = self.history.get(keys.load)
        spec = TOOL_SPECS.usable(cell.tool.driver)
        known = in_proportion(seen, keys.amount, spec.load_start_s if spec else 0.0) if seen and seen.amount else None
        return (step.seconds, "") if seen is None or known is None else (known, seen.run)

    def rendering_s(self) -> float:
        total = 0.0
        for report in self.plan.reports:
            seen = self.history.get(rendering_key(report.template))
            seconds, run = (seen.seconds, seen.run) if seen else (RENDERING_S, "")
            self._note("rendering", f"template {report.template}", f"{duration(_short(seconds))} a report", run)
            total += seconds
        return total

    def _note(self, activity: Activity, of: str, text: str, run: str) -> None:
        self.sources[TimesSource(activity, of, text, run)] = None


def with_history(plan: Plan, history: History) -> Estimated:
    """Replace the built-in estimates by the times of earlier runs. The returned plan is only for estimates, not for a
    run."""
    learning = _Learning(plan, history)
    cells = tuple(
        cell if (steps := learning.steps(cell)) == cell.steps else cell.model_copy(update={"steps": steps})
        for cell in plan.cells
    )
    if all(map(is_, cells, plan.cells)):
        return Estimated(plan, learning.rendering_s(), tuple(learning.sources))
    counted = counted_cells(cells, plan.experiments)
    learned = plan.model_copy(update={"cells": cells})
    estimate_s = estimate_some(cells, counted) + held_out_wall_s(learned)
    learned = learned.model_copy(update={"estimate_s": estimate_s})
    return Estimated(learned, learning.rendering_s(), tuple(learning.sources))


def in_proportion(seen: SeenStep, amount: float, fixed_s: float = 0.0) -> float | None:
    """Return the seconds for an amount, in proportion to a measured amount. `fixed_s` seconds pass whatever the amount
    is. Return None if the measured amount is too small."""
    if amount == seen.amount:
        return seen.seconds
    if not seen.amount or amount > MOST_TIMES * seen.amount:
        return None
    fixed_s = min(fixed_s, seen.seconds)
    return fixed_s + (seen.seconds - fixed_s) * amount / seen.amount


def _load_text(cell: Cell, amount: float, seconds: float, *, is_seen: bool) -> str:
    """Return a text with a load's time, the fixed part of that time, and the rate in the rest of it. The rate is left
    out if rounding makes it meaningless."""
    spec = TOOL_SPECS.usable(cell.tool.driver)
    fixed_s = min(spec.load_start_s, seconds) if spec else 0.0
    loading_s = seconds - fixed_s
    text = f"{duration(_short(seconds))} a load"
    if spec and fixed_s >= _SHOWN_SHARE * seconds:
        text += f", {duration(_short(fixed_s))} of it {spec.load_start_is}"
    if loading_s < _SHOWN_SHARE * seconds or (loading_s < _ROUNDED_S and not is_seen):
        return text
    if cell.dataset and cell.dataset.records:
        return f"{text}, {_per_second(amount / loading_s)} records/s"
    return f"{text}, {_per_second(amount / loading_s / 1e6)} MB/s"


def _per_second(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _short(seconds: float) -> float:
    return round(seconds, 1 if seconds >= 1 else 2)
