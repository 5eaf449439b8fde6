"""How a load was spaced, what of it may be missing, and what was: the bound of the queue, drops, lateness, stalls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbrief.compiler.extensions import ToolSpec
from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.extensions.tool_spec import Bound
from benchbrief.compiler.planning import plan as p
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import NBSP, duration, percent, quantity


def disclose_spacing(experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield what a disclosure says of an experiment's arrivals; nothing of a closed loop, nor of a tool's only way."""
    words, arrivals = results.words, experiment.arrivals
    tools = {cell.tool.driver for cell in results.plan.cells if cell.experiment == experiment.name}
    spec = next((found for tool in tools if (found := TOOL_SPECS.usable(tool))), None)
    bounds = spec.bounds if spec is not None else ()
    if arrivals is None and spec is not None and bounds and experiment.axis == "target":
        arrivals = p.Arrivals(kind=spec.arrivals[0])
    if arrivals is not None:
        yield from _said(arrivals, bounds, experiment, results)
    if spec is not None and (seen := list(_seen(spec, experiment, results))):
        yield words["d_seen"].format(listed=words.locale.listed(seen))


def _said(arrivals: p.Arrivals, bounds: Sequence[Bound], experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield what the spec, or the tool's usual way, says of when operations are due and of what may be missing."""
    words = results.words
    spacings = {
        "rates": words.locale.listed([quantity(rate, "ops/s") for rate in arrivals.rates]),
        "each": duration(arrivals.each_s),
        "burst": quantity(arrivals.burst_rate, "ops/s"),
        "every": duration(arrivals.every_s),
        "lasting": duration(arrivals.lasting_s),
        "file": arrivals.file,
        "spacing": words[f"d_arrivals_{arrivals.spacing}"],
    }
    yield words["d_arrivals"].format(said=words[f"d_arrivals_{arrivals.kind}"].format(**spacings))
    if "queue" in bounds and arrivals.kind != "closed":
        cells = [cell for cell in results.plan.cells if cell.experiment == experiment.name]
        if (together := max((len(cell.load_hosts) for cell in cells), default=1)) > 1:
            yield words["d_own_schedules"].format(n=together)
        if arrivals.queue is not None:
            yield words["d_queue"].format(n=f"{arrivals.queue:,}")
        yield words["d_drops"].format(share=f"{100 * arrivals.drops:.12g}{NBSP}%")
        yield words["d_lag"].format(share=f"{100 * arrivals.lag:.12g}{NBSP}%")
    if arrivals.stalls is not None:
        yield words["d_stalls"].format(share=f"{100 * arrivals.stalls:.12g}{NBSP}%")
    if arrivals.timeout_s is not None:
        yield words["d_op_timeout"].format(time=duration(arrivals.timeout_s))
    if arrivals.give_up_s is not None:
        yield words["d_give_up"].format(time=duration(arrivals.give_up_s))


def _seen(spec: ToolSpec, experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield the most that a run had of each number by which a load generator judges itself."""
    disclosed = {name: said for name, said in spec.measures.items() if said.disclosed}
    if not disclosed:
        return
    rows = results.store.sql(
        "SELECT experiment, measure, max(value) FROM samples JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND value IS NOT NULL GROUP BY ALL"
    ).rows
    most = {measure: float(value) for of, measure, value in rows if of == experiment.name}
    for name, said in disclosed.items():
        if name in most:
            text = _share(most[name]) if said.disclosed == "share" else quantity(most[name], said.unit)
            yield f"{said.label(results.words.language)} {text}"


def _share(share: float) -> str:
    decimals = next((n for n, least in enumerate((0.1, 0.01)) if share >= least), 2)
    return percent(share, decimals if share else 0)
