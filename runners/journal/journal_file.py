"""Reads, writes and locks a run's journal file."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from benchbrief.model.events import RECORD, AnyRecord, HeldOutBegan, JournalPlace, Record, ReportMade, RunStarted
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import Damaged, DiskFull, FolderMoved, RunnerError
from benchbrief.runners.plain_files import NotPlain, open_plain

_Record = TypeVar("_Record", bound=Record)
_BEGIN, _END = b',"sum":"', b'"}\n'
_DIGITS = 32


class Changed(ValueError):
    """A line does not match its checksum."""


class Chain(NamedTuple):
    """The state after the part of a journal that was read or written so far. `sum` is its checksum, and `carried` means
    that the last line contains this checksum."""

    sum: str = ""
    carried: bool = False


START = Chain()


def write_line(record: AnyRecord, before: Chain) -> tuple[bytes, Chain]:
    """Return a record's line with its line end, and the chain after that line."""
    body = record.model_dump_json().encode()
    after = Chain(_sum(before, body), carried=True)
    return body[:-1] + _BEGIN + after.sum.encode() + _END, after


def read_line(line: bytes, before: Chain) -> tuple[bytes, Chain]:
    """Return the JSON of a complete line without its checksum, and the chain after that line. Raises Changed."""
    body, said = _parted(line)
    if not said and before.carried:
        raise Changed
    after = Chain(_sum(before, body), bool(said))
    if said and after.sum.encode() != said:
        raise Changed
    return body, after


def chain_after(line: bytes) -> Chain | None:
    """Return the chain after a complete line, as the line itself states it, or None if the line has no checksum."""
    said = _parted(line)[1]
    return Chain(said.decode("ascii", "replace"), carried=True) if said else None


def record_after(previous: bytes, line: bytes) -> AnyRecord:
    """Return the record in a line that follows `previous` (b"" for the first line).

    Raises ValueError if the line holds no record, and Changed if the two lines show that it was changed.
    """
    before = chain_after(previous) if previous else START
    return RECORD.validate_json(read_line(line, before)[0]) if before else record_in(line)


def record_in(line: bytes) -> AnyRecord:
    """Return the record in a line whose checksum is verified elsewhere. Raises ValueError if the line is not a
    record."""
    return RECORD.validate_json(_parted(line)[0])


