"""How long a cell is measured (`measure`, `phases`, `until_steady`), and how often (`repeats`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

from benchbrief.compiler.blocks import experiment_errors
from benchbrief.compiler.blocks.ramps import Ramp, judging_repeats
from benchbrief.compiler.blocks.values import Constant, Reader, Values, described, named_arguments, wrong_value
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.schemas import EXPERIMENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.steadiness import MOST_WITHIN, SOONEST_S
from benchbrief.model.value_shapes import Number

STEADY_ARGUMENTS = ("within", "from", "to")
STEADY_USAGE = "`until_steady(within: 2 %, from: 2 min, to: 30 min)`"
_NEEDS = "needs `within:`, `from:` and `to:`"
_MEASURE = Number("s", "20 min", above=True)
_WITHIN = Number("", "2 %", plain=True, above=True, maximum=MOST_WITHIN)
_PHASES = Number("", "6", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_PHASE = Number("s", "6 x 10 min", above=True)
_TIMES = re.compile(r"([0-9]+)\s*[x*]\s*([0-9].*)")
_ANY_S = 60.0
"""The measured time to assume after a mistake, so that reports can still be checked."""


@dataclass(frozen=True)
class Times:
    """How many seconds the cells of an experiment are measured, and in how many phases. If there is an `until`,
    `measure_s` is the longest time.

    `rule` is the place of the whole `until_steady(...)`, even if it has a mistake. `said` has the times as written,
    each with the name of its attribute or argument.
    """

    measure_s: float = _ANY_S
    phases: int = 1
    until: plan.UntilSteady | None = None
    rule: Span | None = None
    said: tuple[tuple[str, Constant], ...] = ()


def read_times(entry: Entry, values: Values, reader: Reader) -> Times:
    if series := values.series("phases"):
        measure_s, phases = _phases(reader.deref(series[0]), reader)
        return Times(measure_s, phases)
    series = values.series("measure")
    if not series:
        if not values.said("measure"):
            reader.report(experiment_errors.NoMeasuredTime(entry.head, entry.name))
        return Times()
    match reader.deref(series[0]):
        case ast.Call(function=ast.Name(text="until_steady")) as call:
            return _until_steady(call, reader)
        case ast.Name(text="until_steady") as bare:
            reader.report(structure_errors.BadArgument(bare.span, bare.text, _NEEDS, STEADY_USAGE))
            return Times()
        case ast.Call() as other:
            wanted = EXPERIMENT.keys["measure"].shape.wanted
            reader.report(wrong_value(other, "measure", wanted, ("until_steady",)))
            return Times()
    seconds = reader.quantity("measure", series[0], _MEASURE)
    if seconds is None:
        return Times()
    return Times(seconds.value, said=(("measure", seconds),))


def _until_steady(call: ast.Call, reader: Reader) -> Times:
    wrong = Times(rule=call.span)
    named = named_arguments(call, STEADY_ARGUMENTS, reader)
    if named is None:
        return wrong
    if named.keys() != {*STEADY_ARGUMENTS} or len(named) != len(call.arguments):
        missing = [f"`{name}:`" for name in STEADY_ARGUMENTS if name not in named]
        why = f"needs {' and '.join(missing)}" if len(named) == len(call.arguments) else _NEEDS
        reader.report(structure_errors.BadArgument(call.span, "until_steady", why, STEADY_USAGE))
        return wrong
    within = reader.quantity("within", named["within"].value, _WITHIN)
    first, last = (reader.quantity(name, named[name].value, _MEASURE) for name in ("from", "to"))
    if within is None or first is None or last is None:
        return wrong
    if first.value < SOONEST_S:
        reader.report(experiment_errors.TooSoon(first.span, first.text, SOONEST_S))
        return wrong
    if last.value <= first.value:
        reader.report(experiment_errors.NoTimeToEnd(last.span, first.text, last.text))
        return wrong
    rule = plan.UntilSteady(within=within.value, from_s=first.value)
    return Times(last.value, 1, rule, call.span, (("from", first), ("to", last)))


def _phases(expr: ast.Expr, reader: Reader) -> tuple[float, int]:
    if not isinstance(expr, ast.Binary) or expr.operator != "x":
        wanted, times = EXPERIMENT.keys["phases"].shape.wanted, _TIMES.fullmatch(expr.span.text)
        meant = f"{times[1]} x {times[2]}" if times else None
        reader.report(structure_errors.WrongType(expr.span, "phases", wanted, described(expr), meant))
        return _ANY_S, 1
    count = reader.quantity("phases", expr.left, _PHASES)
    length = reader.quantity("phases", expr.right, _PHASE)
    if count is None or length is None:
        return _ANY_S, 1
    return count.value * length.value, int(count.value)


Order = Literal["grouped", "interleaved", "random"]
ORDERS = get_args(Order)

FEWEST = 3
"""The fewest repeats before a confidence interval may end the measuring. Two are not enough: Student's t would have one
degree of freedom (a quantile of 12.7), and two values are often close together by chance."""
CONFIDENT_ARGUMENTS = ("within", "from", "to")
_MOST = 1000.0
_UNKNOWN = 2
"""The number of repeats to assume after a mistake: more than one, to avoid a warning about single runs."""
_USAGE = "`confident(within: 5 %, from: 3, to: 10)`"
_REPEATS = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=_MOST)
_SEED = Number("", "1", plain=True, integer=True, maximum=2.0**53)
# An interval half as wide as the mean shows nothing: a larger number most likely lacks its `%`.
_CONFIDENT_WITHIN = Number("", "5 %", plain=True, above=True, maximum=0.5)


@dataclass(frozen=True)
class Repeats:
    """At most `most` repeats of each point; the rule `confident` may end them earlier."""

    most: int = 1
    order: Order = "grouped"
    seed: int | None = None
    confident: plan.Confident | None = None


def read_repeats(series: tuple[ast.Expr, ...], reader: Reader) -> Repeats:
    """Return the parts of an attribute such as `repeats = 3, interleaved`. Report a wrong part and leave it out."""
    if not series:
        return Repeats()
    first = reader.deref(series[0])
    match first:
        case ast.Call(function=ast.Name(text="confident")) as call:
            most, confident = _confident(call, reader)
        case ast.Name() | ast.Call() | ast.Binary(operator="x"):
            reader.report(wrong_value(first, "repeats", EXPERIMENT.keys["repeats"].shape.wanted, ("confident",)))
            most, confident = _UNKNOWN, None
        case ast.Quantity(unit=("grouped" | "interleaved" | "random") as order):
            written = f"{first.value:g}, {order}{'(seed: 1)' if order == 'random' else ''}"
            why = f"needs a comma before `{order}`"
            reader.report(structure_errors.BadArgument(first.span, "repeats", why, f"`{written}`", written))
            most, confident = _UNKNOWN, None
        case _:
            count = reader.quantity("repeats", series[0], _REPEATS)
            most, confident = int(count.value) if count else _UNKNOWN, None
    order, seed = _order(series[1:], reader)
    return Repeats(most, order, seed, confident)


def _confident(call: ast.Call, reader: Reader) -> tuple[int, plan.Confident | None]:
    """Return the largest number of repeats, and the rule that may end them early, or None for a rule with a mistake."""
    named = named_arguments(call, CONFIDENT_ARGUMENTS, reader)
    if named is None:
        return _UNKNOWN, None
    if len(named) != len(call.arguments) or not {"within", "to"} <= named.keys():
        why = "needs `within:` and `to:`; `from:` is optional"
        reader.report(structure_errors.BadArgument(call.span, "confident", why, _USAGE))
        return _UNKNOWN, None
    within = reader.quantity("within", named["within"].value, _CONFIDENT_WITHIN)
    last = reader.quantity("to", named["to"].value, _REPEATS)
    first = reader.quantity("from", named["from"].value, _REPEATS) if "from" in named else None
    if within is None or last is None or (first is None and "from" in named):
        return _UNKNOWN, None
    fewest = int(first.value) if first else FEWEST
    if first and fewest < FEWEST:
        reader.report(experiment_errors.TooFewRepeats(first.span, fewest, FEWEST))
        return _UNKNOWN, None
    if last.value <= fewest:
        reader.report(experiment_errors.NoRoomToStop(last.span, fewest, int(last.value)))
        return _UNKNOWN, None
    return int(last.value), plan.Confident(at_least=fewest, within=within.value)


def fitting_repeats(repeats: Repeats, ramp: Ramp, values: Values, reader: Reader) -> Repeats:
    """Return the repeats that fit the ramp. Report an order or a budget that the ramp can't have."""
    if ramp.promised:
        judged = judging_repeats(values, repeats.most, repeats.order, reader)
        order: Order = "interleaved" if repeats.order == "interleaved" else "grouped"
        return Repeats(judged + ramp.promised.held_out, order)
    if repeats.order == "random" and ramp.search:
        reader.report(experiment_errors.SearchInRandomOrder(values.span("repeats")))
    if repeats.order == "random" and ramp.adaptive:
        reader.report(experiment_errors.AdaptiveInRandomOrder(values.span("repeats")))
    if values.number("budget") is not None:
        _check_budget(values.span("budget"), repeats, ramp, reader)
    return repeats


