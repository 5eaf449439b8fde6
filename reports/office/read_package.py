"""Reads the packages of office programs. They may come from anybody, so there is a limit to how much is unpacked, and
neither entities nor parts outside the package are allowed."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from xml.parsers import expat

from benchbrief.reports.brief_error import ReportError

MOST_PARTS = 10_000
MOST_OF_A_PART = 64 << 20
MOST_OF_ALL = 256 << 20
"""The most bytes that are unpacked from a single part, and from a whole file."""
_DEEPEST = 200
_CHUNK = 1 << 16
_HINT = "verify the file as `bench report` wrote it"

Attributes = Mapping[str, str]


class Package:
    """An open file. Its contents are never written to disk, and its parts can only be reached by name."""

    def __init__(self, content: bytes, name: str, *, most: int = MOST_OF_ALL, hint: str = _HINT) -> None:
        """Open the content of a file, from which at most `most` bytes are unpacked. Raises ReportError, with a `hint`,
        if the content is not an office program's package."""
        self.name, self._left, self._hint = name, most, hint
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise self._problem(f"can't be read: {error}") from error
        if len(infos) > MOST_PARTS:
            raise self._problem(f"has {len(infos):,} parts, which no brief has")
        if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in infos):
            raise self._problem("is packed in another way than any brief")
        self._infos = {info.filename: info for info in infos}
        if len(self._infos) < len(infos):
            raise self._problem("has two parts of one name")

    def _problem(self, what: str) -> ReportError:
        return ReportError(f"{self.name} {what}", self._hint)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._infos)

    @property
    def infos(self) -> tuple[zipfile.ZipInfo, ...]:
        """Return the entries that describe the parts, as they are in the file. They are not verified."""
        return tuple(self._infos.values())

    def size(self, part: str) -> int:
        """Return a part's unpacked size as the file states it, or 0 if there is no such part."""
        return self._infos[part].file_size if part in self._infos else 0

    def read(self, part: str) -> bytes:
        return b"".join(self._chunks(part))

    def _chunks(self, part: str) -> Iterator[bytes]:
        """Yield a part piece by piece, or nothing if there is no such part. The size that the file states is not
        trusted."""
        info = self._infos.get(part)
        if info is None:
            return
        left = MOST_OF_A_PART
        try:
            with self._zip.open(info) as file:
                while chunk := file.read(_CHUNK):
                    left -= len(chunk)
                    self._left -= len(chunk)
                    if left < 0 or self._left < 0:
                        raise self._problem(f"is larger, unpacked, than any brief: {part}")
                    yield chunk
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            ValueError,
            RuntimeError,
            NotImplementedError,
            OSError,
        ) as error:
            raise self._problem(f"is damaged: {part}: {error}") from error

    def parse(
        self,
        part: str,
        start: Callable[[str, Attributes], None] | None = None,
        end: Callable[[str], None] | None = None,
        text: Callable[[str], None] | None = None,
    ) -> None:
        """Read a part as XML. The names of elements and attributes have no namespaces, but the attributes for
        relationships begin with `r:`. Raises ReportError for anything but plain XML."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        depth = 0

        def opened(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                raise self._problem(f"is nested more deeply than any brief: {part}")
            if start:
                start(name.rpartition(" ")[2], {_attribute(key): value for key, value in attributes.items()})

        def closed(name: str) -> None:
            nonlocal depth
            depth -= 1
            if end:
                end(name.rpartition(" ")[2])

        def refused(*_: object) -> None:
            raise self._problem(f"declares entities, which no brief does: {part}")

        parser.StartElementHandler, parser.EndElementHandler = opened, closed
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = refused
        try:
            for chunk in self._chunks(part):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError) as error:
            raise self._problem(f"is damaged: {part}: {error}") from error

    def related(self, part: str, kind: str) -> dict[str, str]:
        """Return the parts that a part refers to by this kind of relationship (such as `/chart`), by the ids of the
        relationships."""
        folder, name = posixpath.split(part)
        found: dict[str, str] = {}

        def start(tag: str, attributes: Attributes) -> None:
            is_inside = attributes.get("TargetMode", "Internal") != "External"
            if tag == "Relationship" and is_inside and attributes.get("Type", "").endswith(kind):
                target = attributes.get("Target", "")
                path = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
                path = posixpath.normpath(path)
                if path in self._infos:
                    found[attributes.get("Id", "")] = path

        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations in self._infos:
            self.parse(relations, start)
        return found


def _attribute(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return f"r:{local}" if space.endswith("/relationships") else local
