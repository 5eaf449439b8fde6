"""Fetches files from a host. A file arrives complete and is flushed to disk, or an error explains why not."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchbrief.model.run_messages import say
from benchbrief.runners.errors import DiskFull, HostError, RunnerError
from benchbrief.runners.jobs.script_host import JobHost
from benchbrief.runners.journal.secret_masking import Masking

MAX_FETCH = 2 << 30
MAX_ENTRIES = 10_000
"""The largest number of files that are fetched from below a directory."""


def files_below(host: JobHost, root: str) -> Iterator[tuple[str, int]]:
    """Yield the relative path and size of each regular file below a directory. Skips links and unsafe names."""
    waiting = [""]
    seen = 0
    while waiting:
        below = waiting.pop()
        for entry in host.entries(f"{root}/{below}".rstrip("/")):
            seen += 1
            if seen > MAX_ENTRIES:
                raise HostError(
                    say.too_many_files(host=host.host.id, most=MAX_ENTRIES, path=root), say.hint_fewer_files()
                )
            if entry.name in ("", ".", "..") or "/" in entry.name or "\0" in entry.name:
                continue
            name = f"{below}/{entry.name}".lstrip("/")
            if entry.directory:
                waiting.append(name)
            elif entry.size is not None:
                yield name, entry.size


def fetch(host: JobHost, path: str, to: Path, limit: int = MAX_FETCH, masking: Masking | None = None) -> int:
    """Fetch a file and return its size. Raises DiskFull if the disk here is full, and HostError if the file is over the
    limit."""
    size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for piece in host.read(path, limit + 1):
            size += len(piece)
            yield piece

    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        write_file(to, masking.stream(counted()) if masking else counted())
    except OSError as error:
        raise cannot_write(error, to) from error
    if size > limit:
        to.unlink()
        raise HostError(
            say.too_large_to_fetch(host=host.host.id, path=path, most=MAX_FETCH >> 30), say.hint_write_less()
        )
    return size


def write_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file (0600) and flush it to disk. If this fails, no partial file is left."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def cannot_write(error: OSError, path: Path) -> RunnerError:
    if is_full(error):
        return DiskFull(say.controller_full(path=path), say.hint_free_resume())
    return RunnerError(say.not_written(path=path, said=error.strerror), say.hint_on_host())
