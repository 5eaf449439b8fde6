"""A port on the controller whose connections are forwarded through channels."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_PIECE = 1 << 16
_LOOK_S = 0.1
"""How often, in seconds, a quiet channel checks whether the forward is being closed."""


class Channel(Protocol):
    """The methods of a channel that are used here, which a socket has too."""

    def settimeout(self, timeout: float | None, /) -> None: ...
    def recv(self, nbytes: int, /) -> bytes: ...
    def send(self, s: bytes, /) -> int: ...
    def shutdown_write(self) -> None: ...
    def close(self) -> None: ...


@contextmanager
def forwarded(open_channel: Callable[[], Channel]) -> Iterator[tuple[str, int]]:
    """Listen on a free port of 127.0.0.1 while the block runs. Each connection gets its own channel.

    Closes a connection whose channel can't be opened, which its client sees as a refusal.
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
