"""Recording what a server says of itself beside a measurement: the `database` probe, which is no job on a host."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

from benchbrief.compiler.plan import Probe
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, StepJob
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.rundir import cell_directory, digests
from benchbrief.runners.seams import Engine

_LAST_ANSWER_S = 5.0
"""How long the answer that is under way at the end is waited for."""


@runtime_checkable
class RecordsStatus(Protocol):
    """A probe kind whose readings are made of what the engine tells."""

    def reading(self, status: Mapping[str, float]) -> str: ...


@runtime_checkable
class TellsStatus(Protocol):
    """An engine whose server says how it is."""

    def status(self) -> Mapping[str, float]:
        """Its counters and gauges by name. Raises RunnerError; may be called from another thread than the rest."""
        ...


@contextmanager
def server_status(attempt: Attempt, engine: Engine) -> Iterator[None]:
    """Ask the engine as often as the cell's probes say while the block runs, and keep the answers like a job's output.

    An answer that fails is a gap, and told in the probe's stderr. Raises RunnerError for an engine that tells nothing.
    Those that an earlier controller kept of an attempt that is gone on with stay; there is a gap between.
    """
    with ExitStack() as stack:
        for probe in attempt.cell.probes:
            kind = attempt.world.probe_kind(probe.name)
            if probe.on == "tool":
                continue  # the load generator tells it: see `seams.TellsDatabase`
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
    """Cut off the reading that was being written when its controller was killed."""
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
    started, mode = (time.time(), "w") if began is None else (began, "a")
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
            reader.tell(f"no answer within {_LAST_ANSWER_S:.0f} s")
        if reader.failed is not None:
            raise _cannot_write(folder, reader.failed) from reader.failed
    attempt.journal.write(
        j.JobCollected(
            at=time.time(),
            cell=attempt.cell.id,
            attempt=attempt.number,
            step="measure",
            job=f"probe:{probe.name}:{host}",
            host=host,
            directory=str(directory),
            exit_code=None,
            started_at=started,
            ended_at=time.time(),
            files=digests(folder),
        )
    )


def _opened(files: ExitStack, path: Path, mode: str) -> IO[str]:
    """What could not be written is known by then: it is flushed each time."""
    file = path.open(mode)

    def close() -> None:
        with suppress(OSError):
            file.close()

    files.callback(close)
    return file


def _cannot_write(folder: Path, error: OSError) -> DiskFull:
    return DiskFull(f"{folder} can't be written: {os.strerror(error.errno or 0)}", "free some space")


class _Reader(threading.Thread):
    """`failed` is why nothing more could be kept."""

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
                    self._read()  # so that the end of the window is covered
                    return
        except OSError as error:
            self.failed = error

    def _read(self) -> None:
        try:
            reading = self._kind.reading(self._ask())
        except RunnerError as error:
            self.tell(str(error))
            return
        except Exception as error:  # what a server tells may be odd in any way: it is a gap, and the next may be good
            self.tell(f"its answer can't be read: {error!r}")
            return
        up = time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
        self._print(f"= {time.time():.6f} {up:.2f}\n{reading}\n.", self._out)

    def tell(self, problem: str) -> None:
        """Of a gap."""
        try:
            self._print(f"{time.time():.3f} {' '.join(problem.split())}", self._err)
        except OSError as error:
            self.failed = error

    @staticmethod
    def _print(text: str, file: IO[str]) -> None:
        if not file.closed:  # else this answer came too late to be kept
            with suppress(ValueError):
                print(text, file=file, flush=True)
