"""The manifest of a run's store: the SHA-256 of each of its files, as they were built.

A file that differs from it is never read: the store is then rebuilt from the journal and the raw outputs. A flipped
bit in the manifest itself only makes a good file look bad.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.plain_files import read_plain

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class StoreManifest:
    """`build` is the id that all tables of one build carry. `files` maps their names to their SHA-256."""

    build: str
    files: dict[str, str]

    def lists(self, names: Iterable[str]) -> bool:
        """Return whether all these files were built: other versions have other tables."""
        return self.files.keys() >= set(names)

    def problem(self, store: Path, names: Iterable[str]) -> str:
        """Return what is wrong with the first of these files that has changed; "" when none has. Raises OSError."""
        for name in names:
            try:
                found = sha256_of(store / name)
            except FileNotFoundError:
                return f"{name} is missing"
            if found != self.files.get(name):
                return f"{name} is not as it was built"
        return ""


def write_store_manifest(folder: Path, build: str, names: Iterable[str]) -> None:
    """Write the manifest of these files into their folder. Raises OSError."""
    files = {name: sha256_of(folder / name) for name in names}
    text = json.dumps({"build": build, "files": files}, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_store_manifest(store: Path) -> StoreManifest | None:
    """Read the manifest. None when it is missing or unreadable. Raises OSError for other failures."""
    try:
        content = json.loads(read_plain(store / MANIFEST))
        return StoreManifest(
            str(content["build"]), {str(name): str(digest) for name, digest in content["files"].items()}
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
