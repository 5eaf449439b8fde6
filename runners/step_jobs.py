"""The jobs of one step: begun together on every host, waited for, and collected."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from benchbrief.compiler.plan import Cell, StepKind
from benchbrief.runners.attempt import Attempt, NotWhole, StepJob
from benchbrief.runners.errors import BadOutput, ConnectionLost, Interrupted, RunnerError
from benchbrief.runners.live_jobs import watch_load
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.probing import sampled
from benchbrief.runners.seams import RunningJob
from benchbrief.runners.tasks import Command, Job, JobOutput
from benchbrief.runners.world import World

_READY_S = 60.0
"""How long load generators wait for each other before they begin."""
_SLICE_S = 0.5
"""How often a waiting step looks whether the run was interrupted."""
_LEAST_WAIT_S = 10.0
"""A job that was attached to past its time may have ended: it is given so long to say so."""


def jobs_of(world: World, cell: Cell, step: StepKind) -> tuple[StepJob, ...]:
    """All that run in a step of which each load generator has a part."""
    hosts = cell.load_hosts[:1] if step == "load" else cell.load_hosts
    loads = tuple(StepJob(step, host, host) for host in hosts)
    return (*loads, *(what.job for what in sampled(world, cell))) if step == "measure" else loads


def run_jobs(attempt: Attempt, jobs: Mapping[str, Job], step: StepKind) -> dict[str, JobOutput]:
    """Run a job on each of these hosts, begun together, to the end of all: one that can't be had fails them all.

    In a step that is gone on with, the jobs are attached to, and none is started. Raises NotWhole when one of those
    had been stopped.
    """
    jobs = {host: attempt.attended(job) for host, job in jobs.items()}
    names = {host: StepJob(step, host, host) for host in jobs}
    outputs = {host: kept for host, its in names.items() if (kept := attempt.kept(step, its)) is not None}
    waiting = {h: replace(job, key=attempt.key(step, names[h])) for h, job in jobs.items() if h not in outputs}
    began = attempt.began(step)
    running: dict[str, RunningJob] = {}
    try:
        if began is None:
            _start_together(attempt, waiting, running, step)
        else:
            for host_id, job in waiting.items():
                running[host_id] = attempt.hosts[host_id].start(job)
        for host_id, each in running.items():
            watch_load(attempt, host_id, each)
        _wait(attempt, waiting, running, step)
        for host_id, each in running.items():
            outputs[host_id] = attempt.collect(each, step, f"{step}-{host_id}", step, host_id)
            if began is not None and outputs[host_id].exit_code is None:
                raise NotWhole(f"its job on {host_id} had been stopped")
    except BaseException:
        # What they left is evidence for the reason above, which must not be replaced by a second failure.
        for host_id, each in running.items():
            if host_id not in outputs:
                with contextlib.suppress(RunnerError):
                    each.stop()
                    attempt.collect(each, step, f"{step}-{host_id}", step, host_id)
        raise
    return {host: outputs[host] for host in jobs}


def _wait(attempt: Attempt, jobs: Mapping[str, Job], running: Mapping[str, RunningJob], step: StepKind) -> None:
    """Until all have ended. Raises Interrupted, or BadOutput for one that takes too long."""
    began = attempt.began(step)
    left = max((job.timeout_s for job in jobs.values()), default=0.0)
    if began is not None:
        left = max(_LEAST_WAIT_S, left - max(0.0, time.time() - began))
    deadline = time.monotonic() + left
    lost: set[str] = set()
    for host_id, each in running.items():
        while not each.wait(_SLICE_S):
            if attempt.stopping.is_set():
                raise Interrupted
            late = time.monotonic() > deadline
            said = _last_words(each) if late and not each.out_of_touch else None
            if said is None and (late or each.out_of_touch):  # it may have ended long ago
                if host_id not in lost:
                    attempt.remark(f"{host_id} was out of reach during {step}, while its job went on")
                lost.add(host_id)
            elif said is not None:
                raise BadOutput(
                    f"{step} on {host_id} did not end within {jobs[host_id].timeout_s:.0f} s; its last words: "
                    f"{said.strip() or '(none)'}",
                    "see the kept output, or give it more time (`timeout` of the experiment)",
                )


def _last_words(job: RunningJob) -> str | None:
    """None when its host can't be reached: whoever waits for the job is about to notice that too."""
    try:
        return job.tail(300)
    except ConnectionLost:
        return None


def _start_together(attempt: Attempt, jobs: Mapping[str, Job], running: dict[str, RunningJob], step: StepKind) -> None:
    """Start the jobs as nearly at once as can be, and say how nearly. `running` has all that were started."""
    if len(jobs) == 1:
        [(host_id, job)] = jobs.items()
        running[host_id] = attempt.hosts[host_id].start(job)
        return
    ready = threading.Barrier(len(jobs))

    def start(host_id: str) -> tuple[RunningJob, float]:
        transport = attempt.hosts[host_id]
        run_persistently(transport, Command(("true",)))  # so that no connection has to be made after the barrier
        ready.wait(_READY_S)
        return transport.start(jobs[host_id]), time.monotonic()

    def try_start(host_id: str) -> tuple[RunningJob, float] | Exception:
        try:
            return start(host_id)
        except (RunnerError, threading.BrokenBarrierError) as error:
            ready.abort()
            return error

    with ThreadPoolExecutor(len(jobs), thread_name_prefix="load") as pool:
        started = dict(zip(jobs, pool.map(try_start, jobs), strict=True))
    running.update({host: each[0] for host, each in started.items() if not isinstance(each, Exception)})
    errors = [each for each in started.values() if isinstance(each, Exception)]
    if errors:
        raise next((e for e in errors if isinstance(e, RunnerError)), RunnerError(f"{step} could not be started"))
    times = [each[1] for each in started.values() if not isinstance(each, Exception)]
    if step == "measure":
        attempt.remark(f"the load generators were started within {max(times) - min(times):.2f} s")
