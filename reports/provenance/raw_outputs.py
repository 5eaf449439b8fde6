"""The cells of a store with their raw outputs, one at a time: a large run has more of these than fit in memory."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import CellEntry
from benchbrief.reports.data.provenance_view import RawFile

if TYPE_CHECKING:
    from benchbrief.reports.data.report_data import Store

LISTED = 5000
"""The most raw outputs that a page lists. A browser takes long over more, and the side file has them all."""


def each_entry(store: Store) -> Iterator[tuple[str, CellEntry]]:
    """Yield each cell, with the raw outputs of its counted attempt. Raises ReportError.

    Nothing else can be asked of the store meanwhile.
    """
    text = "SELECT cell_id, cell_hash, status, coalesce(reused_from, run_id), attempt FROM cells"
    with store.each(text) as rows:
        left = {cell: (digest, sys.intern(status), sys.intern(run), n) for cell, digest, status, run, n in rows}
    # A table keeps the order in which it was written: each cell's files are together.
    with store.each("SELECT cell_id, attempt, path, sha256 FROM files") as rows:
        for cell, files in groupby(rows, key=itemgetter(0)):
            if cell not in left:
                raise ReportError(f"the table of files names {cell} twice, or out of place", "type `bench rebuild`")
            digest, status, run, counted = left.pop(cell)
            of_it = {
                path: sha256 for _, attempt, path, sha256 in sorted(files, key=itemgetter(2)) if attempt == counted
            }
            yield cell, CellEntry(hash=digest, status=status, run=run, attempt=counted, files=of_it)
    for cell, (digest, status, run, counted) in left.items():
        yield cell, CellEntry(hash=digest, status=status, run=run, attempt=counted, files={})


@dataclass(frozen=True)
class Outputs:
    """The raw outputs behind a brief: how many, and those that its page lists; of each measurement their number and
    one digest."""

    count: int
    listed: tuple[RawFile, ...]
    manifests: Mapping[Hashable, tuple[int, str]]


def outputs_of(store: Store, measurement: Mapping[str, Hashable]) -> Outputs:
    """Return the raw outputs of these cells, each of which belongs to a measurement. Raises ReportError."""
    count, listed = 0, list[RawFile]()
    lines: dict[Hashable, list[bytes]] = {}
    for cell, entry in each_entry(store):
        if cell not in measurement:
            continue
        count += len(entry.files)
        if count <= LISTED:
            listed += (RawFile(cell, path, digest) for path, digest in entry.files.items())
        lines.setdefault(measurement[cell], []).append(_lines(entry.files))
    manifests = {of: _manifest(b"".join(its)) for of, its in lines.items()}
    return Outputs(count, tuple(listed) if count <= LISTED else (), manifests)


def _lines(files: Mapping[str, str]) -> bytes:
    """Return what `sha256sum` prints of the files: half of what their texts take in memory."""
    return "".join(f"{digest}  {path}\n" for path, digest in files.items()).encode()


def _manifest(lines: bytes) -> tuple[int, str]:
    """Return the number of files, and the digest of their lines in the order of their paths."""
    by_path = {line.partition(b"  ")[2]: line for line in lines.splitlines(keepends=True)}
    return len(by_path), hashlib.sha256(b"".join(by_path[path] for path in sorted(by_path))).hexdigest()
