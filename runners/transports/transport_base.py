"""The common part of all real transports. Jobs and claims need only short scripts and reading files."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

from benchbrief.model.message import Message
from benchbrief.model.plan import Host
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs import detached_jobs, host_claims
from benchbrief.runners.jobs.commands import printable, quote
from benchbrief.runners.jobs.fetch_outputs import MAX_ENTRIES, fetch
from benchbrief.runners.jobs.script_host import Claim, HostEntry, entry
from benchbrief.runners.jobs.tasks import Command, Completed, Job
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import JobState, RunningJob
from benchbrief.runners.session import Session


class JobTransport(ABC):
    """A `script_host.JobHost` that implements most of a `seams.Transport`."""

    given_up_at = -math.inf

    def __init__(
        self,
        host: Host,
        config: Path | None = None,
        run_name: RunName | None = None,
        session: Session | None = None,
    ) -> None:
        """Make the transport to a host. `config` is an SSH configuration to use instead of the user's.

        `session` is shared by all hosts that one command reaches.
        """
        del config
        self.host = host
        self.run_name = run_name or RunName()
        self.session = session or Session()
        self.claimed: Claim | None = None

    @abstractmethod
    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    @abstractmethod
    def entries(self, directory: str) -> list[HostEntry]: ...

    @abstractmethod
    def read(self, path: str, limit: int) -> Iterator[bytes]: ...

    @abstractmethod
    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]: ...

    @abstractmethod
    def close(self) -> None: ...

    def start(self, job: Job) -> RunningJob:
        return detached_jobs.start(self, job)

    def find(self, key: str) -> JobState | None:
        return detached_jobs.find(self, key)

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        return detached_jobs.end_leftovers(self, kept)

    def claim(self) -> str:
        return host_claims.claim(self)

    def claimed_as(self) -> str:
        return host_claims.claimed_as(self)

    def release(self, *, keep_jobs: bool = False) -> int:
        return detached_jobs.end_leftovers(self, release=True, keep=keep_jobs)

    def get(self, path: str, to: Path) -> None:
        fetch(self, path, to)


# No file name contains a slash. At the end, the exit code of `find` says whether it ran at all.
_FIND = r"find . ! -name . -prune -exec stat -c '%f %s %n//' {} +"
_APART = b"//\n"
_LINE = re.compile(rb"([0-9a-f]{1,8}) (\d{1,19}) \./([^/\0]{1,1000})", re.DOTALL)
_END = re.compile(rb"end (\d{1,3})")
_LONGEST = 2000
"""The longest line of a listing, in bytes. A file name has at most 255 bytes."""


class BadListing(Exception):
    """A listing can't be parsed. The error's argument is the reason."""


def _unread(host: Host, what: Message, said: str, hint: str = "") -> HostError:
    """Return the error for a listing or a file that can't be read."""
    return HostError(say.of_host_because(host=host.id, what=what, said=said), hint)


IN_ENGLISH = "LC_ALL=C; export LC_ALL\n"
"""The line that makes a script print its messages in English, so that they can be recognized."""


class ReadsByScript(JobTransport):
    """A transport that lists directories and reads files by running scripts at its far end. A subclass supplies
    `output`."""

    @abstractmethod
    def output(self, text: str, failing: Message) -> Generator[bytes, None, str]:
        """Yield the output of a script as it arrives, and return what the script wrote to standard error.

        Raises HostError with the sentence `failing` if the script ends with an exit code other than 0.
        """

    def entries(self, directory: str) -> list[HostEntry]:
        failing, said = say.cannot_list(path=directory), ""

        def pieces() -> Generator[bytes, None, None]:
            nonlocal said
            said = yield from self.output(f"{IN_ENGLISH}{listing_script(directory)}", failing)

        try:
            with closing(pieces()) as listed:
                # One more than are fetched, to see that there are more.
                found, code = read_listing(listed, MAX_ENTRIES + 1)
        except BadListing as error:
            raise _unread(self.host, failing, error.args[0], say.hint_gnu()) from error
        if code != 0 and not are_gone(said):
            raise self.failed(failing, said)
        return found

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        yield from self.output(f"{IN_ENGLISH}head -c {limit:d} -- {quote(path)}", say.cannot_read(path=path))

    def failed(self, failing: Message, said: str) -> HostError:
        """Return the error for a script that failed, with the last words that the script printed."""
        return _unread(self.host, failing, printable(said.strip()[-300:]).rpartition(": ")[2])


def listing_script(directory: str) -> str:
    return f"cd -- {quote(directory)} && ls >/dev/null && {{ {_FIND}; echo end $?//; }}"


def read_listing(pieces: Iterable[bytes], most: int) -> tuple[list[HostEntry], int]:
    """Return at most `most` entries of a listing, and the exit code of `find`. Raises BadListing.

    Reads all pieces, unless the listing has more entries.
    """
    found: list[HostEntry] = []
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
        raise BadListing(say.listing_cut())
    return found, code


def _entry(line: bytes) -> HostEntry:
    match = _LINE.fullmatch(line)
    if match is None:
        raise BadListing(say.listing_odd(said=printable(line[:100].decode(errors="replace"))))
    try:
        return entry(match[3].decode(), int(match[1], 16), int(match[2]))
    except UnicodeDecodeError:
        raise BadListing(say.listing_not_utf8()) from None


def are_gone(said: str) -> bool:
    """Return whether `find` and `stat` complained only about files that were removed while they ran."""
    return all(line.endswith(": No such file or directory") for line in said.splitlines() if line.strip())


OUTPUT_LIMIT = 1 << 20
"""The most bytes that are kept of each stream of a short command. Jobs write to files instead, which are fetched whole.
"""
_MARK_SIZE = 200


class LimitedText:
    """The first bytes of a stream, and the number of bytes that came after them."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._size = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        self._kept += piece[: self._limit - len(self._kept)]
        self._size += len(piece)
        self._tail = (self._tail + piece)[-_MARK_SIZE:]

    def ends_with(self, pattern: str) -> str | None:
        """Return the group of a pattern (of at most 200 bytes) if the stream now ends with it. Otherwise return
        None."""
        found = re.search(rf"{pattern}\Z".encode(), self._tail)
        return found[1].decode() if found else None

    def drop_end(self, pattern: str) -> None:
        """Remove the pattern from the end of the stream."""
        found = re.search(rf"{pattern}\Z".encode(), self._tail)
        if found:
            self._size -= len(found[0])
            del self._kept[self._size :]

    def text(self) -> str:
        kept = self._kept.decode("utf-8", "replace")
        dropped = self._size - len(self._kept)
        return f"{kept}\n[{dropped} more bytes were not kept]\n" if dropped else kept


class MarkedEnd:
    """A stream whose end matches a pattern (of at most 200 bytes). The pattern's group is the exit code."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(rf"{pattern}\Z".encode())
        self._held = b""

    def settled(self, piece: bytes) -> bytes:
        """Add a piece, and return the bytes that are certainly not part of the end mark. The last bytes are held
        back."""
        held = self._held + piece
        self._held = held[-_MARK_SIZE:]
        return held[:-_MARK_SIZE]

    def code(self) -> int | None:
        found = self._pattern.search(self._held)
        return int(found[1]) if found else None

    def rest(self) -> bytes:
        """Return the bytes that were held back, without the end mark."""
        return self._pattern.sub(b"", self._held)
