"""Reading a spec and the files it uses: each once, what is used before what uses it, without circles."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchbrief.compiler import errors
from benchbrief.compiler.blocks.structure_errors import HoleNotAllowed
from benchbrief.compiler.problems import Findings
from benchbrief.dsl import ast, shape
from benchbrief.dsl.diagnostics import Diagnostic, SpecError
from benchbrief.dsl.read import read_source
from benchbrief.dsl.recover import Lost, PartlyRead, parse_on

MAX_FILES = 100


class Files(Protocol):
    """Where specs are read from: the disk, or an editor whose open files are ahead of it."""

    def is_file(self, path: Path) -> bool:
        """Raises OSError, ValueError or RuntimeError for a path that can't be one."""

    def tree(self, path: Path, name: str) -> ast.File:
        """The file's syntax tree; messages call it `name`. Raises SpecError."""


class Disk:
    """Files as they are saved."""

    def is_file(self, path: Path) -> bool:
        return path.is_file()

    def tree(self, path: Path, name: str) -> ast.File:
        return parse_on(read_source(path, name))


@dataclass(frozen=True)
class SpecFile:
    """`name` is relative as the user typed it; `imported` is False for the spec itself."""

    name: str
    tree: ast.File
    imported: bool


@dataclass(frozen=True)
class Loaded:
    """`hashes` maps the name of each file to the SHA-256 of its text.

    `broken` are the syntax errors of files of which the rest could be read, `lost` what of each could not.
    """

    files: tuple[SpecFile, ...]
    hashes: Mapping[str, str]
    words: int = 0
    broken: tuple[Diagnostic, ...] = ()
    lost: tuple[Lost, ...] = ()


def load(path: Path, files: Files | None = None) -> Loaded:
    """Read the spec at `path` with all that it uses, from the disk if nothing else is said.

    Raises SpecError when files can't be used: every name in them would be one more mistake.
    """
    loader = _Loader(files or Disk())
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
    lost: list[Lost] = field(default_factory=list)
    unread: bool = False
    """Of a file nothing could be read."""
    words: int = 0
    seen: set[Path] = field(default_factory=set)

    def read(self, path: Path, name: str, chain: tuple[tuple[Path, str], ...]) -> None:
        """`chain` are the files that led here, with their names."""
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
        self.words += shape.words(tree.span.source.text)
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
            target, is_file = path.resolve(), self.source.is_file(path)
        except (OSError, ValueError, RuntimeError) as error:
            self.findings.add(errors.ImportNotFound(span, text, str(error)))
            return
        name = os.path.normpath(os.path.join(os.path.dirname(chain[-1][1]), text))  # noqa: PTH118, PTH120  # a name for people, which pathlib would not keep as typed
        circle = [earlier for earlier, _ in chain]
        if target in circle:
            self.findings.add(errors.ImportCycle(span, tuple(n for _, n in chain[circle.index(target) :])))
        elif target in self.seen:
            return
        elif not is_file:
            why = "it is a folder" if path.is_dir() else "there is no such file"
            self.findings.add(errors.ImportNotFound(span, text, why))
        elif len(self.seen) >= MAX_FILES:
            self.findings.add(errors.TooManyFiles(span, MAX_FILES))
        elif self.words > shape.MAX_WORDS:
            self.findings.add(errors.TooManyFiles(span, shape.MAX_WORDS, words=True))
        else:
            self.read(path, name, chain)


def _resolved(path: Path) -> Path:
    """Without symbolic links, where they lead anywhere: what reads the file says it when they don't."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
