"""A BMC for tests: real RMCP+ on a UDP port of this machine, by pyghmi's server, that answers DCMI power readings.

python -m tests.support.bmc PORT FILE      FILE holds the watts, or `off`; `absent` for a BMC without DCMI
"""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.tools import REPOSITORY
from tests.support.waiting import until

USER, PASSWORD = "bench", "s3cret-bmc"
_DCMI, _GET_POWER_READING, _ACTIVE = 0x2C, 0x02, 0x40


@dataclass
class Bmc:
    """A running BMC. `says` changes what it answers from now on."""

    port: int
    watts: Path

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def says(self, text: str) -> None:
        new = self.watts.with_suffix(".new")
        new.write_text(text)
        new.replace(self.watts)


@contextmanager
def bmc(folder: Path, watts: str = "212") -> Iterator[Bmc]:
    pytest.importorskip("pyghmi")
    if shutil.which("ipmitool") is None:
        pytest.skip("ipmitool is not installed")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    made = Bmc(port, folder / f"bmc-{port}")
    made.says(watts)
    words = [sys.executable, "-m", "tests.support.bmc", str(port), str(made.watts)]
    process = subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        until(lambda: process.stdout is not None and process.stdout.readline() == "listening\n")
        yield made
    finally:
        process.kill()
        process.wait()


def _serve(port: int, file: Path) -> None:
    from pyghmi.ipmi.bmc import Bmc as Server

    class Power(Server):  # type: ignore[misc]  # pyghmi ships no types
        def handle_raw_request(self, request: dict[str, Any], session: Any) -> None:
            if (request["netfn"], request["command"]) != (_DCMI, _GET_POWER_READING):
                super().handle_raw_request(request, session)
                return
            said = file.read_text()
            if said == "absent":
                session.send_ipmi_response(code=0xC1)
                return
            watts = 0 if said == "off" else int(said)
            state = 0 if said == "off" else _ACTIVE
            reading = struct.pack("<BHHHHIIB", 0xDC, watts, watts, watts, watts, 1_700_000_000, 1000, state)
            session.send_ipmi_response(data=list(reading))

    server = Power(authdata={USER: PASSWORD}, port=port, address="::ffff:127.0.0.1")
    print("listening", flush=True)
    server.listen()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
