"""The loop of the language server: pygls over standard input and output, with our features."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys

from benchbrief.server.features import add_features
from benchbrief.server.lsp_server import BenchServer

_READ_AT_ONCE = 1 << 16
_LONGEST = 1 << 28
"""The longest message, in bytes."""
_SWITCH_S = 0.0005  # so that a check under way delays the reading of messages by little


class _Bounded(io.BufferedReader):
    """Standard input, where no message is longer than any spec: room is made for a whole one before it has come."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size) if size is not None and size <= _LONGEST else b"{}"  # no message: the client is told


def serve() -> int:
    """Speak the protocol on standard input and output until `exit`, or until the client is gone.

    Returns the exit code: 0 after `shutdown`, else 1.
    """
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()  # the modules stay: no collection need look at them
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # What anything prints must not get among the messages.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = BenchServer()
    add_features(server)
    server.start_io(_Bounded(io.FileIO(sys.stdin.fileno(), closefd=False), _READ_AT_ONCE), channel)
    return 0 if server.protocol.was_shut_down else 1
