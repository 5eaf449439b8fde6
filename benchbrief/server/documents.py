"""The files that an editor works on: open files as they are in the editor, and all others as they are on disk.

A file is read declaration by declaration. Unchanged declarations are not read again, so a keystroke in a long spec
costs only the parsing of one block. The syntax trees are the same as those of the whole text, except that their spans
point into their declaration's text. `Parsed.range` converts a span to its place in the file.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from lsprotocol import types
from pygls import uris

from benchbrief.compiler.frontend.imports import MAX_FILES
from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, SpecError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.read_files import MAX_BYTES, read_source
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.dsl.syntax.parser_stop import declaration_starts
from benchbrief.dsl.syntax.recover import MOST, PartlyRead, parse_with_gaps, wholly_unread, with_first_mistake

_LINE_END = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")
Encoding = types.PositionEncodingKind


class DocumentText:
    """An immutable text. `changed` returns a new text with a change. Offsets are in characters."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        # Half of a surrogate pair, which JSON can carry and UTF-8 can't, is as long as a replacement character
        # in all three encodings. A byte-order mark is as long as the blank that replaces it.
        text = _SURROGATE.sub("\ufffd", text)
        self.text = "\u2003" + text[1:] if text.startswith("\ufeff") else text
        self.encoding = encoding

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        return (0, *(end.end() for end in _LINE_END.finditer(self.text)))

    @property
    def lines(self) -> list[str]:
        """The lines with their line breaks. The last line is "" if the text ends with a line break."""
        starts = self.line_starts
        return [self.text[start:end] for start, end in zip(starts, [*starts[1:], len(self.text)], strict=True)]

    def changed(self, change: types.TextDocumentContentChangeEvent) -> DocumentText:
        """Return the text after one of the client's changes."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self.offset(change.range.start), self.offset(change.range.end)
            if end < start:
                start, end = end, start
            return DocumentText(self.text[:start] + change.text + self.text[end:], self.encoding)
        return DocumentText(change.text, self.encoding)

    def position(self, offset: int) -> types.Position:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.line_starts, offset) - 1
        return types.Position(line, self._units(self.text[self.line_starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position. A position beyond the end of its line means that end, and one within a
        character means the character's start."""
        if position.line >= len(self.line_starts):
            return len(self.text)
        start = self.line_starts[position.line]
        line = self._line(position.line)
        if line.isascii() or self.encoding == Encoding.Utf32:
            return start + min(position.character, len(line))
        units = 0
        for index, char in enumerate(line):
            units += self._units(char)
            if units > position.character:
                return start + index
        return start + len(line)

    def _line(self, number: int) -> str:
        """Return a line without its line break."""
        last = number + 1 == len(self.line_starts)
        end = len(self.text) if last else self.line_starts[number + 1]
        return self.text[self.line_starts[number] : end].rstrip("\r\n")

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == Encoding.Utf32:
            return len(text)
        if self.encoding == Encoding.Utf8:
            return len(text.encode())
        return len(text) + sum(char > "\uffff" for char in text)


_MOST_BROKEN = 20
"""The most parts with syntax errors. If a file has more, the rest is ignored, because the file is probably not a spec
at all."""

MOST_SPECS = 1_000
MOST_ENTRIES = 50_000
"""The most specs, and the most files and folders, to search on disk for one rename."""

_NO_SPECS_IN = frozenset({"bench-out", "node_modules", "__pycache__"})


@dataclass(frozen=True)
class Buffer:
    """A version of a file that is open in the editor."""

    uri: str
    path: Path
    version: int | None
    text: DocumentText


@dataclass(frozen=True)
class FilePart:
    """A piece of a file: the declarations in it that could be read, and an error if something in it could not be
    read."""

    source: Source
    start: int
    declarations: tuple[ast.Declaration, ...]
    error: PartlyRead | None = None


@dataclass(frozen=True)
class Parsed:
    """A version of a file. If some of it can't be used, `tree` is None, and `error` is the reason."""

    path: Path
    uri: str
    version: int | None
    text: DocumentText
    whole: Source
    parts: tuple[FilePart, ...]
    tree: ast.File | None
    error: SpecError | None

    @cached_property
    def _starts(self) -> Mapping[Source, int]:
        return {self.whole: 0, **{part.source: part.start for part in self.parts}}

    def holds(self, span: Span) -> bool:
        return span.source in self._starts

    def offset(self, span: Span) -> int:
        """Return where in the file a span of one of its parts begins. Raises KeyError if the span belongs to another
        file."""
        return self._starts[span.source] + span.start

    def range(self, span: Span) -> types.Range:
        start = self.offset(span)
        return self.text.range(start, start + span.end - span.start)

    @property
    def declarations(self) -> Iterator[ast.Declaration]:
        """The declarations that could be read."""
        for part in self.parts:
            yield from part.declarations


