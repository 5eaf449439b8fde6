"""A scripted MongoDB server: it answers each command with a document prepared for it.

For what the stand-in can't be: members of a replica set, routers of a sharded cluster, WiredTiger's counters. Written
against MongoDB's wire protocol documentation (OP_MSG, and OP_QUERY for the first handshake).
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bson import decode, encode

_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_HEADER = struct.Struct("<iiii")

Document = Mapping[str, Any]

HELLO: Document = {
    "ismaster": True,
    "maxBsonObjectSize": 16777216,
    "maxMessageSizeBytes": 48000000,
    "maxWriteBatchSize": 100000,
    "minWireVersion": 0,
    "maxWireVersion": 21,
}


@contextmanager
def scripted_mongod(answers: Mapping[str, Document], tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, int]]:
    """Serve on a free port of this machine until the block ends. `answers` are keyed by the command's name."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while header := self._exactly(_HEADER.size):
                length, request, _, code = _HEADER.unpack(header)
                body = self._exactly(length - _HEADER.size)
                if code == _OP_QUERY:
                    start = body.index(b"\0", 4) + 9
                    reply = encode(self._answer(decode(body[start:])))
                    self._send(request, _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1) + reply)
                elif code == _OP_MSG:
                    reply = encode(self._answer(decode(body[5:])))
                    self._send(request, _OP_MSG, struct.pack("<iB", 0, 0) + reply)

        def _answer(self, command: Document) -> Document:
            name = next(iter(command))
            known = {key.lower(): value for key, value in answers.items()}
            if name.lower() == "hello":
                name = "ismaster" if "hello" not in known else name
            found = known.get(name.lower())
            if found is None and name.lower() == "ping":
                found = {}
            if found is None:
                return {"ok": 0, "code": 59, "codeName": "CommandNotFound", "errmsg": f"no such command: '{name}'"}
            return {"ok": 1, **found}

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

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def get_request(self) -> tuple[socket.socket, Any]:
            connection, client = super().get_request()
            return (tls.wrap_socket(connection, server_side=True) if tls else connection), client

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield "127.0.0.1", server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
