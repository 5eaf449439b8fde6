"""BMCs for tests. They speak real RMCP+ on a UDP port of this machine.

`bmc` is pyghmi's server, which answers DCMI power readings. `bmc_with_sensors` is ipmi_sim of OpenIPMI, which has
sensors but no DCMI.

python -m tests.support.bmc PORT FILE      FILE has the watts, or `off`, or `absent` for a BMC without DCMI.

If the environment variable BMC_PASSWORD is set, it is the password.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.ports import free_port
from tests.support.tools import REPOSITORY, system_tool
from tests.support.waiting import until

USER, PASSWORD = "bench", "s3cret-bmc"
_DCMI, _GET_POWER_READING, _ACTIVE = 0x2C, 0x02, 0x40


@dataclass
class Bmc:
    """A running BMC. `says` changes what it will answer."""

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
    system_tool("ipmitool")
    port = free_port(socket.SOCK_DGRAM)
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


_SIMULATED = """\
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 @port@
    priv_limit admin
    allowed_auths_admin md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  user 2 true "@user@" "@password@" admin 10 md5 straight
"""
_W_A_STEP = 2


@contextmanager
def bmc_with_sensors(folder: Path, sensors: Mapping[str, int], celsius: tuple[str, ...] = ()) -> Iterator[Bmc]:
    """Yield a BMC with power sensors by name, in even numbers of watts, and temperature sensors (`celsius`) by name.
    `says` changes the watts of the first sensor."""
    program, _ = system_tool("ipmi_sim"), system_tool("ipmitool")
    port = free_port(socket.SOCK_DGRAM)
    made = Bmc(port, folder / "sensor-1")
    commands = ["mc_setbmc 0x20", "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02"]
    no = "0" * 15
    for number, name in enumerate((*sensors, *celsius), start=1):
        (folder / f"sensor-{number}").write_text(f"{sensors.get(name, 42) // _W_A_STEP}\n")
        record = " ".join(map(str, _record(number, name, watts=name in sensors)))
        commands += [
            f'sensor_add 0x20 0 {number} 0x0b 0x01 poll 50 file "{folder}/sensor-{number}"',
            f"main_sdr_add 0x20 {record}",
            f"sensor_set_event_support 0x20 0 {number} enable scanning per-state {no} {no} {no} {no}",
        ]
    (folder / "commands").write_text("\n".join([*commands, "mc_enable 0x20", ""]))
    text = _SIMULATED.replace("@port@", str(port)).replace("@user@", USER).replace("@password@", PASSWORD)
    (folder / "lan.conf").write_text(text)
    (folder / "state").mkdir()
    words = [str(program), "-n", "-c", str(folder / "lan.conf"), "-f", str(folder / "commands")]
    process = subprocess.Popen([*words, "-s", str(folder / "state")], stdout=subprocess.DEVNULL)
    try:
        until(lambda: f":{port:04X} " in Path("/proc/net/udp").read_text())
        yield made
    finally:
        process.kill()
        process.wait()


def _record(number: int, name: str, watts: bool) -> list[int]:
    """Return a full sensor record (IPMI 2.0, table 43-1). A reading is the raw value times a factor, in watts or
    degrees."""
    unit = 6 if watts else 1
    linear = [_W_A_STEP, 0, 0, 0, 0, 0]
    body = [
        0x20,
        0,
        number,
        0x0A,
        1,
        0x67,
        0x40,
        0x0B,
        1,
        *[0] * 6,
        0,
        unit,
        0,
        0,
        *linear,
        0,
        0,
        0,
        0,
        0xFF,
        *[0] * 12,
    ]
    body += [0xC0 | len(name), *name.encode()]
    return [0, 0, 0x51, 1, len(body), *body]


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

    server = Power(authdata={USER: os.environ.get("BMC_PASSWORD", PASSWORD)}, port=port, address="::ffff:127.0.0.1")
    print("listening", flush=True)
    server.listen()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