def _check_budget(at: Span, repeats: Repeats, ramp: Ramp, reader: Reader) -> None:
    """Report a budget that can't save repeats: a search or an adaptive ramp needs all of them, or there is only one
    repeat."""
    if ramp.search:
        reader.report(experiment_errors.BudgetOfSearch(at))
    elif ramp.adaptive:
        reader.report(experiment_errors.BudgetOfAdaptive(at))
    elif repeats.most < 2:
        reader.report(experiment_errors.NoRepeatsToChoose(at))


def _order(parts: Iterable[ast.Expr], reader: Reader) -> tuple[Order, int | None]:
    order: Order = "grouped"
    seed = None
    for expr in parts:
        match expr:
            case ast.Name(text=("grouped" | "interleaved") as word):
                order = "interleaved" if word == "interleaved" else "grouped"
            case ast.Call(
                function=ast.Name(text="random"), arguments=[ast.Argument(key=ast.Name(text="seed"), value=value)]
            ):
                number = reader.quantity("seed", value, _SEED)
                order, seed = "random", int(number.value) if number else None
            case ast.Call(
                function=ast.Name(text="random"), arguments=[ast.Argument(key=ast.Name(text=word) as key), *_]
            ):
                reader.report(structure_errors.UnknownArgument(key.span, "random", word, ("seed",)))
            case ast.Name(text="random") | ast.Call(function=ast.Name(text="random")):
                reader.report(structure_errors.BadArgument(expr.span, "random", "needs a seed", "`random(seed: 1)`"))
            case ast.Name(text=word) as name:
                reader.report(structure_errors.UnknownWord(name.span, "repeats", word, ORDERS))
            case _:
                reader.report(wrong_value(expr, "repeats", EXPERIMENT.keys["repeats"].shape.wanted, ORDERS))
    return order, seed


def overlap_of(word: str | None) -> plan.Overlap:
    """Return what may run during a measurement. By default, this includes other measurements. With "loading", the spec
    allows only loads, and with "none" nothing."""
    return "loading" if word == "loading" else "none" if word == "none" else "measuring"
