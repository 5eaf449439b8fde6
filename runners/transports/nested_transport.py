"""The base of transports to places on this machine that a command can enter, such as a namespace, a container or a
chroot."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager

from benchbrief.model.message import Message
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.transports.local_transport import LocalTransport, both_streams
from benchbrief.runners.transports.transport_base import IN_ENGLISH, LimitedText, ReadsByScript

_FILE_S = 600.0


class NestedTransport(ReadsByScript, LocalTransport):
    """Runs everything through the command `shell`, which each subclass defines. It starts a shell inside the namespace,
    container or other place, and this shell reads a script from standard input.

    Files are also read through the shell. Ports inside the place can't be reached, unless a transport defines its own
    `forward`.
    """

    def output(self, text: str, failing: Message) -> Generator[bytes, None, str]:
        deadline, said = time.monotonic() + _FILE_S, LimitedText()
        with self._running(f"{text}\n", text.removeprefix(IN_ENGLISH), _FILE_S) as process:
            for piece, is_error in both_streams(process, deadline):
                if is_error:
                    said.add(piece)
                else:
                    yield piece
            code = process.wait(max(0.0, deadline - time.monotonic()))
        if code != 0:
            raise self.failed(failing, said.text())
        return said.text()

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        raise HostError(say.not_forwarded(host=self.host.id, address=f"{host}:{port}"))
