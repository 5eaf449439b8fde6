"""Describes a plan in words, for `bench plan`: systems, matrix, order, times, metrics and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchbrief.compiler.estimates.advice import Advice, hidden_loads, loading_s, one_by_one_s
from benchbrief.compiler.estimates.budget_fit import BudgetFit, budget_fits, most_s, without_budgets
from benchbrief.compiler.estimates.estimate import (
    ACTIVITIES,
    ACTIVITY_WORDS,
    HardwareLane,
    Spent,
    TimeSpent,
    counted_cells,
    estimate,
    estimate_some,
    grouped_hardware,
    held_out_times,
    held_out_wall_s,
    of_which,
    rendering_text,
    time_spent,
    up_to,
)
from benchbrief.compiler.estimates.estimate_warnings import PlannedUse, shared_places
from benchbrief.compiler.estimates.learned import Estimated, TimesSource, with_history
from benchbrief.compiler.explain.explain_factors import (
    count_levels,
    describe_varied,
    explain_costs,
    levels_text,
    rows_with_rest,
)
from benchbrief.compiler.explain.explain_rules import (
    describe_adaptive,
    describe_arrivals,
    describe_events,
    describe_knee,
    describe_meters,
    describe_probes,
    describe_promise,
    describe_steadiness,
    reset_words,
)
from benchbrief.compiler.explain.plain_text import Page, number
from benchbrief.compiler.planning.plan_lanes import lanes_of
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS, tool_word
from benchbrief.dsl.diagnostics.plain_amounts import about, duration, first_of, plural, quantity_of_bytes
from benchbrief.model.plan import (
    Cell,
    Confident,
    Database,
    DatabaseKey,
    Element,
    Experiment,
    Hardware,
    Levels,
    Plan,
    Query,
    Report,
    SectionElement,
    StepKind,
    Template,
    Workload,
)
from benchbrief.model.planned_cells import most_cells, planned_cells
from benchbrief.model.value_shapes import Number, Shape


class DescribedLane(NamedTuple):
    """A lane as `bench plan --json` prints it. `cells` is the number of measured cells, and `seconds` is the time that
    they take."""

    lane: int
    hardware: tuple[str, ...]
    hosts: tuple[str, ...]
    cells: int
    seconds: float


def describe_lanes(plan: Plan) -> list[DescribedLane]:
    measured = counted_cells(plan.cells, plan.experiments)
    found = []
    for lane in lanes_of(plan):
        cells = [cell for cell in lane.cells if cell.id in measured]
        found.append(DescribedLane(lane.number, lane.hardware, lane.hosts, len(cells), estimate(cells)))
    return found


def explain_lanes(plan: Plan, page: Page) -> None:
    """Add the lanes of a plan if it has several."""
    lanes = describe_lanes(plan)
    if len(lanes) < 2:
        return
    page.heading("Lanes")
    rows = (
        (str(each.lane), some(each.hardware), some(each.hosts), str(each.cells), about(each.seconds)) for each in lanes
    )
    page.first_rows(rows, ("lane", "hardware", "hosts", "cells", "time"))


_NAMED = 4


def side_by_side(plan: Plan, e: Experiment) -> str:
    """Return a phrase for the hardware that is measured or loaded at the same time, or "" if there is none."""
    if len(e.hardware) < 2:
        return ""
    if e.overlap == "none":
        return "nothing runs on other hardware while one is measured"
    lanes = grouped_hardware(plan, e.name)
    alone = [f"{some(lane.hardware)} one after another{_as_shared(lane)}" for lane in lanes if len(lane.hardware) > 1]
    if len(lanes) == 1:
        groups = {plan.hardware[key].group for key in e.hardware}
        return f"no: {alone[0]}" if len(groups) > 1 else ""
    beside = (
        "one is measured at a time, while the others load"
        if e.overlap == "loading"
        else "these share nothing that is declared, and are measured at the same time"
    )
    return "; ".join((f"{', '.join(some(lane.hardware) for lane in lanes)}: {beside}", *alone))


def _as_shared(lane: HardwareLane) -> str:
    return f", as they share {some(lane.shared)}" if lane.shared else ""


def explain_overlap(plan: Plan, page: Page) -> None:
    """If the spec allows an overlap, add the loads that run while another group is measured."""
    found = hidden_loads(plan)
    if not found:
        return
    page.heading("Loads while another group is measured")
    hidden_s, of_s = sum(each.hidden_s for each in found), one_by_one_s(plan)
    page.paragraph(
        f"{duration(hidden_s)} of {duration(loading_s(plan))} of loading and resets; with `overlap = none`, the cells "
        f"would take {about(of_s)} instead of {duration(plan.estimate_s)}"
    )
    page.first_rows(
        (f"  {each.cell}", f"{duration(each.hidden_s)} of {duration(each.seconds)}", f"beside {some(each.beside)}")
        for each in found
    )


def some(names: Sequence[str]) -> str:
    """Return the first names, and the number of the remaining ones."""
    return first_of(names, _NAMED)


_WIDEST = max(map(len, ACTIVITY_WORDS.values()))
_UNITS = ((7200.0, 3600.0, "h"), (120.0, 60.0, "min"))
"""The units for a total time. Each has the smallest number of seconds that is shown in it, its own length in seconds,
and its name."""
_BAR = 24
"""The width, in columns, of a bar for the whole time."""


def explain_time(estimated: Estimated, advised: Sequence[Advice], fits: Sequence[BudgetFit], page: Page) -> None:
    plan = estimated.plan
    spent = time_spent(plan, estimated.rendering_s)
    refused = not all(fit.fits for fit in fits)
    shown = without_budgets(plan) if refused else plan
    _total(shown, spent, page, refused=refused)
    if fits:
        page.heading("Budget")
        for fit in fits:
            page.paragraph(fit.text)
    explain_overlap(plan, page)
    page.heading("Where the time goes (for all repeats)" if fits else "Where the time goes")
    unit = _unit(sum(spent.in_all.values()))
    held_s = held_out_wall_s(plan)
    more = f", without {_amount(held_s, unit)} of held-out repeats" if held_s else ""
    _shares(f"in all{more}", spent.in_all, unit, page)
    if len(plan.experiments) > 1:
        for name, experiment in plan.experiments.items():
            called = name if experiment.label == name else f"{experiment.label} ({name})"
            _shares(called, spent.experiments[name], unit, page)
    explain_costs(shown, lambda seconds: _amount(seconds, unit), page)
    _sources(estimated.sources, page)
    if advised:
        page.heading(
            "What would save time, or use it better" if any(each.gains for each in advised) else "What would save time"
        )
        wall_s = most_s(shown) + spent.rendering_s
        for each in advised:
            share = f"{100 * each.saves_s / wall_s:.0f} %"
            gained = [f"saves {duration(each.saves_s)} ({share})"] if each.saves_s else []
            gained += [f"lets {each.gains}"] if each.gains else []
            page.paragraph(f"{each.change} for {each.of} {' and '.join(gained)}: {each.why}")


def _total(plan: Plan, spent: TimeSpent, page: Page, *, refused: bool) -> None:
    """Add how long the plan takes. If `bench run` refuses the budget, add how long it would take without one."""
    page.heading("Total, without the budget that is refused" if refused else "Total")
    most = "up to " if any(up_to(e, plan.budget_s) for e in plan.experiments.values()) else ""
    cells_s = most_s(plan)
    wall_s, alone_s = cells_s + spent.rendering_s, sum(spent.in_all.values())
    measured, count = counted_cells(plan.cells, plan.experiments), planned_cells(plan)
    fewer = of_which(plan)
    text = f"{'up to ' if fewer else most}{plural(count, 'cell')}, {most}{about(wall_s)}{fewer}"
    if cells_s == plan.estimate_s and wall_s < alone_s - 1:
        text += f" with independent hosts side by side ({duration(alone_s)} one after another)"
    page.paragraph(text + rendering_text(spent.rendering_s, wall_s))
    if span := steady_span(plan):
        low, high = (duration(round(seconds + spent.rendering_s)) for seconds in span)
        page.paragraph(
            f"between {low} and {high}: cells are measured until they are steady, and nobody knows before when that is"
        )
    uses = (PlannedUse.of(cell, plan.workloads) for cell in plan.cells if cell.id in measured)
    for shared in shared_places(uses, plan.hardware, plan.databases, plan.hosts):
        owed = f"{plural(len(shared.cells), 'cell loads', 'cells load')} again what others have replaced in one place"
        out = "give each a `path` or server of its own, or measure one hardware after the other"
        page.paragraph(f"database {shared.database}: {owed}, {about(shared.seconds)} of that time; {out}")
    if len(plan.experiments) > 1:
        page.table(
            (name, f"{up_to(e, plan.budget_s)}{about(most_s(plan, name))}") for name, e in plan.experiments.items()
        )


def _unit(total_s: float) -> tuple[float, str]:
    """Return the unit for the numbers in all rows: its length in seconds, and its name. With one unit, rows can be
    compared."""
    return next(((seconds, name) for least, seconds, name in _UNITS if total_s >= least), (1.0, "s"))


def _shares(title: str, spent: Spent, unit: tuple[float, str], page: Page) -> None:
    """Add a line for the whole time and one for each activity that takes time, with an amount, a percentage and a
    bar."""
    total = sum(spent.values())
    page.paragraph(f"{title}: {_amount(total, unit)}")
    rows = []
    for activity in ACTIVITIES:
        if taken := spent[activity]:
            share = taken / total
            percent = f"{100 * share:.0f} %" if share >= 0.005 else "< 1 %"
            label, bar = f"  {ACTIVITY_WORDS[activity]:<{_WIDEST}}", "#" * round(_BAR * share)
            rows.append((label, f"{_amount(taken, unit):>9}", percent, bar))
    page.table(rows, right=(1, 2))


def _sources(sources: Iterable[TimesSource], page: Page) -> None:
    """Add the source of each estimate: first the estimates from earlier runs, then the built-in ones."""
    page.heading("Estimates")
    by_run: dict[str, list[TimesSource]] = {}
    for each in sorted(sources, key=lambda each: (not each.run, ACTIVITIES.index(each.activity))):
        by_run.setdefault(each.run, []).append(each)
    for run, seen in by_run.items():
        page.paragraph(f"as in run {run}:" if run else "built in, as no earlier run tells:")
        found: dict[tuple[str, str], list[str]] = {}
        for each in seen:
            found.setdefault((f"  {ACTIVITY_WORDS[each.activity]:<{_WIDEST}}", each.text), []).append(each.of)
        page.first_rows((label, f"{text} ({first_of(of, 2)})") for (label, text), of in found.items())


def _amount(seconds: float, unit: tuple[float, str]) -> str:
    amount, name = seconds / unit[0], unit[1]
    return f"{amount:,.1f} {name}" if amount >= 0.05 else f"< 0.1 {name}"


def steady_span(plan: Plan) -> tuple[float, float] | None:
    """Return the wall time in seconds for two cases: all cells are steady at the first look, or no cell ever becomes
    steady. Return None for a plan without cells that are measured until they are steady."""
    if not any(each.until_steady for each in plan.experiments.values()):
        return None
    return _wall_s(plan, longest=False), _wall_s(plan, longest=True)


def _wall_s(plan: Plan, *, longest: bool) -> float:
    cells = [_lasting(plan, cell, longest=longest) for cell in plan.cells]
    return estimate_some(cells, counted_cells(cells, plan.experiments))


def _lasting(plan: Plan, cell: Cell, *, longest: bool) -> Cell:
    rule = plan.experiments[cell.experiment].until_steady
    if rule is None:
        return cell
    seconds = cell.measure_s if longest else rule.from_s
    steps = (s.model_copy(update={"seconds": seconds}) if s.kind == "measure" else s for s in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})


_ORDERS = {
    "grouped": "one hardware after the other, each with its {levels}workloads, {axis} and repeats",
    "interleaved": "at each workload, {axis} and repeat, every hardware{and_level} in turn",
    "turns": "the searches of all hardware take turns, run by run",
    "random": "shuffled with seed {seed}",
}
_STOPS_TOGETHER = "; hardware that takes turns goes on until all of it is confident"
_BUDGET = "each point once, then repeats where expectations are open or intervals are widest"
_SHOWN_POINTS = 20
_STEPS: tuple[StepKind, ...] = ("prepare", "load", "warm_up", "measure", "collect", "cool_down")
_DECLARED: tuple[StepKind, ...] = ("warm_up", "measure", "cool_down")


def explain(
    plan: Plan,
    width: int = 100,
    color: bool = False,
    estimated: Estimated | None = None,
    advised: Sequence[Advice] = (),
    fits: Sequence[BudgetFit] | None = None,
) -> str:
    """Return lines of at most `width` columns, unless a word is longer, with ANSI colours on request. `estimated` is
    the plan with times of earlier runs (or None to use built-in estimates), and `fits` compares it with each budget.
    """
    page = Page(max(40, width), color)
    plan = (estimated := estimated or with_history(plan, {})).plan
    fits = budget_fits(plan) if fits is None else fits
    _title(plan, page)
    for fit in fits:
        if not fit.fits:
            page.paragraph(f"`bench run` refuses this plan: the budget of {fit.text}; give it {fit.mended}")
    _hosts(plan, page)
    explain_lanes(plan, page)
    for experiment in plan.experiments.values():
        _experiment(plan, experiment, page)
    if plan.metrics:
        page.heading("Metrics")
        page.table((metric.name, metric.label, _measured_in(metric.query)) for metric in plan.metrics)
    if plan.expects:
        page.heading("Must hold")
        page.table((expect.text, "" if expect.label == expect.text else expect.label) for expect in plan.expects)
    if held := held_out_times(plan):
        page.heading("Held out, after all the rest")
        times = {claim.name: claim.held_out.times for claim in plan.claims if claim.held_out}
        page.table((f"claim {name}", f"{times[name]} more repeats where it wins", about(s)) for name, s in held.items())
    if plan.reports:
        page.heading("Reports")
        page.table((report.name, f"{report.title}: {_contents(report)}") for report in plan.reports)
    explain_time(estimated, advised, fits, page)
    return page.text()


def _title(plan: Plan, page: Page) -> None:
    page.strong(plan.reports[0].title if plan.reports else plan.spec.name)
    rows = [("spec", ", ".join((plan.spec.name, *(f for f in plan.spec.files if f != plan.spec.name))))]
    if plan.spec.profile:
        rows.append(("profile", plan.spec.profile))
    if plan.spec.params:
        rows.append(("params", ", ".join(f"{name} = {value}" for name, value in plan.spec.params.items())))
    page.table(rows)


def _hosts(plan: Plan, page: Page) -> None:
    page.heading("Hosts")
    by_role: dict[str, list[str]] = {}
    for host in plan.hosts:
        tested = [_called(h.label, h.key) for h in plan.hardware.values() if host in h.hosts]
        loading = [f"{_called(c.label, c.name)}, {c.tool.driver}" for c in plan.clients.values() if host in c.hosts]
        roles = []
        if tested:
            roles.append(f"under test: {', '.join(tested)}")
        if loading:
            roles.append(f"load generator: {'; '.join(loading)}")
        by_role.setdefault("; ".join(roles), []).append(host)
    page.table((some(hosts), role) for role, hosts in by_role.items())


def _called(label: str, key: str) -> str:
    return label if label == key else f"{label} ({key})"


# --- experiments -------------------------------------------------------------------------------------------------


def _experiment(plan: Plan, e: Experiment, page: Page) -> None:
    cells = [cell for cell in plan.cells if cell.experiment == e.name]
    page.heading(f"Experiment {e.name}", "" if e.label == e.name else e.label)
    page.table(_facts(plan, e, cells))
    page.gap()
    page.table(rows_with_rest(_databases(plan, e, cells)), ("hardware", "hosts", "database"))
    page.gap()
    keys = dict.fromkeys(key for name in e.workloads for key in _workload_keys(name, cells))
    loads = ((key, plan.workloads[key]) for key in keys)
    page.table(
        rows_with_rest((f"{_called(load.label, load.name)}{_at(plan, key)}", _load(load)) for key, load in loads),
        ("workload", "load"),
    )
    page.gap()
    measured = counted_cells(cells, plan.experiments)
    counts = [cell for cell in cells if cell.id in measured]
    page.table(_steps(counts, until_steady=e.until_steady is not None), ("step", "time", "time-out", "cells"))


def _facts(plan: Plan, e: Experiment, cells: list[Cell]) -> Iterator[tuple[str, str]]:
    counts = (
        plural(len(e.hardware), "hardware", "hardware"),
        plural(len(e.workloads), "workload"),
        *count_levels(e),
        _point_count(e),
        (f"{e.confident.at_least} to " if e.confident else "") + plural(e.repeats, "repeat"),
    )
    most = "up to " if e.promise else up_to(e, plan.budget_s)
    likely = f", usually {len(counted_cells(cells, plan.experiments))}" if e.promise else ""
    product = " x ".join(counts[:-1] if e.promise else counts)
    first = cells[0]
    threads = number(first.threads) if first.threads is not None else _found_by(e.threads_from)
    target = f"{_points(e.points)} ops/s" if e.points else _found_by(e.target_from)
    order = "turns" if e.promise and e.order == "interleaved" else e.order
    measured = tuple(dict.fromkeys(cell.workload for cell in cells))
    reordered = e.order != "random" and measured != e.workloads
    clients = list(dict.fromkeys(cell.client for cell in cells if cell.client))
    where = f"on client {' and '.join(clients)}" if clients else "on the host under test"
    has_power = any(probe.name == "power" for cell in cells for probe in cell.probes)
    rows = (
        ("matrix", f"{product} = {most}{plural(most_cells(e), 'cell')}{likely}"),
        *(("vary" if n == 0 else "", text) for n, text in enumerate(describe_varied(plan, e))),
        ("target", target if e.axis == "target" else ""),
        ("threads", _points(e.points) if e.axis == "threads" and e.points else threads),
        ("search", describe_knee(e.search, len(e.points)) if e.search else ""),
        ("points", describe_adaptive(plan, e, e.adaptive) if e.adaptive else ""),
        *(describe_promise(e.promise) if e.promise else ()),
        ("repeats", _confident(e, e.confident) if e.confident else ""),
        ("budget", f"{duration(e.budget_s)}: {_BUDGET}" if e.budget_s is not None else ""),
        ("waits for", ", ".join(e.requires)),
        ("arrivals", describe_arrivals(e.arrivals) if e.arrivals else ""),
        ("order", f"{e.order}: " + _ORDERS[order].format(axis=e.axis, seed=e.seed, **_level_words(e))),
        ("side by side", side_by_side(plan, e)),
        ("workloads", f"in the order {', '.join(measured)}, {_REORDERED}" if reordered else ""),
        ("options", ", ".join(_shared_options(plan, cells))),
        ("load by", f"{tool_word(first.tool.driver)}{f' ({first.tool.path})' if first.tool.path else ''} {where}"),
        ("load hosts", _split(cells)),
        *(describe_steadiness(e, e.until_steady) if e.until_steady else ()),
        ("phases", f"{e.phases} x {duration(e.measure_s / e.phases)}" if e.phases > 1 else ""),
        ("probes", ", ".join(describe_probes(cells)) or "none"),
        *(("event" if n == 0 else "", text) for n, text in enumerate(describe_events(cells))),
        ("power", "; ".join(describe_meters(plan, e)) if has_power else ""),
        ("max errors", f"{100 * e.max_error_share:g} %" if e.max_error_share else ""),
        ("retries", f"a failed cell is tried again, {plural(e.retries, 'time')} at most" if e.retries else ""),
        ("on failure", _ON_FAILURE.get(e.on_failure, "")),
        ("unattended", _UNATTENDED.format(duration(e.unattended_s)) if e.unattended_s is not None else ""),
    )
    return ((name, text) for name, text in rows if text)


def _level_words(e: Experiment) -> dict[str, str]:
    return {"levels": "levels, " if e.levels else "", "and_level": " and level" if e.levels else ""}


def _databases(plan: Plan, e: Experiment, cells: list[Cell]) -> Iterator[tuple[str, ...]]:
    """Yield each hardware group with its hosts and its database, at each level that the database uses."""
    shared = _shared_options(plan, cells)
    keys: dict[str, dict[DatabaseKey, None]] = {}
    for cell in cells:
        keys.setdefault(cell.hardware, {})[cell.database] = None
    for hardware in _chosen(plan, e):
        for n, key in enumerate(keys[hardware.key]):
            first = (_called(hardware.label, hardware.key), some(hardware.hosts)) if n == 0 else ("", "")
            yield (*first, _location(plan.databases[key], shared))


def _workload_keys(name: str, cells: list[Cell]) -> Iterator[str]:
    return (cell.workload_key or name for cell in cells if cell.workload == name)


def _at(plan: Plan, workload: str) -> str:
    """Return the levels in a workload's key as the end of a phrase (`, codec LZ4`), or "" if the key has none."""
    levels = Levels(workload.partition("?")[2])
    return f", {levels_text(plan, levels)}" if levels else ""


