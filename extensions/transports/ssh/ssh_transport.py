"""The transport over SSH. The host's key is always verified, and only against the known_hosts files.

fabric opens connections and their gateways. Short commands and files use our own shells instead, for three reasons. The
time that fabric needs to capture output grows with the square of the output's size. paramiko's SFTP client leaks
replies that arrive before it has noted their requests. And a server may have no SFTP.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import fabric
import paramiko

from benchbrief.extend.common import Command, Completed, Host, HostError, Message, Secret, figure, printable
from benchbrief.extend.transports import (
    ConnectionLost,
    LimitedText,
    MarkedEnd,
    Masking,
    ReadsByScript,
    RunName,
    Session,
    mask_command,
    script,
)
from benchbrief.extensions.transports.ssh.ssh_connect import CONNECT_S, close, connect, may_pass, say

_START_S = 15.0
_KILL_AFTER_S = 2.0
_STALL_S = 60.0
"""A streamed script is given up after this many seconds without output."""
_PIECE = 1 << 16


class ShellChannel(Protocol):
    """The methods of a session channel that are used here."""

    eof_received: int
    closed: bool

    def exec_command(self, command: str) -> None: ...
    def setblocking(self, blocking: bool) -> None: ...
    def fileno(self) -> int: ...
    def send(self, s: bytes) -> int: ...
    def send_ready(self) -> bool: ...
    def recv(self, nbytes: int) -> bytes: ...
    def recv_ready(self) -> bool: ...
    def recv_stderr(self, nbytes: int) -> bytes: ...
    def recv_stderr_ready(self) -> bool: ...
    def close(self) -> None: ...


class NoShell(Exception):
    """Raised if the account does not run commands. The argument is what it printed instead."""


class TookTooLong(Exception):
    """Raised if a script was stopped on the host after its time-out."""


class WarmShell:
    """A shell that stops scripts on the host if they take too long, even after our connection is lost.

    Raises TimeoutError if the host does not answer, and ConnectionResetError if the channel ends. The shell can't be
    used after that.
    """

    def __init__(self, channel: ShellChannel) -> None:
        self._channel = channel
        mark = uuid.uuid4().hex
        # The login shell's start-up output comes before the mark, and is dropped.
        self._end = f"\n{mark} (\\d+)\n"
        self._say = f"printf '\\n{mark} %s\\n' $1"
        channel.exec_command("sh")
        channel.setblocking(False)
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)
        out, err = LimitedText(), LimitedText()
        try:
            self._converse(f"set -- $?; {self._say}; {self._say} >&2\n", out, err, _START_S)
        except ConnectionResetError:
            raise NoShell((out.text() + err.text()).strip()) from None

    def run(self, script: str, timeout_s: float) -> tuple[int, str, str]:
        """Run a script. Returns its exit code, standard output and standard error. Raises TookTooLong."""
        out, err = LimitedText(), LimitedText()
        started = time.monotonic()
        text = self._asked(script, f"timeout -k {_KILL_AFTER_S:g} {timeout_s:g} ")
        code = self._converse(text, out, err, timeout_s + 2 * _KILL_AFTER_S)
        if code in (124, 137) and time.monotonic() - started >= timeout_s:
            raise TookTooLong
        return code, out.text(), err.text()

    def stream(self, script: str) -> Generator[bytes, None, tuple[int, str]]:
        """Yield a script's standard output as it arrives. Returns its exit code and standard error.

        The host sends at most the channel's window (2 MiB) ahead of the reader, which limits the memory needed.
        """
        err = LimitedText()
        code = yield from self._answer(self._asked(script), err, _STALL_S, by_piece=True)
        return code, err.text()

    def close(self) -> None:
        self._channel.close()

    def _asked(self, script: str, within: str = "") -> str:
        here = uuid.uuid4().hex
        return f"{within}sh <<'{here}'\n{script}\n{here}\nset -- $?; {self._say}; {self._say} >&2\n"

    def _converse(self, text: str, out: LimitedText, err: LimitedText, timeout_s: float) -> int:
        answer = self._answer(text, err, timeout_s)
        while True:
            try:
                out.add(next(answer))
            except StopIteration as ended:
                return int(ended.value)

    def _answer(
        self, text: str, err: LimitedText, timeout_s: float, *, by_piece: bool = False
    ) -> Generator[bytes, None, int]:
        """Run a text in the shell, and yield the output without the mark at its end. Returns the exit code.

        The time-out applies to the whole output or, with `by_piece`, to each piece.
        """
        channel = self._channel
        data = text.encode("utf-8", "surrogateescape")
        deadline = time.monotonic() + timeout_s
        out = MarkedEnd(self._end)
        while True:
            over = channel.eof_received or channel.closed  # read before the data that had arrived by then
            while channel.recv_ready():
                if piece := out.settled(channel.recv(_PIECE)):
                    yield piece
                if by_piece:
                    deadline = time.monotonic() + timeout_s
            while channel.recv_stderr_ready():
                err.add(channel.recv_stderr(_PIECE))
            code = out.code()
            if code is not None and err.ends_with(self._end) is not None:
                err.drop_end(self._end)
                yield out.rest()
                return code
            if over:
                yield out.rest()
                raise ConnectionResetError("the shell on the host has ended")
            if data:
                with contextlib.suppress(TimeoutError):
                    data = data[channel.send(data[: 1 << 15]) :]
                if data and channel.send_ready():
                    continue
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {timeout_s:g} s")
            self._poll.poll(1000 * min(left, 0.05 if data else 1.0))


_LOOK_S = 0.1
"""How often a quiet channel checks whether the forward is being closed, in seconds."""


class Channel(Protocol):
    """The methods of a channel that are used here. A socket has them, too."""

    def settimeout(self, timeout: float | None, /) -> None: ...
    def recv(self, nbytes: int, /) -> bytes: ...
    def send(self, s: bytes, /) -> int: ...
    def shutdown_write(self) -> None: ...
    def close(self) -> None: ...


@contextmanager
def forwarded(open_channel: Callable[[], Channel]) -> Iterator[tuple[str, int]]:
    """Listen on a free port of 127.0.0.1 while the block runs. Each connection gets its own channel.

    If a channel can't be opened, the connection is closed, which its client sees as a refusal.
    """
    forward = _Forward(open_channel)
    try:
        yield forward.address
    finally:
        forward.close()


class _Forward:
    def __init__(self, open_channel: Callable[[], Channel]) -> None:
        self._open_channel = open_channel
        self._closing = threading.Event()
        self._clients: dict[socket.socket, threading.Thread] = {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self._acceptor = threading.Thread(target=self._accept, daemon=True, name=f"forward {self.address[1]}")
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self._clients = {known: its for known, its in self._clients.items() if its.is_alive()} | {client: thread}
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                channel = self._open_channel()
            except Exception:  # this client must not hang, and later ones may succeed
                return
            channel.settimeout(_LOOK_S)
            # Only this thread sends on the channel and closes it. If another closed it meanwhile, data could follow
            # the close, and a server ends the whole connection for that.
            back = threading.Thread(target=self._carry_back, args=(channel, client), daemon=True)
            back.start()
            with contextlib.suppress(OSError, EOFError):
                while piece := client.recv(_PIECE):
                    self._send(channel, piece)
                channel.shutdown_write()
            back.join()
            with contextlib.suppress(OSError, EOFError):
                channel.close()

    def _send(self, channel: Channel, piece: bytes) -> None:
        while piece and not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                piece = piece[channel.send(piece) :]

    def _carry_back(self, channel: Channel, client: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            while not self._closing.is_set():
                with contextlib.suppress(TimeoutError):
                    if not (piece := channel.recv(_PIECE)):
                        break
                    client.sendall(piece)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)  # nobody would read what it still sends

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._listener.close()
        self._acceptor.join()
        self._closing.set()
        for client, thread in self._clients.items():
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads or writes it
            thread.join()


_IDLE_SHELLS = 4
"""How many shells are kept open. By default, sshd allows 10 sessions per connection."""


class SshTransport(ReadsByScript):
    """Runs commands on a host over SSH; see `seams.Transport`. Connects on first use, and connects again after the
    connection breaks."""

    def __init__(
        self,
        host: Host,
        config: Path | None = None,
        run_name: RunName | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__(host, config, run_name, session)
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
                    say.command_late(
                        host=self.host.id, command=mask_command(command)[:200], seconds=figure(timeout_s, "g")
                    ),
                    say.hint_by_hand(),
                ) from None
        return Completed(code, masking.text(out), masking.text(err), time.monotonic() - started)

    @contextmanager
    def _shell(self) -> Iterator[WarmShell]:
        """Yield a shell for one script. If all goes well, keep the shell for later scripts. Raises ConnectionLost if
        the connection breaks."""
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
            said = printable(str(error)[-300:]) or say.said_nothing()
            raise HostError(say.no_shell(host=self.host.id, said=said), say.hint_no_shell()) from None

    @contextmanager
    def _broken_is_lost(self) -> Iterator[None]:
        try:
            yield
        except paramiko.ChannelException as error:
            raise HostError(say.no_session(host=self.host.id, said=error.text), say.hint_no_session()) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            self._forget()
            raise ConnectionLost(
                say.connection_lost(host=self.host.id, said=str(error) or type(error).__name__),
                say.hint_network(),
            ) from error

    # --- files ---

    def output(self, text: str, failing: Message) -> Generator[bytes, None, str]:
        with self._shell() as shell:
            code, said = yield from shell.stream(text)
        if code != 0:
            raise self.failed(failing, said)
        return said

    # --- ports ---

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        def open_channel() -> Channel:
            with self._broken_is_lost():
                return self._transport().open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=CONNECT_S)

        return forwarded(open_channel)

    # --- the connection ---

    def close(self) -> None:
        """Close for good. A thread that still waits for a job here will not connect again."""
        self._closed = True
        self.session.heartbeats.forget(self)
        self._forget()

    def _forget(self) -> None:
        with self._connecting:
            connection, self._connection = self._connection, None
            self._idle.clear()
        close(connection)

    def _transport(self) -> paramiko.Transport:
        with self._connecting:
            if self._closed:
                raise HostError(say.connection_closed(host=self.host.id))
            if self._connection is None or not self._connection.is_connected:
                close(self._connection)
                self._connection = None
                self._idle.clear()
                try:
                    with self.session.opening:
                        self._connection = connect(self.host, self._config)
                except HostError as error:
                    if self._was_connected and error.__cause__ is not None and may_pass(error.__cause__):
                        raise ConnectionLost(str(error), error.hint) from error
                    raise
                self._was_connected = True
            transport: paramiko.Transport = self._connection.transport
            return transport
