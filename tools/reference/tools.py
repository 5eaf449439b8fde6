"""The page of engines, load generators, probes, power meters and importers."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler import word_meanings
from benchbrief.compiler.measure_catalogue import measures_of
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
from benchbrief.model.units import base_unit
from tools.reference.attributes import left_out, value
from tools.reference.markdown import code, joined, table, text


def page() -> str:
    return joined(
        [
            "# Engines, load generators, probes, power meters and importers",
            "## Engines",
            table(
                ("engine", "what it is", "load generators"),
                [(code(name), spec.doc, code(*tool_words(spec))) for name, spec in ENGINE_SPECS.own.items()],
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
            table(
                ("measure", "unit", "what it is"),
                [
                    (code(kind.name), base_unit(kind.unit) or "–", kind.said.doc)
                    for name in own_tools()
                    for kind in measures_of(TOOL_SPECS.own[name])
                    if kind.said
                ],
            ),
            "## Probes",
            text("probes"),
            table(("probe", "what it samples", "measures"), [_probe(spec) for spec in PROBE_SPECS.own.values()]),
            "## Power meters",
            text("meters"),
            table(
                ("meter", "what it reads", "its watts are the power of", "read on"),
                [
                    (
                        f"[`{name}`](#{name})",
                        meter.doc,
                        word_meanings.BOUNDARIES[meter.boundary],
                        "the controller" if meter.networked else "the hosts",
                    )
                    for name, meter in METER_SPECS.own.items()
                ],
            ),
            *_meters(),
            "## Importers",
            text("importers"),
            table(
                ("importer", "what it reads", "what is known then", "options"),
                [_importer(spec) for spec in IMPORTER_SPECS.own.values()],
            ),
        ]
    )


def _importer(spec: ImporterSpec) -> tuple[str, ...]:
    options = "<br>".join(f"`--{name}`: {key.doc}" for name, key in spec.options.items())
    return (code(spec.name), spec.doc, spec.tells, options or (f"`--samples {spec.name}`" if spec.probe else "–"))


def _tool(spec: ToolSpec) -> tuple[str, ...]:
    counted = "counted from when it was due" if spec.intended_latency else "counted from when it was sent"
    return (
        code(spec.name),
        spec.doc,
        "yes" if spec.open_loop else "no",
        counted if spec.open_loop else "–",
        "histograms, which are merged" if spec.mergeable else "percentiles by source",
        "yes, with a histogram each" if spec.phases else "no",
    )


def _probe(spec: ProbeSpec) -> tuple[str, ...]:
    return (code(spec.name), spec.doc, code(*spec.measures))


def _meters() -> Iterator[str]:
    for name, meter in METER_SPECS.own.items():
        yield f"### `{name}`"
        wants = f"Its first argument is {meter.address}." if meter.address else "It takes no address."
        yield f"{wants} For example {meter.usage}."
        if meter.arguments:
            rows = [(code(f"{each}:"), key.doc, value(key), left_out(key)) for each, key in meter.arguments.items()]
            yield table(("argument", "what it says", "value", "when left out"), rows)
