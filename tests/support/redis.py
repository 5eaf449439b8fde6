"""Starts a real Redis server for tests, independent of any run."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.ports import free_port
from tests.support.tools import system_tool
from tests.support.waiting import until


@contextmanager
def redis(folder: Path) -> Iterator[int]:
    """Yield the port of a server on the loopback interface. The server saves nothing."""
    program, port = str(system_tool("redis-server")), free_port()
    words = ("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "")
    with subprocess.Popen([program, *words], stdout=subprocess.DEVNULL) as server:
        try:
            until(lambda: server.poll() is not None or _answers(port), within_s=60)
            yield port
        finally:
            server.kill()


def say(port: int, line: str) -> str:
    """Send an inline command, and return the first line of the reply."""
    with socket.create_connection(("127.0.0.1", port), 30) as opened:
        opened.sendall(f"{line}\r\n".encode())
        return opened.makefile().readline().strip()


def count(port: int, name: str) -> int:
    """Return one of the counters in INFO, or 0 as long as the server does not answer."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 30) as opened:
        opened.sendall(b"INFO stats\r\n")
        for line in opened.makefile():
            if line.startswith(f"{name}:"):
                return int(line.partition(":")[2])
    return 0


def _answers(port: int) -> bool:
    with suppress(OSError):
        return say(port, "PING") == "+PONG"
    return False
