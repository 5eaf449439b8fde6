"""The shell scripts of detached jobs and claims. `runners/jobs/detached_jobs.py` says what they keep on a host.

`with_values` sets the variables that each names. They need `sh`, `setsid` and `flock`. A script that changes the
names in the root directory holds a lock on that directory, so that the directory can be removed when it is empty.
"""

from __future__ import annotations

from benchbrief.runners.jobs.shell_scripts import read_script


def _script(name: str) -> str:
    return read_script(__file__, f"scripts/{name}.sh")


RUN = _script("run")
START = _script("start")
ALIVE = _script("alive")
FORGET_OUTPUTS = _script("forget_outputs")

FIND = _script("find")
STOP = _script("stop")
DISCARD = _script("discard")
END_LEFTOVERS = _script("end_leftovers")
WAIT = _script("wait")
TAIL = _script("tail")
STATE = _script("state")

CLAIM = _script("claim")
CLAIMED = _script("claimed")
LIST = _script("list")
