"""A plan in words, for `bench plan`: systems, matrix, order, times, metrics and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from benchbrief.compiler.estimates.advice import Advice
from benchbrief.compiler.estimates.budget_fit import BudgetFit, budget_fits
from benchbrief.compiler.estimates.counted_cells import counted_cells, up_to
from benchbrief.compiler.estimates.learned import Estimated, with_history
from benchbrief.compiler.explain.explain_lanes import explain_lanes, side_by_side, some
from benchbrief.compiler.explain.explain_rules import (
    RESET_WORDS,
    describe_adaptive,
    describe_arrivals,
    describe_events,
    describe_knee,
    describe_meters,
    describe_probes,
    describe_promise,
    describe_steadiness,
)
from benchbrief.compiler.explain.explain_time import explain_time
from benchbrief.compiler.explain.plain_text import Page, number
from benchbrief.compiler.extensions.registry import ENGINE_SPECS, TOOL_SPECS, tool_word
from benchbrief.compiler.planning.plan import (
    Cell,
    Confident,
    Database,
    Element,
    Experiment,
    Hardware,
    Plan,
    Query,
    Report,
    SectionElement,
    StepKind,
    Template,
    Workload,
)
from benchbrief.compiler.planning.planned_cells import most_cells
from benchbrief.compiler.shapes.value_shapes import Number, Shape
from benchbrief.dsl.diagnostics.plain_amounts import duration, plural, quantity_of_bytes

_ORDERS = {
    "grouped": "one hardware after the other, each with its workloads, {axis} and repeats",
    "interleaved": "at each workload, {axis} and repeat, every hardware in turn",
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
    """Return lines of at most `width` columns where words allow it, with ANSI colours on request. `estimated` has the
    plan with times that were seen (None: built-in ones), `fits` what fits in its budgets."""
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
    if plan.reports:
        page.heading("Reports")
        page.table((report.name, report.title, _contents(report)) for report in plan.reports)
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
    databases = {cell.hardware: plan.databases[cell.database] for cell in cells}
    shared = _shared_options(plan, cells)
    page.table(
        ((_called(h.label, h.key), some(h.hosts), _location(databases[h.key], shared)) for h in _chosen(plan, e)),
        ("hardware", "hosts", "database"),
    )
    page.gap()
    page.table(
        ((_called(w.label, w.name), _load(w)) for w in (plan.workloads[name] for name in e.workloads)),
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
        _point_count(e),
        (f"{e.confident.at_least} to " if e.confident else "") + plural(e.repeats, "repeat"),
    )
    most = "up to " if e.promise else up_to(e, plan.budget_s)
    likely = f", usually {len(counted_cells(cells, plan.experiments))}" if e.promise else ""
    product = " x ".join(counts[:3] if e.promise else counts)
    yield "matrix", f"{product} = {most}{plural(most_cells(e), 'cell')}{likely}"
    first = cells[0]
    if e.axis == "target":
        yield "target", f"{_points(e.points)} ops/s" if e.points else _found_by(e.target_from)
    if e.axis == "threads" and e.points:
        yield "threads", _points(e.points)
    else:
        yield "threads", number(first.threads) if first.threads is not None else _found_by(e.threads_from)
    if e.search:
        yield "search", describe_knee(e.search, len(e.points))
    if e.adaptive:
        yield "points", describe_adaptive(plan, e, e.adaptive)
    if e.promise:
        yield from describe_promise(e.promise)
    if e.confident:
        yield "repeats", _confident(e, e.confident)
    if e.budget_s is not None:
        yield "budget", f"{duration(e.budget_s)}: {_BUDGET}"
    if e.requires:
        yield "waits for", ", ".join(e.requires)
    if e.arrivals:
        yield "arrivals", describe_arrivals(e.arrivals)
    order = "turns" if e.promise and e.order == "interleaved" else e.order
    yield "order", f"{e.order}: " + _ORDERS[order].format(axis=e.axis, seed=e.seed)
    if together := side_by_side(plan, e):
        yield "side by side", together
    measured = tuple(dict.fromkeys(cell.workload for cell in cells))
    if e.order != "random" and measured != e.workloads:
        listed = ", ".join(measured)
        yield "workloads", f"in the order {listed}, which takes fewer loads or resets than that of the spec"
    shared = _shared_options(plan, cells)
    if shared:
        yield "options", ", ".join(shared)
    clients = list(dict.fromkeys(cell.client for cell in cells if cell.client))
    where = f"on client {' and '.join(clients)}" if clients else "on the host under test"
    yield "load by", f"{tool_word(first.tool.driver)}{f' ({first.tool.path})' if first.tool.path else ''} {where}"
    if split := _split(cells):
        yield "load hosts", split
    if e.until_steady:
        yield from describe_steadiness(e, e.until_steady)
    if e.phases > 1:
        yield "phases", f"{e.phases} x {duration(e.measure_s / e.phases)}"
    yield "probes", ", ".join(describe_probes(cells)) or "none"
    yield from (("event" if n == 0 else "", text) for n, text in enumerate(describe_events(cells)))
    if any(probe.name == "power" for cell in cells for probe in cell.probes):
        yield "power", "; ".join(describe_meters(plan, e))
    if e.max_error_share:
        yield "max errors", f"{100 * e.max_error_share:g} %"
    if e.retries:
        yield "retries", f"a failed cell is tried again, {plural(e.retries, 'time')} at most"
    if e.on_failure != "continue":
        yield "on failure", "nothing more is begun" if e.on_failure == "stop" else "all others are tried"
    if e.unattended_s is not None:
        yield "unattended", f"a job ends itself {duration(e.unattended_s)} after it last heard of its controller"


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
    """Return the value in words. `engine` owns the option; "" stands for any of benchbrief's own."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    spec = ENGINE_SPECS.usable(engine)
    options = (each.options.get(name) for each in ((spec,) if spec else ENGINE_SPECS.own.values()))
    in_bytes = any(each and isinstance(each.key.shape, Number) and each.key.shape.unit == "B" for each in options)
    return quantity_of_bytes(value) if in_bytes else number(value)


def _split(cells: Sequence[Cell]) -> str:
    """Return the hosts of the load where a client has several; else ""."""
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
    parts.append(RESET_WORDS[database.reset])
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
    """Return each kind of step with its length, its time-out and its number of cells. Cells that skip it are left
    out."""
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
