"""The nodes of the job that this process is part of, for the hosts that were asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from benchbrief.model.plan import Asked
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.scheduler import Given
from benchbrief.runners.fleet.slurm.slurm_commands import asked as answer


def given(asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
    """See `Scheduler.given`."""
    job, listed = os.environ.get("SLURM_JOB_ID", ""), os.environ.get("SLURM_JOB_NODELIST", "")
    if not job or not listed:
        raise RunnerError(
            f"the lane asks Slurm for {', '.join(asked)}, and this process is no job of Slurm",
            "give the run to Slurm with `bench run SPEC --on slurm`, or start the lane within `salloc` or `sbatch`",
        )
    nodes = [node for node in answer("scontrol", "show", "hostnames", listed).split() if node not in named]
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
    for line in answer("sinfo", "--noheader", "--all", "--Node", f"--nodes={listed}", "--format=%N|%f").splitlines():
        name, _, features = line.strip().partition("|")
        found.setdefault(name, set()).update(features.split(","))
    return found


def _matched(fits: Mapping[str, Sequence[str]], before: Mapping[str, str]) -> dict[str, str]:
    """Return a node for each host, as many as can be: a host keeps its node of `before` where the others allow it."""
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
