"""Opening the files of runs and of shared stores, which a stranger may have made: plain files alone, and bounded.

What is no plain file raises an OSError that says what it is, as other files do that can't be read.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path

SMALL = 64 << 20
"""More bytes than any file has that is read as a whole, except for plans."""
_HOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_KINDS = {
    stat.S_IFLNK: "it is a link, and links are not followed",
    stat.S_IFDIR: "it is a folder, and not a file",
    stat.S_IFIFO: "it is a FIFO, and not a file",
    stat.S_IFSOCK: "it is a socket, and not a file",
    stat.S_IFCHR: "it is a device, and not a file",
    stat.S_IFBLK: "it is a device, and not a file",
}


class NotPlain(OSError):
    """A file is none, is behind a link, or is larger than what is read of it."""


def why_not_plain(found: os.stat_result) -> str:
    """Return what a thing is that is no plain file; "" for one that is. Ask with `lstat`, which follows no link."""
    return _KINDS.get(stat.S_IFMT(found.st_mode), "")


def open_plain(path: Path | str, inside: Path | None = None) -> FileIO:
    """Open a plain file for reading. With `inside`, a folder above it, no folder between them is a link either.

    Opens no FIFO and no device to wait for. Raises OSError.
    """
    try:
        descriptor = _open(path, inside)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO, errno.ENOTDIR):
            raise
        raise _refused(path, error) from error
    try:
        if why := why_not_plain(os.fstat(descriptor)):
            raise NotPlain(errno.EINVAL, why, str(path))
        return FileIO(descriptor, closefd=True)
    except BaseException:
        os.close(descriptor)
        raise


def _open(path: Path | str, inside: Path | None) -> int:
    if inside is None:
        return os.open(path, _HOW)
    parts = Path(path).relative_to(inside).parts if Path(path).is_relative_to(inside) else ()
    if not parts or os.pardir in parts:
        raise NotPlain(errno.EINVAL, "it is outside of its folder", str(path))
    *folders, name = parts
    at = os.open(inside, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _HOW, dir_fd=at)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(at)


def _refused(path: Path | str, error: OSError) -> OSError:
    """Return the error of a file that could not be opened as it, or a folder above it, is no plain one."""
    for each in (path, *Path(path).parents):
        try:
            found = os.lstat(each)
        except OSError:
            continue
        if stat.S_ISLNK(found.st_mode) or (each is path and why_not_plain(found)):
            why = why_not_plain(found)
            return NotPlain(errno.EINVAL, why if each is path else f"it is behind a link: {each}", str(path))
    return error


def own_folder(above: Path, name: str) -> Path:
    """Return a folder in a run's, to write into. Raises NotPlain for a link: what is behind it is not the run's."""
    folder = above / name
    if folder.is_symlink():
        raise NotPlain(errno.EINVAL, _KINDS[stat.S_IFLNK], str(folder))
    return folder


def why_not_kept(path: Path, inside: Path) -> str:
    """Return why a folder does not have a plain file: "is missing", say; "" when it has it."""
    try:
        open_plain(path, inside).close()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return ""


def read_plain(path: Path | str, inside: Path | None = None, most: int = SMALL) -> bytes:
    """Return the contents of a plain file of at most `most` bytes. Raises OSError."""
    with open_plain(path, inside) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise NotPlain(errno.EINVAL, f"it has {size:,} bytes, and at most {most:,} are read", str(path))
        return BufferedReader(file).read(min(size + 1, most))  # `most` would be taken as memory at once
