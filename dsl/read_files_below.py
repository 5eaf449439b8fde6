"""Keeps someone else's spec from using files outside its folder. Such files are neither read nor searched for, so no
message reveals anything about them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_FOLDER: ContextVar[Path | None] = ContextVar("folder", default=None)


class FileBeyond(Exception):
    """Raised when a spec names a file outside the folder that the spec may read."""

    def __init__(self, path: Path) -> None:
        self.name = os.path.normpath(path)
        super().__init__(self.name)


@contextmanager
def files_below(folder: Path) -> Iterator[None]:
    """Allow specs that are compiled inside this block to read only files below a folder."""
    token = _FOLDER.set(folder.resolve())
    try:
        yield
    finally:
        _FOLDER.reset(token)


def require_below(path: Path) -> None:
    """Raise FileBeyond for a path that a spec may not read. Links are followed."""
    folder = _FOLDER.get()
    if folder is not None and not Path(os.path.realpath(path)).is_relative_to(folder):
        raise FileBeyond(path)
