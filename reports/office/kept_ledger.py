"""Keeps the ledger inside an office file. It is in a separate part, which programs keep when they save the file.

The part contains the file of the brief's numbers, and the texts of the office file as it was made, so that edited
numbers can be found.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from copy import copy
from shutil import copyfileobj
from typing import Any

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.units import UnknownUnitError, parse_unit
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import ATTACHMENT, NumberEntry
from benchbrief.reports.office.file_texts import MAIN_PARTS, FileText, kind_of, plain, texts_of
from benchbrief.reports.office.long_sheets import QUICKLY
from benchbrief.reports.office.read_package import Attributes, Package

_NAMESPACE = "urn:benchbrief:numbers"
_TEXTS = "texts.json"
_PART = re.compile(r"customXml/item\d+\.xml")
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_PROPERTIES = "application/vnd.openxmlformats-officedocument.customXmlProperties+xml"


@dataclass(frozen=True)
class KeptLedger:
    """A ledger read from an office file. `numbers` is the file of the numbers, and `texts` are the texts of the office
    file at the time it was made. `absent` are the ids of the brief's numbers that were never in the office file, and
    `unread` are sheets that were too long.
    """

    numbers: bytes
    texts: tuple[FileText, ...]
    absent: frozenset[str]
    unread: tuple[str, ...] = ()


def with_ledger(content: bytes, numbers: Sequence[NumberEntry], file: Iterable[bytes]) -> bytes:
    """Return a file with the ledger inside. `numbers` are the numbers of the brief, and `file` is the numbers file.
    Raises ReportError if the office file cannot be read."""
    package = Package(content, "the file")
    kind = kind_of(package)
    found = texts_of(package)
    texts = [text for text in found.texts if any(map(_has_digit, text.cells)) or any(map(units_of, text.cells))]
    absent = [number.id for number in numbers if not occurs(number.shown, texts)]
    kept = {
        "texts": [[text.place, text.cells, text.values, text.columns, text.drawn] for text in texts],
        "absent": absent,
        "unread": found.unread,
    }
    files = {ATTACHMENT: b"".join(file), _TEXTS: json.dumps(kept, ensure_ascii=False).encode()}
    inner = "".join(
        f'<file name="{name}">{base64.b64encode(zlib.compress(each, 9)).decode()}</file>'
        for name, each in files.items()
    )
    part = f'<?xml version="1.0" encoding="UTF-8"?>\n<numbers xmlns="{_NAMESPACE}">{inner}</numbers>'
    return _with_part(content, MAIN_PARTS[kind], part.encode())


def _has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _with_part(content: bytes, main: str, part: bytes) -> bytes:
    """Return a package with an additional part of custom XML, which the main part refers to."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=QUICKLY) as new,
    ):
        taken = set(old.namelist())
        number = next(n for n in range(1, len(taken) + 2) if f"customXml/item{n}.xml" not in taken)
        item, properties = f"customXml/item{number}.xml", f"customXml/itemProps{number}.xml"
        folder, _, name = main.rpartition("/")
        relation = f'<Relationship Id="rIdBenchbrief" Type="{_OFFICE}/relationships/customXml" Target="../{item}"/>'
        types = f'<Override PartName="/{properties}" ContentType="{_PROPERTIES}"/>'
        if not re.search(rb'<(\w+:)?Default [^>]*Extension="xml"', old.read("[Content_Types].xml")):
            types += f'<Override PartName="/{item}" ContentType="application/xml"/>'
        added = {
            f"{folder}/_rels/{name}.rels": (rb"</(\w+:)?Relationships>", relation),
            "[Content_Types].xml": (rb"</(\w+:)?Types>", types),
        }
        for info in old.infolist():
            if info.filename in added:
                end, more = added[info.filename]
                part_of = re.sub(end, lambda found, more=more: more.encode() + found[0], old.read(info))  # type: ignore[misc]  # the default binds it
                new.writestr(info, part_of, zipfile.ZIP_DEFLATED)
                continue
            with old.open(info) as read, new.open(copy(info), "w") as write:
                copyfileobj(read, write, _CHUNK)
        of_item = (
            f'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<ds:datastoreItem xmlns:ds="{_OFFICE}/customXml" '
            f'ds:itemID="{{{_ITEM}}}"><ds:schemaRefs><ds:schemaRef ds:uri="{_NAMESPACE}"/></ds:schemaRefs>'
            "</ds:datastoreItem>"
        )
        of_part = (
            '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Relationships '
            'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/relationships/customXmlProps" Target="itemProps{number}.xml"/></Relationships>'
        )
        for path, each in (
            (item, part),
            (properties, of_item.encode()),
            (f"customXml/_rels/item{number}.xml.rels", of_part.encode()),
        ):
            new.writestr(zipfile.ZipInfo(path, _FIRST_DAY), each, zipfile.ZIP_DEFLATED)
    return out.getvalue()


