"""openload on RocksDB: the database is a library in the openload process, so openload runs on the host under test.

Records with several fields are laid out as in YCSB's RocksDB binding: the column family `usertable`, YCSB's keys, and
each field preceded by its length. As in that binding, an update of one field first reads the value. Records with one
field are laid out as in db_bench: keys of 16 bytes that contain the record's number, and values that compress to half
their size. db_bench can read them, and an update reads nothing.

A load does not write the log. It flushes its records, and waits for the compactions that follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchbrief.extend.common import Command, JobOutput, OptionValue, PlanRefused, Probe, Sample, Workload
from benchbrief.extend.tools import CellContext, Measurement, bad_output, best_line, read_output_lines
from benchbrief.extensions.tools.db_bench import db_bench_output as history
from benchbrief.extensions.tools.openload.openload import Openload
from benchbrief.extensions.tools.openload.openload_flags import Flags
from benchbrief.extensions.tools.openload.openload_messages import say
from benchbrief.extensions.tools.openload_rocksdb.rocksdb_options import OF_TABLES

STATISTICS = "statistics.jsonl"
_COMPRESSIONS = {
    "none": "kNoCompression",
    "snappy": "kSnappyCompression",
    "zlib": "kZlibCompression",
    "bzip2": "kBZip2Compression",
    "lz4": "kLZ4Compression",
    "lz4hc": "kLZ4HCCompression",
    "zstd": "kZSTD",
}


class OpenloadRocksdb(Openload):
    """The driver of openload on RocksDB. Implements `seams.Driver`."""

    program: ClassVar[str] = "openload-rocksdb"
    hint: ClassVar[str] = (
        "it needs RocksDB 7.8 (`sudo apt-get install librocksdb7.8`), and `tools/setup.sh openload` builds it"
    )
    telling: ClassVar[frozenset[str]] = Openload.telling | {
        *("layout", "value-size", "cache-size", "disable-wal", "sync", "options", "options-file")
    }

    def target(self, context: CellContext) -> Flags:
        return {"target": "rocksdb", **_layout(context.workload), **_opened(context.database.options, context)}

    def loading(self, context: CellContext) -> Flags:
        return {**self.target(context), "db-path": _path(context), "disable-wal": True, "sync": False}

    def running(self, context: CellContext) -> Flags:
        flags = {**self.target(context), "db-path": _path(context)}
        if probe := _database_probe(context):
            flags |= {"statistics": ",".join(sorted(history.COUNTERS)), "statistics-every": probe.every_s}
        return flags

    def own_files(self, context: CellContext) -> tuple[str, ...]:
        return (STATISTICS,) if _database_probe(context) else ()

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        found = super().parse(context, output)
        properties: dict[str, str] = {
            "records": (
                say.openload_ycsb_records() if _has_fields(context.workload) else say.openload_db_bench_records()
            )
        }
        if _database_probe(context):
            properties["statistics"] = say.openload_statistics()
        return replace(found, properties=(*found.properties, *properties.items()))

    def engine_version(self, path: str) -> Command:
        """Implement `seams.HoldsEngine`: `openload-rocksdb version` prints the library's version."""
        return Command((path, "version"))

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """Implement `seams.TellsDatabase`, from the file of counters that the tool writes."""
        probe = _database_probe(context)
        found = tuple(_slices(output.directory / STATISTICS)) if probe else ()
        if probe is None or not found:
            raise bad_output(output, say.openload_no_counters(said=best_line(output)))
        return history.make_samples(found, probe.every_s, output.host, window)


def _database_probe(context: CellContext) -> Probe | None:
    return next((probe for probe in context.cell.probes if probe.name == "database"), None)


def _path(context: CellContext) -> str:
    path = context.endpoint.path or context.database.path
    if not path:
        raise PlanRefused(say.database_pathless(database=context.database.name), say.hint_path_of())
    return path


def _has_fields(workload: Workload) -> bool:
    return float(workload.properties.get("fields", 10.0)) > 1


def _layout(workload: Workload) -> dict[str, object]:
    if _has_fields(workload):
        return {"layout": "ycsb"}
    return {"layout": "db_bench", "value-size": workload.properties.get("field_length", 100.0)}


def _opened(options: Mapping[str, OptionValue], context: CellContext) -> dict[str, object]:
    """Return the flags with which the database is opened: our own flags, and RocksDB's options in RocksDB's text
    format."""
    flags: dict[str, object] = {}
    ours: list[str] = []
    tables: list[str] = []
    for name, value in options.items():
        text = _text(name, value)
        match name:
            case "cache":
                flags["cache-size"] = value
            case "sync":
                flags["sync"] = value
            case "wal":
                flags["disable-wal"] = not value
            case "compression":
                ours.append(f"compression={_COMPRESSIONS[text]}")
            case "write_buffer":
                ours.append(f"write_buffer_size={text}")
            case "direct_io":
                ours += [f"use_direct_reads={text}", f"use_direct_io_for_flush_and_compaction={text}"]
            case "bloom_bits":
                tables.append(f"filter_policy=bloomfilter:{text}:false" if value else "filter_policy=nullptr")
            case _:
                (tables if name in OF_TABLES else ours).append(f"{name}={text}")
    if tables:
        ours.append(f"block_based_table_factory={{{';'.join(tables)}}}")
    if ours:
        flags["options"] = ";".join(ours)
    if context.database.options_file:
        flags["options-file"] = context.database.options_file
    return flags


def _text(name: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    if ";" in value and not (value.startswith("{") and value.endswith("}")):
        raise PlanRefused(say.openload_option_ends(name=name), say.hint_braces(example='"{a=1;b=2}"'))
    return value


def _slices(path: Path) -> Iterator[history.CounterSlice]:
    """Yield how much RocksDB's counters grew in each interval. Stops at a damaged line."""
    if not path.is_file():
        return
    for line in read_output_lines(path):
        try:
            record = json.loads(line)
            grew = {name: int(count) for name, count in record["grew"].items()}
            yield history.CounterSlice(float(record["ended_at"]), grew)
        except (ValueError, KeyError, TypeError, AttributeError):
            return
