"""Opens files that may come from strangers, in runs and shared stores. Only plain files up to a maximum size are
opened.

For anything else, raises an OSError that says why the file is refused, as for any file that can't be read.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path

SMALL = 64 << 20
"""The most bytes of a file that is read as a whole. All such files except plans are smaller."""
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
    """A path that is not a plain file, is reached through a link, or is too large."""


def why_not_plain(found: os.stat_result) -> str:
    """Return what a path is if it is not a plain file, or "" for a plain file. Pass a result of `lstat`, which does not
    follow links."""
    return _KINDS.get(stat.S_IFMT(found.st_mode), "")


def open_plain(path: Path | str, inside: Path | None = None) -> FileIO:
    """Open a plain file for reading. `inside` is an optional folder above the file. No folder between the two may be a
    link.

    Never waits for a FIFO or a device. Raises OSError.
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
    """Return the error for a path that can't be opened. It is NotPlain if the path is not a plain file or is reached
    through a link."""
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
    """Return a folder inside a run to write into. Raises NotPlain for a link, since its target does not belong to the
    run."""
    folder = above / name
    if folder.is_symlink():
        raise NotPlain(errno.EINVAL, _KINDS[stat.S_IFLNK], str(folder))
    return folder


def why_not_kept(path: Path, inside: Path) -> str:
    """Return why a folder does not have a plain file (such as "is missing"), or "" if it has the file."""
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
