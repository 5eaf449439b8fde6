"""A sentence about each word of the language, for editors and the reference, read from `word_meanings.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import resources

from benchbrief.compiler.blocks.measured_times import FEWEST
from benchbrief.compiler.blocks.ramps import GAIN, HELD_OUT, LATENCY, RISE
from benchbrief.compiler.measure_catalogue import find_measure
from benchbrief.compiler.metrics.curves import FEWEST_LOADS, FEWEST_POINTS
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    PROBE_SPECS,
    SNAPSHOT_SPECS,
    TEMPLATE_SPECS,
    TOOL_SPECS,
    own_tools,
    resets_of,
)
from benchbrief.model.achieved_load import KEEPS_UP
from benchbrief.model.extension_spec import Boundary
from benchbrief.model.plan import Dimension
from benchbrief.model.steadiness import FEWEST_PHASES, MOST_RANGE, MOST_TREND, SOONEST_S

_NUMBERS = {
    "latency": LATENCY,
    "rise": f"{100 * RISE:g}",
    "gain": f"{100 * GAIN:g}",
    "held_out": str(HELD_OUT),
    "fewest_repeats": str(FEWEST),
    "soonest_s": f"{SOONEST_S:g}",
    "keeps_up": f"{KEEPS_UP:.0%}",
    "most_range": f"{MOST_RANGE:.0%}",
    "most_trend": f"{MOST_TREND:.0%}",
    "fewest_phases": str(FEWEST_PHASES),
    "fewest_loads": str(FEWEST_LOADS),
    "fewest_points": str(FEWEST_POINTS),
}
_TEXT = (resources.files("benchbrief.compiler") / "word_meanings.toml").read_text(encoding="utf-8")
_WORDS = tomllib.loads(re.sub(r"\{\{(\w+)\}\}", lambda hole: _NUMBERS[hole[1]], _TEXT))

DIMENSIONS: Mapping[Dimension, str] = _WORDS["dimensions"]
FUNCTIONS: Mapping[str, tuple[str, str]] = _WORDS["functions"]
"""A snippet and a sentence for each function."""
SETTINGS: Mapping[str, tuple[str, str]] = _WORDS["settings"]
"""A snippet and a sentence for each call that is a setting."""
ARRIVALS: Mapping[str, tuple[str, str]] = _WORDS["arrivals"]
"""A snippet and a sentence for each way to specify when operations are due."""

_TIMES = _WORDS["bounds"]["times"]
_QUEUED = {**_WORDS["bounds"]["queued"], **_TIMES}
_SPACED = {**_WORDS["bounds"]["spaced"], **_QUEUED}
_ARGUMENTS = _WORDS["arguments"]
ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    **_ARGUMENTS,
    **dict.fromkeys(("constant", "poisson", "trace"), _QUEUED),
    "steps": _SPACED,
    "burst": {**_ARGUMENTS["burst"], **_SPACED},
    "closed": {**_ARGUMENTS["closed"], **_TIMES},
}
"""The named arguments of calls, and their meanings."""

LINKS: Mapping[str, str] = _WORDS["links"]
"""A sentence for each word that links other words."""
RULES: Mapping[str, str] = _WORDS["rules"]
"""The text of the rule behind each function of a curve, with its source."""
ORDERS: Mapping[str, str] = _WORDS["orders"]
"""A sentence for each order of `repeats`."""
BOUNDARIES: Mapping[Boundary, str] = _WORDS["boundaries"]
"""A sentence for each boundary of a meter."""
PROVENANCE: Mapping[str, str] = _WORDS["provenance"]
LANGUAGES: Mapping[str, str] = _WORDS["languages"]

ENGINES: Mapping[str, str] = {name: spec.doc for name, spec in ENGINE_SPECS.own.items()}
TOOLS: Mapping[str, str] = {name: TOOL_SPECS.own[name].doc for name in own_tools()}
PROBES: Mapping[str, str] = {name: spec.doc for name, spec in PROBE_SPECS.own.items()}
TEMPLATES: Mapping[str, str] = {name: spec.doc for name, spec in TEMPLATE_SPECS.own.items()}


def _with_engines(reset: str, meaning: str) -> str:
    """Return the meaning of a reset, with the engines that have it if others do not."""
    own = ENGINE_SPECS.own.values()
    engines = [spec.label for spec in own if reset in resets_of(spec)]
    return f"{meaning}; {' and '.join(engines)} only" if 0 < len(engines) < len(own) else meaning


_BY_SYSTEM = {name: f"{spec.doc[0].lower()}{spec.doc[1:].rstrip('.')}" for name, spec in SNAPSHOT_SPECS.own.items()}
RESETS: Mapping[str, str] = {
    reset: _with_engines(reset, meaning) for reset, meaning in {**_WORDS["resets"], **_BY_SYSTEM}.items()
}
"""A sentence for each way to reset. It says how each cell gets its data."""


def measure_doc(name: str) -> str:
    """Return a sentence about a measure, or "" if it has no description."""
    if name in _WORDS["measures"]:
        return str(_WORDS["measures"][name])
    kind = find_measure(name)
    if kind is not None and kind.said:
        return kind.said.doc
    if kind is not None and kind.is_percentile:
        return f"The {kind.statistic} latency of an operation, from merged histograms: `{name}[read]`."
    return ""
