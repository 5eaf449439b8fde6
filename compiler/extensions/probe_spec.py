"""The spec of a probe, and what a probe or a load generator says of a number that it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from benchbrief.compiler.extensions.extension_spec import NAME, ExtensionSpec
from benchbrief.compiler.shapes.value_shapes import Flag, Key, Number, Text, Word
from benchbrief.compiler.units import UnknownUnitError, parse_unit

COUNTERS = "a counter then gives one mean, which includes time before or after the measured time"
GAUGES = "a gauge then gives one moment, or nothing"
COUNTERS_AND_GAUGES = f"{COUNTERS}; {GAUGES}"

_TAKEN = frozenset({"throughput", "latency", "errors", "energy", "nodes", "steady"})
_TAKEN_DIMENSIONS = frozenset(
    {"hardware", "workload", "threads", "target", "experiment", "operation", "phase", "repeat", "node", "time"}
)
RESERVED = _TAKEN | _TAKEN_DIMENSIONS
"""Words of the language that may stand before a dot."""


@dataclass(frozen=True)
class ProbeSpec(ExtensionSpec):
    """A probe: what it samples and how it is asked for in a spec.

    `implementation` is the class that samples, with the methods of `seams.ProbeKind`.
    `measures` are by name; each name is the probe's, a dot and a word. `attributes` are those of a `probe` block beside
    `kind` and `every`; `on` names the one that `probes = [disk every 1 s on "/dev/sda"]` stands for.

    `asks` says what the probe samples: each node, with a job there; the meter of the hardware's `power`; or the
    database, over the engine's own connection or in the load generator that has the database in it.
    One that asks the database can ask those of the `engines`, and those whose own specs name it (`EngineSpec.probes`).
    `single_reading` says what the probe measures in a time with a single reading.
    `word_is_free`: the probe's name may be a metric or a fact of hardware, as in `memory = 512 GiB`.
    """

    kind: ClassVar[str] = "probe"

    measures: Mapping[str, ProbeMeasure]
    attributes: Mapping[str, Key] = field(default_factory=dict)
    on: str = ""
    asks: Literal["node", "meter", "database"] = "node"
    engines: tuple[str, ...] = ()
    single_reading: str = GAUGES
    word_is_free: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        """Check the spec. Measures of benchbrief's `own` probes may have any name; others start with the probe's
        name."""
        return super().mistake(name) or self._wrong_name() or self._wrong_measure(own) or self._wrong_attribute()

    def _wrong_name(self) -> str:
        taken = self.name in RESERVED
        return f"`{self.name}` can't be the name of a probe: it is a word of the language" if taken else ""

    def _wrong_measure(self, own: bool) -> str:
        return wrong_measure("" if own else self.name, self.measures) if self.measures else "it has no measures"

    def _wrong_attribute(self) -> str:
        if self.on and self.on not in self.attributes:
            return f"`on` names the attribute `{self.on}`, which it does not have"
        for attribute, key in self.attributes.items():
            if attribute in ("kind", "every") or not NAME.fullmatch(attribute):
                return f"`{attribute}` can't be the name of an attribute"
            if not isinstance(key.shape, Text | Word | Number | Flag):
                return f"the attribute `{attribute}` has a shape that no attribute of a probe may have"
        if self.on and not isinstance(self.attributes[self.on].shape, Text):
            return f"the attribute `{self.on}`, which `on` stands for, is no text"
        return ""


Across = Literal["sum", "average", "largest"]


@dataclass(frozen=True)
class ProbeMeasure:
    """A number that a probe samples, or that a load generator reports of itself.

    `unit` is the base unit of its samples ("B/s", "cores", "" for a share or a count). `doc` is a sentence. `labels`
    are its name in briefs, by language ("en" at least). `across_nodes` says how the nodes' values make one value. A
    measure `of_whole_measurement` is one number for the measured time, such as a ratio of totals, and has no dimension
    `time`. `simulated` is the value that a simulated host shows; None for nothing.
    A closed loop, without a `target`, does not have one that is `offered_only`.
    A disclosure has the most that a run had of one that is `disclosed`, as a share of 1 or as a value with its unit.
    """

    unit: str
    doc: str
    labels: Mapping[str, str]
    across_nodes: Across = "sum"
    of_whole_measurement: bool = False
    simulated: float | None = None
    offered_only: bool = False
    disclosed: Literal["", "share", "value"] = ""

    def label(self, language: str) -> str:
        return self.labels.get(language) or self.labels["en"]


def wrong_measure(owner: str, measures: Mapping[str, ProbeMeasure]) -> str:
    """Say what is wrong with one of these. With an owner, each is called by its name, a dot and a word."""
    for measure, said in measures.items():
        family, _, word = measure.partition(".")
        if owner and (family != owner or not NAME.fullmatch(word)):
            return f"the measure `{measure}` has to be called `{owner}.` and a word in small letters"
        if not said.doc or not said.labels.get("en"):
            return f"the measure `{measure}` needs a `doc` and a label in English, `en`"
        if said.across_nodes not in get_args(Across):
            return f"`across_nodes` of `{measure}` is neither `sum` nor `average`"
        try:
            parse_unit(said.unit)
        except UnknownUnitError:
            return f"the measure `{measure}` has an unknown unit, `{said.unit}`"
    return ""
