"""Slurm, by its own commands: `sbatch`, `squeue`, `scancel` and `sinfo`.

A job's name is that of its run, and its comment the lane's number: so the jobs of a run are found whatever its
controller has recorded.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

from benchbrief.compiler.extensions.registry import TRANSPORT_SPECS
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.scheduler import Job, JobState, LaneJob, SchedulerRefused, SchedulerSilent
from benchbrief.runners.jobs.shell_scripts import read_script, with_values

_SCRIPT = read_script(__file__, "lane_job.sh")
_WITHIN_S = 60
_LEAD_S = 120
"""Slurm tells a lane to stop this many seconds before its time limit."""
_FORMAT = "%i|%T|%k|%B|%r"
_ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED"),
    *("NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
_WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_SILENT = re.compile(
    r"unable to contact|connection refused|timed out|connect failure|communication|transmission|"
    r"zero bytes|slurm backup controller in standby|socket",
    re.IGNORECASE,
)
_STUCK = "launch failed requeued held"
"""As for a job that was started right before slurmctld was killed."""
_NAMED = 5


class SlurmScheduler:
    """See `runners/fleet/scheduler.py`."""

    def refuse(self, plan: Plan) -> None:
        for host in plan.hosts.values():
            spec = TRANSPORT_SPECS.usable(host.transport)
            if spec is not None and spec.on_controller:
                raise RunnerError(
                    f"the spec measures on `{host.id}`, which is wherever a job of Slurm happens to run",
                    "name the hosts as Slurm names its nodes: `sinfo -N` lists them",
                )
        nodes = set(_asked("sinfo", "--noheader", "--Node", "--format=%N").split())
        strange = [host.id for host in plan.hosts.values() if host.name not in nodes]
        if strange:
            some = ", ".join(strange[:_NAMED]) + (f" and {len(strange) - _NAMED} more" if strange[_NAMED:] else "")
            raise RunnerError(
                f"Slurm has no node for these hosts of the spec: {some}",
                "name the hosts as Slurm names its nodes: `sinfo -N` lists them",
            )

    def submit(self, job: LaneJob) -> str:
        script = with_values(
            _SCRIPT,
            python=sys.executable,
            run=str(job.run_dir),
            lane=str(job.lane.number),
            journal=str(job.lane_dir / "journal.jsonl"),
            wait="--wait" if job.wait else "",
        )
        said = _asked(
            "sbatch",
            "--parsable",
            "--exclusive",
            "--requeue",
            "--open-mode=append",
            f"--signal=B:USR1@{_LEAD_S}",
            *(
                f"--{option.lstrip('-')}" for option in job.options
            ),  # of two that say different things, the last one counts
            f"--job-name={job.name}",
            f"--comment=lane {job.lane.number}",
            f"--output={job.log}",
            f"--nodelist={','.join(job.nodes)}",
            f"--nodes={len(job.nodes)}",
            given="#!/bin/sh\n" + script,
        )
        return said.strip().partition(";")[0]

    def jobs(self, name: str) -> list[Job]:
        said = _asked("squeue", "--noheader", "--states=all", f"--name={name}", f"--format={_FORMAT}")
        return list(_jobs_in(said))

    def release(self, job: str) -> None:
        _asked("scontrol", "release", job)

    def cancel(self, name: str) -> None:
        _asked("scancel", "--quiet", f"--name={name}")


def _jobs_in(text: str) -> Iterator[Job]:
    for line in text.splitlines():
        job, state, comment, node, reason = (*line.strip().split("|", 4), "", "", "", "", "")[:5]
        word, _, lane = comment.partition(" ")
        if word != "lane" or not lane.isdecimal():
            continue
        told = state if reason in ("", "None", "(null)") else f"{state} ({reason})"
        kind: JobState = "ended" if state in _ENDED else "waiting" if state in _WAITING else "running"
        where = "" if node in ("n/a", "(null)") else node
        yield Job(job, int(lane), kind, told, where, cancelled=state == "CANCELLED", stuck=reason == _STUCK)


def _asked(program: str, *words: str, given: str = "") -> str:
    """Run a command of Slurm; return what it prints. Raises SchedulerSilent and SchedulerRefused."""
    command: Sequence[str] = (program, *words)
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
    except FileNotFoundError:
        raise SchedulerRefused(
            f"there is no `{program}` on this machine", "type the command where Slurm's commands are installed"
        ) from None
    except subprocess.TimeoutExpired:
        raise SchedulerSilent(f"Slurm does not answer: `{program}` took more than {_WITHIN_S} s", _LATER) from None
    if done.returncode == 0:
        return done.stdout
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"it ended with code {done.returncode}"]
    said = re.sub(rf"^({program}|slurm\w*): (error: )?", "", lines[-1])
    if any(_SILENT.search(line) for line in lines):
        raise SchedulerSilent(f"Slurm does not answer: `{program}` says: {said}", _LATER)
    raise SchedulerRefused(f"Slurm refuses what it is asked for: `{program}` says: {said}", _HELP)


_LATER = "is slurmctld running? `scontrol ping` tells; then type the same again"
_HELP = "`sinfo` lists partitions and nodes; options for sbatch are given as in --job-option partition=NAME"
