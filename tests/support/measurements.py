"""Writes a measurement as text for golden files: every number that a parser reads, rounded as appropriate for its
unit."""

from __future__ import annotations

from benchbrief.model.histogram import percentile
from benchbrief.model.measurement import Measurement, Operation


def rendered(measurement: Measurement) -> str:
    start, end = measurement.window
    lines = [f"window {end - start:.3f} s", f"tool {measurement.tool_version}"]
    for total in measurement.throughput:
        which = "whole" if total.phase is None else f"phase {total.phase}"
        lines.append(
            f"{which}: {total.count} ok, {total.errors} failed in {total.seconds:.3f} s = {total.ops_per_s:.1f} ops/s"
        )
    lines += [_operation(operation) for operation in measurement.operations]
    lines += [f"  {i.start_s:7.3f} s + {i.seconds:.3f} s: {i.count}" for i in measurement.intervals]
    lines += [f"warning: {text}" for text in measurement.warnings]
    lines += [f"{name}: {value}" for name, value in measurement.properties]
    return "\n".join(lines) + "\n"


def _operation(operation: Operation) -> str:
    phase = "" if operation.phase is None else f" phase {operation.phase}"
    mark = "" if operation.in_total else " (not in the total)"
    text = f"{operation.operation} {operation.kind}{phase}{mark}: {operation.count} ok, {operation.errors} failed"
    for name, value in (("mean", operation.mean_s), ("min", operation.min_s), ("max", operation.max_s)):
        text += f", {name} {_us(value)}"
    if operation.histogram and operation.histogram.buckets:
        read = {p: percentile(operation.histogram, p) for p in (50, 95, 99, 99.9)}
        text += f"; {operation.histogram.count} in {len(operation.histogram.buckets)} buckets: "
        text += ", ".join(f"p{p:g} {_us(value)}" for p, value in read.items())
    if operation.printed:
        text += "; printed " + ", ".join(f"p{p:g} {_us(value)}" for p, value in operation.printed)
    return text


def _us(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.1f} us"
