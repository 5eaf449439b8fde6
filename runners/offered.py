"""Whether a cell achieved the load that it offered, and what its latencies are where it did not."""

from __future__ import annotations

from benchbrief.compiler.offered import KEEPS_UP
from benchbrief.compiler.plan import Cell
from benchbrief.runners.measurement import Measurement


def shortfall(cell: Cell, measurement: Measurement) -> str:
    """A sentence for a cell that fell behind its offered load; "" for one that kept up, or offers none.

    A load generator with a fixed number of threads falls behind by waiting for replies: from there on it is a closed
    loop. Only intended latency counts that wait.
    """
    if cell.target is None or measurement.total.ops_per_s >= KEEPS_UP * cell.target:
        return ""
    intended = any(operation.kind == "intended" for operation in measurement.operations)
    latency = (
        "its intended latencies count the wait behind late operations, its service latencies do not"
        if intended
        else "it was a closed loop then, whose latencies leave out the wait behind late operations"
    )
    achieved = measurement.total.ops_per_s
    return f"achieved {achieved:,.0f} of {cell.target:,.0f} ops/s offered ({achieved / cell.target:.0%}): {latency}"
