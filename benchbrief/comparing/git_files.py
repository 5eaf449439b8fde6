"""Reads a spec and its files from a git revision, with `git cat-file` and without a checkout."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.read_files import MAX_BYTES, decode
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.runners.errors import RunnerError

_TIMEOUT_S = 60


@dataclass(frozen=True)
class GitFiles:
    """The files of a git revision, as `compiler.imports.Files`. `revision` is the user's name for the revision, and
    `commit` is its commit."""

    root: Path
    revision: str
    commit: str

    @classmethod
    def at(cls, revision: str, spec: Path) -> Self:
        """Return the files at a revision of the spec's repository. Raises RunnerError."""
        folder = spec.resolve().parent
        if not folder.is_dir():
            raise RunnerError(f"there is no folder {spec.parent}", "name the spec where it is now")
        found = _git(folder, "rev-parse", "--show-toplevel")
        if found.returncode != 0:
            said = _said(found)
            why = "is not in a git repository" if "not a git repository" in said else f"can't be read by git: {said}"
            raise RunnerError(f"{spec} {why}", "compare with a run instead: --diff RUN")
        root = Path(os.fsdecode(found.stdout.rstrip(b"\n")))
        found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        commit = found.stdout.decode().strip()
        if found.returncode != 0 or not commit:
            raise RunnerError(f"no revision {revision} in {root}", "`git log` and `git tag` list what there is")
        return cls(root, revision, commit)

    def is_file(self, path: Path) -> bool:
        place = self._place(path)
        return place is not None and _git(self.root, "cat-file", "-t", place).stdout.strip() == b"blob"

    def earlier_name(self, path: Path) -> Path | None:
        """Return the name that a file of the work tree had in the revision, according to git's rename detection, or
        None if it is unknown."""
        if self.is_file(path):
            return path
        place = self._place(path)
        words = ("diff", "--name-status", "--find-renames", "--diff-filter=R", "-z", self.commit)
        found = _git(self.root, *words)
        if place is None or found.returncode != 0:
            return None
        # For each file three texts: `R100`, the old name and the new one.
        names = [os.fsdecode(text) for text in found.stdout.split(b"\0")]
        renamed = dict(zip(names[2::3], names[1::3], strict=False))
        old = renamed.get(place.partition(":")[2])
        return Path(os.path.relpath(self.root / old)) if old is not None else None

    def sha256(self, path: Path) -> str | None:
        """Return the digest of a file in the revision, or None if the revision does not have the file."""
        content = self._content(path)
        return hashlib.sha256(content).hexdigest() if content is not None else None

    def tree(self, path: Path, name: str) -> ast.File:
        """Return the syntax tree of a file in the revision. Messages name the file as git
        does: `HEAD~1:brief.bench`."""
        shown = f"{self.revision}:{name}"
        content = self._content(path)
        if content is None:
            raise syntax_errors.FileMissing(None, shown, None).error()
        if len(content) > MAX_BYTES:
            raise syntax_errors.TooLarge(None, shown, MAX_BYTES).error()
        return parse(decode(content, shown))

    def _content(self, path: Path) -> bytes | None:
        place = self._place(path)
        found = _git(self.root, "cat-file", "blob", place) if place else None
        return found.stdout if found is not None and found.returncode == 0 else None

    def _place(self, path: Path) -> str | None:
        """Return the name of a file in the commit, or None if the file is outside of the repository."""
        whole, root = path.resolve(), self.root.resolve()
        return f"{self.commit}:{whole.relative_to(root).as_posix()}" if whole.is_relative_to(root) else None


def revision_of(spec: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the spec's current commit, and whether any of its files has been changed since. Outside of git,
    return {}."""
    folder = spec.resolve().parent
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
        if found.returncode != 0:
            return {}
        status = _git(folder, "status", "--porcelain", "--ignored", "--", *(str(path.resolve()) for path in files))
    except RunnerError:
        return {}
    dirty = status.returncode != 0 or bool(status.stdout.strip())
    return {"commit": found.stdout.decode().strip(), "dirty": "true" if dirty else "false"}


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "-C", folder, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except FileNotFoundError:
        raise RunnerError("git is not installed here", "install it, or compare with a run: --diff RUN") from None
    except subprocess.TimeoutExpired:
        raise RunnerError(f"git {words[0]} did not end within {_TIMEOUT_S} s", "does it wait for a network?") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
