"""Writing and reading the journal."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.journal import RECORD, AnyRecord

JOURNAL = "journal.jsonl"
_BLOCK = 1 << 16
_LOCK_S = 0.5
_LOCK_AGAIN_S = 0.01
Listener = Callable[[AnyRecord], None]


class Journal:
    """An open journal: each record is on the disk before `write` returns, and is then told to the listener.

    Holds an exclusive lock on the file as long as it is open, so that two controllers never drive one run.
    Raises RunnerError when another process holds it, DiskFull when a record can't be kept.
    """

    def __init__(self, run_dir: Path, listener: Listener = lambda _: None) -> None:
        self._path = run_dir / JOURNAL
        self._appending = threading.Lock()
        self._flushing = threading.Lock()
        self._listener = listener
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        if not _locked(self._fd):
            os.close(self._fd)
            raise RunnerError(
                f"{run_dir} is being run by another process", "wait for it, or look at it with `bench status`"
            )
        self._size = self._flushed = self._drop_torn_tail()
        self._lost = 0

    def _drop_torn_tail(self) -> int:
        """Cut off half a record left by a crash: it was never a record, and the next one must start a line.

        Returns the file's size then.
        """
        size = os.fstat(self._fd).st_size
        whole = whole_bytes(self._path, size)
        if whole < size:
            os.ftruncate(self._fd, whole)
        return whole

    def write(self, record: AnyRecord) -> None:
        line = (record.model_dump_json() + "\n").encode()
        try:
            self._flush(*self._append(line))
        except OSError as error:
            raise DiskFull(
                f"the journal {self._path} can't be written: {os.strerror(error.errno or 0)}",
                "free some space, then type `bench resume`",
            ) from error
        # Outside the locks: a listener that waits for another must not stop every lane.
        self._listener(record)

    def _append(self, line: bytes) -> tuple[int, int]:
        """The file's size with the line, and how often records had been lost before."""
        with self._appending:
            try:
                if os.write(self._fd, line) != len(line):
                    raise OSError(errno.ENOSPC, "short write")
            except OSError:
                os.ftruncate(self._fd, self._size)
                raise
            self._size += len(line)
            return self._size, self._lost

    def _flush(self, end: int, lost: int) -> None:
        """Wait until all up to `end` is on the disk.

        One flush serves every record that was appended before it began: with many lanes, those that wait for one.
        Where it fails, none of them is kept, and each of their writers is told.
        """
        with self._flushing:
            if lost == self._lost and end > self._flushed:
                with self._appending:
                    size = self._size
                try:
                    os.fsync(self._fd)
                except OSError:
                    with self._appending:
                        os.ftruncate(self._fd, self._flushed)
                        self._size = self._flushed
                        self._lost += 1
                    raise
                self._flushed = size
            if lost != self._lost:
                raise OSError(errno.EIO, "an earlier record could not be flushed")

    def close(self) -> None:
        os.close(self._fd)


def _locked(fd: int) -> bool:
    """Get the exclusive lock; who just looks whether it is held, by `is_being_written`, holds it for a moment."""
    until = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOCK_AGAIN_S)
        else:
            return True


def is_being_written(run_dir: Path) -> bool:
    """Whether a process holds the run's journal."""
    try:
        fd = os.open(run_dir / JOURNAL, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


class Place(NamedTuple):
    """Where a journal has a record: a line of so many bytes, its end included."""

    path: Path
    at: int
    length: int


def each_record(path: Path, size: int | None = None) -> Iterator[tuple[Place, AnyRecord]]:
    """All whole records in order, of the first `size` bytes, one at a time, each with its place.

    A torn last line is left out; any other bad line is a RunnerError.
    """
    at = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n") or (size is not None and at + len(line) > size):
                    return
                yield Place(path, at, len(line)), _record(line, path, number)
                at += len(line)
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}") from error


def _record(line: bytes, path: Path, number: int) -> AnyRecord:
    try:
        return RECORD.validate_json(line)
    except ValidationError:
        raise RunnerError(
            f"{path}:{number} is not a journal record",
            "the file was changed, or was written by a newer benchbrief",
        ) from None


def records_at(places: Iterable[Place]) -> Iterator[AnyRecord]:
    """The records at these places, which lie in order. Raises RunnerError when the journal has no such any more."""
    for path, of_one in groupby(places, key=lambda place: place.path):
        try:
            with path.open("rb") as file:
                for place in of_one:
                    file.seek(place.at)
                    yield RECORD.validate_json(file.read(place.length))
        except OSError as error:
            raise RunnerError(f"{path} can't be read: {error.strerror}") from error
        except ValidationError:
            raise RunnerError(f"{path} was changed while it was read", "Try again.") from None


def whole_bytes(path: Path, size: int) -> int:
    """How many of the first `size` bytes are whole lines."""
    with path.open("rb") as file:
        while size > 0:
            start = max(0, size - _BLOCK)
            file.seek(start)
            end = file.read(size - start).rfind(b"\n")
            if end >= 0:
                return start + end + 1
            size = start
    return 0


def read_journal(path: Path) -> list[AnyRecord]:
    """All whole records at once: see `each_record`."""
    return [record for _, record in each_record(path)]