def path_of(uri: str, root: Path) -> Path:
    """Return a document's path. A document without a file is treated as one in the open folder."""
    name = uris.to_fs_path(uri)
    return Path(os.path.normpath(name)) if name else root / uri.replace("/", "_")


def used_path(by: Parsed, use: ast.Use) -> Path | None:
    """Return the file that a `use` names, or None if no file can have that name."""
    text = use.path.plain
    if not text or "\0" in text:
        return None
    path = by.path.parent / text
    try:
        path.resolve()
    except (OSError, RuntimeError):
        return None
    return path


def uri_of(path: Path) -> str:
    return "file://" + quote(str(path))


@dataclass
class Documents:
    """Everything that is known about files. Each check works on a snapshot."""

    root: Path = field(default_factory=Path.cwd)
    folders: tuple[Path, ...] = ()
    """The folders that the editor has open. Specs in these folders may use a file that is being edited."""
    encoding: Encoding = Encoding.Utf16
    open: dict[Path, Buffer] = field(default_factory=dict)
    """The files that the editor has open, by resolved path."""
    last: dict[Path, Parsed] = field(default_factory=dict)
    """The last parse of each file. Unchanged parts are taken from it."""
    good: dict[Path, Parsed] = field(default_factory=dict)
    """The last version of each file that had no syntax error."""
    every_user: bool = True
    """Whether all specs that use an open file are known: the search for them was complete, or none was needed."""

    def opened(self, uri: str, version: int | None, text: str) -> None:
        path = path_of(uri, self.root)
        self.open[path.resolve()] = Buffer(uri, path, version, DocumentText(text, self.encoding))

    def changed(self, uri: str, version: int | None, changes: list[types.TextDocumentContentChangeEvent]) -> None:
        """Apply the client's changes to an open document. Raises KeyError if the document is not open."""
        path = path_of(uri, self.root)
        text = self.open[path.resolve()].text
        for change in changes:
            text = text.changed(change)
        self.open[path.resolve()] = Buffer(uri, path, version, text)

    def closed(self, uri: str) -> None:
        self.open.pop(path_of(uri, self.root).resolve(), None)

    def snapshot(self) -> Snapshot:
        return Snapshot(self, dict(self.open))

    def with_users(self, files: Iterable[Parsed]) -> Documents:
        """Return the documents, with more specs treated as open: every spec in the editor's folders that uses one of
        the given files."""
        snapshot = self.snapshot()
        wanted = {file.path.resolve() for file in files}
        users: dict[Path, Buffer] = {}
        specs, every = specs_below(self.folders)
        for path in specs:
            real = path.resolve()
            reached = () if real in self.open else snapshot.reach(path)
            if wanted & {file.path.resolve() for file in reached}:
                users[real] = Buffer(reached[0].uri, path, None, reached[0].text)
        return replace(self, open={**self.open, **users}, every_user=every)


def specs_below(folders: Iterable[Path], most_entries: int = MOST_ENTRIES) -> tuple[list[Path], bool]:
    """Return the specs on disk, and whether the list is complete. A search that takes too long is stopped. Hidden
    folders and the folders of package managers and runs are skipped."""
    found: list[Path] = []
    entries = 0
    for root in folders:
        for folder, inner, names in os.walk(root):
            inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _NO_SPECS_IN)
            found += (Path(folder, name) for name in sorted(names) if name.endswith(".bench"))
            entries += len(inner) + len(names)
            if len(found) > MOST_SPECS or entries > most_entries:
                return found[:MOST_SPECS], False
    return found, True


