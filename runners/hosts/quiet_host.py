"""Finds disturbances of a measurement on its host: other processes, and data that a load left in the page cache."""

from __future__ import annotations

import re

from benchbrief.model.message import figure
from benchbrief.model.plan import Database
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import printable, read_script, shell_line, with_values
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Stopping, Transport

LOOK_S = 0.2
"""How many seconds to watch the processes, if any besides the watching one is runnable."""
MUCH = 0.5
"""Other load is ignored if it takes fewer cores than this."""

_BUSY_SCRIPT = read_script(__file__, "scripts/background_load.sh")


def other_load(transport: Transport, apart: int | None = None, ours: str = "") -> str:
    """Return which process uses the most processor time, and how much. Returns "" if the host is idle enough.

    Leaves out the process `apart` (on the controller, this is the controller itself) and the jobs of the owner `ours`,
    such as a server that the run keeps up. Raises HostError.
    """
    script = with_values(_BUSY_SCRIPT, apart=str(apart or ""), ours=ours, watch_s=f"{LOOK_S:g}")
    said = run_persistently(transport, Command(("sh",)), stdin=script).stdout
    match = re.fullmatch(r"(\d{1,6}) (\S{1,64}) (\d{1,9}) (\d{1,4}(?:\.\d{1,6})?) (\d{1,10}) (.{0,64})\n", said)
    if match is None:
        return ""
    ticks, user, used, seconds, pid, name = match.groups()
    cores = int(used) / int(ticks) / max(float(seconds), LOOK_S)
    if cores < MUCH:
        return ""
    amount = figure(cores, ".1f")
    if name == "bench":
        return say.another_bench_takes(pid=pid, user=user, amount=amount)
    return say.process_takes(process=printable(name), pid=pid, user=user, amount=amount)


_TIMEOUT_S = 600.0
"""How many seconds dropping the page cache may take. Dirty pages are written first, and a large memory has many of
them."""

_DROP = read_script(__file__, "drop_caches.sh")


def drop_page_cache(transport: Transport, database: Database, stopping: Stopping) -> None:
    """Write dirty pages, then drop the page cache, dentries and inodes.

    Raises RunnerError if the host does not allow that, and Interrupted if the run must stop.
    """
    ran = run_to_end(transport, Job("drop_caches", shell_line(_DROP), timeout_s=_TIMEOUT_S), stopping)
    if ran.exit_code != 0:
        ended = say.it_did_not_end() if ran.exit_code is None else say.it_ended(code=ran.exit_code)
        said = ran.said.splitlines()[-1][:200] if ran.said else ended
        raise RunnerError(
            say.cache_kept(host=transport.host.id, said=said),
            say.hint_cache_kept(database=database.name, origin=database.origin),
        )
