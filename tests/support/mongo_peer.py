"""A scripted MongoDB server that answers each command with a prepared document.

It takes the roles that the stand-in can't take: members of a replica set, routers of a sharded cluster, servers with
WiredTiger's counters. It was written according to the documentation of MongoDB's wire protocol (OP_MSG, and OP_QUERY
for the first handshake).
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bson import decode, encode

_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_HEADER = struct.Struct("<iiii")

Document = Mapping[str, Any]
Answer = Document | Callable[[Document], Document]
"""A document, or a function that makes one from the command."""

HELLO: Document = {
    "ismaster": True,
    "maxBsonObjectSize": 16777216,
    "maxMessageSizeBytes": 48000000,
    "maxWriteBatchSize": 100000,
    "minWireVersion": 0,
    "maxWireVersion": 21,
}


Session = dict[str, Any]
"""The state of a server for one connection."""


class WireServer(socketserver.ThreadingTCPServer):
    """Answers each command on each connection with `answer(command, session)`. Port 0 means any free port."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self, address: tuple[str, int], answer: Callable[[Document, Session], Document], tls: ssl.SSLContext | None
    ) -> None:
        self.answer = answer
        self._tls = tls
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, client = super().get_request()
        return (self._tls.wrap_socket(connection, server_side=True) if self._tls else connection), client

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnects in the middle of a command."""


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, WireServer)
        session: Session = {}
        while header := self._exactly(_HEADER.size):
            length, request, _, code = _HEADER.unpack(header)
            body = self._exactly(length - _HEADER.size)
            if code == _OP_QUERY:
                start = body.index(b"\0", 4) + 9
                reply = encode(self.server.answer(decode(body[start:]), session))
                self._send(request, _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1) + reply)
            elif code == _OP_MSG:
                reply = encode(self.server.answer(_command(body), session))
                self._send(request, _OP_MSG, struct.pack("<iB", 0, 0) + reply)

    def _send(self, request: int, code: int, body: bytes) -> None:
        self.request.sendall(_HEADER.pack(_HEADER.size + len(body), 0, request, code) + body)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.request.recv(count - len(data))
            if not piece:
                return b""
            data += piece
        return data


def _command(body: bytes) -> Document:
    """Read a command from an OP_MSG, starting after the flags. It consists of a document, and named sequences of
    further documents."""
    found: dict[str, Any] = {}
    at = 4
    while at < len(body):
        kind, size = body[at], struct.unpack_from("<i", body, at + 1)[0]
        section = body[at + 1 : at + 1 + size]
        if kind == 0:
            found = {**decode(section), **found}
        else:
            end = section.index(b"\0", 4)
            documents, inside = [], end + 1
            while inside < len(section):
                length = struct.unpack_from("<i", section, inside)[0]
                documents.append(decode(section[inside : inside + length]))
                inside += length
            found[section[4:end].decode()] = documents
        at += 1 + size
    return found


def refusal(code: int, name: str, message: str) -> Document:
    return {"ok": 0, "code": code, "codeName": name, "errmsg": message}


@contextmanager
def scripted_mongod(answers: Mapping[str, Answer], tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, int]]:
    """Serve on a free port of this machine until the block ends. `answers` has the answers by the name of the
    command."""

    def answer(command: Document, _: Session) -> Document:
        name = next(iter(command))
        known = {key.lower(): value for key, value in answers.items()}
        if name.lower() == "hello":
            name = "ismaster" if "hello" not in known else name
        found = known.get(name.lower())
        if found is None and name.lower() == "ping":
            found = {}
        if found is None:
            return refusal(59, "CommandNotFound", f"no such command: '{name}'")
        return {"ok": 1, **(found(command) if callable(found) else found)}

    with WireServer(("127.0.0.1", 0), answer, tls) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield "127.0.0.1", server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
