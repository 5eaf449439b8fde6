"""The classes with which a `spec.py` describes an extension of benchbrief or of another package.

The checker, the editors, the reference and the briefs read this description. A spec imports only this module, so that
`bench check` stays fast. The extension's code is imported when it runs.
"""

from benchbrief.model.engine_spec import EngineSpec, Option, ServerProgram
from benchbrief.model.extension_spec import (
    BOUNDARY,
    COUNTERS,
    COUNTERS_AND_GAUGES,
    SCALE,
    SHARED,
    ImporterSpec,
    MeterSpec,
    PlanFinding,
    ProbeMeasure,
    ProbeSpec,
    SchedulerSpec,
    SnapshotSpec,
    TemplateSpec,
    TransportSpec,
)
from benchbrief.model.tool_spec import Attribute, Flags, FlagType, Limit, MeasuredAnew, ToolSpec, WorkloadSpec
from benchbrief.model.value_shapes import Flag, Key, Login, Number, Special, Text, Word

__all__ = [
    "BOUNDARY",
    "COUNTERS",
    "COUNTERS_AND_GAUGES",
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
    "PlanFinding",
    "ProbeMeasure",
    "ProbeSpec",
    "SchedulerSpec",
    "ServerProgram",
    "SnapshotSpec",
    "Special",
    "TemplateSpec",
    "Text",
    "ToolSpec",
    "TransportSpec",
    "Word",
    "WorkloadSpec",
]
