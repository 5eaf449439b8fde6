"""Made-up measurements for a spec: plain dictionaries for the oracle, and `measure` tables for DuckDB."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from benchbrief.compiler.frontend.declarations import collect, parameters
from benchbrief.compiler.frontend.imports import load
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import resolve
from benchbrief.model import plan

Cell = tuple[str, str, str, int, float | None, int]
"""A cell, given by its experiment, hardware, workload, threads, target and repeat."""

_TABLES = """
CREATE SCHEMA measure;
CREATE TABLE measure.cells (
    experiment VARCHAR, hardware VARCHAR, workload VARCHAR, threads BIGINT, target DOUBLE, repeat BIGINT);
CREATE TABLE measure.throughput (
    experiment VARCHAR, hardware VARCHAR, workload VARCHAR, threads BIGINT, target DOUBLE,
    phase BIGINT, repeat BIGINT, operation VARCHAR, value DOUBLE);
CREATE TABLE measure.latency (
    experiment VARCHAR, hardware VARCHAR, workload VARCHAR, threads BIGINT, target DOUBLE,
    phase BIGINT, repeat BIGINT, operation VARCHAR, kind VARCHAR, statistic VARCHAR, value DOUBLE,
    reported BOOLEAN);
CREATE TABLE measure.errors (
    experiment VARCHAR, hardware VARCHAR, workload VARCHAR, threads BIGINT, target DOUBLE,
    phase BIGINT, repeat BIGINT, value DOUBLE);
CREATE TABLE measure.sample (
    measure VARCHAR, experiment VARCHAR, hardware VARCHAR, workload VARCHAR, threads BIGINT, target DOUBLE,
    repeat BIGINT, node VARCHAR, time BIGINT, value DOUBLE);
