"""The page of engines, load generators, probes and power meters."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from benchbrief.compiler.blocks.meter_schema import METERS
from benchbrief.compiler.blocks.schema import PROBES
from benchbrief.compiler.blocks.tools import DRIVERS, ENGINE_TOOLS, INTENDED, MERGEABLE, OPEN_LOOP, PHASED
from benchbrief.compiler.metrics import glossary
from benchbrief.compiler.metrics.measures import KINDS
from tools.reference.attributes import left_out, value
from tools.reference.markdown import code, joined, table, text

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def page() -> str:
    return joined(
        [
            "# Engines, load generators, probes and power meters",
            "## Engines",
            table(
                ("engine", "what it is", "load generators"),
                [(code(name), glossary.ENGINES[name], code(*tools)) for name, tools in ENGINE_TOOLS.items()],
            ),
            "## Load generators",
            text("tools"),
            table(
                (
                    *("tool", "what it is", "offers a load (`target`)", "its latency at a `target`"),
                    *("its latencies are", "measures `phases`"),
                ),
                [_tool(name) for name in DRIVERS],
            ),
            "## Probes",
            text("probes"),
            table(("probe", "what it samples", "measures", "`bench run`"), [_probe(name) for name in PROBES]),
            "## Power meters",
            text("meters"),
            table(
                ("meter", "what it reads", "its watts are the power of", "read on"),
                [
                    (
                        f"[`{name}`](#{name})",
                        meter.doc,
                        glossary.BOUNDARIES[meter.boundary],
                        "the controller" if meter.networked else "the hosts",
                    )
                    for name, meter in METERS.items()
                ],
            ),
            *_meters(),
        ]
    )


def _tool(name: str) -> tuple[str, ...]:
    offered = name in OPEN_LOOP
    counted = "counted from when it was due" if name in INTENDED else "counted from when it was sent"
    kept = "histograms, which are merged" if name in MERGEABLE else "percentiles by source"
    phases = "yes, with a histogram each" if name in PHASED else "no"
    return (code(name), glossary.TOOLS[name], "yes" if offered else "no", counted if offered else "–", kept, phases)


def _probe(name: str) -> tuple[str, ...]:
    entries = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]["benchbrief.probes"]
    measures = [kind.name for kind in KINDS.values() if kind.probe == name]
    runs = "samples it" if name in entries else "refuses it so far"
    return (code(name), glossary.PROBES[name], code(*measures) or "none so far", runs)


def _meters() -> Iterator[str]:
    for name, meter in METERS.items():
        yield f"### `{name}`"
        wants = f"Its first argument is {meter.address}." if meter.address else "It takes no address."
        yield f"{wants} For example {meter.usage}."
        if meter.arguments:
            rows = [(code(f"{each}:"), key.doc, value(key), left_out(key)) for each, key in meter.arguments.items()]
            yield table(("argument", "what it says", "value", "when left out"), rows)
