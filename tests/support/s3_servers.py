"""Starts real servers for S3, each by different developers: moto's in Python, and gofakes3 in Go."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.support.ports import free_port
from tests.support.tools import built_tool
from tests.support.waiting import until

BUCKET = "lab"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIDTESTONLY", "AWS_SECRET_ACCESS_KEY": "not-a-secret-of-anybody"}


def settings(endpoint: str) -> dict[str, str]:
    """Return an environment that leads boto3 to the server and contains no settings of this machine."""
    return {
        **CREDENTIALS,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "2",
    }


@contextmanager
def moto() -> Iterator[str]:
    """Run moto's server, and yield its address."""
    port = free_port()
    with _served([sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port) as at:
        yield at


@contextmanager
def gofakes3(*options: str) -> Iterator[str]:
    """Run gofakes3, by default in memory, and yield its address."""
    port, program = free_port(), built_tool("gofakes3/bin/gofakes3")
    command = [str(program), "-host", f"127.0.0.1:{port}", *(options or ("-backend", "memory"))]
    with _served(command, port) as at:
        yield at


def make_bucket(endpoint: str, bucket: str = BUCKET, env: Mapping[str, str] | None = None) -> None:
    import boto3

    used = env or CREDENTIALS
    boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=used["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=used["AWS_SECRET_ACCESS_KEY"],
    ).create_bucket(Bucket=bucket)


@contextmanager
def _served(command: list[str], port: int) -> Iterator[str]:
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        command, cwd=Path(os.devnull).parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: _answers(address, process), 60)
        yield address
    finally:
        process.kill()
        process.wait()


def _answers(address: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the S3 server has ended"
    with suppress(OSError):
        try:
            urlopen(address, timeout=5).close()  # noqa: S310 - our own server
        except HTTPError:
            return True
        return True
    return False


class Between(ThreadingHTTPServer):
    """Passes requests on to an S3 server, until a test makes it answer differently.

    After `after` writes, it answers with this status and code of S3. If the status is 0, it does not answer at all. For
    the first write to a key that contains `lost`, only the answer is replaced.
    """

    daemon_threads = True

    def __init__(self, behind: str, status: int, code: str, after: float, lost: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind, self.status, self.code, self.after = behind.removeprefix("http://"), status, code, after
        self.writes, self.lost = 0, lost
        self.asked: list[str] = []
        self.closing = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Passing(BaseHTTPRequestHandler):
    server: Between
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.writes += self.command in ("PUT", "POST")
        if self.server.writes > self.server.after:
            self._answer_otherwise()
            return
        connection = HTTPConnection(self.server.behind, timeout=30)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        if self.server.lost and self.command == "PUT" and self.server.lost in self.path:
            self.server.lost = ""
            connection.close()
            self._answer_otherwise()
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        connection.close()

    def _answer_otherwise(self) -> None:
        if not self.server.status:
            self.server.closing.wait(30)
            return
        refusal = f"<?xml version='1.0'?><Error><Code>{self.server.code}</Code><Message>no</Message></Error>".encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(refusal)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(refusal)
        self.close_connection = True

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815 - what http.server looks for

    def log_message(self, *_: object) -> None: ...


@contextmanager
def between(
    behind: str, status: int = 500, code: str = "InternalError", after: float = math.inf, lost: str = ""
) -> Iterator[Between]:
    """Run a proxy in front of the S3 server `behind`. It forwards the first `after` writes, and then answers as
    described in `Between`."""
    server = Between(behind, status, code, after, lost)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
