"""Whether a cell achieved its offered load, and what its latencies mean when it did not."""

from __future__ import annotations

from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.compiler.planning.achieved_load import CATCHES_UP, KEEPS_UP, offered
from benchbrief.compiler.planning.plan import Cell, Experiment
from benchbrief.runners.measurement.measurement import Measurement
from benchbrief.runners.messages.run_messages import say


def off_schedule(cell: Cell, measurement: Measurement, experiment: Experiment | None = None) -> str:
    """Return a sentence for a cell that fell behind its offered load or caught up; "" for one on time, or without
    one.

    A load generator with a fixed number of threads falls behind when it waits for replies. From then on it is a
    closed loop, and only intended latency counts that wait. One that was behind when its measurement began catches
    up: it sends more than was offered, as fast as it can. Random arrivals are seldom as many as their rate says, so
    what was done is held against what the schedule had due, where the tool tells it.
    """
    if cell.target is None:
        return ""
    total = measurement.total
    achieved, wanted = total.ops_per_s, offered(cell.target, experiment)
    if measurement.due and total.seconds > 0:
        achieved, wanted = (total.count + total.errors) / total.seconds, measurement.due / total.seconds
    share = achieved / wanted
    if KEEPS_UP <= share <= CATCHES_UP:
        return ""
    intended = any(operation.kind == "intended" for operation in measurement.operations)
    late = say.behind_intended if intended else say.behind_closed
    what = (say.caught_up if share > CATCHES_UP else late)(
        achieved=figure(achieved, ",.0f"), offered=figure(wanted, ",.0f"), share=share_figure(share)
    )
    return say.in_cell(cell=cell.id, what=what)
