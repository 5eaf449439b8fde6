"""The base of transports to places on this machine that a command enters: a namespace, a container, another root."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing

from benchbrief.model.message import Message
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.commands import printable, quote
from benchbrief.runners.jobs.fetch_outputs import MAX_ENTRIES
from benchbrief.runners.jobs.script_host import HostEntry
from benchbrief.runners.transports import transport_base
from benchbrief.runners.transports.local_transport import LocalTransport, both_streams
from benchbrief.runners.transports.transport_base import LimitedText

_FILE_S = 600.0


class NestedTransport(LocalTransport):
    """Runs everything through `shell`, which each transport defines: a shell inside the place, fed by standard input.

    Files are read through it too. Ports inside can't be reached, unless a transport has a `forward` of its own.
    """

    def entries(self, directory: str) -> list[HostEntry]:
        try:
            with closing(
                self._output(transport_base.listing_script(directory), say.cannot_list(path=directory))
            ) as listed:
                return transport_base.read_listing(listed, MAX_ENTRIES + 1)[0]
        except transport_base.BadListing as error:
            raise transport_base.failed(self.host, say.cannot_list(path=directory), error.args[0]) from error

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        yield from self._output(f"head -c {limit:d} -- {quote(path)}", say.cannot_read(path=path))

    def _output(self, text: str, failing: Message) -> Generator[bytes, None, None]:
        """Yield the output of one of our own scripts as it arrives."""
        deadline, said = time.monotonic() + _FILE_S, LimitedText()
        with self._running(f"LC_ALL=C; export LC_ALL\n{text}\n", text, _FILE_S) as process:
            for piece, is_error in both_streams(process, deadline):
                if is_error:
                    said.add(piece)
                else:
                    yield piece
            code = process.wait(max(0.0, deadline - time.monotonic()))
        if code != 0:
            raise transport_base.failed(self.host, failing, printable(said.text().strip()[-300:]).rpartition(": ")[2])

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        raise HostError(say.not_forwarded(host=self.host.id, address=f"{host}:{port}"))
