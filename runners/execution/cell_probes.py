"""The probes of a cell, which sample during its measurement."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeVar

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.execution.attempt import Attempt, StepJob
from benchbrief.runners.execution.live_numbers import JobReading as LiveReading
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import cell_directory, digests
from benchbrief.runners.sampling import ReadsFiles, reading_job
from benchbrief.runners.seams import Engine, Node, ReadsAfter, RecordsStatus, RunningJob, TellsNow, TellsStatus
from benchbrief.runners.world.world_seams import World

_LAST_ANSWER_S = 5.0
"""How many seconds to wait at the end for an answer that the engine has begun."""


@contextmanager
def server_status(attempt: Attempt, engine: Engine) -> Iterator[None]:
    """Query the engine's status during the block as often as the cell's probes need, and keep the answers like a job's
    output.

    A query that fails leaves a gap, which is reported in the probe's stderr. A resumed attempt keeps an earlier
    controller's answers, and adds its own after a gap. Raises RunnerError if the engine has no status.
    """
    with ExitStack() as stack:
        for probe in attempt.cell.probes:
            kind = attempt.world.probe_kind(probe.name)
            if probe.on == "tool":
                continue  # the load generator reports it: see `seams.TellsDatabase`
            if isinstance(kind, RecordsStatus) and not _is_kept(attempt, probe):
                if not isinstance(engine, TellsStatus):
                    raise RunnerError(
                        say.engine_has_no_status(engine=engine.name, origin=probe.origin),
                        say.hint_take_probe(probe=probe.name, experiment=attempt.cell.experiment),
                    )
                stack.enter_context(_recorded(attempt, probe, kind, engine.status))
        yield


def _is_kept(attempt: Attempt, probe: Probe) -> bool:
    (host,) = probe.hosts
    return attempt.kept("measure", StepJob(f"probe:{probe.name}:{host}", host, host)) is not None


def _end_whole(path: Path) -> None:
    """Cut off the incomplete reading that a controller was writing when it was killed."""
    text = path.read_bytes() if path.exists() else b""
    if text:
        os.truncate(path, text.rfind(b"\n.\n") + 3 if b"\n.\n" in text else 0)


@contextmanager
def _recorded(
    attempt: Attempt, probe: Probe, kind: RecordsStatus, ask: Callable[[], Mapping[str, float]]
) -> Iterator[None]:
    (host,) = probe.hosts
    directory = cell_directory(attempt.cell.id, attempt.number) / f"probe-{probe.name}-{host.replace('/', '_')}"
    folder = attempt.run_dir / directory
    began, over = attempt.began("measure"), threading.Event()
    started, mode = (now(), "w") if began is None else (began, "a")
    with ExitStack() as files:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if mode == "a":
                _end_whole(folder / "stdout")
            out, err = (_opened(files, folder / name, mode) for name in ("stdout", "stderr"))
        except OSError as error:
            raise _cannot_write(folder, error) from error
        reader = _Reader(probe.every_s, kind, ask, out, err, over)
        reader.start()
        try:
            yield
        finally:
            over.set()
            reader.join(_LAST_ANSWER_S)
        if reader.failed is None and reader.is_alive():
            reader.record_gap(f"no answer within {_LAST_ANSWER_S:.0f} s")
        if reader.failed is not None:
            raise _cannot_write(folder, reader.failed) from reader.failed
    attempt.journal.write(
        j.JobCollected(
            at=now(),
            cell=attempt.cell.id,
            attempt=attempt.number,
            step="measure",
            job=f"probe:{probe.name}:{host}",
            host=host,
            directory=str(directory),
            exit_code=None,
            started_at=started,
            ended_at=now(),
            files=digests(folder),
        )
    )


def _opened(files: ExitStack, path: Path, mode: str) -> IO[str]:
    """Open a file that is closed together with `files`. Errors on closing are ignored, since each write is flushed and
    reports its own errors."""
    file = path.open(mode)

    def close() -> None:
        with suppress(OSError):
            file.close()

    files.callback(close)
    return file


def _cannot_write(folder: Path, error: OSError) -> DiskFull:
    return DiskFull(say.folder_unwritable(folder=folder, said=os.strerror(error.errno or 0)), say.hint_free_space())


class _Reader(threading.Thread):
    """Reads the engine's status in a thread. `failed` is the reason why no more answers could be kept."""

    def __init__(
        self,
        every_s: float,
        kind: RecordsStatus,
        ask: Callable[[], Mapping[str, float]],
        out: IO[str],
        err: IO[str],
        over: threading.Event,
    ) -> None:
        super().__init__(name="server status", daemon=True)
        self._every_s, self._kind, self._ask, self._out, self._err, self._over = every_s, kind, ask, out, err, over
        self.failed: OSError | None = None

    def run(self) -> None:
        due = time.monotonic()
        try:
            while True:
                self._read()
                due = max(due + self._every_s, time.monotonic())
                if self._over.wait(max(0.0, due - time.monotonic())):
                    self._read()  # covers the end of the window
                    return
        except OSError as error:
            self.failed = error

    def _read(self) -> None:
        try:
            reading = self._kind.reading(self._ask())
        except RunnerError as error:
            self.record_gap(str(error))
            return
        except Exception as error:  # a server may answer anything: this is a gap, and the next answer may be good
            self.record_gap(f"its answer can't be read: {error!r}")
            return
        up = time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
        self._print(f"= {time.time():.6f} {up:.2f}\n{reading}\n.", self._out)

    def record_gap(self, problem: str) -> None:
        """Write to the probe's stderr when and why a reading failed. Sets `failed` if that can't be written."""
        try:
            self._print(f"{time.time():.3f} {' '.join(problem.split())}", self._err)
        except OSError as error:
            self.failed = error

    @staticmethod
    def _print(text: str, file: IO[str]) -> None:
        if not file.closed:  # otherwise this answer came too late
            with suppress(ValueError):
                print(text, file=file, flush=True)


