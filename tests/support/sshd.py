"""Starts a real sshd for tests, with its own port, host key and user key, and a home directory for its client.

with sshd() as server:
    monkeypatch.setenv("HOME", str(server.home))
    transport = open_transport(server.host)
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbrief.model.plan import Host
from tests.support.tools import system_tool
from tests.support.waiting import until
from tests.support.wrapped import PROGRAMS

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


@dataclass
class Sshd:
    """A running server. With `home` as its HOME, a client knows the server under the name `box`."""

    directory: Path
    port: int
    user: str
    process: subprocess.Popen[bytes]

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def host(self) -> Host:
        """Return the name of the server in a plan. ~/.ssh/config has everything else."""
        return Host(id="box", transport="ssh", name="box")

    @property
    def host_key(self) -> str:
        """Return the type and the key, as in a line of known_hosts."""
        return " ".join((self.directory / "host_key.pub").read_text().split()[:2])

    @property
    def key(self) -> Path:
        """Return the path of the user's private key."""
        return self.home / ".ssh" / "id_ed25519"

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text(errors="replace")

    def write_config(self, *more: str, name: str = "box") -> None:
        """Write ~/.ssh/config for this server. Additional lines go into its block."""
        lines = [f"Host {name}", "HostName 127.0.0.1", f"Port {self.port}", f"User {self.user}", *more]
        (self.home / ".ssh" / "config").write_text("\n    ".join(lines) + "\n")

    def write_known_hosts(self, *lines: str) -> None:
        """Write ~/.ssh/known_hosts, by default with the server's own key."""
        text = "\n".join(lines or [f"[127.0.0.1]:{self.port} {self.host_key}"])
        (self.home / ".ssh" / "known_hosts").write_text(text + "\n")

    def change_host_key(self) -> None:
        """Give the server another key of the same type. Connections from now on see the new key."""
        starts = self.log.count("Server listening")
        new_key(self.directory / "host_key")
        self.process.send_signal(signal.SIGHUP)  # it executes itself anew, under the same pid
        until(lambda: self.log.count("Server listening") > starts)

    def sessions(self) -> list[int]:
        """Return the pids of the server's processes that serve connections."""
        children: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = stat.read_text().split(" ", 1)
            except OSError:  # it has ended
                continue
            name, _, fields = rest.rpartition(") ")
            if name.startswith("(sshd"):
                children.setdefault(int(fields.split()[1]), []).append(int(pid))
        found, waiting = [], [self.process.pid]
        while waiting:
            below = children.get(waiting.pop(), [])
            found += below
            waiting += below
        return found

    def stop(self) -> None:
        """End the server and its connections, as if its host went down."""
        self.process.send_signal(signal.SIGSTOP)  # its children stay its own until they are counted
        self.cut_connections()
        self.process.kill()
        self.process.wait(60)

    def start_again(self) -> None:
        """After `stop`, start the same server on the same port again."""
        self.process = _begun(system_tool("sshd"), self.directory)
        _wait_for_banner(self)

    def cut_connections(self) -> int:
        """Kill the server's side of every connection. Returns how many processes were killed."""
        pids = self.sessions()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it ended with its parent
                os.kill(pid, signal.SIGKILL)
        return len(pids)


def _begun(program: Path, directory: Path) -> subprocess.Popen[bytes]:
    with (directory / "log").open("ab") as log:
        return subprocess.Popen(
            [program, "-D", "-e", "-f", str(directory / "sshd_config")], stdin=subprocess.DEVNULL, stderr=log
        )


@contextmanager
def sshd(*, user: str | None = None, config: str = "") -> Iterator[Sshd]:
    """Run a server that lets `user` in, by default the user who runs the tests. `config` has additional lines for
    sshd_config.

    It has its own HOME and, unless `config` sets one, its own TMPDIR. So, as on separate hosts, the jobs and claims of
    one server are not seen on another. Its shells do not read the start-up files of the user who runs the tests, which
    may be slow. Its `db_bench` is the one that spares the processor, unless `config` sets PATH or TMPDIR.
    """
    program = system_tool("sshd")
    user = user or getpass.getuser()
    # Not below pytest's own directory: sshd reads the authorized keys as the user who logs in.
    directory = Path(tempfile.mkdtemp(prefix="benchbrief-sshd-"))
    server = None
    try:
        directory.chmod(0o755)
        ssh = directory / "home" / ".ssh"
        ssh.mkdir(parents=True)
        new_key(directory / "host_key")
        new_key(ssh / "id_ed25519")
        shutil.copy(ssh / "id_ed25519.pub", directory / "authorized_keys")
        (directory / "authorized_keys").chmod(0o644)
        scratch = directory / "tmp"
        scratch.mkdir()
        scratch.chmod(0o1777)
        account = directory / "account"
        account.mkdir()
        account.chmod(0o1777)
        if "TMPDIR=" not in config:  # of several SetEnv lines, the first alone counts
            own = f'SetEnv TMPDIR={scratch} HOME={account} "JAVA_OPTS={os.environ.get("JAVA_OPTS", "")}"'
            if "PATH=" not in config:
                own += f" PATH={PROGRAMS}:/usr/local/bin:/usr/bin:/bin"
            config = config.replace("SetEnv", own, 1) if "SetEnv" in config else f"{config}\n{own}"
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        port = free_port()
        (directory / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {directory}/host_key\nPidFile {directory}/pid\n"
            f"AuthorizedKeysFile {directory}/authorized_keys\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n"
            "Subsystem sftp internal-sftp\nMaxSessions 100\nMaxStartups 200:30:400\n" + config + "\n"
        )
        server = Sshd(directory, port, user, _begun(program, directory))
        server.write_config()
        server.write_known_hosts()
        _wait_for_banner(server)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(directory)


@contextmanager
def system_user() -> Iterator[str]:
    """Yield a user who exists only during the block. Needs root."""
    name = f"bb{uuid.uuid4().hex[:8]}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True, env={"PATH": _PATH})
    # An account without a password counts as locked: one that no password fits does not.
    subprocess.run(["usermod", "--password", "*", name], check=True, env={"PATH": _PATH})
    try:
        yield name
    finally:
        subprocess.run(["userdel", "--remove", name], check=True, env={"PATH": _PATH}, stderr=subprocess.DEVNULL)
        shutil.rmtree(f"/tmp/benchbrief-{name}", ignore_errors=True)


def new_key(path: Path) -> None:
    path.unlink(missing_ok=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, stdin=subprocess.DEVNULL
    )


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_for_banner(server: Sshd) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", server.port), timeout=1) as sock:
                if sock.recv(4).startswith(b"SSH-"):
                    return
        except OSError:
            assert server.process.poll() is None, f"sshd did not start:\n{server.log}"
            time.sleep(0.01)
    raise TimeoutError(f"sshd does not answer:\n{server.log}")