CREATE VIEW measure.mean AS
SELECT measure, experiment, hardware, workload, threads, target, repeat, node, avg(value) AS value
FROM measure.sample GROUP BY ALL;
"""
STATISTICS = ("mean", "min", "max", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99")
_K = TypeVar("_K")
SAMPLED = (
    "cpu",
    "cpu.utilisation",
    "disk.read",
    "disk.write",
    "disk.reads",
    "disk.writes",
    "disk.utilisation",
    "power",
    "energy",
)


def scope_of(path: Path, params: Mapping[str, str] | None = None) -> Scope:
    """Return the scope of a correct spec."""
    findings = Findings()
    loaded = load(path)
    declarations = collect(loaded, findings)
    model = resolve(declarations, parameters(declarations, params or {}, findings), None, findings)
    assert not findings.failed, findings.diagnostics()
    return model.scope


@dataclass
class Measured:
    """The measured values of cells. All cells are planned, so a value that a cell lacks is a missing one."""

    scope: Scope
    cells: list[Cell] = field(default_factory=list)
    throughput: dict[tuple[Cell, int | None, str], float] = field(default_factory=dict)
    latency: dict[tuple[Cell, int | None, str, str], float] = field(default_factory=dict)
    """Latencies of single repeats. In `merged`, the latencies over all repeats are under the cell of repeat 1."""
    merged: dict[tuple[Cell, int | None, str, str], float] = field(default_factory=dict)
    errors: dict[tuple[Cell, int | None], float] = field(default_factory=dict)
    sample: dict[tuple[str, Cell, str, int], float] = field(default_factory=dict)

    def connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config={"threads": 1})  # a query over so few rows costs less than a second thread
        connection.execute(_TABLES)
        rows: dict[str, list[tuple[object, ...]]] = {
            "cells": [tuple(cell) for cell in self.cells],
            "throughput": [(*cell[:5], ph, cell[5], op, v) for (cell, ph, op), v in self.throughput.items()],
            "latency": [
                *(
                    (*cell[:5], ph, cell[5], op, _reported(cell), stat, v, True)
                    for (cell, ph, op, stat), v in self.latency.items()
                ),
                *(
                    (*cell[:5], ph, None, op, _reported(cell), stat, v, True)
                    for (cell, ph, op, stat), v in self.merged.items()
                ),
                # The other latency of an offered load, counted from when operations were sent, is never mixed in.
                *(
                    (*cell[:5], ph, None, op, "service", stat, 1e9, False)
                    for (cell, ph, op, stat) in self.merged
                    if cell[4] is not None
                ),
            ],
            "errors": [(*cell[:5], ph, cell[5], v) for (cell, ph), v in self.errors.items()],
            "sample": [(m, *cell, node, time, v) for (m, cell, node, time), v in self.sample.items()],
        }
        order = random.Random(len(self.cells))  # noqa: S311  # test data
        for table, found in rows.items():
            order.shuffle(found)  # no answer may depend on it
            columns = [row[0] for row in connection.execute(f"DESCRIBE measure.{table}").fetchall()]
            arrow = pa.table({name: [row[i] for row in found] for i, name in enumerate(columns)})
            if found:
                connection.execute(f"INSERT INTO measure.{table} SELECT * FROM arrow")  # noqa: S608  # a fixed name
            del arrow  # DuckDB found it by its name
        return connection


def _reported(cell: Cell) -> str:
    return "service" if cell[4] is None else "intended"


def cells_of(scope: Scope) -> list[Cell]:
    return [
        (e.key, hardware, workload, *((int(p), None) if e.axis == "threads" else (32, float(p))), repeat)
        for e in scope.experiments
        for hardware in e.hardware
        for workload in e.workloads
        for p in e.points
        for repeat in range(1, e.repeats + 1)
    ]


def generate(scope: Scope, seed: int, missing: float = 0.0, zeros: float = 0.0, seconds: int = 3) -> Measured:
    """Make random measurements. `missing` is the share of absent values, including whole cells."""
    rng = random.Random(seed)  # noqa: S311  # test data

    def value() -> float | None:
        if rng.random() < missing:
            return None
        return 0.0 if rng.random() < zeros else round(rng.uniform(1, 1000), 3)

    measured = Measured(scope, cells_of(scope))
    experiments = {experiment.key: experiment for experiment in scope.experiments}
    operations = {workload.key: workload.operations for workload in scope.workloads}
    nodes = {hardware.key: hardware.nodes for hardware in scope.hardware}
    for cell in measured.cells:
        experiment = experiments[cell[0]]
        if rng.random() < missing / 2:
            continue  # the whole cell failed
        phases = [None, *range(1, experiment.phases + 1)] if experiment.phases > 1 else [None]
        for phase in phases:
            put(measured.throughput, (cell, phase, "all"), value())
            put(measured.errors, (cell, phase), value())
            for operation in operations[cell[2]]:
                put(measured.throughput, (cell, phase, operation), value())
                for statistic in STATISTICS:
                    put(measured.latency, (cell, phase, operation, statistic), value())
                    if cell[5] == 1:
                        put(measured.merged, (cell, phase, operation, statistic), value())
        for measure in SAMPLED:
            if measure.partition(".")[0] in experiment.probes:
                for node in range(1, nodes[cell[1]] + 1):
                    for time in range(seconds):
                        put(measured.sample, (measure, cell, f"{cell[1]}-{node}", time), value())
    return measured


def put(table: dict[_K, float], key: _K, value: float | None) -> None:
    if value is not None:
        table[key] = value


def run(connection: duckdb.DuckDBPyConnection, query: plan.Query) -> dict[tuple[object, ...], float | None]:
    """Return the query's values by their keys. Checks that each combination of keys occurs once, and that the columns
    have the plan's names."""
    cursor = connection.execute(query.sql)
    assert [column[0] for column in cursor.description or ()] == [*query.dims, "value"]
    rows = cursor.fetchall()
    result: dict[tuple[object, ...], float | None] = {tuple(row[:-1]): row[-1] for row in rows}
    assert len(result) == len(rows), "a combination of keys came twice"
    assert all(value is None or isinstance(value, float) for value in result.values())
    return result
