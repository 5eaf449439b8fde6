"""Servers that speak S3, each a real one of its own making: moto's, in Python, and gofakes3, in Go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.support.ports import free_port
from tests.support.tools import built_tool
from tests.support.waiting import until

BUCKET = "lab"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIDTESTONLY", "AWS_SECRET_ACCESS_KEY": "not-a-secret-of-anybody"}


def settings(endpoint: str) -> dict[str, str]:
    """The environment in which boto3 finds the server, and nothing of this machine's own."""
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
    """Run gofakes3, in memory unless `options` say otherwise, and yield its address."""
    port, program = free_port(), built_tool("gofakes3/bin/gofakes3")
    command = [str(program), "-host", f"127.0.0.1:{port}", *(options or ("-backend", "memory"))]
    with _served(command, port) as at:
        yield at


def make_bucket(endpoint: str, bucket: str = BUCKET, env: Mapping[str, str] | None = None) -> None:
    import boto3

    told = env or CREDENTIALS
    boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
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
