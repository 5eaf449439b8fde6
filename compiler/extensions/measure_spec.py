"""What a probe or a load generator says of a number that it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from benchbrief.compiler.extensions.extension_spec import NAME
from benchbrief.compiler.units import UnknownUnitError, parse_unit

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
