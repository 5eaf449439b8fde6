"""What a brief says of the watts in it: which meter read them, what they are the power of, and which nobody read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchbrief.compiler import plan as p
from benchbrief.reports.imported import is_imported
from benchbrief.reports.source import Results, reads_of
from benchbrief.reports.view import Item
from benchbrief.results.coverage import shares


def items(results: Results) -> Iterable[Item]:
    """What the watts of each meter that was read are the power of, and which watts no meter has read."""
    read = probed("power", results)
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


def probed(name: str, results: Results) -> set[str]:
    """The hardware that a probe is planned on; of imported results, whose plan was not run, what it has samples of."""
    if is_imported(results):
        hardware = {cell.cell_id: cell.hardware for cell in results.cells}
        return {hardware[cell] for (probe, cell), share in shares(results.store).items() if probe == name and share}
    return {cell.hardware for cell in results.plan.cells for probe in cell.probes if probe.name == name}


def is_of_power(query: p.Query) -> bool:
    """Whether a number is made of watts that were sampled."""
    return any(read.probe == "power" for read in reads_of(query))


def cpu_packages_only(results: Results) -> Iterator[str]:
    """What to say of each hardware whose watts were read of its processors alone."""
    read = probed("power", results)
    for key, hardware in results.plan.hardware.items():
        if key in read and hardware.power and hardware.power[0].boundary == "cpu":
            yield results.words["d_power_cpu"].format(hardware=hardware.label, meter=hardware.power[0].kind)
