"""Reads a spec and the files that it uses, each once. A file is read before those that use it, and files that use each
other in a cycle are refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Protocol

from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.structure_errors import HoleNotAllowed
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, SpecError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.read_files import neighbour, read_source
from benchbrief.dsl.read_files_below import require_below
from benchbrief.dsl.syntax import ast, parser_stop
from benchbrief.dsl.syntax.recover import PartlyRead, UnreadParts, parse_with_gaps

MAX_FILES = 100

_MANY_WORDS = 50_000
"""If a spec with syntax errors has more tokens than this, only the syntax errors are reported, since recovery takes
time."""


class Files(Protocol):
    """The source of specs: the disk, or an editor with unsaved files."""

    def is_file(self, path: Path) -> bool:
        """Return whether the path is a file. Raises OSError, ValueError or RuntimeError for an impossible path."""

    def tree(self, path: Path, name: str) -> ast.File:
        """Return the file's syntax tree. `name` is for messages. Raises SpecError."""


class SpecFiles:
    """Files as they are saved on disk."""

    def is_file(self, path: Path) -> bool:
        return path.is_file()

    def tree(self, path: Path, name: str) -> ast.File:
        return parse_with_gaps(read_source(path, name))


@dataclass(frozen=True)
class SpecFile:
    """A file. `name` is a relative path, as the user typed it. A file is `imported` unless it is the spec itself."""

    name: str
    tree: ast.File
    imported: bool


@dataclass(frozen=True)
class Loaded:
    """The files of a spec. `hashes` maps file names to the SHA-256 of their texts.

    `broken` has the syntax errors of files that could be read in part, and `lost` has the unreadable parts.
    """

    files: tuple[SpecFile, ...]
    hashes: Mapping[str, str]
    words: int = 0
    broken: tuple[Diagnostic, ...] = ()
    lost: tuple[UnreadParts, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether it would take long to check the rest of a spec with syntax errors."""
        return self.words > _MANY_WORDS

    @property
    def whole(self) -> bool:
        """Whether every declaration could be read despite syntax errors."""
        return all(lost.whole for lost in self.lost)


def load(path: Path, files: Files | None = None) -> Loaded:
    """Read the spec at `path` with the files that it uses, from the disk unless `files` reads them elsewhere. Raises
    SpecError if files can't be used, since otherwise each use of their names would be reported, too."""
    loader = _Loader(files or SpecFiles())
    loader.read(path, str(path), ())
    if loader.unread or loader.findings.failed:
        raise SpecError((*loader.broken, *loader.findings.diagnostics()))
    return Loaded(tuple(loader.files), loader.hashes, loader.words, tuple(loader.broken), tuple(loader.lost))


@dataclass
class _Loader:
    source: Files
    findings: Findings = field(default_factory=Findings)
    files: list[SpecFile] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    broken: list[Diagnostic] = field(default_factory=list)
    lost: list[UnreadParts] = field(default_factory=list)
    unread: bool = False
    """Whether a file could not be read at all."""
    words: int = 0
    seen: set[Path] = field(default_factory=set)

    def read(self, path: Path, name: str, chain: tuple[tuple[Path, str], ...]) -> None:
        """Read a file. `chain` has the files that lead to it, each using the next, with their names."""
        here = _resolved(path)
        self.seen.add(here)
        try:
            tree = self.source.tree(path, name)
        except PartlyRead as error:
            self.broken.extend(error.diagnostics)
            self.lost.extend(error.lost)
            tree = error.tree
        except SpecError as error:
            self.broken.extend(error.diagnostics)
            self.unread = True
            return
        self.words += parser_stop.words(tree.span.source.text)
        self.hashes[name] = hashlib.sha256(tree.span.source.text.encode()).hexdigest()
        for use in tree.declarations:
            if isinstance(use, ast.Use):
                self._use(use, path, (*chain, (here, name)))
        self.files.append(SpecFile(name, tree, imported=bool(chain)))

    def _use(self, use: ast.Use, by: Path, chain: tuple[tuple[Path, str], ...]) -> None:
        text = use.path.plain
        span = use.path.span
        if text is None:
            self.findings.add(HoleNotAllowed(span, "use"))
            return
        try:
            path = by.parent / text
            require_below(path)
            target, is_file = path.resolve(), self.source.is_file(path)
        except (OSError, ValueError, RuntimeError) as error:
            self.findings.add(name_errors.ImportNotFound(span, text, str(error)))
            return
        name = os.path.normpath(os.path.join(os.path.dirname(chain[-1][1]), text))  # noqa: PTH118, PTH120  # a name for people, which pathlib would not keep as typed
        circle = [earlier for earlier, _ in chain]
        if target in circle:
            self.findings.add(name_errors.ImportCycle(span, tuple(n for _, n in chain[circle.index(target) :])))
        elif target in self.seen:
            return
        elif not is_file:
            why = "it is a folder" if path.is_dir() else "there is no such file"
            self.findings.add(name_errors.ImportNotFound(span, text, why, _meant(path, by.parent)))
        elif len(self.seen) >= MAX_FILES:
            self.findings.add(name_errors.TooManyFiles(span, MAX_FILES))
        elif self.words > parser_stop.MAX_WORDS:
            self.findings.add(name_errors.TooManyFiles(span, parser_stop.MAX_WORDS, words=True))
        else:
            self.read(path, name, chain)


def _meant(missing: Path, folder: Path) -> str | None:
    """Return the path, relative to a folder, of an existing spec whose name resembles the missing one's."""
    found = neighbour(missing)
    return Path(os.path.relpath(found, folder)).as_posix() if found and found.endswith(".bench") else None


def _resolved(path: Path) -> Path:
    """Resolve symbolic links, except broken ones, which are reported when the file is read."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
