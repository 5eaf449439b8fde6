"""How an offered load was spaced, and what of it may be missing: the bound of the queue, drops and lateness."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.planning import plan as p
from benchbrief.reports.text.number_format import NBSP, duration, quantity
from benchbrief.reports.view.report_data import Results


def spacing(experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield what a disclosure says of an experiment's arrivals; nothing of a closed loop, nor of a tool's only way."""
    words, arrivals = results.words, experiment.arrivals
    tools = {cell.tool.driver for cell in results.plan.cells if cell.experiment == experiment.name}
    spec = next((found for tool in tools if (found := TOOL_SPECS.usable(tool))), None)
    bounded = spec is not None and spec.bounded_queue
    if arrivals is None and spec is not None and bounded and experiment.axis == "target":
        arrivals = p.Arrivals(kind=spec.arrivals[0])
    if arrivals is None:
        return
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
    if bounded:
        cells = [cell for cell in results.plan.cells if cell.experiment == experiment.name]
        if (together := max((len(cell.load_hosts) for cell in cells), default=1)) > 1:
            yield words["d_own_schedules"].format(n=together)
        if arrivals.queue is not None:
            yield words["d_queue"].format(n=f"{arrivals.queue:,}")
        yield words["d_drops"].format(share=f"{100 * arrivals.drops:.12g}{NBSP}%")
        yield words["d_lag"].format(share=f"{100 * arrivals.lag:.12g}{NBSP}%")
