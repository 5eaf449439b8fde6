"""Whether a load generator's own clock can be trusted. Its seconds are compared with its job's, by the time since
boot.

Load generators use the wall clock (db_bench and YCSB: `gettimeofday`). When that is set meanwhile, their rates and
some of their latencies are wrong. A tool can take less time than its job, which also starts, opens and closes, but
never more.
"""

from __future__ import annotations

from collections.abc import Callable

from benchbrief.compiler.messages.text import Text, figure
from benchbrief.runners.drivers.output_evidence import bad_output, best_line, require_exit
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.measurement.measurement import Measurement
from benchbrief.runners.messages.run_messages import say

_TOLERANCE_S = 0.25
"""In seconds: how a tool rounds its seconds, and how exactly a job's two ends are known."""
_TOLERANCE = 0.005
"""How far two clocks of one host may run apart while one is slewed, as a share. NTP's limit is a tenth of that."""

_SHORT_S = 0.5
"""How much shorter a warm-up may be, in seconds: a tool checks the clock only every so many operations."""


class ClockSet(BadOutput):
    """A clock was set while a tool measured by it."""


def parse_trusted(tool: str, parse: Callable[[], Measurement], output: JobOutput, set_s: float) -> Measurement:
    """Return what `parse` reads from a job's output, when its tool's clock can be trusted.

    `set_s` is by how much the host's clock was set while the job ran. Raises ClockSet when it was set, or when the
    tool took longer by its own clock than its job by the time since boot; BadOutput as `parse` does.
    """
    seconds = output.ended_at - output.started_at
    took = say.job_took(seconds=figure(seconds, ",.2f"))
    try:
        measured = parse()
    except BadOutput as error:
        if set_s:
            raise ClockSet(
                say.because(why=say.as_well(first=was_set(output.host, set_s), then=took), what=error), say.hint_slew()
            ) from error
        raise
    own = measured.total.seconds if measured.tool_s is None else measured.tool_s
    if not set_s and own <= seconds * (1 + _TOLERANCE) + _TOLERANCE_S:
        return measured
    why = was_set(output.host, set_s) if set_s else say.clock_wrong(clock=clock_of(output.host))
    raise ClockSet(say.tool_says(why=why, tool=tool, seconds=figure(own, ",.2f"), then=took), say.hint_slew())


def require_seconds(tool: str, output: JobOutput, warm_up_s: float) -> None:
    """Raises BadOutput, with the reason, when the warm-up's tool failed, or its job was shorter than `warm_up_s` by the
    time since boot. ClockSet says that a clock was set."""
    took = output.ended_at - output.started_at
    if took >= warm_up_s - _SHORT_S:
        require_exit(output, tool)
        return
    short = say.warm_up_short(host=output.host, seconds=figure(took, ",.2f"), wanted=figure(warm_up_s, "g"))
    if output.clock_set_s:
        raise ClockSet(
            say.as_well(first=was_set(output.host, output.clock_set_s, say.step_warm_up()), then=short), say.hint_slew()
        )
    require_exit(output, tool)
    raise bad_output(output, say.because(why=short, what=best_line(output)))


def was_set(host: str, by_s: float, during: str = "") -> Text:
    """Return that a host's clock was set; `during` the measurement when nothing else is said."""
    moved = say.clock_forward if by_s > 0 else say.clock_back
    return moved(clock=clock_of(host), seconds=figure(abs(by_s), ",.1f"), during=during or say.measurement())


def clock_of(host: str) -> Text:
    return say.clock_of_controller() if host == CONTROLLER.id else say.clock_of_host(host=host)
