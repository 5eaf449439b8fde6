"""The transport over SSH. The host's key is always verified, against the known_hosts files only.

fabric opens connections and their gateways. Short commands and files go through shells of our own: fabric's capture of
output takes time that grows with the square of its size, paramiko's SFTP client keeps answers that come before it has
noted their requests in memory, and a server need not have SFTP.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import fabric
import paramiko

from benchbrief.compiler.plan import Host
from benchbrief.runners.commands import Masking, masked, printable, quote, script
from benchbrief.runners.errors import ConnectionLost, HostError
from benchbrief.runners.fan_out import AT_ONCE
from benchbrief.runners.fetching import MAX_ENTRIES
from benchbrief.runners.job_host import Entry
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.tasks import Command, Completed, RunName, Secret
from benchbrief.runners.transports import listing
from benchbrief.runners.transports.base import JobTransport
from benchbrief.runners.transports.forward import Channel, forwarded
from benchbrief.runners.transports.ssh_connect import close, connect, may_pass
from benchbrief.runners.transports.ssh_destination import CONNECT_S
from benchbrief.runners.transports.warm_shell import NoShell, TookTooLong, WarmShell

_IDLE_SHELLS = 4
"""How many shells are kept for later; sshd allows 10 sessions for a connection unless told otherwise."""
_OPENING = threading.BoundedSemaphore(2 * AT_ONCE)
"""Connections that are being opened at a time, by all threads: after a network's outage every lane of a fleet opens its
own again, perhaps through one jump host, whose sshd refuses some of many."""
_IN_ENGLISH = "LC_ALL=C; export LC_ALL\n"
"""What goes wrong is then said in words that are known."""


class SshTransport(JobTransport):
    """Runs commands on a host over SSH; see `seams.Transport`. Connects on first use, and again after a break."""

    def __init__(self, host: Host, config: Path | None = None, run_name: RunName | None = None) -> None:
        super().__init__(host, run_name)
        self._config = config
        self._connection: fabric.Connection | None = None
        self._was_connected = False
        self._closed = False
        self._connecting = threading.Lock()
        self._idle: list[WarmShell] = []

    # --- commands ---

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        masking = Masking([word for word in command.env.values() if isinstance(word, Secret)])
        started = time.monotonic()
        with self._shell() as shell:
            try:
                code, out, err = shell.run(script(command, stdin), timeout_s)
            except TookTooLong:
                raise HostError(
                    f"{self.host.id}: `{masked(command)[:200]}` did not end within {timeout_s:g} s",
                    "Run it by hand to see what it waits for.",
                ) from None
        return Completed(code, masking.text(out), masking.text(err), time.monotonic() - started)

    @contextmanager
    def _shell(self) -> Iterator[WarmShell]:
        """A shell for one script, kept for later ones when all went well. Raises ConnectionLost when it breaks."""
        with self._broken_is_lost():
            transport = self._transport()
            try:
                shell = self._idle.pop()
            except IndexError:
                shell = self._new_shell(transport)
            try:
                yield shell
            except BaseException:
                shell.close()
                raise
            if transport.is_active() and len(self._idle) < _IDLE_SHELLS:
                self._idle.append(shell)
            else:
                shell.close()

    def _new_shell(self, transport: paramiko.Transport) -> WarmShell:
        channel = transport.open_session(timeout=CONNECT_S)
        try:
            return WarmShell(channel)
        except NoShell as error:
            said = printable(str(error)[-300:]) or "it said nothing"
            raise HostError(
                f"{self.host.id}: the account does not run commands: {said}",
                "It needs a login shell, with `sh` and `timeout` in its PATH.",
            ) from None

    @contextmanager
    def _broken_is_lost(self) -> Iterator[None]:
        try:
            yield
        except paramiko.ChannelException as error:
            raise HostError(
                f"{self.host.id}: the SSH server refuses another session: {error.text}",
                "Raise MaxSessions in its sshd_config.",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            self._forget()
            raise ConnectionLost(
                f"{self.host.id}: the connection was lost ({str(error) or type(error).__name__})",
                "Is the host up, and the network?",
            ) from error

    # --- files ---

    def entries(self, directory: str) -> list[Entry]:
        failing, said = f"can't list {directory}", ""

        def pieces() -> Generator[bytes, None, None]:
            nonlocal said
            said = yield from self._output(f"{_IN_ENGLISH}{listing.script_of(directory)}", failing)

        try:
            with closing(pieces()) as listed:
                # One more than are fetched: that there are more is seen.
                found, code = listing.read_listing(listed, MAX_ENTRIES + 1)
        except listing.BadListing as error:
            raise HostError(
                f"{self.host.id}: {failing}: {error}", "Are `find` and `stat` there those of GNU?"
            ) from error
        if code != 0 and not listing.are_gone(said):
            raise self._failed(failing, said)
        return found

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        yield from self._output(f"{_IN_ENGLISH}head -c {limit:d} -- {quote(path)}", f"can't read {path}")

    def _output(self, text: str, failing: str) -> Generator[bytes, None, str]:
        """What one of our own scripts prints, as it comes; at the end, what it complained of."""
        with self._shell() as shell:
            code, said = yield from shell.stream(text)
        if code != 0:
            raise self._failed(failing, said)
        return said

    def _failed(self, failing: str, said: str) -> HostError:
        return HostError(f"{self.host.id}: {failing}: {printable(said.strip()[-300:]).rpartition(': ')[2]}")

    # --- ports ---

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        def open_channel() -> Channel:
            with self._broken_is_lost():
                return self._transport().open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=CONNECT_S)

        return forwarded(open_channel)

    # --- the connection ---

    def close(self) -> None:
        """For good: who still waits for a job here must not connect again."""
        self._closed = True
        KEEPER.forget(self)
        self._forget()

    def _forget(self) -> None:
        with self._connecting:
            connection, self._connection = self._connection, None
            self._idle.clear()
        close(connection)

    def _transport(self) -> paramiko.Transport:
        with self._connecting:
            if self._closed:
                raise HostError(f"{self.host.id}: its connection was closed")
            if self._connection is None or not self._connection.is_connected:
                close(self._connection)
                self._connection = None
                self._idle.clear()
                try:
                    with _OPENING:
                        self._connection = connect(self.host, self._config)
                except HostError as error:
                    if self._was_connected and error.__cause__ is not None and may_pass(error.__cause__):
                        raise ConnectionLost(str(error), error.hint) from error
                    raise
                self._was_connected = True
            transport: paramiko.Transport = self._connection.transport
            return transport
