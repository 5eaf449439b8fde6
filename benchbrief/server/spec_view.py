"""A spec as seen by an editor: the files that belong together, and the meaning and place of each name.

While a syntax error hides a declaration, its last version is used, so that its names remain known.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from lsprotocol import types

from benchbrief.compiler.frontend.name_index import NameIndex, Occurrence, Symbol, index
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.server.documents import Documents, Parsed, Snapshot


@dataclass(frozen=True)
class View:
    """A file within its spec. `file` is the file in question, and `files` are the spec and all files that it uses.
    `former` are earlier versions of files. Declarations that a syntax error now hides are taken from these."""

    file: Parsed
    files: tuple[Parsed, ...]
    former: tuple[Parsed, ...]

    @cached_property
    def index(self) -> NameIndex:
        declarations = [declaration for file in self.files for declaration in file.declarations]
        known = {_called(declaration) for declaration in declarations}
        stand_ins = [each for file in self.former for each in file.declarations if _called(each) not in known]
        return index([*declarations, *stand_ins])

    def place(self, span: Span) -> tuple[Parsed, int] | None:
        """Return the file of a span, and where the span starts in it."""
        for file in (*self.files, *self.former):
            if file.holds(span):
                return file, file.offset(span)
        return None

    def location(self, span: Span) -> types.Location | None:
        place = self.place(span)
        return types.Location(place[0].uri, place[0].range(span)) if place else None

    def occurrence(self, offset: int) -> Occurrence | None:
        """Return the declared name at an offset of the file."""
        for part in reversed(self.file.parts):
            if part.start <= offset:
                return self.index.at(part.source, offset - part.start)
        return None

    @property
    def broken(self) -> Parsed | None:
        return next((file for file in self.files if file.tree is None), None)


def _called(declaration: ast.Declaration) -> tuple[str, str]:
    match declaration:
        case ast.Block():
            return declaration.keyword.text, declaration.name.text if declaration.name else ""
        case ast.Metric():
            return "metric", declaration.name.text
        case ast.Param():
            return "param", declaration.name.text
        case _:
            return "", declaration.span.text


class Views:
    """Views of the current documents, which are reused while nothing changes."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._kept: dict[tuple[int, ...], View] = {}

    def of(self, uri: str) -> View | None:
        """Return the view of an open file as part of the first open spec that uses it, or on its own if no spec
        does."""
        return next(iter(self.every(uri)), None)

    def every(self, uri: str) -> list[View]:
        """Return one view for each open spec that the file belongs to."""
        snapshot = self._documents.snapshot()
        real = next((path for path, buffer in snapshot.open.items() if buffer.uri == uri), None)
        if real is None:
            return []
        try:
            file = snapshot.parsed(snapshot.open[real].path)
        except SpecError:
            return []
        if not file.parts:  # too large, or no text
            return []
        found = [self._view(file, files) for files in _specs_with(real, snapshot)]
        return found or [self._view(file, (file,))]

    def _view(self, file: Parsed, files: tuple[Parsed, ...]) -> View:
        good = self._documents.good
        stand_ins = [good.get(each.path.resolve()) for each in files if each.tree is None]
        former = tuple(each for each in stand_ins if each is not None)
        key = tuple(map(id, (file, *files, *former)))
        if key not in self._kept:
            if len(self._kept) > _KEPT:
                self._kept.clear()
            self._kept[key] = View(file, files, former)
        return self._kept[key]

    def with_users(self, uri: str) -> Views:
        """Return the views that also include closed specs: those in the editor's folders that use a file of this file's
        spec."""
        files = [file for view in self.every(uri) for file in view.files]
        return Views(self._documents.with_users(files))

    @property
    def with_every_user(self) -> bool:
        """Return whether the search for closed specs, if there was one, was complete."""
        return self._documents.every_user

    def places(self, symbol: Symbol, uri: str) -> list[types.Location]:
        """Return every place of a symbol of the file's spec, in all open specs that have the same declaration."""
        views = self.every(uri)
        if not views:
            return []
        declared_in = {place[0].uri for place in _definitions(views[0], symbol)}
        for buffer in self._documents.open.values():
            for view in self.every(buffer.uri):
                if declared_in & {place[0].uri for place in _definitions(view, symbol)}:
                    views.append(view)
        found: dict[tuple[str, int, int], types.Location] = {}
        for view in views:
            for occurrence in view.index.of(symbol):
                location = view.location(occurrence.span)
                if location is not None:
                    start = location.range.start
                    found[location.uri, start.line, start.character] = location
        return list(found.values())

    def sharing(self, uri: str) -> list[View]:
        """Return the views of all open specs that share a file with this file's spec."""
        files = {file.uri for view in self.every(uri) for file in view.files}
        every = [view for buffer in self._documents.open.values() for view in self.every(buffer.uri)]
        return [view for view in every if files & {file.uri for file in view.files}]


_KEPT = 8


def _definitions(view: View, symbol: Symbol) -> list[tuple[Parsed, int]]:
    places = [view.place(occurrence.span) for occurrence in view.index.of(symbol) if occurrence.defines]
    return [place for place in places if place is not None]


def _specs_with(real: Path, snapshot: Snapshot) -> list[tuple[Parsed, ...]]:
    """For each open spec that uses this file, return all files of that spec. If no spec uses it, return the file and
    all files that it uses."""
    reached = {path: snapshot.reach(buffer.path) for path, buffer in snapshot.open.items()}
    users = [
        files for path, files in reached.items() if path != real and any(file.path.resolve() == real for file in files)
    ]
    return users or [reached[real]]
