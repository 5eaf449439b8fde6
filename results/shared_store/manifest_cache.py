"""Manifests of a store on S3 as they were read, so that thousands are not fetched for each question.

A manifest counts as long as the store lists it with the same stamp: its ETag, size and time. So one that was removed
and pushed again is read again. What is kept is a help only: where it can't be read or written, the store is asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing

from benchbrief.results.user_cache import user_cache

_WAIT_S = 2.0
"""How long another process is waited for that writes."""
_TABLE = "CREATE TABLE IF NOT EXISTS manifests (key TEXT PRIMARY KEY, stamp TEXT NOT NULL, content BLOB NOT NULL)"
_KEPT = "SELECT content FROM manifests WHERE key = ? AND stamp = ?"


class ManifestCache:
    """What is kept of the store at an address."""

    def __init__(self, url: str) -> None:
        self._path = user_cache("manifests", url).with_suffix(".sqlite")

    def read(self, stamps: Mapping[str, str]) -> dict[str, bytes]:
        """Return the manifests that are kept with these stamps, by key."""
        if not stamps or not self._path.exists():
            return {}
        try:
            with closing(self._opened()) as database:
                found: dict[str, bytes] = {}
                for asked in stamps.items():
                    if (row := database.execute(_KEPT, asked).fetchone()) is not None:
                        found[asked[0]] = row[0]
                return found
        except sqlite3.Error:
            self._forget()
            return {}

    def write(self, read: Mapping[str, bytes], stamps: Mapping[str, str], listed: Collection[str]) -> None:
        """Keep what was read, with its stamps. Those that are not `listed` any more are dropped."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as database, database:
                database.execute(_TABLE)
                gone = [(key,) for (key,) in database.execute("SELECT key FROM manifests") if key not in listed]
                database.executemany("DELETE FROM manifests WHERE key = ?", gone)
                rows = [(key, stamps[key], content) for key, content in read.items()]
                database.executemany("INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)", rows)
        except (OSError, sqlite3.Error):
            self._forget()

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_WAIT_S)

    def _forget(self) -> None:
        """Remove a file that is no database; one that others use, or that can't be written, stays."""
        try:
            with self._path.open("rb") as file:
                is_ours = file.read(15) == b"SQLite format 3"
            if not is_ours:
                self._path.unlink()
        except OSError:
            return
