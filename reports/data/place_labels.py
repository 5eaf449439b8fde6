"""Names places in a brief: levels of factors, and the hardware or levels that a sentence is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from benchbrief.compiler.registry import ENGINE_SPECS
from benchbrief.model.plan import Database, DimKey, Factor, Hardware, Levels, Plan, Workload
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import key_text


class _Place(Protocol):
    @property
    def hardware(self) -> str: ...
    @property
    def levels(self) -> str: ...


def level_name(factor: Factor, key: DimKey) -> str:
    """Return the name of a level that can be used without its factor's name, such as `LZ4` or `Value size 100 B`."""
    label = key_text(factor.label_of(key), key)
    return label if isinstance(key, str) and label != key else f"{factor.label} {label}"


def database_name(database: Database, plan: Plan) -> str:
    """Return the label of a database. Without a label, return the name of its engine, unless another database has the
    same engine."""
    same = {each.name for each in plan.databases.values() if each.engine == database.engine}
    spec = ENGINE_SPECS.usable(database.engine)
    return spec.label if database.label == database.name and len(same) == 1 and spec else database.label


def key_label(dim: str, key: DimKey, plan: Plan) -> str | None:
    """Return the name of a key that has a label in the spec, or None for any other key, such as a number of threads."""
    if dim in plan.factors:
        return level_name(plan.factors[dim], key)
    known: Mapping[str, Hardware | Workload] = (
        plan.hardware if dim == "hardware" else plan.workloads if dim == "workload" else {}
    )
    return known[key].label if isinstance(key, str) and key in known else None


def keys_in_order(dim: str, plan: Plan) -> list[DimKey]:
    """Return the keys of a dimension in the spec's order, or [] if the keys have no names, such as those of
    `threads`."""
    if dim in plan.factors:
        return [level.key for level in plan.factors[dim].levels]
    if dim == "workload":
        return [key for key, workload in plan.workloads.items() if key == workload.name]
    return list(plan.hardware) if dim == "hardware" else []


def levels_label(levels: str, results: Results, *, headed: bool = False) -> str:
    """Return the names of levels, such as `LZ4, Value size 100 B` or, if a heading already names their factors, `LZ4,
    100 B`."""
    found = ((results.plan.factors[name], key) for name, key in Levels(levels).keys.items())
    return results.words.locale.listed(
        key_text(factor.label_of(key), key) if headed else level_name(factor, key) for factor, key in found
    )


def names_hardware(levels: str, plan: Plan) -> bool:
    """Return whether the name of a place with these levels includes its hardware. It does not if places differ only in
    levels."""
    return not levels or len(plan.hardware) > 1


def system_label(place: _Place, results: Results, *, headed: bool = False) -> str:
    """Return the name of the system that a sentence is about: its hardware, its levels, or both."""
    names = [results.plan.hardware[place.hardware].label] if names_hardware(place.levels, results.plan) else []
    names += [levels_label(place.levels, results, headed=headed)] if place.levels else []
    return results.words.locale.listed(names)


def system_heading(levels: Collection[str], results: Results, *, within: bool = False) -> str:
    """Return the heading of a column of system labels for places with these levels, such as `Compression, Value size`.
    With `within`, the heading is for use in a sentence, in lower case."""
    named = any(names_hardware(each, results.plan) for each in levels) or not levels
    varied = {factor for each in levels for factor in Levels(each).keys}
    dims = [*(["hardware"] if named else []), *(factor for factor in results.plan.factors if factor in varied)]
    name = results.words.dimension_within if within else results.words.dimension
    return results.words.locale.listed(map(name, dims))


class _MeasuredPlace(_Place, Protocol):
    @property
    def workload(self) -> str: ...


def place_holes(place: _MeasuredPlace, results: Results) -> dict[str, str]:
    """Return the values for the placeholders of a sentence about a place: `hardware`, which may be levels, and
    `workload`."""
    return {"hardware": system_label(place, results), "workload": results.plan.workloads[place.workload].label}
