"""A port on the controller whose connections are carried through channels to somewhere else."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_PIECE = 1 << 16


class Stream(Protocol):
    """What a socket and a channel have in common."""

    def recv(self, size: int, /) -> bytes: ...
    def sendall(self, data: bytes, /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def close(self) -> None: ...


@contextmanager
def forwarded(open_channel: Callable[[], Stream]) -> Iterator[tuple[str, int]]:
    """Listen on a free port of 127.0.0.1 for as long as the block runs; each connection gets a channel of its own.

    A connection whose channel can't be opened is closed, which its client sees as a refusal.
    """
    forward = _Forward(open_channel)
    try:
        yield forward.address
    finally:
        forward.close()


class _Forward:
    def __init__(self, open_channel: Callable[[], Stream]) -> None:
        self._open_channel = open_channel
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self._streams: set[Stream] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._acceptor = threading.Thread(target=self._accept, daemon=True, name=f"forward {self.address[1]}")
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            channel = self._open_channel()
        except Exception:  # whatever the reason, this client must not hang; later ones may do better
            client.close()
            return
        with self._lock:
            if self._closed:
                client.close()
                channel.close()
                return
            self._streams |= {client, channel}
        back = threading.Thread(target=_pump, args=(channel, client), daemon=True)
        back.start()
        _pump(client, channel)
        back.join()
        for stream in (client, channel):
            stream.close()
        with self._lock:
            self._streams -= {client, channel}

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._listener.close()
        with self._lock:
            self._closed = True
            streams = list(self._streams)
        for stream in streams:
            with contextlib.suppress(OSError, EOFError):
                stream.shutdown(socket.SHUT_RDWR)  # wakes both of its pumps
            stream.close()
        self._acceptor.join()


def _pump(source: Stream, to: Stream) -> None:
    """Carry bytes one way until the source ends; then tell the other side that no more will come."""
    with contextlib.suppress(OSError, EOFError):
        while piece := source.recv(_PIECE):
            to.sendall(piece)
    with contextlib.suppress(OSError, EOFError):
        to.shutdown(socket.SHUT_WR)
