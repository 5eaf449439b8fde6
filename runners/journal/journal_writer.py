"""Writing the journal: each record is on the disk before anything follows from it."""

from __future__ import annotations

import errno
import os
import shlex
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from benchbrief.model.events import AnyRecord, JournalPlace
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import DiskFull, FolderMoved, RunnerError
from benchbrief.runners.journal.journal_file import JOURNAL, chain_of, read_run, wait_for_lock, whole_bytes, write_line

Listener = Callable[[AnyRecord], None]


class Journal:
    """An open journal. Each record is on the disk before `write` returns, and is then passed to the listener.

    Holds an exclusive lock on the file while it is open, so that two controllers never drive one run. Raises
    RunnerError when another process holds it, DiskFull when a record can't be kept, FolderMoved when the
    run's folder is no longer where it was. With `durable=False` a record is only handed to the system: it outlives the
    process, and may be lost when the machine stops.
    """

    def __init__(self, run_dir: Path, listener: Listener = lambda _: None, *, durable: bool = True) -> None:
        self._path = run_dir / JOURNAL
        self._name = str(self._path)
        self._durable = durable
        self._appending = threading.Lock()
        self._flushing = threading.Lock()
        self._listener = listener
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
        try:
            is_ours = wait_for_lock(self._fd, self._path)
        except RunnerError:
            os.close(self._fd)
            raise
        if not is_ours:
            os.close(self._fd)
            raise RunnerError(
                f"{run_dir} is being run by another process",
                f"wait for it, or look at it with: bench status {shlex.quote(str(run_dir))}",
            )
        self._size = self._flushed = self._drop_torn_tail()
        self._chain = self._flushed_chain = chain_of(self._path, self._size)
        self._lost = 0
        self._record: RunRecord | None = None
        self._unfolded: deque[tuple[JournalPlace, AnyRecord]] = deque()
        """What was appended for the record and is not flushed yet."""

    def extend(self, record: RunRecord | None = None) -> RunRecord:
        """Return the run's record, which all that is written from now on extends. Reads the journal again when
        `record` does not have the whole of it.
        """
        whole = record is not None and record.size == self._size
        self._record = record if record is not None and whole else read_run(self._path.parent)
        return self._record

    def _drop_torn_tail(self) -> int:
        """Cut off half a record that a crash left: it is no record, and the next one must start a line.

        Returns the file's new size.
        """
        size = os.fstat(self._fd).st_size
        whole = whole_bytes(self._path, size)
        if whole < size:
            os.ftruncate(self._fd, whole)
        return whole

    def write(self, record: AnyRecord) -> None:
        self._refuse_moved()
        try:
            self._flush(*self._append(record))
        except OSError as error:
            raise DiskFull(
                f"the journal {self._path} can't be written: {os.strerror(error.errno or 0)}",
                "free some space, then type `bench resume`",
            ) from error
        # Outside the locks: a listener that waits for another must not stop every lane.
        self._listener(record)

    def _refuse_moved(self) -> None:
        """Raises FolderMoved when another file, or none, stands where the journal was opened."""
        try:
            if os.path.samestat(os.stat(self._name), os.fstat(self._fd)):  # noqa: PTH116 - for each record, and a Path takes as long again
                return
        except OSError:
            pass
        now_at = Path(f"/proc/self/fd/{self._fd}")
        is_there = now_at.exists() and os.fstat(self._fd).st_nlink
        moved_to = now_at.resolve().parent if is_there else None
        raise FolderMoved(
            f"the run's folder {self._path.parent} was moved or removed while it ran",
            f"go on from where it is: bench resume {shlex.quote(str(moved_to))}" if moved_to else "start the run again",
        )

    def _append(self, record: AnyRecord) -> tuple[int, int]:
        """Append the record. Returns the file's size with its line, and how often records had been lost before."""
        with self._appending:
            line, chain = write_line(record, self._chain)
            try:
                if os.write(self._fd, line) != len(line):
                    raise OSError(errno.ENOSPC, "short write")
            except OSError:
                os.ftruncate(self._fd, self._size)
                raise
            if self._record is not None:
                self._unfolded.append((JournalPlace(self._path, self._size, len(line)), record))
            self._size += len(line)
            self._chain = chain
            return self._size, self._lost

    def _flush(self, end: int, lost: int) -> None:
        """Wait until everything up to `end` is on the disk.

        One flush serves every record that was appended before it began: with many lanes, all that wait for one.
        When it fails, none of these records is kept, and each of their writers gets the error.
        """
        with self._flushing:
            if lost == self._lost and end > self._flushed:
                with self._appending:
                    size, chain = self._size, self._chain
                try:
                    if self._durable:
                        os.fsync(self._fd)
                except OSError:
                    with self._appending:
                        os.ftruncate(self._fd, self._flushed)
                        self._size, self._chain = self._flushed, self._flushed_chain
                        self._unfolded.clear()
                        self._lost += 1
                    raise
                self._flushed, self._flushed_chain = size, chain
                while self._record is not None and self._unfolded and self._unfolded[0][0].at < size:
                    self._record.add(*self._unfolded.popleft())
            if lost != self._lost:
                raise OSError(errno.EIO, "an earlier record could not be flushed")

    def close(self) -> None:
        os.close(self._fd)
