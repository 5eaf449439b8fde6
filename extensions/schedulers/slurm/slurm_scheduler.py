"""Slurm, used through its own commands: `sbatch`, `squeue`, `scancel` and `sinfo`.

A job's name identifies its run, and its comment is its lane's number. A run's jobs can therefore be found even if its
controller has recorded nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from benchbrief.extend.common import read_script, with_values
from benchbrief.extend.schedulers import (
    Asked,
    Given,
    JobState,
    LaneJob,
    LaneNeeds,
    NodePool,
    PlannedJob,
    ScheduledJob,
    SchedulerRefused,
)
from benchbrief.extensions.schedulers.slurm import slurm_commands, slurm_survey
from benchbrief.extensions.schedulers.slurm.slurm_commands import ask as answer
from benchbrief.extensions.schedulers.slurm.slurm_request import request_of

_SCRIPT = read_script(__file__, "lane_job.sh")
_FORMAT = "%i|%T|%k|%B|%r"
_ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED"),
    *("NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
_WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_STUCK = "launch failed requeued held"
"""The reason that Slurm gives when it holds back a job, such as one started right before slurmctld was killed."""


class SlurmScheduler:
    """Submits, finds and cancels jobs with Slurm's commands. Implements `runners/fleet/scheduler.py`'s `Scheduler`."""

    def survey(self, needs: Sequence[LaneNeeds]) -> tuple[list[PlannedJob], list[NodePool]]:
        return slurm_survey.survey(needs)

    def submit(self, job: LaneJob) -> str:
        if odd := next((sign for sign in "%\\" if sign in str(job.log)), ""):
            raise SchedulerRefused(
                f"Slurm can't write a log to {job.log}: `{odd}` has a meaning of its own in the name of a job's output",
                "keep the run in a folder without it: bench run --out FOLDER",
            )
        script = with_values(
            _SCRIPT,
            python=sys.executable,
            run=str(job.run_dir),
            lane=str(job.needs.lane.number),
            journal=str(job.lane_dir / "journal.jsonl"),
            wait="--wait" if job.wait else "",
        )
        said = answer(
            "sbatch",
            "--parsable",
            "--exclusive",
            "--requeue",
            "--open-mode=append",
            f"--signal=B:USR1@{slurm_survey.LEAD_S}",
            *request_of(job.needs).words,  # where two options contradict each other, the last one counts
            f"--job-name={job.name}",
            f"--comment=lane {job.needs.lane.number}",
            f"--output={job.log}",
            given="#!/bin/sh\n" + script,
        )
        number = said.strip().partition(";")[0]  # the name of a cluster follows
        if not number.isdecimal():
            raise SchedulerRefused(
                f"`sbatch` does not say which job it took: {said.strip().partition(chr(10))[0]}",
                "leave out the --job-option that changes what `sbatch` prints or does",
            )
        return number

    def given(self, asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
        return slurm_commands.given(asked, before, named)

    def jobs(self, name: str) -> list[ScheduledJob]:
        said = answer("squeue", "--noheader", "--all", "--states=all", f"--name={name}", f"--format={_FORMAT}")
        return list(_jobs_in(said))

    def release(self, job: str) -> None:
        answer("scontrol", "release", job)

    def cancel(self, name: str) -> None:
        answer("scancel", "--quiet", f"--name={name}")


def _jobs_in(text: str) -> Iterator[ScheduledJob]:
    for line in text.splitlines():
        job, state, comment, node, reason = (*line.strip().split("|", 4), "", "", "", "", "")[:5]
        word, _, lane = comment.partition(" ")
        if word != "lane" or not lane.isdecimal():
            continue
        described = state if reason in ("", "None", "(null)") else f"{state} ({reason})"
        kind: JobState = "ended" if state in _ENDED else "waiting" if state in _WAITING else "running"
        where = "" if node in ("n/a", "(null)") else node
        stuck = reason.replace("_", " ") == _STUCK
        yield ScheduledJob(job, int(lane), kind, described, where, cancelled=state == "CANCELLED", stuck=stuck)