_REORDERED = "which takes fewer loads or resets than that of the spec"
_ON_FAILURE = {"stop": "nothing more is begun", "try_all": "all others are tried"}
_UNATTENDED = "a job ends itself {} after it last heard of its controller"


def _point_count(e: Experiment) -> str:
    if e.adaptive:
        return f"{e.adaptive.points} of {plural(len(e.points), 'candidate')}"
    if e.promise:
        return f"a search among {plural(len(e.points), 'rate')}"
    return ("up to " if e.search else "") + plural(len(e.points) or 1, "point")


def _found_by(experiment: str | None) -> str:
    return f"the knee that {experiment} finds"


def _confident(e: Experiment, rule: Confident) -> str:
    return (
        f"{rule.at_least} to {e.repeats} at each point, until the 95 % confidence interval of the mean throughput is "
        f"within ±{100 * rule.within:g} %" + (_STOPS_TOGETHER if e.order == "interleaved" else "")
    )


def _points(points: Sequence[float]) -> str:
    if len(points) <= _SHOWN_POINTS:
        return ", ".join(map(number, points))
    return ", ".join((*map(number, points[: _SHOWN_POINTS - 2]), "...", number(points[-1])))


def _shared_options(plan: Plan, cells: Iterable[Cell]) -> list[str]:
    """Return the database's options that are equal on all hardware."""
    every = [_options(plan.databases[key]) for key in dict.fromkeys(cell.database for cell in cells)]
    return [option for option in every[0] if all(option in options for options in every)]


