"""A PDU for tests. It is Debian's snmpd with our script for the vendors' objects, over SNMPv2c and SNMPv3 on the
loopback interface."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port
from tests.support.tools import system_tool
from tests.support.waiting import until

COMMUNITY, USER, AUTH, PRIVACY = 's3cret "community"', "bench", "s3cret auth#phrase", "s3cret-privacy\\phrase"
_OBJECTS = ".1.3.6.1.4.1"

# `pass`: snmpd runs it with -g OID, and takes three lines: the object, its type, its value.
_SCRIPT = """\
#!/bin/sh
[ "$1" = -g ] && [ -f @folder@/objects/"$2" ] || exit 0
echo "$2"; echo integer; cat @folder@/objects/"$2"
"""


@dataclass
class Pdu:
    port: int
    folder: Path

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def says(self, values: Mapping[str, int | None]) -> None:
        """Set objects by their identifiers. A value of None removes the object."""
        for oid, value in values.items():
            place = self.folder / "objects" / f".{oid}"
            if value is None:
                place.unlink()
                continue
            new = self.folder / "new"
            new.write_text(f"{value}\n")
            new.replace(place)


@contextmanager
def pdu(folder: Path, values: Mapping[str, int | None]) -> Iterator[Pdu]:
    program, _ = system_tool("snmpd"), system_tool("snmpget")
    made = Pdu(free_port(socket.SOCK_DGRAM), folder)
    (folder / "objects").mkdir()
    made.says(values)
    script = folder / "objects.sh"
    script.write_text(_SCRIPT.replace("@folder@", str(folder)))
    script.chmod(0o755)
    community, auth, privacy = (text.replace("\\", "\\\\").replace('"', '\\"') for text in (COMMUNITY, AUTH, PRIVACY))
    (folder / "snmpd.conf").write_text(
        f'agentaddress udp:127.0.0.1:{made.port}\nrocommunity "{community}" 127.0.0.1 {_OBJECTS}\n'
        f'createUser {USER} SHA "{auth}" AES "{privacy}"\nrouser {USER} priv {_OBJECTS}\n'
        f"pass {_OBJECTS} {script}\n"
    )
    words = [str(program), "-f", "-C", "-c", str(folder / "snmpd.conf"), "-Lf", str(folder / "log"), "-I", "-smux"]
    env = {**os.environ, "SNMP_PERSISTENT_DIR": str(folder / "state"), "MIBS": ""}
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: f":{made.port:04X} " in Path("/proc/net/udp").read_text())
        yield made
    finally:
        process.kill()
        process.wait()
