"""Starts the jobs of one step together on all hosts, waits for them, and collects them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from benchbrief.model.message import figure
from benchbrief.model.plan import Cell, StepKind
from benchbrief.model.run_messages import say, say_step
from benchbrief.runners.driver_contexts import CellContext, Endpoint, loading_hosts
from benchbrief.runners.errors import BadOutput, ConnectionLost, Interrupted, RunnerError
from benchbrief.runners.execution.attempt import Attempt, NotWhole, StepJob
from benchbrief.runners.execution.cell_probes import call_all, list_sampling_jobs
from benchbrief.runners.execution.live_numbers import JobReading
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.seams import RunningJob, TellsInterim
from benchbrief.runners.world.world_seams import World

_READY_S = 60.0
"""How many seconds load generators wait for one another before they begin."""
_SLICE_S = 0.5
"""How often a waiting step checks whether the run was interrupted, in seconds."""
_LEAST_WAIT_S = 10.0
"""A job is waited for at least this many seconds, even if this controller attached to it only after its deadline, since
it may have ended before."""


def jobs_of(world: World, cell: Cell, step: StepKind) -> tuple[StepJob, ...]:
    """Return the jobs of a step: one per load generator and, for the measurement, those of the probes."""
    hosts = loading_hosts(cell) if step == "load" else cell.load_hosts
    loads = tuple(StepJob(step, host, host) for host in hosts)
    return (*loads, *(what.job for what in list_sampling_jobs(world, cell))) if step == "measure" else loads


def run_jobs(
    attempt: Attempt,
    jobs: Mapping[str, Job],
    step: StepKind,
    when_started: Callable[[Mapping[str, RunningJob]], None] = lambda _: None,
    when_ended: Callable[[], None] = lambda: None,
) -> dict[str, JobOutput]:
    """Start a job on each of these hosts at once, and wait until all have ended. If one fails, all fail.

    In a resumed step, attaches to the jobs and starts none. Raises NotWhole if one of the jobs had been stopped.
    """
    jobs = {host: attempt.attended(job) for host, job in jobs.items()}
    names = {host: StepJob(step, host, host) for host in jobs}
    outputs = {host: kept for host, its in names.items() if (kept := attempt.kept(step, its)) is not None}
    waiting = {h: replace(job, key=attempt.key(step, names[h])) for h, job in jobs.items() if h not in outputs}
    began = attempt.began(step)
    running: dict[str, RunningJob] = {}

    def collect(host_id: str) -> None:
        outputs[host_id] = attempt.collect(running[host_id], step, f"{step}-{host_id}", step, host_id)
        if began is not None and outputs[host_id].exit_code is None:
            raise NotWhole(f"its job on {host_id} had been stopped")

    try:
        if began is None:
            _start_together(attempt, waiting, running, step)
        else:
            for host_id, job in waiting.items():
                running[host_id] = attempt.hosts[host_id].start(job)
        for host_id, each in running.items():
            _watch_load(attempt, host_id, each)
        when_started(dict(running))
        _wait(attempt, waiting, running, step)
        when_ended()
        if attempt.world.simulated:
            for host_id in running:
                collect(host_id)
        else:
            call_all(collect, running)
    except BaseException:
        # Their outputs are evidence for the first failure, and a second failure must not replace it.
        for host_id, each in running.items():
            if host_id not in outputs:
                with contextlib.suppress(RunnerError):
                    each.stop()
                    attempt.collect(each, step, f"{step}-{host_id}", step, host_id)
        raise
    return {host: outputs[host] for host in jobs}


def _wait(attempt: Attempt, jobs: Mapping[str, Job], running: Mapping[str, RunningJob], step: StepKind) -> None:
    """Wait until all jobs have ended. Raises Interrupted, or BadOutput if a job takes too long."""
    began = attempt.began(step)
    left = max((job.timeout_s for job in jobs.values()), default=0.0)
    if began is not None:
        left = max(_LEAST_WAIT_S, left - max(0.0, now() - began))
    deadline = time.monotonic() + left
    lost: set[str] = set()
    for host_id, each in running.items():
        while not each.wait(_SLICE_S):
            if attempt.stopping.is_set():
                raise Interrupted
            late = time.monotonic() > deadline
            said = _last_words(each) if late and not each.out_of_touch else None
            if said is None and (late or each.out_of_touch):  # the job may have ended long ago
                if host_id not in lost:
                    attempt.remark(say.away(host=host_id, step=say_step(step)))
                lost.add(host_id)
            elif said is not None:
                raise BadOutput(
                    say.step_late(
                        step=say_step(step),
                        host=host_id,
                        seconds=figure(jobs[host_id].timeout_s, ".0f"),
                        said=said.strip() or say.no_last_words(),
                    ),
                    say.hint_timeout(),
                )


def _last_words(job: RunningJob) -> str | None:
    """Return the end of the job's output. Returns None if its host can't be reached, which the wait for the job will
    report."""
    try:
        return job.tail(300)
    except ConnectionLost:
        return None


def _start_together(attempt: Attempt, jobs: Mapping[str, Job], running: dict[str, RunningJob], step: StepKind) -> None:
    """Start the jobs at the same time as far as possible, and report how far apart they started. Each started job is
    added to `running`."""
    if len(jobs) == 1:
        [(host_id, job)] = jobs.items()
        running[host_id] = attempt.hosts[host_id].start(job)
        return
    ready = threading.Barrier(len(jobs))

    def start(host_id: str) -> tuple[RunningJob, float]:
        transport = attempt.hosts[host_id]
        run_persistently(transport, Command(("true",)))  # so that no connection has to be opened after the barrier
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
        raise next(
            (e for e in errors if isinstance(e, RunnerError)), RunnerError(say.step_unstarted(step=say_step(step)))
        )
    times = [each[1] for each in started.values() if not isinstance(each, Exception)]
    if step == "measure":
        attempt.remark(say.started_within(seconds=figure(max(times) - min(times), ".2f")))


def _watch_load(attempt: Attempt, host_id: str, running: RunningJob) -> None:
    """Show a load generator's progress until its job is collected, if its driver can read the progress."""
    tool = attempt.world.driver(attempt.cell.tool.driver)
    if not isinstance(tool, TellsInterim):
        return
    context = CellContext(attempt.plan, attempt.cell, "", Endpoint(), host_id)

    def read(text: str) -> JobReading | None:
        said = tool.interim(context, text)
        if said is None:
            return None
        return JobReading(
            cell=attempt.cell.id,
            host=host_id,
            at=now(),
            ops_per_s=said.ops_per_s,
            latency_s=said.latency_s,
            latency_of=said.latency_of,
            done=said.done,
        )

    attempt.monitor.watch(running, read)