def _options(database: Database) -> list[str]:
    return [f"{name} = {option_text(name, value, database.engine)}" for name, value in database.options.items()]


def option_text(name: str, value: str | float | bool, engine: str = "") -> str:
    """Return the value in words. `engine` is the engine that has the option. If it is "", any of benchbrief's own
    engines may have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    spec = ENGINE_SPECS.usable(engine)
    options = (each.options.get(name) for each in ((spec,) if spec else ENGINE_SPECS.own.values()))
    in_bytes = any(each and isinstance(each.key.shape, Number) and each.key.shape.unit == "B" for each in options)
    return quantity_of_bytes(value) if in_bytes else number(value)


def _split(cells: Sequence[Cell]) -> str:
    """If a client generates its load on several hosts, return a text about them. Otherwise, return ""."""
    most = max(cells, key=lambda cell: len(cell.load_hosts))
    if most.client is None or len(most.load_hosts) < 2:
        return ""
    cells = [cell for cell in cells if cell.client == most.client]
    alone = dict.fromkeys(cell.workload for cell in cells if len(cell.load_hosts) < len(most.load_hosts))
    what = "threads and target" if most.target or most.target_from else "threads"
    text = f"{some(most.load_hosts)}, with a share of the {what} each"
    if alone:
        text += f"; {', '.join(alone)} from {next(c.load_hosts[0] for c in cells if c.workload in alone)} alone"
    return text


def _chosen(plan: Plan, e: Experiment) -> list[Hardware]:
    return [plan.hardware[key] for key in e.hardware]


def _location(database: Database, shared: Sequence[str]) -> str:
    own = [option for option in _options(database) if option not in shared]
    parts = [_called(database.label, database.name), *_where(database), *own]
    parts.append(reset_words(database.reset))
    parts += ["page cache dropped for each cell"] if database.drop_caches else []
    return ", ".join(parts)


def _where(database: Database) -> Iterator[str]:
    if database.server == "embedded":
        yield "the built-in stand-in server"
    if database.start:
        yield f"{database.start.binary} started on each host"
    if database.uri:
        yield _template(database.uri)
    if database.path:
        yield database.path
    if database.topology:
        yield database.topology


def _template(template: Template) -> str:
    return "".join(part if isinstance(part, str) else f'{{{part.kind}("{part.name}")}}' for part in template)


def _load(workload: Workload) -> str:
    p = workload.properties
    parts = [f"{workload.family}.{workload.benchmark}"]
    spec = TOOL_SPECS.usable(workload.family)
    if "records" in p:
        size = f" of {quantity_of_bytes(spec.record_bytes(p))}" if spec and len(spec.record) == 1 else ""
        parts.append(f"{number(float(p['records']))} records{size}")
    if workload.phase == "load":
        return f"the load of {parts[0]}: {', '.join(parts[1:])} inserted into an empty database, without warm-up"
    shown = spec.attributes.items() if spec else ()
    parts += [
        attribute.briefly.format(value=_setting(attribute.key.shape, p[name]))
        for name, attribute in shown
        if attribute.briefly and p.get(name)
    ]
    return ", ".join(parts)


def _setting(shape: Shape, value: str | float | bool) -> str:
    if not isinstance(shape, Number) or isinstance(value, str):
        return str(value)
    if shape.unit in ("B", "B/s"):
        return quantity_of_bytes(float(value)) + shape.unit[1:]
    return f"{100 * float(value):g} %" if shape.maximum == 1.0 else number(float(value))


def _steps(cells: list[Cell], *, until_steady: bool) -> Iterator[tuple[str, ...]]:
    """Yield each kind of step with its length, its time-out and the number of cells that take it."""
    for kind in _STEPS:
        steps = [step for cell in cells for step in cell.steps if step.kind == kind]
        taken = [step for step in steps if step.seconds > 0]
        if taken or any(step.reset for step in steps):
            times = _span(step.seconds for step in taken)
            yield (
                kind.replace("_", "-"),
                times if kind in _DECLARED and not (kind == "measure" and until_steady) else f"about {times}",
                _span(step.timeout_s for step in steps),
                number(len(taken)),
            )


def _span(values: Iterable[float]) -> str:
    every = sorted(set(values))
    if not every:
        return "0 s"
    return duration(every[0]) if len(every) == 1 else f"{duration(every[0])} to {duration(every[-1])}"


# --- metrics and reports -----------------------------------------------------------------------------------------


def _measured_in(query: Query) -> str:
    unit = f"in {query.unit}" if query.unit else "a plain number"
    return f"{unit}, by {', '.join(query.dims)}" if query.dims else f"{unit}, a single value"


def _contents(report: Report) -> str:
    counts = Counter(_kinds(report.elements))
    kinds = ("section", "figure", "table", "callout", "formula")
    parts = [plural(counts[kind], kind) for kind in kinds if counts[kind]]
    return ", ".join((f"template {report.template}", f"language {report.language}", *parts))


def _kinds(elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        yield "table" if element.kind == "facts" else element.kind
        if isinstance(element, SectionElement):
            yield from _kinds(element.elements)
