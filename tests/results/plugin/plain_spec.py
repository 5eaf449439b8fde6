"""Describes the gauges. See `plain_tools.py`."""

from dataclasses import replace

from benchbrief.model.extension_spec import ProbeMeasure, ProbeSpec
from benchbrief.model.tool_spec import ToolSpec

SPEC = ProbeSpec(
    api=3,
    name="gauge",
    doc="A gauge on the wall.",
    implementation="plain_tools:Gauge",
    measures={"gauge.bar": ProbeMeasure("B", "What it shows.", {"en": "Bar"})},
)

BROKEN = ProbeSpec(
    api=3,
    name="broken",
    doc="A gauge whose code has a mistake.",
    implementation="plain_tools:Broken",
    measures={"broken.bar": ProbeMeasure("B", "What it would show.", {"en": "Bar"})},
)

TOOL = ToolSpec(
    api=3,
    name="plain",
    label="plain",
    doc="A load generator that prints what it measured.",
    implementation="plain_tools:PlainDriver",
    runs="db_bench",
    mergeable=True,
)

LAGGING = replace(
    TOOL,
    name="lagging",
    label="lagging",
    implementation="plain_tools:LaggingDriver",
    measures={"lagging.lag": ProbeMeasure("s", "How late an operation began.", {"en": "Lag"})},
)
