"""Where a connection goes: what the plan and the user's SSH configuration say of a host."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path

import paramiko

from benchbrief.compiler.planning.plan import Host
from benchbrief.runners.errors import HostError
from benchbrief.runners.transports.ssh.known_hosts import KnownHost, known_host
from benchbrief.runners.transports.ssh.ssh_config import config_text

CONNECT_S = 10.0


@dataclass(frozen=True)
class Destination:
    """The address and options of a connection, after the SSH configuration was read."""

    name: str
    address: str
    port: int
    user: str
    known: KnownHost
    identities: tuple[str, ...]
    missing_identities: tuple[str, ...]
    only_identities: bool
    connect_s: float
    jump: str | None
    proxy_command: str | None
    unchecked: bool
    """The configuration asks not to check host keys, which is ignored."""

    def __str__(self) -> str:
        return f"{self.user}@{self.address} port {self.port}"


def resolve(host: Host, config: Path | None = None) -> Destination:
    """Return the destination. The plan's words on the host override the SSH configuration. Raises HostError."""
    try:
        settings = paramiko.SSHConfig.from_text(config_text(config)).lookup(host.name)
        port = host.port or int(settings.get("port", 22))
        connect_s = float(settings.get("connecttimeout", CONNECT_S))
    except (paramiko.SSHException, ValueError, ImportError, OSError) as error:
        raise HostError(f"{host.id}: can't read the SSH configuration: {error}", "Mend ~/.ssh/config.") from error
    address = settings["hostname"]
    folder = Path.home() / ".ssh"
    files = [
        *_paths(settings.get("userknownhostsfile"), [folder / "known_hosts", folder / "known_hosts2"]),
        *_paths(
            settings.get("globalknownhostsfile"),
            [Path("/etc/ssh/ssh_known_hosts"), Path("/etc/ssh/ssh_known_hosts2")],
        ),
    ]
    named = [str(Path(path).expanduser()) for path in settings.get("identityfile", [])]
    if host.identity is not None:
        identity = Path(host.identity).expanduser()
        if not identity.is_file():
            raise HostError(f"{host.id}: no such identity file: {identity}", "Name a private key that exists.")
        named.insert(0, str(identity))
    jump = host.jump or settings.get("proxyjump")
    return Destination(
        name=host.name,
        address=address,
        port=port,
        user=host.user or settings.get("user") or getpass.getuser(),
        known=known_host(address, port, settings.get("hostkeyalias"), files),
        identities=tuple(path for path in named if Path(path).is_file()),
        missing_identities=tuple(path for path in named if not Path(path).is_file()),
        only_identities=settings.get("identitiesonly", "no").lower() == "yes",
        connect_s=connect_s,
        jump=None if jump is None or jump.lower() == "none" else jump,
        proxy_command=settings.get("proxycommand"),
        unchecked=settings.get("stricthostkeychecking", "ask").lower() in ("no", "off"),
    )


def _paths(setting: str | None, default: list[Path]) -> list[Path]:
    if setting is None:
        return default
    return [Path(word).expanduser() for word in setting.split() if word.lower() != "none"]
