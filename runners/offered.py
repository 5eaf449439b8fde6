"""Whether a cell achieved the load that it offered, and what its latencies are where it did not."""

from __future__ import annotations

from benchbrief.compiler.offered import CATCHES_UP, KEEPS_UP
from benchbrief.compiler.plan import Cell
from benchbrief.runners.measurement import Measurement


def off_schedule(cell: Cell, measurement: Measurement) -> str:
    """A sentence for a cell that fell behind its offered load or caught up; "" for one on time, or that offers none.

    A load generator with a fixed number of threads falls behind by waiting for replies: from there on it is a closed
    loop. Only intended latency counts that wait. One that was behind when its measurement began works off what it owes:
    more than was offered, as fast as it can.
    """
    if cell.target is None:
        return ""
    achieved = measurement.total.ops_per_s
    share = achieved / cell.target
    told = f"achieved {achieved:,.0f} of {cell.target:,.0f} ops/s offered ({share:.0%})"
    if share > CATCHES_UP:
        return f"{told}: it was behind its schedule and caught up, so that the load was not the offered one"
    if share >= KEEPS_UP:
        return ""
    if any(operation.kind == "intended" for operation in measurement.operations):
        return f"{told}: its intended latencies count the wait behind late operations, its service latencies do not"
    return f"{told}: it was a closed loop then, whose latencies leave out the wait behind late operations"
