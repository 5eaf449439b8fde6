"""The jobs of one step: begun together on every host, waited for, and collected."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from benchbrief.compiler.plan import StepKind
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, Interrupted
from benchbrief.runners.live_jobs import watch_load
from benchbrief.runners.seams import BadOutput, Command, Job, JobOutput, RunnerError, RunningJob

_READY_S = 60.0
"""How long load generators wait for each other before they begin."""
_SLICE_S = 0.5
"""How often a waiting step looks whether the run was interrupted."""


def run_jobs(attempt: Attempt, jobs: Mapping[str, Job], step: StepKind) -> dict[str, JobOutput]:
    """Run a job on each of these hosts, begun together, to the end of all: one that can't be had fails them all."""
    jobs = {host: attempt.attended(job) for host, job in jobs.items()}
    running: dict[str, RunningJob] = {}
    deadline = time.monotonic() + max(job.timeout_s for job in jobs.values())
    try:
        _start_together(attempt, jobs, running, step)
        for host_id, each in running.items():
            watch_load(attempt, host_id, each)
        for host_id, each in running.items():
            while not each.wait(_SLICE_S):
                if attempt.stopping.is_set():
                    raise Interrupted
                if time.monotonic() > deadline:
                    raise BadOutput(
                        f"{step} on {host_id} did not end within {jobs[host_id].timeout_s:.0f} s; its last words: "
                        f"{each.tail(300).strip() or '(none)'}",
                        "see the kept output, or give it more time (`timeout` of the experiment)",
                    )
        return {host: attempt.collect(each, step, f"{step}-{host}", step, host) for host, each in running.items()}
    except BaseException:
        # What they left is evidence for the reason above, which must not be replaced by a second failure.
        for host_id, each in running.items():
            with contextlib.suppress(RunnerError):
                each.stop()
                attempt.collect(each, step, f"{step}-{host_id}", step, host_id)
        raise


def _start_together(attempt: Attempt, jobs: Mapping[str, Job], running: dict[str, RunningJob], step: StepKind) -> None:
    """Start the jobs as nearly at once as can be, and say how nearly. `running` has all that were started."""
    if len(jobs) == 1:
        [(host_id, job)] = jobs.items()
        running[host_id] = attempt.hosts[host_id].start(job)
        return
    ready = threading.Barrier(len(jobs))

    def start(host_id: str) -> tuple[RunningJob, float]:
        transport = attempt.hosts[host_id]
        transport.run(Command(("true",)))  # so that no connection has to be made after the barrier
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
        text = f"the load generators were started within {max(times) - min(times):.2f} s"
        attempt.journal.write(j.Remark(at=time.time(), severity="info", text=text, cell=attempt.cell.id))
