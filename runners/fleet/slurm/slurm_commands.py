"""Slurm's own commands, run with a time limit: what they print, or what they say is wrong."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Sequence

from benchbrief.runners.fleet.scheduler import SchedulerRefused, SchedulerSilent

_WITHIN_S = 60
_CUT_OFF = (errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ENOTCONN, errno.ETIMEDOUT,
            errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EAGAIN)  # fmt: skip
"""What a command says, in the words of the system, when slurmctld dies or starts while it is asked."""
_SILENT = re.compile(
    "|".join((
        "unable to contact", "timed out", "connect failure", "communication", "transmission", "zero bytes",
        "slurm backup controller in standby", "socket", *(re.escape(os.strerror(number)) for number in _CUT_OFF),
    )),
    re.IGNORECASE,
)  # fmt: skip
_NOT_OURS = re.compile("(SQUEUE|SINFO|SCANCEL)_.*|SBATCH_(ARRAY_INX|CLUSTERS|ERROR|WAIT)")
"""Variables with a user's usual options, which would hide jobs, their output and nodes, ask before a job is cancelled,
or make something else of a job. SLURM_CLUSTERS stays, as all commands obey it."""
_LATER = "is slurmctld running? `scontrol ping` shows it; then type the same again"
_HELP = "`sinfo` lists partitions and nodes; options for sbatch are given as in --job-option partition=NAME"


def asked(program: str, *words: str, given: str = "") -> str:
    """Run a command of Slurm; return what it prints. Raises SchedulerSilent and SchedulerRefused."""
    command: Sequence[str] = (program, *words)
    env = {name: value for name, value in os.environ.items() if not _NOT_OURS.fullmatch(name)}
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=_WITHIN_S, check=False, env=env
        )
    except FileNotFoundError:
        raise SchedulerRefused(
            f"there is no `{program}` on this machine", "type the command where Slurm's commands are installed"
        ) from None
    except subprocess.TimeoutExpired:
        raise SchedulerSilent(f"Slurm does not answer: `{program}` took more than {_WITHIN_S} s", _LATER) from None
    if done.returncode == 0:
        return done.stdout
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("Try ")]
    lines = lines or [f"it ended with code {done.returncode}"]
    said = re.sub(rf"^({program}|slurm\w*): (error: )?", "", lines[-1])
    if any(_SILENT.search(line) for line in lines):
        raise SchedulerSilent(f"Slurm does not answer: `{program}` says: {said}", _LATER)
    raise SchedulerRefused(f"Slurm refuses what it is asked for: `{program}` says: {said}", _HELP)
