"""The `database` probe: recording what a server reports of itself beside a measurement. It is no job on a host."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

from benchbrief.compiler.planning.plan import Probe
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.execution.attempt import Attempt, StepJob
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import cell_directory, digests
from benchbrief.runners.seams import Engine

_LAST_ANSWER_S = 5.0
"""How long, in seconds, to wait at the end for an answer that is under way."""


@runtime_checkable
class RecordsStatus(Protocol):
    """A probe kind whose readings come from the engine."""

    def reading(self, status: Mapping[str, float]) -> str: ...


@runtime_checkable
class TellsStatus(Protocol):
    """An engine whose server reports its status."""

    def status(self) -> Mapping[str, float]:
        """Return its counters and gauges by name. Raises RunnerError. Another thread may call this."""
        ...


@contextmanager
def server_status(attempt: Attempt, engine: Engine) -> Iterator[None]:
    """Ask the engine as often as the cell's probes say while the block runs, and keep the answers like a job's
    output.

    A failed answer is a gap, which the probe's stderr reports. Raises RunnerError for an engine without a status.
    In a
    resumed attempt the answers that an earlier controller kept stay, with a gap between.
    """
    with ExitStack() as stack:
        for probe in attempt.cell.probes:
            kind = attempt.world.probe_kind(probe.name)
            if probe.on == "tool":
                continue  # the load generator reports it: see `library_seams.TellsDatabase`
            if isinstance(kind, RecordsStatus) and not _is_kept(attempt, probe):
                if not isinstance(engine, TellsStatus):
                    raise RunnerError(
                        f"a {engine.name} database does not say how it is ({probe.origin})",
                        f"take the probe `{probe.name}` out of the probes of {attempt.cell.experiment}",
                    )
                stack.enter_context(_recorded(attempt, probe, kind, engine.status))
        yield


def _is_kept(attempt: Attempt, probe: Probe) -> bool:
    (host,) = probe.hosts
    return attempt.kept("measure", StepJob(f"probe:{probe.name}:{host}", host, host)) is not None


def _end_whole(path: Path) -> None:
    """Cut off the incomplete reading that a killed controller was writing."""
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
    """Open a file that reports a failed write at once: each write is flushed."""
    file = path.open(mode)

    def close() -> None:
        with suppress(OSError):
            file.close()

    files.callback(close)
    return file


def _cannot_write(folder: Path, error: OSError) -> DiskFull:
    return DiskFull(f"{folder} can't be written: {os.strerror(error.errno or 0)}", "free some space")


class _Reader(threading.Thread):
    """Reads the engine's status in a thread. `failed` says why nothing more could be kept."""

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
        """Record a gap."""
        try:
            self._print(f"{time.time():.3f} {' '.join(problem.split())}", self._err)
        except OSError as error:
            self.failed = error

    @staticmethod
    def _print(text: str, file: IO[str]) -> None:
        if not file.closed:  # otherwise this answer came too late
            with suppress(ValueError):
                print(text, file=file, flush=True)
