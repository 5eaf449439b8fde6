"""Workloads: a base from the tables, adjusted, as the settings that a driver needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchbrief.compiler import errors, plan
from benchbrief.compiler.blocks import structure_errors, value_errors
from benchbrief.compiler.blocks.hardware import origin
from benchbrief.compiler.blocks.schema import WORKLOAD
from benchbrief.compiler.blocks.values import Reader, Values
from benchbrief.compiler.blocks.workload_tables import (
    DB_BENCH,
    DB_BENCH_KEY_SIZE,
    DB_BENCH_RECORDS,
    DB_BENCH_VALUE_SIZE,
    LOADING,
    LOADING_LABEL,
    PROPORTIONS,
    YCSB,
    YCSB_FIELD_LENGTH,
    YCSB_FIELDS,
    YCSB_RECORDS,
    YCSB_SCAN_LENGTH,
    read_share,
)
from benchbrief.compiler.declarations import Entry
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

_FAMILIES: Mapping[str, tuple[str, ...]] = {"ycsb": tuple(YCSB), "db_bench": tuple(DB_BENCH)}


@dataclass(frozen=True)
class Load:
    """A workload. `existing`: works on a data set loaded before; `counted`: the spec says how many records."""

    workload: plan.Workload
    operations: tuple[str, ...]
    existing: bool
    timed: bool
    counted: bool
    span: Span
    of: str = ""
    """The workload whose loading this is."""


def read_workloads(entries: Mapping[str, Entry], reader: Reader, language: str) -> dict[str, Load | None]:
    """By name; None for those that were reported as wrong."""
    return {entry.name: _read(entry, reader, language) for entry in entries.values()}


def _read(entry: Entry, reader: Reader, language: str) -> Load | None:
    values = reader.block(entry, WORKLOAD)
    base = _base(entry, reader)
    if base is None:
        return None
    family, benchmark = base
    for key in entry.attributes:
        schema = WORKLOAD.keys.get(key)
        if schema and schema.only and schema.only != family:
            reader.findings.add(
                structure_errors.NotForThis(
                    entry.attributes[key].key.span, key, schema.only, f"from {family}.{benchmark}"
                )
            )
    if family == "ycsb":
        return _ycsb(entry, values, benchmark, reader, language)
    return _db_bench(entry, values, benchmark, reader, language)


def _base(entry: Entry, reader: Reader) -> tuple[str, str] | None:
    match entry.base:
        case None if entry.orphan:
            pass
        case None:
            reader.findings.add(structure_errors.WorkloadWithoutBase(entry.head, entry.name))
        case ast.Attr(base=ast.Name(text=family), field=field) if family in _FAMILIES:
            if field.text in _FAMILIES[family]:
                return family, field.text
            reader.findings.add(errors.UnknownBase(field.span, f"{family} workload", field.text, _FAMILIES[family]))
        case base:
            known = (*(f"ycsb.{name}" for name in YCSB), *(f"db_bench.{name}" for name in DB_BENCH))
            reader.findings.add(errors.UnknownBase(base.span, "workload", base.span.text, known))
    return None


def _ycsb(entry: Entry, values: Values, benchmark: str, reader: Reader, language: str) -> Load:
    core = YCSB[benchmark]
    mix = {name: core.mix.get(name, 0.0) for name in PROPORTIONS}
    for name in PROPORTIONS:
        share = values.number(name)
        if share is not None:
            mix[name] = share
    total = sum(mix.values())
    if abs(total - 1) > 1e-9:
        said = next((name for name in PROPORTIONS if values.said(name)), "read")
        reader.findings.add(
            value_errors.BadMix(
                values.span(said),
                entry.name,
                100 * total,
                tuple((name, share) for name, share in mix.items() if share),
            )
        )
    fields = values.number("fields") or YCSB_FIELDS
    field_length = values.number("field_length") or YCSB_FIELD_LENGTH
    size = values.constant("record_size")
    if size is not None:
        field_length = size.value / fields
        if field_length != int(field_length):
            reader.findings.add(
                value_errors.OutOfRange(
                    size.span, "record_size", size.text, f"a multiple of the {fields:g} fields", f"{fields * 100:g} B"
                )
            )
    properties: dict[str, str | float | bool] = {
        "records": float(values.number("records") or YCSB_RECORDS),
        "fields": float(fields),
        "field_length": float(field_length),
        "record_size": float(fields * field_length),
        "distribution": values.text("distribution") or core.distribution,
        **mix,
    }
    if mix["scan"]:
        properties["scan_length"] = float(values.number("scan_length") or YCSB_SCAN_LENGTH)
    elif values.said("scan_length"):
        reader.findings.add(_not_for(entry, "scan_length", "workloads with scans", "without"))
    operations = values.number("operations")
    if operations is not None:
        properties["operations"] = operations
    workload = plan.Workload(
        name=entry.name,
        label=_label(entry, f"YCSB {benchmark.upper()}"),
        description=values.text("description") or core.description.get(language, core.description["en"]),
        family="ycsb",
        benchmark=benchmark,
        properties=properties,
        writes=any(mix[name] for name in ("update", "insert", "read_modify_write")),
        origin=origin(entry.head),
    )
    return Load(
        workload=workload,
        operations=workload.operations,
        existing=True,
        timed=True,
        counted=True,
        span=entry.head,
    )


def _db_bench(entry: Entry, values: Values, name: str, reader: Reader, language: str) -> Load:
    benchmark = DB_BENCH[name]
    properties: dict[str, str | float | bool] = {
        "records": float(values.number("records") or DB_BENCH_RECORDS),
        "key_size": float(values.number("key_size") or DB_BENCH_KEY_SIZE),
        "value_size": float(values.number("value_size") or DB_BENCH_VALUE_SIZE),
    }
    share = read_share(name)
    if share is not None:
        said = values.number("read")
        properties["read"] = share if said is None else said
    elif "read" in entry.attributes:
        reader.findings.add(_not_for(entry, "read", "readrandomwriterandom", name))
    for key, operation in (("write_rate", "write"), ("scan_length", "seek")):
        value = values.number(key)
        if operation not in benchmark.operations and key in entry.attributes:
            reader.findings.add(_not_for(entry, key, f"benchmarks that {operation}", name))
        elif value is not None:
            properties[key] = value
    return Load(
        workload=plan.Workload(
            name=entry.name,
            label=_label(entry, name),
            description=values.text("description") or benchmark.description.get(language, benchmark.description["en"]),
            family="db_bench",
            benchmark=name,
            properties=properties,
            writes=benchmark.writes,
            origin=origin(entry.head),
        ),
        operations=benchmark.operations,
        existing=benchmark.existing,
        timed=benchmark.timed,
        counted=values.said("records"),
        span=entry.head,
    )


def _label(entry: Entry, standard: str) -> str:
    """What it is called for people: as said, or as its base is called when it is just that."""
    return standard if entry.label == entry.name and not entry.parent else entry.label


def _not_for(entry: Entry, key: str, only: str, actual: str) -> structure_errors.NotForThis:
    return structure_errors.NotForThis(entry.attributes[key].key.span, key, only, actual)


def inserts(workload: plan.Workload) -> bool:
    """Whether a YCSB workload inserts while it is measured.

    Every process of YCSB begins its new keys at the record count (CoreWorkload.init), so two of them insert the same
    ones. Beginnings apart would leave holes, which `latest` then reads. A load has ranges of keys (insertstart).
    """
    return workload.family == "ycsb" and workload.phase == "run" and float(workload.properties.get("insert", 0)) > 0


def loading(load: Load, language: str) -> Load:
    """The loading of a YCSB workload's data set, to be measured: its records inserted into an empty database."""
    workload = load.workload
    shape = {key: workload.properties[key] for key in ("records", "fields", "field_length", "record_size")}
    label = LOADING_LABEL.get(language, LOADING_LABEL["en"]).format(label=workload.label)
    return replace(
        load,
        workload=workload.model_copy(
            update={
                "name": f"load({workload.name})",
                "label": label,
                "description": LOADING.get(language, LOADING["en"]),
                "properties": {**shape, "insert": 1.0},
                "writes": True,
                "phase": "load",
            }
        ),
        operations=("insert",),
        existing=False,
        of=workload.name,
    )


def timed_benchmarks() -> tuple[str, ...]:
    return tuple(name for name, benchmark in DB_BENCH.items() if benchmark.timed)


def sized(load: Load, size_bytes: float) -> Load:
    """The workload with the number of records that fills a database of that size."""
    properties = dict(load.workload.properties)
    record = float(properties["key_size"]) + float(properties["value_size"])
    properties["records"] = float(max(1, int(size_bytes / record)))
    return replace(load, workload=load.workload.model_copy(update={"properties": properties}))
