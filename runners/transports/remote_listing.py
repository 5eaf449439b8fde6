"""The names in a directory of a host, as `find` and `stat` print them: untrusted, and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchbrief.runners.jobs.commands import printable, quote
from benchbrief.runners.jobs.script_host import Entry, entry

# No file name contains a slash. At the end, the exit code of `find` says whether it ran at all.
_FIND = r"find . ! -name . -prune -exec stat -c '%f %s %n//' {} +"
_APART = b"//\n"
_LINE = re.compile(rb"([0-9a-f]{1,8}) (\d{1,19}) \./([^/\0]{1,1000})", re.DOTALL)
_END = re.compile(rb"end (\d{1,3})")
_LONGEST = 2000
"""Bytes of a line. A file name has at most 255."""


class BadListing(Exception):
    """A listing can't be parsed. The argument says why."""


def listing_script(directory: str) -> str:
    return f"cd -- {quote(directory)} && ls >/dev/null && {{ {_FIND}; echo end $?//; }}"


def read_listing(pieces: Iterable[bytes], most: int) -> tuple[list[Entry], int]:
    """Return at most `most` entries of a listing, and the exit code of `find`. Raises BadListing.

    Reads the pieces to their end, except of a listing that is longer.
    """
    found: list[Entry] = []
    code = None
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(_APART)
        for line in lines:
            if code is None and (end := _END.fullmatch(line)) is not None:
                code = int(end[1])
                continue
            if len(found) == most:
                return found, 0
            found.append(_entry(line if code is None else b"after its end: " + line))
        if len(rest) > _LONGEST:
            _entry(rest)
    if code is None or rest:
        raise BadListing("it was cut")
    return found, code


def _entry(line: bytes) -> Entry:
    match = _LINE.fullmatch(line)
    if match is None:
        raise BadListing(f"`stat` printed `{printable(line[:100].decode(errors='replace'))}`")
    try:
        return entry(match[3].decode(), int(match[1], 16), int(match[2]))
    except UnicodeDecodeError:
        raise BadListing("a file name is not UTF-8") from None


def are_gone(said: str) -> bool:
    """Return whether `find` and `stat` complained only of files that were removed meanwhile."""
    return all(line.endswith(": No such file or directory") for line in said.splitlines() if line.strip())
