"""Redfish services for tests, over real HTTP and TLS on a port of this machine. Their resources are in a mock-up
folder.

`served_by_sushy` is `sushy-static` of sushy-tools, which does not ask for a login. `bmc` is our own service in a
separate process. It behaves like a BMC: it requires a login, by Basic authentication or by a session, and has few
sessions.

python -m tests.support.redfish FOLDER [CERTIFICATE KEY]
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.ports import free_port
from tests.support.tools import REPOSITORY
from tests.support.waiting import until

USER, PASSWORD = "bench", 's3cret "redfish" \\ ü'
_SESSIONS = "/redfish/v1/SessionService/Sessions"
_MOST_SESSIONS = 2


def tree(folder: Path, resources: Mapping[str, Any]) -> Path:
    """Make a mock-up folder with a service root and these resources, given by their path below /redfish/v1."""
    root = {"@odata.id": "/redfish/v1", "Links": {"Sessions": {"@odata.id": _SESSIONS}}}
    for path, content in {"": root, **resources}.items():
        place = folder / path / "index.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(".new")
        new.write_text(json.dumps({"@odata.id": f"/redfish/v1/{path}".rstrip("/"), **content}))
        new.replace(place)
    return folder


def link(path: str) -> dict[str, str]:
    return {"@odata.id": f"/redfish/v1/{path}"}


def by_power(watts: object, *names: str) -> dict[str, Any]:
    """Return a chassis `1` with the resource `Power`, which is deprecated but common."""
    controls = [{"Name": name, "PowerConsumedWatts": watts} for name in names or ("Server Power Control",)]
    return {
        "Chassis": {"Members": [link("Chassis/1")]},
        "Chassis/1": {"Power": link("Chassis/1/Power")},
        "Chassis/1/Power": {"PowerControl": controls},
    }


@dataclass
class Certificate:
    file: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.file.read_text())).hexdigest()


def certificate(folder: Path) -> Certificate:
    """Make a self-signed certificate for 127.0.0.1."""
    made = Certificate(folder / "bmc.pem", folder / "bmc.key")
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=bmc", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(made.key)]
    subprocess.run([*words, "-out", str(made.file)], check=True, capture_output=True)
    return made


@contextmanager
def served_by_sushy(folder: Path) -> Iterator[str]:
    port = free_port()
    program = Path(sys.executable).with_name("sushy-static")
    words = [str(program), "-i", "127.0.0.1", "-p", str(port), "-m", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: _answers(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Bmc:
    address: str
    folder: Path

    @property
    def requests(self) -> list[str]:
        """Return the requests that the BMC received, in the form METHOD PATH HOW."""
        return (self.folder / "requests").read_text().splitlines()


@contextmanager
def bmc(folder: Path, signed: Certificate | None = None) -> Iterator[Bmc]:
    words = [sys.executable, "-m", "tests.support.redfish", str(folder)]
    words += [str(signed.file), str(signed.key)] if signed else []
    (folder / "requests").touch()
    process = subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield Bmc(f"{'https' if signed else 'http'}://127.0.0.1:{port}", folder)
    finally:
        process.kill()
        process.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path
    sessions: dict[str, str]

    def do_GET(self) -> None:
        how = self._how()
        self._note(how)
        file = self.folder / self.path.removeprefix("/redfish/v1").strip("/") / "index.json"
        if how == "nobody" and self.path.rstrip("/") != "/redfish/v1":
            self._answer(401, {"error": {"message": "no valid login"}})
        elif not file.is_file():
            self._answer(404, {"error": {"message": f"the resource {self.path} was not found"}})
        else:
            self._answer(200, json.loads(file.read_text()))

    def do_POST(self) -> None:
        self._note("login")
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != _SESSIONS or given != {"UserName": USER, "Password": PASSWORD}:
            self._answer(401, {"error": {"message": "no valid login"}})
        elif len(self.sessions) >= _MOST_SESSIONS:
            self._answer(503, {"error": {"@Message.ExtendedInfo": [{"Message": "There are no sessions left."}]}})
        else:
            token = f"token-{len(self.requests_seen())}"
            self.sessions[token] = f"{_SESSIONS}/{token}"
            self._answer(201, {}, {"X-Auth-Token": token, "Location": self.sessions[token]})

    def do_DELETE(self) -> None:
        self._note(self._how())
        for token, place in list(self.sessions.items()):
            if place == self.path and self.headers.get("X-Auth-Token") == token:
                del self.sessions[token]
        self._answer(200, {})

    def _how(self) -> str:
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") == f"Basic {basic}":
            return "basic"
        return "session" if self.headers.get("X-Auth-Token") in self.sessions else "nobody"

    def requests_seen(self) -> list[str]:
        return (self.folder / "requests").read_text().splitlines()

    def _note(self, how: str) -> None:
        with (self.folder / "requests").open("a") as file:
            file.write(f"{self.command} {self.path} {how} {self.client_address[1]}\n")

    def _answer(self, status: int, content: object, headers: Mapping[str, str] | None = None) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def _serve(folder: Path, signed: tuple[str, ...]) -> None:
    handler = type("Handler", (_Handler,), {"folder": folder, "sessions": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if signed:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*signed)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), tuple(sys.argv[2:]))
