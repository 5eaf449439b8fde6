"""Generates results for any plan: each cell is measured, and each probe is sampled, with repeatable numbers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.plan import Cell, Plan, key_text
from benchbrief.model.points import Curve
from benchbrief.model.units import base_unit, parse_unit
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import PromiseRow, RateRow, SampleRow

RUN = "20260314-091500-generated"
STATISTICS = ("mean", "min", "max", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99")
OPERATIONS = ("read", "update", "insert", "scan", "read_modify_write", "write")
FOUND = 32
SAMPLED = {"disk.read": "B/s", "disk.write": "B/s", "disk.utilisation": "share", "cpu": "cores", "power": "W"}


def rows_for(plan: Plan) -> Iterator[tuple[Any, ...]]:
    """Yield rows of the store's tables as they would be after a run without failures."""
    at = datetime(2026, 3, 14, 9, 15)  # noqa: DTZ001  # the store's times are UTC without a zone
    yield s.RunRow(RUN, plan.spec.name, plan.spec.profile, 1, "0.1.0", at, at, "done", None)
    for cell in plan.cells:
        yield from _cell(cell, at)
    yield from _promises(plan)
    for factor in plan.factors.values():
        unit = factor.unit and base_unit(parse_unit(factor.unit).dimension)
        for level in factor.levels:
            number = level.key if isinstance(level.key, float) else None
            yield s.FactorRow(RUN, factor.name, factor.label, key_text(level.key), level.label, number, unit)
    points = {(*Curve.of(c), c.threads, c.target): c for c in plan.cells}.values()
    for point in points:
        yield from _latencies(point, None)
    for cell in plan.cells:
        if plan.experiments[cell.experiment].repeats > 1:
            yield from _latencies(cell, cell.repeat)


def _promises(plan: Plan) -> Iterator[PromiseRow | RateRow]:
    """Yield the rows of searches. Each has found the rate in the middle, where the promise is kept. It is broken at the
    next higher rate."""
    for e in plan.experiments.values():
        for curve in Curve.all_of(e) if e.promise else ():
            assert e.promise
            rates = e.points
            found, above = rates[len(rates) // 2 : len(rates) // 2 + 2]
            held = e.promise.held_out
            yield PromiseRow(
                RUN, *curve, e.promise.text, e.promise.within, 0.98, "found", found, found,
                above, False, True, found, above, held, held, None,
            )  # fmt: skip
            yield RateRow(RUN, *curve, found, 3, 0, 0, 0, held, held, 0)
            yield RateRow(RUN, *curve, above, 0, 3, 0, 0, 0, 0, 0)


def _latencies(cell: Cell, repeat: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield the latencies of all repeats together, or of one repeat. Each repeat is slightly slower than the one
    before."""
    for phase in _phases(cell):
        for operation in OPERATIONS:
            for rank, statistic in enumerate(STATISTICS, 1):
                value = 0.0001 * rank * _threads(cell) ** 0.5 * _wobble(cell, operation) / _warmth(phase)
                yield s.LatencyRow(
                    RUN, cell.experiment, cell.hardware, cell.workload, cell.levels, _threads(cell), cell.target,
                    phase, repeat, None, operation, "service", statistic, value * (1 + 0.01 * (repeat or 0)),
                    "histogram", cell.repeat, None,
                )  # fmt: skip


def _cell(cell: Cell, at: datetime) -> Iterator[tuple[Any, ...]]:
    yield s.CellRow(
        RUN, cell.id, cell.hash, cell.experiment, cell.hardware, cell.database, cell.workload, cell.levels,
        _threads(cell), cell.target, cell.repeat, "ok", None, 1, at, cell.measure_s, cell.warm_up_s, f"raw/{cell.id}/1",
        str(cell.origin),
    )  # fmt: skip
    rate = 9000.0 * _threads(cell) / (1 + _threads(cell) / 40) * _wobble(cell, "ops")
    for phase in _phases(cell):
        for operation in ("all", *OPERATIONS):
            yield s.ThroughputRow(RUN, cell.id, phase, operation, rate * _warmth(phase), 1000, 0, cell.measure_s, None)
    if cell.levels:
        yield SampleRow(RUN, cell.id, "database.size_loaded", cell.locks[0], "", 0.0, 4e7 * _wobble(cell, "size"), "B")
    for measure, unit in SAMPLED.items():
        for second in range(3):
            value = {"B/s": 4e7, "share": 0.4, "cores": 1.4, "W": 130.0}[unit] * _wobble(cell, measure)
            yield SampleRow(RUN, cell.id, measure, cell.locks[0], "d0", float(second), value, unit)
    tool = TOOL_SPECS.usable(cell.tool.driver)
    for measure, said in tool.measures.items() if tool else ():
        value = (said.simulated or 0.001) * _wobble(cell, measure)
        yield SampleRow(RUN, cell.id, measure, cell.load_hosts[0], "", 3.0, value, said.unit, 0.0, 3.0)


def _phases(cell: Cell) -> tuple[int | None, ...]:
    """Return the phases that have rows of their own: None for the whole measurement, and the number of each phase if
    there are several."""
    return (None, *range(1, cell.phases + 1)) if cell.phases > 1 else (None,)


def _warmth(phase: int | None) -> float:
    """Return the factor of the throughput in a phase. It is low in the first one, while a cache fills, and nearly
    constant afterwards."""
    return 0.6 if phase == 1 else 1 + 0.01 * (phase or 0)


def _threads(cell: Cell) -> int:
    """Return the threads. Every search finds the same number."""
    return FOUND if cell.threads is None else cell.threads


def _wobble(cell: Cell, what: str) -> float:
    """Return a factor between 0.7 and 1.3 that depends on the names."""
    text = " ".join(filter(None, (cell.hardware, cell.workload, cell.levels, what)))
    return 0.7 + 0.6 * (zlib.crc32(text.encode()) % 1000) / 1000