@dataclass
class Snapshot:
    """The files at one moment, for `compiler.imports`. `files` are the files that have been read."""

    documents: Documents
    open: Mapping[Path, Buffer]
    files: dict[Path, Parsed] = field(default_factory=dict)

    def is_file(self, path: Path) -> bool:
        return path.resolve() in self.open or path.is_file()

    def tree(self, path: Path, name: str) -> ast.File:
        parsed = self.parsed(path)
        if parsed.tree is None:
            raise parsed.error or SpecError(())
        return parsed.tree

    def parsed(self, path: Path) -> Parsed:
        """Return the file, with its syntax error if it has one. Raises SpecError if the file can't be read."""
        real = path.resolve()
        if real not in self.files:
            self.files[real] = self._read(path, real)
        return self.files[real]

    def reach(self, path: Path) -> tuple[Parsed, ...]:
        """Return the file and all readable files that it uses, directly or indirectly."""
        found: dict[Path, Parsed] = {}
        waiting = [path]
        while waiting and len(found) < MAX_FILES:
            try:
                parsed = self.parsed(waiting[0])
            except SpecError:
                parsed = None
            here, *waiting = waiting
            if parsed is None or here.resolve() in found:
                continue
            found[here.resolve()] = parsed
            for use in parsed.declarations:
                target = used_path(parsed, use) if isinstance(use, ast.Use) else None
                if target is not None and self.is_file(target):
                    waiting.append(target)
        return tuple(found.values())

    def _read(self, path: Path, real: Path) -> Parsed:
        name = os.path.relpath(path)
        buffer = self.open.get(real)
        if buffer is None:
            text = DocumentText(read_source(path, name).text, self.documents.encoding)
            path = Path(os.path.abspath(path))  # noqa: PTH100  # as it was named: links are not followed
            buffer = Buffer(uri_of(path), path, None, text)
        before = self.documents.last.get(real)
        if before and before.text.text == buffer.text.text and before.version == buffer.version:
            return before
        good = self.documents.good.get(real)
        parsed = _parsed(buffer, name, (*(before.parts if before else ()), *(good.parts if good else ())))
        self.documents.last[real] = parsed
        if parsed.tree:
            self.documents.good[real] = parsed
        return parsed


def _parsed(buffer: Buffer, name: str, known: Iterable[FilePart]) -> Parsed:
    whole = Source(name, buffer.text.text)
    parts: list[FilePart] = []
    error: SpecError | None = _unusable(whole)
    if error is None:
        parts, error = _parts(whole, known)
    tree = None
    if error is None:
        tree = _tree(whole, parts)
    return Parsed(buffer.path, buffer.uri, buffer.version, buffer.text, whole, tuple(parts), tree, error)


def _tree(whole: Source, parts: Iterable[FilePart]) -> ast.File:
    declarations = tuple(declaration for part in parts for declaration in part.declarations)
    return ast.File(Span(whole, 0, len(whole.text)), declarations)


def _unusable(source: Source) -> SpecError | None:
    if len(source.text) > MAX_BYTES:
        return syntax_errors.TooLarge(None, source.name, MAX_BYTES).error()
    nul = source.text.find("\0")
    return syntax_errors.HoldsNul(Span(source, nul, nul + 1), nul).error() if nul >= 0 else None


def _parts(whole: Source, before: Iterable[FilePart]) -> tuple[list[FilePart], PartlyRead | None]:
    """Return a file's parts in order, and their syntax errors. Unchanged parts are taken from the last reading."""
    known: dict[tuple[str, str], list[FilePart]] = {}
    for part in before:
        known.setdefault((part.source.name, part.source.text), []).append(part)
    parts: list[FilePart] = []
    errors: list[PartlyRead] = []
    first: Diagnostic | None = None
    begin = 0
    starts = declaration_starts(whole.text)
    for start, end in zip(starts, [*starts[1:], len(whole.text)], strict=True):
        text = whole.text[start:end]
        same = known.get((whole.name, text))
        part = replace(same.pop(), start=start) if same else _part(Source(whole.name, text), start)
        if part.error is not None and first is None:
            # The cause may show only in the text after this part, or the file may have been cut in the wrong place.
            rest = Source(whole.name, whole.text[start:])
            try:
                return [*parts, FilePart(rest, start, parse(rest).declarations)], None
            except SpecError as error:
                first, begin = error.diagnostics[0], start
        parts.append(part)
        errors += [part.error] if part.error is not None else []
        if len(errors) > _MOST_BROKEN:
            rest = Source(whole.name, whole.text[end:])
            errors.append(wholly_unread(rest))
            parts.append(FilePart(rest, end, (), errors[-1]))
            break
    if first is None:
        return parts, None
    at = begin + (first.span.start if first.span else 0)
    home = next((part for part in reversed(parts) if part.start <= at), parts[0])
    first = first.moved(home.source, begin - home.start)
    found = with_first_mistake(first, [diagnostic for error in errors for diagnostic in error.diagnostics])
    lost = tuple(lost for error in errors for lost in error.lost)
    return parts, PartlyRead(tuple(found[:MOST]), _tree(whole, parts), lost)


def _part(source: Source, start: int) -> FilePart:
    try:
        return FilePart(source, start, parse_with_gaps(source).declarations)
    except PartlyRead as error:
        return FilePart(source, start, error.tree.declarations, error)
    except SpecError as error:
        return FilePart(source, start, (), wholly_unread(source, error.diagnostics))
