"""Giving a finished file a name that no other file has, as one step that only one of several writers can do."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def give_name(file: Path, name: Path) -> None:
    """Link a file to a name, or rename it where its file system has no hard links (exFAT, SMB).

    Raises FileExistsError when the name is taken, and OSError with ENOTSUP when the file system has neither links nor
    renames that replace nothing.
    """
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_only(file, name)


def _rename_only(file: Path, name: Path) -> None:
    """Rename a file unless the name is taken: `renameat2` with RENAME_NOREPLACE, which Python does not have."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError as error:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), str(name)) from error
    if rename(_AT_FDCWD, os.fsencode(file), _AT_FDCWD, os.fsencode(name), _RENAME_NOREPLACE) != 0:
        code = ctypes.get_errno()
        code = errno.ENOTSUP if code in (errno.EINVAL, errno.ENOSYS) else code
        raise OSError(code, os.strerror(code), str(file), None, str(name))
