"""Reading a spec and the files it uses: each once, what is used before what uses it, without circles."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler import errors
from benchbrief.compiler.errors import Findings
from benchbrief.compiler.structure_errors import HoleNotAllowed
from benchbrief.dsl import ast
from benchbrief.dsl.diagnostics import Diagnostic, SpecError
from benchbrief.dsl.parse import parse
from benchbrief.dsl.read import read_source

MAX_FILES = 100


@dataclass(frozen=True)
class SpecFile:
    """`name` is relative as the user typed it; `imported` is False for the spec itself."""

    name: str
    tree: ast.File
    imported: bool


@dataclass(frozen=True)
class Loaded:
    """`hashes` maps the name of each file to the SHA-256 of its text."""

    files: tuple[SpecFile, ...]
    hashes: Mapping[str, str]


def load(path: Path) -> Loaded:
    """Read the spec at `path` with all that it uses.

    Raises SpecError when files can't be used: every name in them would be one more mistake.
    """
    loader = _Loader()
    loader.read(path, str(path), ())
    if loader.broken or loader.findings.failed:
        raise SpecError((*loader.broken, *loader.findings.diagnostics()))
    return Loaded(tuple(loader.files), loader.hashes)


@dataclass
class _Loader:
    findings: Findings = field(default_factory=Findings)
    files: list[SpecFile] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    broken: list[Diagnostic] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def read(self, path: Path, name: str, chain: tuple[tuple[Path, str], ...]) -> None:
        """`chain` are the files that led here, with their names."""
        self.seen.add(path.resolve())
        try:
            source = read_source(path, name)
            self.hashes[name] = hashlib.sha256(source.text.encode()).hexdigest()
            tree = parse(source)
        except SpecError as error:
            self.broken.extend(error.diagnostics)
            return
        for use in tree.declarations:
            if isinstance(use, ast.Use):
                self._use(use, path, (*chain, (path.resolve(), name)))
        self.files.append(SpecFile(name, tree, imported=bool(chain)))

    def _use(self, use: ast.Use, by: Path, chain: tuple[tuple[Path, str], ...]) -> None:
        text = use.path.plain
        span = use.path.span
        if text is None:
            self.findings.add(HoleNotAllowed(span, "use"))
            return
        try:
            path = by.parent / text
            target, is_file = path.resolve(), path.is_file()
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
        else:
            self.read(path, name, chain)
