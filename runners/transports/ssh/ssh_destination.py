"""Where a connection goes: what the plan and the user's SSH configuration say of a host."""

from __future__ import annotations

import base64
import binascii
import getpass
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import paramiko

from benchbrief.model.plan import Host
from benchbrief.runners.errors import HostError

_DEPTH = 16  # as in OpenSSH
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_KEYWORD = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)")
SYSTEM = Path("/etc/ssh/ssh_config")


def config_text(config: Path | None = None) -> str:
    """Return the user's configuration, then the system's. `config` replaces both, as `ssh -F` does."""
    user_folder = Path.home() / ".ssh"
    if config is not None:
        return "\n".join(_lines(config, user_folder, 0))
    # `Host *` ends the last block of the user's file, so that the system's defaults apply to every host.
    lines = [*_lines(user_folder / "config", user_folder, 0), "Host *", *_lines(SYSTEM, SYSTEM.parent, 0)]
    return "\n".join(lines)


def _lines(path: Path, folder: Path, depth: int) -> Iterator[str]:
    if depth > _DEPTH or not path.is_file():
        return
    block = "Host *"
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = _KEYWORD.match(line)
        keyword = match[1].lower() if match else ""
        if keyword in ("host", "match"):
            block = line
        if match and keyword == "include":
            for quoted, bare in _WORD.findall(match[2]):
                for found in _expand(quoted or bare, folder):
                    yield from _lines(found, folder, depth + 1)
            yield block
        else:
            yield line


def _expand(pattern: str, folder: Path) -> list[Path]:
    path = Path(pattern).expanduser()
    if path.is_absolute():
        return sorted(Path("/").glob(str(path.relative_to("/"))))
    return sorted(folder.glob(pattern))


@dataclass(frozen=True)
class KnownKey:
    """A line of a known_hosts file: `key` is the base64 text, `where` the file and line."""

    type: str
    key: str
    marker: str
    where: str


@dataclass(frozen=True)
class KnownHost:
    """What the files say of one host."""

    name: str
    keys: tuple[KnownKey, ...]

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of its trusted keys, in the files' order."""
        return tuple(dict.fromkeys(key.type for key in self.keys if not key.marker))

    def check(self, key_type: str, key: str) -> Literal["known", "unknown", "changed", "revoked"]:
        offered = [known for known in self.keys if (known.type, known.key) == (key_type, key)]
        if any(known.marker == "@revoked" for known in offered):
            return "revoked"
        if any(not known.marker for known in offered):
            return "known"
        return "changed" if self.key_types else "unknown"


def known_host(host: str, port: int, alias: str | None, files: Iterable[Path]) -> KnownHost:
    """Look a host up. Skips a file that can't be read. `alias` is OpenSSH's HostKeyAlias."""
    name = alias or (host if port == 22 else f"[{host}]:{port}")
    name = name.lower()
    keys: list[KnownKey] = []
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for number, line in enumerate(lines, start=1):
            words = line.split()
            marker = words.pop(0) if words and words[0].startswith("@") else ""
            if len(words) >= 3 and not words[0].startswith("#") and _matches(name, words[0]):
                keys.append(KnownKey(words[1], words[2], marker, f"{file}:{number}"))
    return KnownHost(name, tuple(keys))


def _matches(name: str, field: str) -> bool:
    if field.startswith("|1|"):
        return _matches_hash(name, field)
    found = False
    for pattern in field.lower().split(","):
        # OpenSSH's patterns have only * and ?. Brackets are literal, as in [host]:port.
        plain = pattern.removeprefix("!").replace("[", "[[]")
        if fnmatchcase(name, plain):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _matches_hash(name: str, field: str) -> bool:
    try:
        _, _, salt, digest = field.split("|")
        mine = hmac.digest(base64.b64decode(salt), name.encode(), "sha1")
        return hmac.compare_digest(mine, base64.b64decode(digest))
    except (ValueError, binascii.Error):
        return False


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