_AT_ONCE = 16
"""How many jobs are started or ended at the same time."""

_SLICE_S = 0.5
"""How often a wait for recorded samples checks whether the run was interrupted, in seconds."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class SamplingJob:
    """A job that takes samples for one or more probes. It samples the host `host`, and runs on the host `at`."""

    probes: tuple[Probe, ...]
    host: str
    at: str

    @property
    def job(self) -> StepJob:
        """Return the step's job, named `probe:cpu:db-1` or `probe:cpu,disk:db-1`."""
        return StepJob(f"probe:{','.join(probe.name for probe in self.probes)}:{self.host}", self.host, self.at)


def list_sampling_jobs(world: World, cell: Cell) -> list[SamplingJob]:
    """Return the jobs of a cell's probes. Probes that read the kernel files of the same host at the same rate share a
    job."""
    shared: dict[tuple[str, float], list[Probe]] = {}
    found = []
    for probe in cell.probes:
        if isinstance(world.probe_kind(probe.name), RecordsStatus):
            continue  # no job: see `runners/execution/cell_probes.py` and `seams.TellsDatabase`
        if _is_read_after(world, probe):
            continue
        for host_id in probe.hosts:
            if isinstance(world.probe_kind(probe.name), ReadsFiles):
                shared.setdefault((host_id, probe.every_s), []).append(probe)
            else:
                found.append(SamplingJob((probe,), host_id, _place(probe, host_id)))
    return found + [SamplingJob(tuple(probes), host_id, host_id) for (host_id, _), probes in shared.items()]


def _job(attempt: Attempt, what: SamplingJob) -> Job:
    kinds = [(probe, attempt.world.probe_kind(probe.name)) for probe in what.probes]
    reads = [(probe, kind.reads(probe)) for probe, kind in kinds if isinstance(kind, ReadsFiles)]
    if reads:
        return reading_job(reads)
    [(probe, kind)] = kinds
    return kind.job(probe, Node(attempt.plan.hosts[what.host], attempt.plan.hardware[attempt.cell.hardware]))


def _is_read_after(world: World, probe: Probe) -> bool:
    return probe.after and isinstance(world.probe_kind(probe.name), ReadsAfter)


def _place(probe: Probe, host_id: str) -> str:
    return CONTROLLER.id if probe.on == "controller" else host_id


