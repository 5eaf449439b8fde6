"""Whether a cell achieved its offered load, and what its latencies mean when it did not."""

from __future__ import annotations

from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.compiler.planning.achieved_load import load_of
from benchbrief.compiler.planning.plan import Cell, Experiment
from benchbrief.runners.measurement.measurement import Measurement
from benchbrief.runners.messages.run_messages import say


def off_schedule(cell: Cell, measurement: Measurement, experiment: Experiment | None = None) -> str:
    """Return a sentence for a cell that fell behind its offered load or caught up; "" for one on time, or without
    one.

    A load generator with a fixed number of threads falls behind when it waits for replies. From then on it is a
    closed loop, and only intended latency counts that wait. One that was behind when its measurement began catches
    up: it sends more than was offered, as fast as it can.
    """
    if cell.target is None:
        return ""
    total = measurement.total
    done = total.count + total.errors
    load = load_of(total.ops_per_s, done, measurement.due, total.seconds, cell.target, experiment)
    if not load.is_short and not load.is_ahead:
        return ""
    intended = any(operation.kind == "intended" for operation in measurement.operations)
    late = say.behind_intended if intended else say.behind_closed
    what = (say.caught_up if load.is_ahead else late)(
        achieved=figure(load.achieved, ",.0f"), offered=figure(load.offered, ",.0f"), share=share_figure(load.share)
    )
    return say.in_cell(cell=cell.id, what=what)