def _parted(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into its JSON without the checksum, and its checksum (b"" if it has none)."""
    end = len(line) - len(_END)
    if line.endswith(_END) and line.startswith(_BEGIN, begin := end - _DIGITS - len(_BEGIN)):
        return line[:begin] + b"}", line[end - _DIGITS : end]
    return line.removesuffix(b"\n"), b""


def _sum(before: Chain, body: bytes) -> str:
    return hashlib.sha256(before.sum.encode() + body).hexdigest()[:_DIGITS]


JOURNAL = "journal.jsonl"
_BLOCK = 1 << 16
_BLOCK_OF_MANY = 1 << 14
"""The block size, in bytes, for reading many journals side by side."""
_TAIL_BYTES = 1 << 20
_LOCK_S = 0.5
_LOCK_AGAIN_S = 0.01


def _opened(path: Path) -> BufferedReader:
    """Open a journal for reading, provided that it is a plain file. Raises OSError."""
    return BufferedReader(open_plain(path))


def is_being_written(run_dir: Path) -> bool:
    """Return whether a process holds the run's journal."""
    return is_locked(run_dir / JOURNAL)


def is_locked(path: Path) -> bool:
    """Return whether the file exists and a process holds an exclusive lock on it."""
    try:
        with open_plain(path) as file:
            return not take_lock(file.fileno(), path, fcntl.LOCK_SH)
    except (FileNotFoundError, NotPlain):  # whoever reads the file reports that it is not plain
        return False


def take_lock(fd: int, path: Path, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file. Returns False if another process holds the lock. Errors name `path`.

    Raises RunnerError on a file system without locks, as on some clusters, since nothing would keep two processes apart
    there.
    """
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        hint = "nothing would keep two processes apart: choose a folder on a file system with locks (flock)"
        raise RunnerError(f"{path} can't be locked: {error.strerror}", hint) from error
    return True


def wait_for_lock(fd: int, path: Path) -> bool:
    """Take the exclusive lock, after a short wait if necessary, since `is_locked` also holds it for a moment."""
    until = time.monotonic() + _LOCK_S
    while not take_lock(fd, path):
        if time.monotonic() >= until:
            return False
        time.sleep(_LOCK_AGAIN_S)
    return True


def each_record(
    path: Path, size: int | None = None, *, keep_open: bool = True
) -> Iterator[tuple[JournalPlace, AnyRecord]]:
    """Yield the run's complete records in order, from the first `size` bytes, each with its place.

    Unless `keep_open` is set, the file is opened for each block, so that a thousand journals can be read side by side.
    While it is read, the file may only grow.

    Skips a torn last line. Raises RunnerError for any other bad line, and for a line with a wrong checksum. Leaves out
    the records of reports, as they are not part of the run.
    """
    for place, record in _records(path, size, keep_open=keep_open):
        if not isinstance(record, ReportMade):
            yield place, record


def records_of(path: Path, kind: type[_Record]) -> list[_Record]:
    """Return the journal's records of one kind, in order of time. Raises RunnerError if a line has a wrong checksum, or
    if a line of this kind is bad."""
    named = b'"%s"' % str(kind.model_fields["type"].default).encode()
    return [record for _, record in _records(path, None, named) if isinstance(record, kind)]


def last_held_out(run_dir: Path) -> dict[str, HeldOutBegan]:
    """Return the last record of each claim whose held-out repeats have begun, by the claim's name. Raises RunnerError
    like `records_of`."""
    journal = run_dir / JOURNAL
    return {each.claim: each for each in records_of(journal, HeldOutBegan)} if journal.exists() else {}


def _records(
    path: Path, size: int | None, named: bytes = b"", *, keep_open: bool = True
) -> Iterator[tuple[JournalPlace, AnyRecord]]:
    """Yield the records of the lines that contain the bytes `named`."""
    for place, content, number, _ in _lines(path, size, keep_open=keep_open):
        if named not in content:
            continue
        try:
            yield place, RECORD.validate_json(content)
        except ValidationError:
            raise RunnerError(
                f"{path}:{number} is not a journal record",
                "the file was changed, or was written by a newer benchbrief",
            ) from None


def has_grown(path: Path, size: int) -> bool:
    """Return whether the journal has complete records of the run beyond its first `size` bytes, or has become
    shorter."""
    try:
        with _opened(path) as file:
            if file.seek(0, 2) < size:
                return True
            file.seek(size)
            return any(not isinstance(record_in(line), ReportMade) for line in file if line.endswith(b"\n"))
    except FileNotFoundError:
        return False
    except ValidationError:  # the reader of the record reports it
        return True
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}") from error


def sum_at(path: Path, size: int) -> str:
    """Read the journal's first `size` bytes, and return the checksum over their complete lines.

    Raises RunnerError if the file is shorter, or if a line was changed.
    """
    chain, read = START, 0
    for place, _, _, after in _lines(path, size):
        chain, read = after, place.at + place.length
    if read != size:
        raise RunnerError(f"{path} does not have a line that ends after {size:,} bytes", "was it cut off?")
    return chain.sum


def _lines(path: Path, size: int | None, *, keep_open: bool = True) -> Iterator[tuple[JournalPlace, bytes, int, Chain]]:
    """Yield for each complete line its position, its content without the checksum, its number, and the chain after
    it."""
    at, chain = 0, START
    try:
        for number, line in enumerate(_kept_open(path) if keep_open else _in_blocks(path), start=1):
            if not line.endswith(b"\n") or (size is not None and at + len(line) > size):
                return
            content, chain = read_whole(line, chain, path, number)
            yield JournalPlace(path, at, len(line)), content, number, chain
            at += len(line)
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}") from error


def _kept_open(path: Path) -> Iterator[bytes]:
    with _opened(path) as file:
        yield from file


def _in_blocks(path: Path) -> Iterator[bytes]:
    at = 0
    while True:
        with _opened(path) as file:
            file.seek(at)
            lines = file.readlines(_BLOCK_OF_MANY)
        if not lines:
            return
        yield from lines
        at += sum(map(len, lines))


def read_whole(line: bytes, before: Chain, path: Path, number: int) -> tuple[bytes, Chain]:
    """Read a line as `read_line` does. If the line was changed, raises Damaged with a hint on what can be saved."""
    try:
        return read_line(line, before)
    except Changed:
        raise Damaged(
            f"{path}:{number} was changed after it was written: its sum, or that of the line before, is another",
            f"put the file back from a copy; or keep its first {number - 1:,} lines alone, and `bench resume` measures "
            "what the others held",
        ) from None


def first_start(path: Path) -> RunStarted | None:
    """Return the first record of a start. It is the journal's first record unless results of earlier runs come before
    it.

    Returns None if there is no readable start.
    """
    previous = b""
    try:
        with _opened(path) as file:
            for line in file:
                if b'"type":"run_started"' in line and isinstance(start := record_after(previous, line), RunStarted):
                    return start
                previous = line
    except (OSError, ValueError):
        return None
    return None


def has_begun(path: Path) -> bool:
    """Return whether the journal has a complete line about the run itself. The line may be unreadable."""
    try:
        with _opened(path) as file:
            return any(line.endswith(b"\n") and b'"type":"report_made"' not in line for line in file)
    except FileNotFoundError:
        return False
    except OSError:  # its reader says why it can't be read
        return True


def last_record(path: Path) -> AnyRecord | None:
    """Return the last complete record of the run, read from the journal's end, or None if it can't be read."""
    try:
        with _opened(path) as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            whole, end, _ = file.read().rpartition(b"\n")
        lines = (whole + end).splitlines(keepends=True)
        for at in range(len(lines) - 1, -1, -1):
            record = record_after(lines[at - 1], lines[at]) if at else record_in(lines[at])
            if not isinstance(record, ReportMade):
                return record
    except (OSError, ValueError):
        return None
    return None


def records_at(places: Iterable[JournalPlace]) -> Iterator[AnyRecord]:
    """Yield the records at these positions, which must be in order. Raises RunnerError if the journal has lost one of
    them."""
    for path, of_one in groupby(places, key=lambda place: place.path):
        try:
            with open_plain(path) as file:  # unbuffered, as it reads a few lines here and there
                for place in of_one:
                    yield record_in(os.pread(file.fileno(), place.length, place.at))
        except OSError as error:
            raise RunnerError(f"{path} can't be read: {error.strerror}") from error
        except ValidationError:
            raise RunnerError(f"{path} was changed while it was read", "Try again.") from None


def chain_of(path: Path, size: int) -> Chain:
    """Return the chain after a journal's first `size` bytes, which must be complete lines.

    Reads only the last line, unless that line has no checksum.
    """
    start = whole_bytes(path, size - 1) if size else 0
    with _opened(path) as file:
        file.seek(start)
        known = chain_after(file.read(size - start))
        if known is not None or not size:
            return known or START
    chain = START
    for _, _, _, after in _lines(path, size):
        chain = after
    return chain


def whole_bytes(path: Path, size: int) -> int:
    """Return the length in bytes of the complete lines among the first `size` bytes. Raises RunnerError."""
    try:
        with _opened(path) as file:
            while size > 0:
                start = max(0, size - _BLOCK)
                file.seek(start)
                end = file.read(size - start).rfind(b"\n")
                if end >= 0:
                    return start + end + 1
                size = start
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}") from error
    return 0


def read_journal(path: Path) -> list[AnyRecord]:
    """Return all complete records in the form in which `each_record` yields them."""
    return [record for _, record in each_record(path)]


def read_run(run_dir: Path) -> RunRecord:
    """Read a run's journal. If there is no journal, the run has not begun. Raises RunnerError if the journal can't be
    read."""
    path, found = run_dir / JOURNAL, RunRecord()
    if path.exists():
        whole = whole_bytes(path, path.stat().st_size)
        for place, record in each_record(path, whole):
            found.add(place, record)
        found.size = whole
    return found


Listener = Callable[[AnyRecord], None]


class Journal:
    """An open journal. Each record is on the disk before `write` returns, and is then passed to the listener.

    Holds an exclusive lock on the file while it is open, so that two controllers never drive one run. Raises
    RunnerError if another process holds the lock, DiskFull if a record can't be kept, and FolderMoved if the run's
    folder is no longer where it was. With `durable=False`, a record is only handed to the operating system: it outlives
    the process, but may be lost if the machine stops.
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
        """The records that were appended to the file, but have been neither flushed nor added to the run's record."""

    def extend(self, record: RunRecord | None = None) -> RunRecord:
        """Return the run's record, which from now on is updated before each `write` returns.

        Reads the journal again unless `record` already has all of it.
        """
        whole = record is not None and record.size == self._size
        self._record = record if record is not None and whole else read_run(self._path.parent)
        return self._record

    def _drop_torn_tail(self) -> int:
        """Cut off an incomplete line that a crash left, because the next record must start on a new line.

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
        """Raise FolderMoved if the journal's path no longer leads to the opened file."""
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
        """Append the record. Returns the file's size including the record's line, and how many times records had been
        lost before."""
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

        One flush serves every record that was appended before the flush began. If there are many lanes, all of them
        therefore wait for one flush. If the flush fails, none of these records is kept, and each of their writers gets
        the error.
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
