"""Runs Slurm's own commands with a time limit, reports their output and errors, and finds the nodes of a job."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from benchbrief.extend.common import RunnerError
from benchbrief.extend.schedulers import Asked, Given, SchedulerRefused, SchedulerSilent

_WITHIN_S = 60
_CUT_OFF = (errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ENOTCONN, errno.ETIMEDOUT,
            errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EAGAIN)  # fmt: skip
"""The system errors that a command reports while slurmctld stops or starts."""
_SILENT = re.compile(
    "|".join((
        "unable to contact", "timed out", "connect failure", "communication", "transmission", "zero bytes",
        "slurm backup controller in standby", "socket", *(re.escape(os.strerror(number)) for number in _CUT_OFF),
    )),
    re.IGNORECASE,
)  # fmt: skip
_NOT_OURS = re.compile("(SQUEUE|SINFO|SCANCEL)_.*|SBATCH_(ARRAY_INX|CLUSTERS|ERROR|WAIT)")
"""Environment variables that set a user's default options. They could hide jobs, output or nodes, ask before cancelling
a job, or change the submitted job. SLURM_CLUSTERS is kept, as all commands obey it."""
_LATER = "is slurmctld running? `scontrol ping` shows it; then type the same again"
_HELP = "`sinfo` lists partitions and nodes; options for sbatch are given as in --job-option partition=NAME"


def ask(program: str, *words: str, given: str = "") -> str:
    """Run a Slurm command and return its output. Raises SchedulerSilent or SchedulerRefused."""
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


def given(asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
    """Implement `Scheduler.given` for Slurm: assign the nodes of the current Slurm job to the lane's hosts."""
    job, listed = os.environ.get("SLURM_JOB_ID", ""), os.environ.get("SLURM_JOB_NODELIST", "")
    if not job or not listed:
        raise RunnerError(
            f"the lane asks Slurm for {', '.join(asked)}, and this process is no job of Slurm",
            "give the run to Slurm with `bench run SPEC --on slurm`, or start the lane within `salloc` or `sbatch`",
        )
    nodes = [node for node in ask("scontrol", "show", "hostnames", listed).split() if node not in named]
    if len(nodes) < len(asked):
        raise RunnerError(
            f"the lane needs {len(asked)} nodes besides those that it names, and job {job} has {len(nodes)}",
            "ask for more of them: `bench plan SPEC --on slurm` shows how",
        )
    has = _features(listed) if len({each.what for each in asked.values()}) > 1 else {}
    fits = {
        host: [node for node in nodes if not has or set(filter(None, each.what.split("&"))) <= has.get(node, set())]
        for host, each in asked.items()
    }
    found = _matched(fits, before)
    if len(found) < len(asked):
        lacking = next(host for host in asked if host not in found)
        raise RunnerError(
            f"job {job} has no node with `{asked[lacking].what}` left for {lacking}: it has {', '.join(nodes)}",
            "ask for more of them: `bench plan SPEC --on slurm` shows how",
        )
    return Given(job, {host: found[host] for host in asked})


def _features(listed: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in ask("sinfo", "--noheader", "--all", "--Node", f"--nodes={listed}", "--format=%N|%f").splitlines():
        name, _, features = line.strip().partition("|")
        found.setdefault(name, set()).update(features.split(","))
    return found


def _matched(fits: Mapping[str, Sequence[str]], before: Mapping[str, str]) -> dict[str, str]:
    """Assign nodes to as many hosts as possible. A host keeps its node in `before` unless this would leave another host
    without one."""
    host_of: dict[str, str] = {}

    def place(host: str, tried: set[str]) -> bool:
        usual = before.get(host)
        for node in sorted(fits[host], key=lambda node: node != usual):
            if node not in tried:
                tried.add(node)
                if node not in host_of or place(host_of[node], tried):
                    host_of[node] = host
                    return True
        return False

    for host in sorted(fits, key=lambda host: before.get(host) not in fits[host]):
        place(host, set())
    return {host: node for node, host in host_of.items()}
