"""The load generators' own measures beside throughput and latencies, by their specs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.results.ingest.cell_measurement import Measured
from benchbrief.results.samples.window_stretches import stretches
from benchbrief.results.store.sample_table import SampleRow


def tool_samples(run_id: str, cell_id: str, tool: str, measured: Measured) -> Iterator[SampleRow]:
    """Yield the samples inside the window that all load generators share. The tool's spec declares them all.

    A measure that one of them lacks has a row without a value, so that a sum over them is known to be incomplete.
    """
    start, end = measured.window
    spec = TOOL_SPECS.usable(tool)
    units = {name: said.unit for name, said in spec.measures.items()} if spec else {}
    for source, measurement in measured.sources.items():
        samples = measurement.samples
        of = stretches(samples, _step([sample.time for sample in samples]), end - start)
        shift = measurement.window[0] - start
        seen = set()
        for sample, part in zip(samples, of, strict=True):
            began, ended = max(0.0, part.start + shift), min(part.end + shift, end - start)
            if ended > began or not sample.seconds:
                seen.add(sample.measure)
                at = min(max(0.0, sample.time + shift), end - start)
                yield SampleRow(
                    run_id, cell_id, sample.measure, source, sample.device, at, sample.value, sample.unit, began, ended
                )
        for measure, unit in units.items():
            if measure not in seen:
                yield SampleRow(run_id, cell_id, measure, source, "", 0.0, None, unit)


def _step(times: list[float]) -> float:
    """Estimate the distance of gauges."""
    return max((after - before for before, after in pairwise(sorted(set(times)))), default=1.0)
