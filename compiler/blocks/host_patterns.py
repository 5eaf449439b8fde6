"""Expands host patterns: `eco-[1-3].lab`, `root@db-[01-12].lab:2222`, `r[1-2]n[1,4-6]`, `[::1]:22`."""

from __future__ import annotations

import math
import re

from benchbrief.dsl.lazy_dataclass import dataclass

MAX_HOSTS = 1000
"""The most hosts that one group may have. A longer range is taken for a typing mistake."""
MAX_NAMED = 20_000
"""The most hosts that all groups together may have. A check can still read this many in reasonable time."""

_BRACKETS = re.compile(r"\[([^\]]*)\]")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|[0-9A-Fa-f:]+(?:%[A-Za-z0-9]+)?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class HostPatternError(ValueError):
    """A pattern that is not a valid list of hosts. `start` and `end` are the offsets of its wrong part."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.start = start
        self.end = end
        self.hint = hint


@dataclass(frozen=True)
class HostLogin:
    """How to log in to a host: its name, and the user and port if the spec gives them."""

    name: str
    user: str | None = None
    port: int | None = None


def expand_hosts(pattern: str) -> tuple[str, ...]:
    """Return every host of a pattern in order, written as the user would write it. Raises HostPatternError."""
    hosts = expand(pattern)
    for host in hosts:
        parse_destination(host)
    return hosts


def expand(pattern: str) -> tuple[str, ...]:
    """Return every text that a pattern with ranges expands to, in order. Raises HostPatternError."""
    pieces: list[list[str]] = [[""]]
    sizes = 1
    position = 0
    for match in _BRACKETS.finditer(pattern):
        if ":" in match[1]:  # an IPv6 address, not a range
            continue
        size, choices = _choices(match[1], match.start(1), match.end(1))
        sizes *= size
        if sizes > MAX_HOSTS:
            raise HostPatternError(
                f"{_count(sizes)} hosts are more than the {MAX_HOSTS} that a group may have", match.start(), match.end()
            )
        pieces += [[pattern[position : match.start()]], choices]
        position = match.end()
    pieces.append([pattern[position:]])
    hosts = [""]
    for piece in pieces:
        hosts = [host + choice for host in hosts for choice in piece]
    return tuple(hosts)


def _choices(text: str, start: int, end: int) -> tuple[int, list[str]]:
    """Return how many numbers `[...]` stands for, and the numbers. Too many are refused before they are generated."""
    ranges: list[tuple[int, int, int]] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise HostPatternError(
                f"`[{text}]` is not a range of hosts", start - 1, end + 1, "write it as `[1-3]`, `[01-12]` or `[1,4-6]`"
            )
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise HostPatternError(
                f"the range runs from {first} down to {last}", start - 1, end + 1, f"write `[{last}-{first}]`"
            )
        ranges.append((int(first), int(last), len(first) if first.startswith("0") else 0))
    size = sum(last - first + 1 for first, last, _ in ranges)
    if size > MAX_HOSTS:
        raise HostPatternError(
            f"{_count(size)} hosts are more than the {MAX_HOSTS} that a group may have", start - 1, end + 1
        )
    return size, [str(n).zfill(width) for first, last, width in ranges for n in range(first, last + 1)]


def _count(number: int) -> str:
    return f"{number:,}" if math.log10(number) < 15 else "far too many"


FILE_OF_HOSTS = (
    'write them here, as in `["db-1.lab", "db-2.lab"]`; `use "lab.bench"` takes in a file with whole `hardware` blocks'
)


def _host_hint(name: str) -> str:
    parts = [part.strip() for part in re.split(r"[,;\s]+", name) if part.strip()]
    if len(parts) > 1 and all(_NAME.fullmatch(part) for part in parts):
        shown = [f'"{part}"' for part in parts[:3]] + ["..."] * (len(parts) > 3)
        return f"several hosts are a list: `[{', '.join(shown)}]`"
    return "host names hold letters, digits, `.`, `-` and `_`"


def parse_destination(host: str) -> HostLogin:
    """Parse `user@name:port`. An IPv6 address needs brackets if a port follows. Raises HostPatternError."""
    user, at, rest = host.rpartition("@")
    offset = len(user) + len(at)
    if host.startswith("@"):
        raise HostPatternError(f"`{host}` is no host", 0, len(host), FILE_OF_HOSTS)
    if at and not _USER.fullmatch(user):
        raise HostPatternError(f"`{user}` is not a user name", 0, len(user))
    name, port = rest, ""
    bracketed = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", rest)
    if bracketed:
        name, port = bracketed[1], bracketed[2] or ""
    elif rest.count(":") == 1:
        name, _, port = rest.partition(":")
        if not port:
            raise HostPatternError("the port is missing", offset, len(host), "write it as `host:22`")
    if not _NAME.fullmatch(name):
        raise HostPatternError(
            f"`{name}` is not a host name" if name else "the host name is empty",
            offset,
            max(len(host), offset + 1),
            _host_hint(name),
        )
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise HostPatternError(f"`{port}` is not a port", len(host) - len(port), len(host), "ports are 1 to 65535")
    return HostLogin(name, user or None, int(port) if port else None)
