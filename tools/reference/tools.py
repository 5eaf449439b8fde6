"""Makes the page of engines, load generators, probes, power meters and importers."""

from __future__ import annotations

from benchbrief.compiler import word_meanings
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    IMPORTER_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    TOOL_SPECS,
    own_tools,
    tool_words,
)
from benchbrief.model.extension_spec import ImporterSpec, ProbeSpec
from benchbrief.model.tool_spec import ToolSpec
from tools.reference.markdown import code, joined, page_of, table, text


def page() -> str:
    return joined(
        [
            "# Engines, load generators, probes, power meters and importers",
            "## Engines",
            table(
                ("engine", "what it is", "load generators"),
                [
                    (_link("engines", name), spec.doc, code(*tool_words(spec)))
                    for name, spec in ENGINE_SPECS.own.items()
                ],
            ),
            "## Load generators",
            text("tools"),
            table(
                (
                    *("tool", "what it is", "offers a load (`target`)", "its latency at a `target`"),
                    *("its latencies are", "measures `phases`"),
                ),
                [_tool(TOOL_SPECS.own[name]) for name in own_tools()],
            ),
            text("tool_measures"),
            "## Probes",
            text("probes"),
            table(("probe", "what it samples", "measures"), [_probe(spec) for spec in PROBE_SPECS.own.values()]),
            "## Power meters",
            text("meters"),
            table(
                ("meter", "what it reads", "its watts are the power of", "read on"),
                [
                    (
                        _link("meters", name),
                        meter.doc,
                        word_meanings.BOUNDARIES[meter.boundary],
                        "the controller" if meter.networked else "the hosts",
                    )
                    for name, meter in METER_SPECS.own.items()
                ],
            ),
            "## Importers",
            text("importers"),
            table(
                ("importer", "what it reads", "options"),
                [_importer(spec) for spec in IMPORTER_SPECS.own.values()],
            ),
        ]
    )


def _link(plural: str, name: str) -> str:
    return f"[`{name}`]({page_of(plural, name)})"


def _importer(spec: ImporterSpec) -> tuple[str, ...]:
    options = code(*(f"--{name}" for name in spec.options))
    return (_link("importers", spec.name), spec.doc, options or (f"`--samples {spec.name}`" if spec.probe else "–"))


def _tool(spec: ToolSpec) -> tuple[str, ...]:
    counted = "counted from when it was due" if spec.intended_latency else "counted from when it was sent"
    return (
        _link("tools", spec.name),
        spec.doc,
        "yes" if spec.open_loop else "no",
        counted if spec.open_loop else "–",
        "histograms, which are merged" if spec.mergeable else "percentiles by source",
        "yes, with a histogram each" if spec.phases else "no",
    )


def _probe(spec: ProbeSpec) -> tuple[str, ...]:
    return (_link("probes", spec.name), spec.doc, code(*spec.measures))
