"""The file format of a capsule: a zip with a list of its parts and their digests. A capsule that is read is treated as
hostile."""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypeAlias

from pydantic import ValidationError

from benchbrief.model.node import Node
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.office.read_package import Package

CAPSULE_VERSION = 1
ENDING = "-capsule.zip"
"""The suffix that a capsule's file name adds to its brief's name."""
SPEC = "spec/"
"""The folder that holds the spec and the files that the spec uses."""
PLAN, NUMBERS, STATED, FACTS, VERSIONS = ("plan.json", "numbers.json", "stated.json", "facts.json", "versions.json")
_LIST, _SIGNATURE = "capsule.json", "capsule.json.sig"
_FORMAT = "benchbrief-capsule"
_MOST_BYTES, _MOST_UNPACKED, _MOST_PARTS = 32 << 20, 128 << 20, 1000
_LONGEST, _DEEPEST = 200, 12
"""The most characters of a part's name, and the most folders in it."""
_NAME = re.compile(r"[^\x00-\x1f\x7f\\:*?\"<>|\ud800-\udfff\u202a-\u202e\u2066-\u2069]+")
_HINT = "take the brief, or its capsule, from where it was published"
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The fixed time given to each part, so that the same run always gives the same bytes."""
Sign: TypeAlias = Callable[[bytes], bytes]
"""A function that returns a signature of some content."""


class PartEntry(Node):
    """A part's SHA-256 and its size in bytes."""

    sha256: str
    size: int


class OutputsManifest(Node):
    """The raw outputs behind a brief's numbers, which the capsule leaves out. Has their number, and the SHA-256 of a
    list of them in the format of `sha256sum`."""

    files: int
    sha256: str


class Capsule(Node):
    """A capsule's description of itself. `spec` is the path of the spec among the parts, and `parts` lists all other
    parts. `extensions` lists the other packages that the plan needs, by the names of what they provide."""

    format: Literal["benchbrief-capsule"] = "benchbrief-capsule"
    version: int = CAPSULE_VERSION
    benchbrief: str
    report: str
    title: str
    language: str
    run: str
    kind: Literal["measured", "simulated", "imported"]
    spec: str
    profile: str | None = None
    params: dict[str, str] = field(default_factory=dict)
    extensions: dict[str, str] = field(default_factory=dict)
    raw_outputs: OutputsManifest
    parts: dict[str, PartEntry]


class OpenCapsule(NamedTuple):
    """A capsule that was opened and checked against its list of parts, with the contents of the parts by name. `listed`
    is the list as it was read, and `signature` is the signature of `listed`, or None if the capsule is not signed."""

    about: Capsule
    parts: Mapping[str, bytes]
    listed: bytes
    signature: bytes | None

    @property
    def files(self) -> dict[str, bytes]:
        """Return the spec and the files that it uses, by path."""
        return {name.removeprefix(SPEC): content for name, content in self.parts.items() if name.startswith(SPEC)}


def write_capsule(about: Capsule, parts: Mapping[str, bytes], sign: Sign | None = None) -> bytes:
    """Return the bytes of a capsule, with its list signed by `sign`. `about` need not list the parts yet."""
    named = {name: PartEntry(sha256=_sha256(content), size=len(content)) for name, content in sorted(parts.items())}
    listed = (about.model_copy(update={"parts": named}).model_dump_json(indent=1) + "\n").encode()
    head = {_LIST: listed} | ({_SIGNATURE: sign(listed)} if sign else {})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in (*head.items(), *sorted(parts.items())):
            info = zipfile.ZipInfo(name, _WHEN)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(info, content, compresslevel=9)
    return made.getvalue()


