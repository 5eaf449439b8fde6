"""The folder of a site. It knows the site's files, so that no other file is overwritten or removed.

`.bench-site.json` has the SHA-256 of each file that was written. If a file has a different SHA-256, somebody has edited
it. While a site is made, `.bench-site.log` lists each file before it is written, so that interrupted work can be
continued.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from benchbrief.reports.brief_error import ReportError

MANIFEST = ".bench-site.json"
LOG = ".bench-site.log"
_FORMAT = "benchbrief-site"
_VERSION = 1


class SiteFolder:
    """The files of a site. `written` counts the files that were new or have changed. Use `open_site` to make one."""

    def __init__(self, root: Path, before: Mapping[str, str], made_of: Mapping[str, str] | None = None) -> None:
        self.root = root
        self._before = dict(before)
        self._made_of = dict(made_of or {})
        self._now: dict[str, str] = {}
        self.written = 0

    def has(self, name: str, sha256: str) -> bool:
        """Return whether the site wrote a file with this digest that still exists. If so, the file is kept."""
        if self._before.get(name) != sha256 or not (self.root / name).is_file():
            return False
        self._now[name] = sha256
        return True

    def write(self, name: str, content: bytes) -> None:
        """Write a file, unless it already exists with this content. Raises ReportError."""
        digest = hashlib.sha256(content).hexdigest()
        if not self.has(name, digest):
            self.put(name, digest, lambda path: path.write_bytes(content))

    def put(self, name: str, sha256: str, make: Callable[[Path], object]) -> None:
        """Make a file by calling `make`, which writes to a temporary path. Raises ReportError."""
        path = self.root / name
        if name not in self._before and name not in self._now and os.path.lexists(path):
            raise ReportError(
                f"{path} is not of this site, and would be overwritten",
                "move it away, or name another folder with --to",
            )
        temporary = path.with_name(f".{path.name[:80]}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                make(temporary)
                with (self.root / LOG).open("a", encoding="utf-8") as log:
                    log.write(f"{sha256} {json.dumps(name)}\n")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._now[name] = sha256
        self.written += 1
        if self._before.get(name) != sha256:
            self._before[name] = sha256

    def keep(self, name: str) -> bool:
        """Keep a file of an earlier site, whatever its content. Returns whether there is such a file."""
        if name in self._before and (self.root / name).is_file():
            self._now[name] = self._before[name]
            return True
        return False

    def is_made_of(self, name: str, sha256: str) -> bool:
        """Return whether the file exists and was made from a source with this digest. If so, the file is kept."""
        return self._made_of.get(name) == sha256 and self.keep(name)

    def note_made_of(self, name: str, sha256: str) -> None:
        self._made_of[name] = sha256

    def finish(self) -> list[str]:
        """Remove the files that no longer belong to the site. Files that somebody has changed are kept and returned.
        Raises ReportError."""
        kept = []
        for name in sorted(set(self._before) - set(self._now)):
            path = self.root / name
            try:
                if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != self._before[name]:
                    kept.append(name)
                    continue
                path.unlink(missing_ok=True)
                if path.parent != self.root and not any(path.parent.iterdir()):
                    path.parent.rmdir()
            except OSError as error:
                raise cannot_write(path, error) from error
        self.save(self._now)
        (self.root / LOG).unlink(missing_ok=True)
        return kept

    def save(self, files: Mapping[str, str]) -> None:
        """Write the manifest, with the digest of each of the site's `files`. Raises ReportError."""
        made_of = {name: digest for name, digest in sorted(self._made_of.items()) if name in files}
        manifest = {"format": _FORMAT, "version": _VERSION, "files": dict(sorted(files.items())), "made_of": made_of}
        text = json.dumps(manifest, indent=0)
        path = self.root / MANIFEST
        temporary = path.with_name(f"{MANIFEST}.{os.getpid()}")
        try:
            try:
                temporary.write_text(text + "\n", "utf-8")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from error


def open_site(root: Path, place: str) -> SiteFolder:
    """Open the folder of a site, or make it. Raises ReportError if the folder contains something else."""
    inside = "://" not in place and root.resolve().is_relative_to(Path(place).resolve())
    if inside:
        raise ReportError(
            f"{root} is inside {place}, whose runs the site shows", "name a folder elsewhere: --to ../bench-site"
        )
    known = root / MANIFEST
    try:
        if root.exists() and not root.is_dir():
            raise ReportError(f"{root} is a file, and a site is a folder", "name another folder with --to")
        root.mkdir(parents=True, exist_ok=True)
        if not known.exists():
            if any(root.iterdir()):
                raise ReportError(
                    f"{root} is not empty, and is no site of `bench site`", "name an empty folder, or one to be made"
                )
            folder = SiteFolder(root, {})
            folder.save({})
            return folder
        manifest = json.loads(known.read_bytes())
        if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
            raise ValueError
        if manifest.get("version") != _VERSION:
            raise ReportError(f"{known} was written by another benchbrief", "name another folder with --to")
        files = {str(name): str(digest) for name, digest in dict(manifest["files"]).items()}
        made_of = {str(name): str(digest) for name, digest in dict(manifest.get("made_of", {})).items()}
    except OSError as error:
        raise cannot_write(root, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ReportError(
            f"{root / MANIFEST} can't be read", "name another folder with --to, or remove this one"
        ) from error
    if any(Path(name).is_absolute() or ".." in Path(name).parts for name in files):
        raise ReportError(f"{root / MANIFEST} names files outside of the site", "name another folder with --to")
    return SiteFolder(root, {**files, **_logged(root)}, made_of)


def _logged(root: Path) -> dict[str, str]:
    """Return the files that an interrupted run wrote, with their digests."""
    try:
        lines = (root / LOG).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, str] = {}
    for line in lines:
        digest, _, name = line.partition(" ")
        with suppress(ValueError, TypeError, OSError):  # a line that was cut off
            path = root / json.loads(name)
            inside = path.resolve().is_relative_to(root.resolve())
            if inside and path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
                found[json.loads(name)] = digest
    return found


def cannot_write(path: Path, error: OSError) -> ReportError:
    return ReportError(
        f"{path} can't be written: {error.strerror}",
        "make room, or name another folder with --to; the next try goes on",
    )
