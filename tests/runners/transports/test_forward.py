"""Tests ports of a host that are reached from the controller."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import pytest

from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.seams import Transport
from tests.support.sshd import Sshd


@pytest.fixture
def echo_port() -> Iterator[int]:
    """Yield the port of a server that sends back all data that it receives, and ends when its client does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=echo, args=(client,), daemon=True).start()

        def echo(client: socket.socket) -> None:
            with client:
                while piece := client.recv(65536):
                    client.sendall(piece)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def exchange(address: tuple[str, int], data: bytes) -> bytes:
    with socket.create_connection(address, timeout=10) as sock:

        def send() -> None:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        got = b""
        while piece := sock.recv(65536):
            got += piece
        sender.join()
        return got


def test_a_port_as_seen_from_the_host_is_reached_from_here(transport: Transport, echo_port: int) -> None:
    with transport.forward("127.0.0.1", echo_port) as address:
        assert exchange(address, b"hello") == b"hello"
        big = os.urandom(3_000_000)
        assert exchange(address, big) == big


def test_several_connections_go_through_a_forwarded_port_at_once(transport: Transport, echo_port: int) -> None:
    with transport.forward("127.0.0.1", echo_port) as address:
        socks = [socket.create_connection(address, timeout=10) for _ in range(8)]
        for index, sock in enumerate(socks):
            sock.sendall(b"%d" % index)
        assert [sock.recv(10) for sock in socks] == [b"%d" % index for index in range(8)]
        for sock in socks:
            sock.close()


def test_a_forwarded_port_is_closed_with_its_connections(server: Sshd, opened: list[Transport], echo_port: int) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    with transport.forward("127.0.0.1", echo_port) as address:
        sock = socket.create_connection(address, timeout=5)
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
    assert sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)


def test_a_forwarded_port_with_nobody_behind_closes_its_connections_at_once(
    server: Sshd, opened: list[Transport]
) -> None:
    transport = open_transport(server.host)
    opened.append(transport)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with transport.forward("127.0.0.1", unused.getsockname()[1]) as address:
            assert exchange_nothing(address) == b""


def exchange_nothing(address: tuple[str, int]) -> bytes:
    with socket.create_connection(address, timeout=5) as sock:
        try:
            return sock.recv(1)
        except ConnectionResetError:
            return b""