@contextmanager
def run_probes(attempt: Attempt) -> Iterator[Callable[[], None]]:
    """Run the cell's probes during the block. Collect their samples afterwards, even if the block raised an error.

    Yields a function that begins to stop the probes while the block continues. In a resumed attempt, a probe that was
    started before is not started again.
    """
    running: list[tuple[SamplingJob, RunningJob]] = []
    began = attempt.began("measure") or now()

    def start(what: SamplingJob) -> None:
        job = replace(attempt.attended(_job(attempt, what)), key=attempt.key("measure", what.job))
        started = attempt.hosts[what.at].start(job)
        running.append((what, started))
        _watch_probes(attempt, what.probes, what.host, started)

    def end(each: tuple[SamplingJob, RunningJob]) -> None:
        what, job = each
        if job in stopping:
            stopping[job].result()
        else:
            job.stop()
        attempt.collect(job, "measure", what.job.name.replace(":", "-", 2), what.job.name, what.host)

    def begin_to_stop() -> None:
        if not attempt.world.simulated:
            stopping.update((job, apart.submit(job.stop)) for _, job in running)

    stopping: dict[RunningJob, Future[None]] = {}
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="stop") as apart:
        try:
            sampling = list_sampling_jobs(attempt.world, attempt.cell)
            call_all(start, [what for what in sampling if not attempt.kept("measure", what.job)])
            yield begin_to_stop
        except BaseException:
            # The cell fails for the first reason. A failure to end or fetch a probe must not replace it.
            with contextlib.suppress(RunnerError):
                call_all(end, running)
            raise
        call_all(end, running)
    _read_recorded(attempt, (began, now()))


def _read_recorded(attempt: Attempt, window: tuple[float, float]) -> None:
    """Fetch and keep the samples that another program recorded in the window (epoch seconds, by the controller's
    clock)."""
    found = [
        (SamplingJob((probe,), host_id, _place(probe, host_id)), kind)
        for probe in attempt.cell.probes
        if probe.after and isinstance(kind := attempt.world.probe_kind(probe.name), ReadsAfter)
        for host_id in probe.hosts
    ]

    def read(each: tuple[SamplingJob, ReadsAfter]) -> None:
        what, kind = each
        [probe] = what.probes
        node = Node(attempt.plan.hosts[what.host], attempt.plan.hardware[attempt.cell.hardware])
        job = attempt.attended(kind.job_after(probe, node, window))
        reading = attempt.hosts[what.at].start(job)
        deadline = time.monotonic() + job.timeout_s
        while not (attempt.stopping.is_set() or time.monotonic() > deadline or reading.wait(_SLICE_S)):
            pass
        reading.stop()
        attempt.collect(reading, "measure", what.job.name.replace(":", "-", 2), what.job.name, what.host)

    call_all(read, [each for each in found if not attempt.kept("measure", each[0].job)])


def call_all(call: Callable[[_T], None], items: Iterable[_T]) -> None:
    """Call `call` for all items in parallel. Raises the first RunnerError after all calls have ended."""

    def attempt(item: _T) -> RunnerError | None:
        try:
            call(item)
        except RunnerError as error:
            return error
        return None

    items = tuple(items)
    if len(items) <= 1:  # threads would cost more than they save
        for item in items:
            call(item)
        return
    with ThreadPoolExecutor(min(_AT_ONCE, len(items)), thread_name_prefix="probe") as pool:
        errors = [error for error in pool.map(attempt, items) if error is not None]
    if errors:
        raise errors[0]


def _watch_probes(attempt: Attempt, its: Sequence[Probe], host_id: str, running: RunningJob) -> None:
    """Show the latest values of the probes, if they can be read while their job runs."""
    kinds = [(probe, kind) for probe in its if isinstance(kind := attempt.world.probe_kind(probe.name), TellsNow)]
    if not kinds:
        return

    def read(text: str) -> LiveReading | None:
        measures = {name: value for probe, kind in kinds for name, value in kind.now(probe, text).items()}
        if not measures:
            return None
        return LiveReading(cell=attempt.cell.id, host=host_id, at=now(), measures=measures)

    attempt.monitor.watch(running, read)
