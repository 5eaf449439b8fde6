"""The data that describe an extension: everything that a `spec.py` needs, ours or another package's.

The checker, the editors, the reference and the briefs read a spec. It imports only this package, so that `bench check`
stays fast. The code of the extension is imported when it runs.
"""

from benchbrief.compiler.extensions.engine_spec import EngineSpec, Option, ServerProgram
from benchbrief.compiler.extensions.extension_spec import API
from benchbrief.compiler.extensions.importer_spec import ImporterSpec
from benchbrief.compiler.extensions.meter_spec import BOUNDARY, SCALE, SHARED, MeterSpec
from benchbrief.compiler.extensions.probe_spec import COUNTERS, COUNTERS_AND_GAUGES, GAUGES, ProbeMeasure, ProbeSpec
from benchbrief.compiler.extensions.scheduler_spec import SchedulerSpec
from benchbrief.compiler.extensions.template_spec import TemplateSpec
from benchbrief.compiler.extensions.tool_spec import (
    Attribute,
    Flags,
    FlagType,
    Limit,
    MeasuredAnew,
    ToolSpec,
    WorkloadSpec,
)
from benchbrief.compiler.extensions.transport_spec import TransportSpec
from benchbrief.compiler.shapes.value_shapes import Flag, Key, Login, Number, Special, Text, Word

__all__ = [
    "API",
    "BOUNDARY",
    "COUNTERS",
    "COUNTERS_AND_GAUGES",
    "GAUGES",
    "SCALE",
    "SHARED",
    "Attribute",
    "EngineSpec",
    "Flag",
    "FlagType",
    "Flags",
    "ImporterSpec",
    "Key",
    "Limit",
    "Login",
    "MeasuredAnew",
    "MeterSpec",
    "Number",
    "Option",
    "ProbeMeasure",
    "ProbeSpec",
    "SchedulerSpec",
    "ServerProgram",
    "Special",
    "TemplateSpec",
    "Text",
    "ToolSpec",
    "TransportSpec",
    "Word",
    "WorkloadSpec",
]
