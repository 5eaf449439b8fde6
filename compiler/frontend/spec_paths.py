"""Questions about paths in a spec. An impossible path, such as a too long one, leads nowhere."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, in an unreadable folder, or with a NUL
        return False


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
