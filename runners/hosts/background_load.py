"""Other load on a host just before a cell begins: the process that takes most of its processors' time."""

from __future__ import annotations

import re

from benchbrief.model.message import figure
from benchbrief.model.run_messages import say
from benchbrief.runners.jobs.commands import printable
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.shell_scripts import read_script, with_values
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport

LOOK_S = 0.2
"""Processes are watched for this long, in seconds, when more than the watching one is runnable."""
MUCH = 0.5
"""In cores. Other load that takes less is ignored."""

_SCRIPT = read_script(__file__, "scripts/background_load.sh")


def other_load(transport: Transport, apart: int | None = None, ours: str = "") -> str:
    """Return which process takes most, and how much, or "" when the host is idle enough. Raises HostError.

    Leaves out the process `apart` (on the controller, its own) and the jobs of the owner `ours`, such as a server
    that the run keeps up.
    """
    script = with_values(_SCRIPT, apart=str(apart or ""), ours=ours, watch_s=f"{LOOK_S:g}")
    said = run_persistently(transport, Command(("sh",)), stdin=script).stdout
    match = re.fullmatch(r"(\d{1,6}) (\S{1,64}) (\d{1,9}) (\d{1,4}(?:\.\d{1,6})?) (\d{1,10}) (.{0,64})\n", said)
    if match is None:
        return ""
    ticks, user, used, seconds, pid, name = match.groups()
    cores = int(used) / int(ticks) / max(float(seconds), LOOK_S)
    if cores < MUCH:
        return ""
    return say.process_takes(process=printable(name), pid=pid, user=user, amount=figure(cores, ".1f"))
