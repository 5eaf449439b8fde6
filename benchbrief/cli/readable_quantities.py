"""Quantities as people read them on a terminal."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 05 min`, `3 d 04 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02d} h"


def rate(ops_per_s: float) -> str:
    """`15,203 ops/s`, `4.2 ops/s`."""
    return f"{ops_per_s:,.0f} ops/s" if ops_per_s >= 100 or ops_per_s == 0 else f"{ops_per_s:.1f} ops/s"


def latency(seconds: float) -> str:
    """`812 us`, `1.23 ms`, `2.5 s`: three digits, and letters that every terminal has."""
    size, unit = next((step for step in _STEPS if seconds < step[0] * 999.5), _STEPS[-1])
    value = seconds / size
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


_STEPS = ((1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def power(watts: float) -> str:
    return f"{watts:.0f} W" if watts < 10_000 else f"{watts / 1000:.1f} kW"


def progress_of_step(so_far: float, planned: float) -> str:
    """How long a step has taken, by its plan: `3 s of about 9 s`; of one that takes longer, `12 s, planned 9 s`; of one
    that the plan gives no time, `12 s`."""
    if not planned:
        return duration(so_far)
    if so_far > planned + 1:
        return f"{duration(so_far)}, planned {duration(planned)}"
    taken = f"{so_far:.0f} s" if planned < 60 else duration(so_far)
    return f"{taken} of about {duration(planned)}"
