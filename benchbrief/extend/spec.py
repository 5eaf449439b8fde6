"""The classes by which a `spec.py` describes an extension, one of benchbrief's own or of another package.

The checker, the editors, the reference and the briefs read a spec. It imports only this module, so that `bench check`
stays fast. The code of the extension is imported when it runs."""

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
