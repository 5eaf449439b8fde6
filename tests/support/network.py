"""A network for tests: hosts in namespaces on one bridge. Each has an address, a name and a real sshd.

    with network(3) as net:
        monkeypatch.setenv("HOME", str(net.home))
        net.hosts[0].cut()      # the link goes down: nothing is sent, not even a reset
        net.hosts[0].mend()

Making namespaces needs root. If that is not allowed, the hosts are servers on ports of 127.0.0.1, which have no link
that could be cut.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.sshd import free_port, new_key
from tests.support.tools import system_tool
from tests.support.waiting import until
from tests.support.wrapped import PROGRAMS

_IP = "/usr/sbin/ip" if Path("/usr/sbin/ip").exists() else "ip"
_CONFIG = """\
ListenAddress {address}
Port {port}
HostKey {directory}/host_key
PidFile none
AuthorizedKeysFile {directory}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
Subsystem sftp internal-sftp
MaxSessions 100
MaxStartups 200:30:400
SetEnv TMPDIR={directory}/tmp.{number} HOME={directory}/account.{number} PATH={programs}:/usr/local/bin:/usr/bin:/bin
"""


@dataclass
class NetHost:
    """A host that ~/.ssh/config in the network's home knows as `name`. `namespace` is "" for a host that is only a
    port."""

    name: str
    address: str
    port: int
    namespace: str
    link: str
    tmp: Path
    """The host's TMPDIR. The hosts share everything else on the disk."""
    process: subprocess.Popen[bytes]

    def cut(self) -> None:
        """Take the link down, as if somebody had pulled the cable."""
        assert self.namespace, "a server on a port has no link to cut"
        _ip("link", "set", self.link, "down")

    def mend(self) -> None:
        _ip("link", "set", self.link, "up")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(60)


@dataclass
class Network:
    directory: Path
    hosts: list[NetHost]

    @property
    def home(self) -> Path:
        """The HOME for a client. It has the keys, known_hosts and config for all hosts."""
        return self.directory / "home"

    @property
    def key(self) -> Path:
        return self.home / ".ssh" / "id_ed25519"


def can_make_namespaces() -> bool:
    """Return whether this process may make network namespaces with links between them."""
    name = f"bbtry{secrets.token_hex(3)}"
    made = subprocess.run([_IP, "netns", "add", name], capture_output=True, check=False)
    if made.returncode != 0:
        return False
    _ip("netns", "del", name)
    return True


@contextmanager
def network(count: int, *, namespaces: bool | None = None) -> Iterator[Network]:
    """Yield this many hosts, named h01, h02, ..., in namespaces if that is possible, or as requested."""
    if namespaces is None:
        namespaces = os.getuid() == 0 and can_make_namespaces()
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="benchbrief-net-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)
        ssh = directory / "home" / ".ssh"
        ssh.mkdir(parents=True)
        new_key(directory / "host_key")
        new_key(ssh / "id_ed25519")
        shutil.copy(ssh / "id_ed25519.pub", directory / "authorized_keys")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        prefix, subnet = _bridge(stack) if namespaces else ("", "")
        net = Network(directory, [])
        for number in range(1, count + 1):
            host = _host(stack, directory, number, prefix, subnet)
            net.hosts.append(host)
        _write_client_files(ssh, (directory / "host_key.pub").read_text(), net.hosts)
        for host in net.hosts:
            until(lambda host=host: _answers(host), 30)  # type: ignore[misc]  # each its own
        yield net


def _bridge(stack: ExitStack) -> tuple[str, str]:
    """Make a bridge with an address in a /24 network that this machine does not use. Returns the prefix of the bridge's
    name, and the first three numbers of the network."""
    prefix = f"bb{secrets.token_hex(3)}"
    while True:
        subnet = f"10.213.{secrets.randbelow(254) + 1}"
        if subnet + "." not in subprocess.run([_IP, "-4", "addr"], capture_output=True, text=True, check=True).stdout:
            break
    _ip("link", "add", prefix, "type", "bridge")
    stack.callback(_ip, "link", "del", prefix)
    _ip("addr", "add", f"{subnet}.254/24", "dev", prefix)
    _ip("link", "set", prefix, "up")
    return prefix, subnet


def _host(stack: ExitStack, directory: Path, number: int, prefix: str, subnet: str) -> NetHost:
    name = f"h{number:02d}"
    into: list[str] = []
    address, port, namespace, link = "127.0.0.1", 0, "", ""
    if prefix:
        namespace, link, address, port = f"{prefix}-{number}", f"{prefix}.{number}", f"{subnet}.{number}", 22
        _ip("netns", "add", namespace)
        stack.callback(_ip, "netns", "del", namespace)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        _ip("link", "set", link, "master", prefix, "up")
        _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", namespace, "link", "set", "eth0", "up")
        _ip("-n", namespace, "link", "set", "lo", "up")
        into = [_IP, "netns", "exec", namespace, "unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh"]
    else:
        port = free_port()
    config = directory / f"sshd_config.{number}"
    config.write_text(_CONFIG.format(address=address, port=port, directory=directory, number=number, programs=PROGRAMS))
    for own in ("tmp", "account"):  # a home of its own: no start-up files of who runs this
        (directory / f"{own}.{number}").mkdir()
        (directory / f"{own}.{number}").chmod(0o1777)
    with (directory / f"log.{number}").open("wb") as log:
        process = subprocess.Popen(
            [*into, system_tool("sshd"), "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=log
        )
    host = NetHost(name, address, port, namespace, link, directory / f"tmp.{number}", process)
    stack.callback(_end, host)
    return host


def _end(host: NetHost) -> None:
    """End the server. If it has a namespace, also end everything that still runs there."""
    host.stop()
    if host.namespace:
        found = subprocess.run([_IP, "netns", "pids", host.namespace], capture_output=True, text=True, check=False)
        for pid in found.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)


def _write_client_files(ssh: Path, host_key: str, hosts: list[NetHost]) -> None:
    key = " ".join(host_key.split()[:2])
    known = [f"{h.address if h.port == 22 else f'[{h.address}]:{h.port}'} {key}" for h in hosts]
    (ssh / "known_hosts").write_text("\n".join(known) + "\n")
    user = os.environ.get("USER") or "root"
    blocks = [
        f"Host {h.name}\n  HostName {h.address}\n  Port {h.port}\n  User {user}\n  IdentityFile {ssh}/id_ed25519\n"
        f"  UserKnownHostsFile {ssh}/known_hosts\n"
        for h in hosts
    ]
    (ssh / "config").write_text("\n".join(blocks))


def _answers(host: NetHost) -> bool:
    assert host.process.poll() is None, f"the sshd of {host.name} has ended"
    try:
        with socket.create_connection((host.address, host.port), timeout=1) as sock:
            return sock.recv(4).startswith(b"SSH-")
    except OSError:
        return False


def _ip(*words: str) -> None:
    subprocess.run([_IP, *words], check=True, capture_output=True)