_ITEM = "6B1E2F70-52D4-4D5C-9C5B-0F6A3B7E9D21"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20
_MOST_KEPT = 32 << 20
"""The most bytes that the unpacked numbers may take. The same limit applies to the texts."""


def kept_ledger(package: Package) -> KeptLedger | None:
    """Return the ledger in a file, or None if the file has lost it. Raises ReportError if the file or its ledger cannot
    be read."""
    for part in package.names:
        if _PART.fullmatch(part) and (files := _files(package, part)):
            try:
                kept = json.loads(files[_TEXTS])
                texts = tuple(_text(each) for each in kept["texts"])
                absent, unread = frozenset(map(str, kept["absent"])), tuple(map(str, kept["unread"]))
                return KeptLedger(files[ATTACHMENT], texts, absent, unread)
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                raise ReportError(
                    f"{package.name} has a record of its numbers that can't be read: {type(error).__name__}",
                    "verify the file as `bench report` wrote it",
                ) from error
    return None


def _text(kept: Any) -> FileText:
    place, cells, values, columns, drawn = kept
    return FileText(
        str(place),
        tuple(map(str, cells)),
        tuple(None if value is None else float(value) for value in values),
        tuple(map(int, columns)),
        bool(drawn),
    )


def _files(package: Package, part: str) -> dict[str, bytes]:
    """Return the files in a part of custom XML, or nothing if the part does not belong to benchbrief."""
    texts: dict[str, list[str]] = {}
    path: list[str] = []

    def start(tag: str, attributes: Attributes) -> None:
        path.append(attributes.get("name", "") if path == ["numbers"] and tag == "file" else tag)
        if len(path) == 2:
            texts[path[1]] = []

    def text(text: str) -> None:
        if len(path) == 2 and path[0] == "numbers":
            texts[path[1]].append(text)

    def end(_tag: str) -> None:
        path.pop()

    package.parse(part, start, end, text)
    if not {ATTACHMENT, _TEXTS} <= texts.keys():
        return {}
    return {
        name: unpacked for name in (ATTACHMENT, _TEXTS) if (unpacked := _unpacked("".join(texts[name]))) is not None
    }


def _unpacked(text: str) -> bytes | None:
    """Return the unpacked content, or None if it was not packed or is larger than a ledger can be."""
    try:
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(base64.b64decode(text, validate=False), _MOST_KEPT)
    except (ValueError, zlib.error):
        return None
    return found if unpacking.eof else None


_STATED_UNIT = re.compile(r"\(([^()\d]{1,24})\)")
_SIGNS = {"X", "x", "×", "%", "倍"}


def is_unit(text: str) -> bool:
    if text in _SIGNS:
        return True
    try:
        parse_unit(text.replace("µ", "u"))
    except UnknownUnitError:
        return False
    return bool(text)


def units_of(text: str) -> list[str]:
    """Return the units that a text has in brackets, as the heads of tables and axes do."""
    return [unit for unit in _STATED_UNIT.findall(text) if is_unit(unit)]


def occurs(shown: str, texts: Iterable[FileText]) -> bool:
    """Return whether a number occurs in these texts as it was printed, and not as part of another number."""
    wanted = pattern_of(shown)
    return any(wanted.search(cell) for text in texts if not text.drawn for cell in text.cells)


def count_of(shown: str, texts: Iterable[FileText]) -> int:
    wanted = pattern_of(shown)
    return sum(1 for text in texts if not text.drawn for cell in text.cells for _ in wanted.finditer(cell))


def pattern_of(shown: str) -> re.Pattern[str]:
    """Return a pattern that finds a number in plain texts."""
    text = re.escape(plain(shown)).replace(r"\ ", " ?")
    before = r"(?<![\d])(?<!\d[.,])" if plain(shown)[:1].isdigit() else ""
    after = r"(?![\d])(?![.,]\d)" if plain(shown)[-1:].isdigit() else ""
    return re.compile(f"{before}{text}{after}")
