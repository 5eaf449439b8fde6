"""What a brief discloses of watts: the meter, what the watts are the power of, and meters that nobody read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchbrief.model import plan as p
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.report_data import Results, reads_of
from benchbrief.reports.data.view_model import Item


def disclose_power_meters(results: Results) -> Iterable[Item]:
    """Return the boundary of each meter that was read, and the watts without a meter."""
    read = probed_hardware("power", results)
    for key, hardware in results.plan.hardware.items():
        if key in read and hardware.power:
            meter = hardware.power[0]
            text = results.words[f"d_power_{meter.boundary}"]
            yield Item("", text.format(hardware=hardware.label, meter=meter.kind))
            if meter.shared:
                yield Item("", results.words["d_power_shared"].format(hardware=hardware.label))
            elif len(hardware.power) > 1:
                summed = results.words["d_power_summed"]
                yield Item("", summed.format(hardware=hardware.label, n=len(hardware.power)))
        elif isinstance(declared := hardware.facts.get("power"), p.Quantity):
            yield Item("", results.words["d_power_declared"].format(hardware=hardware.label, power=declared.text))


def probed_hardware(name: str, results: Results) -> set[str]:
    """Return the hardware with a planned probe; for imported results, whose plan did not run, with its samples."""
    if is_imported(results):
        rows = results.store.sql(
            "SELECT probe, hardware FROM coverage JOIN cells USING (run_id, cell_id) WHERE status = 'ok' "
            "GROUP BY probe, hardware, cell_id HAVING min(share) > 0"
        ).rows
        return {hardware for probe, hardware in rows if probe == name}
    return {cell.hardware for cell in results.plan.cells for probe in cell.probes if probe.name == name}


def is_of_power(query: p.Query) -> bool:
    """Return whether a number comes from sampled watts."""
    return any(read.probe == "power" for read in reads_of(query))


def cpu_packages_only(results: Results) -> Iterator[str]:
    """Return a remark on each hardware whose watts cover only its processors."""
    read = probed_hardware("power", results)
    for key, hardware in results.plan.hardware.items():
        if key in read and hardware.power and hardware.power[0].boundary == "cpu":
            yield results.words["d_power_cpu"].format(hardware=hardware.label, meter=hardware.power[0].kind)