def open_capsule(content: bytes, name: str) -> OpenCapsule:
    """Check a whole capsule and return it. Messages call it `name`. Raises ReportError if the capsule is too large,
    damaged, changed or of a later version, or if a part's name leads outside it."""
    if len(content) > _MOST_BYTES:
        raise _refused(name, f"has {len(content):,} bytes, and at most {_MOST_BYTES:,} are read")
    package = Package(content, name, most=_MOST_UNPACKED, hint=_HINT)
    if len(package.names) > _MOST_PARTS:
        raise _refused(name, f"has {len(package.names):,} parts, and at most {_MOST_PARTS:,} are read")
    for info in package.infos:
        _require_plain(info, name)
    if _LIST not in package.names:
        raise _refused(name, "is no capsule of a brief")
    listed = package.read(_LIST)
    about = _listed(listed, name)
    there = set(package.names) - {_LIST, _SIGNATURE}
    if missing := sorted(about.parts.keys() - there):
        raise _refused(name, f"lacks a part that it lists: {_shown(missing[0])}")
    if more := sorted(there - about.parts.keys()):
        raise _refused(name, f"has a part that it does not list: {_shown(more[0])}")
    parts = {part: package.read(part) for part in sorted(there)}
    for part, found in parts.items():
        if _sha256(found) != about.parts[part].sha256 or len(found) != about.parts[part].size:
            raise _refused(name, f"was changed since it was made: {_shown(part)} is not what its list says")
    if f"{SPEC}{about.spec}" not in parts:
        raise _refused(name, f"lacks its spec, {_shown(about.spec) or 'which it does not name'}")
    for needed in (PLAN, STATED, FACTS, VERSIONS):
        if needed not in parts:
            raise _refused(name, f"lacks a part: {needed}")
    return OpenCapsule(about, parts, listed, package.read(_SIGNATURE) if _SIGNATURE in package.names else None)


def is_capsule(content: bytes) -> bool:
    """Return whether these bytes are a zip that contains a capsule's list."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _LIST in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False


def _listed(content: bytes, name: str) -> Capsule:
    """Return the list of the parts. If it is a later version's, it is refused before the rest is read."""
    try:
        head = json.loads(content)
        if not isinstance(head, dict) or head.get("format") != _FORMAT:
            raise _refused(name, "is no capsule of a brief")
        version, made_by = head.get("version"), head.get("benchbrief")
        if isinstance(version, int) and version > CAPSULE_VERSION:
            raise _later(name, version, made_by)
        found = Capsule.model_validate_json(content)
    except (ValidationError, ValueError, RecursionError) as error:
        where = ""
        if isinstance(error, ValidationError):
            at = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
            where = f": {_shown(at)}"
        raise _refused(name, f"has a list of its parts that can't be read{where}") from error
    if found.version > CAPSULE_VERSION:  # one that is written as 2.0
        raise _later(name, found.version, made_by)
    return found


def _later(name: str, version: int, made_by: object) -> ReportError:
    by = made_by if isinstance(made_by, str) and re.fullmatch(r"[\w.+-]{1,40}", made_by) else "a later one"
    return ReportError(
        f"{name} is a capsule of version {version}, and this benchbrief reads version {CAPSULE_VERSION}",
        f"use the benchbrief that made it, {by}, or a later one",
    )


def _require_plain(info: zipfile.ZipInfo, name: str) -> None:
    """Raise ReportError if a part is not a plain file, or if its name leads out of a folder."""
    part = info.filename
    shown = _shown(part)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or info.is_dir():
        raise _refused(name, f"has a part that is no plain file: {shown}")
    if info.flag_bits & 0x1:
        raise _refused(name, f"has an encrypted part: {shown}")
    if why := why_not_safe(part):
        raise _refused(name, f"has a part whose name {why}: {shown}")


def why_not_safe(path: str) -> str:
    """Return why a file may not be written at this path below a folder, or "" if it is safe."""
    steps = path.split("/")
    if len(path) > _LONGEST or len(steps) > _DEEPEST:
        return "is too long"
    if path.startswith("/") or ".." in steps:
        return "leads out of its folder"
    if not _NAME.fullmatch(path) or PurePosixPath(path).as_posix() != path or path in ("", "."):
        return "is no path of a file"
    if any(step.startswith(".") or step != step.strip() for step in steps):
        return "is hidden, or begins or ends with a blank"
    return ""


def _shown(name: str) -> str:
    """Return a name from an untrusted file in a form that is safe to print: shortened, and in plain letters."""
    return ascii(name)[1:-1][:80]


def _refused(name: str, why: str) -> ReportError:
    return ReportError(f"{name} {why}", _HINT)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
