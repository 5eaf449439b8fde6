"""Opens an SSH connection through jump hosts, trusting only known keys, and explains why a connection could not be
opened."""

from __future__ import annotations

import base64
import binascii
import contextlib
import getpass
import hmac
import logging
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import fabric
import paramiko
from paramiko.ssh_exception import IncompatiblePeer, NoValidConnectionsError

from benchbrief.extend.common import CommonSentences, Host, HostError, Message, figure, printable, quote, speaker


class SshMessages(CommonSentences, Protocol):
    def connection_lost(self, *, host: object, said: object) -> Message: ...
    def connection_closed(self, *, host: object) -> Message: ...
    def no_answer(self, *, host: object, address: object, port: object, seconds: object) -> Message: ...
    def refused(self, *, host: object, address: object, port: object) -> Message: ...
    def unreachable(self, *, host: object, address: object, port: object) -> Message: ...
    def no_address(self, *, host: object, address: object) -> Message: ...
    def no_sshd(self, *, host: object, address: object, port: object, seconds: object) -> Message: ...
    def hint_network(self) -> Message: ...
    def hint_firewall(self) -> Message: ...
    def ssh_config_unread(self, *, host: object, said: object) -> Message: ...
    def no_identity(self, *, host: object, path: object) -> Message: ...
    def jump_circle(self, *, host: object, jump: object) -> Message: ...
    def no_jump_host(self, *, host: object, name: object) -> Message: ...
    def key_locked(self, *, host: object, to: object) -> Message: ...
    def keys_refused(self, *, host: object, to: object, tried: object) -> Message: ...
    def keys_default(self) -> Message: ...
    def keys_missing(self, *, tried: object, paths: object) -> Message: ...
    def jump_unreachable(self, *, host: object, address: object, port: object, said: object) -> Message: ...
    def not_connected(self, *, host: object, to: object, said: object) -> Message: ...
    def key_revoked(self, *, host: object, key: object, where: object) -> Message: ...
    def key_changed(self, *, host: object, address: object, key: object, where: object) -> Message: ...
    def key_unknown(self, *, host: object, address: object, key: object) -> Message: ...
    def unchecked_keys(self) -> Message: ...
    def key_certificates(self) -> Message: ...
    def no_shell(self, *, host: object, said: object) -> Message: ...
    def no_session(self, *, host: object, said: object) -> Message: ...
    def hint_ssh_config(self) -> Message: ...
    def hint_identity(self) -> Message: ...
    def hint_no_address(self, *, name: object) -> Message: ...
    def hint_jump_circle(self) -> Message: ...
    def hint_jump_host(self) -> Message: ...
    def hint_sshd(self, *, command: object) -> Message: ...
    def hint_ssh_add(self) -> Message: ...
    def hint_keys_refused(self, *, command: object) -> Message: ...
    def hint_jump_unreachable(self) -> Message: ...
    def hint_right_port(self) -> Message: ...
    def hint_try(self, *, command: object) -> Message: ...
    def hint_key_revoked(self) -> Message: ...
    def hint_key_changed(self, *, name: object, command: object) -> Message: ...
    def hint_key_unknown(self, *, command: object, scan: object) -> Message: ...
    def hint_no_shell(self) -> Message: ...
    def hint_no_session(self) -> Message: ...


say: SshMessages = speaker(SshMessages)

_DEPTH = 16  # as in OpenSSH
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_KEYWORD = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)")
SYSTEM = Path("/etc/ssh/ssh_config")


def config_text(config: Path | None = None) -> str:
    """Return the user's configuration followed by the system's. `config` replaces both, as in `ssh -F`."""
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
    """A line of a known_hosts file. `key` is the base64 text, and `where` is the file and line."""

    type: str
    key: str
    marker: str
    where: str


@dataclass(frozen=True)
class KnownHost:
    """The entries about one host in the known_hosts files."""

    name: str
    keys: tuple[KnownKey, ...]

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the host's trusted keys, in the files' order."""
        return tuple(dict.fromkeys(key.type for key in self.keys if not key.marker))

    def check(self, key_type: str, key: str) -> Literal["known", "unknown", "changed", "revoked"]:
        offered = [known for known in self.keys if (known.type, known.key) == (key_type, key)]
        if any(known.marker == "@revoked" for known in offered):
            return "revoked"
        if any(not known.marker for known in offered):
            return "known"
        return "changed" if self.key_types else "unknown"


def known_host(host: str, port: int, alias: str | None, files: Iterable[Path]) -> KnownHost:
    """Look up a host in the known_hosts files. Files that can't be read are skipped. `alias` is OpenSSH's
    HostKeyAlias."""
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
    """The address and options of a connection, as the SSH configuration sets them."""

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
    """Whether the configuration asks to skip the check of host keys. They are checked all the same."""

    def __str__(self) -> str:
        return f"{self.user}@{self.address} port {self.port}"


def resolve(host: Host, config: Path | None = None) -> Destination:
    """Return where and how to connect. The plan's settings for the host override the SSH configuration. Raises
    HostError."""
    try:
        settings = _parsed(config_text(config)).lookup(host.name)
        port = host.port or int(settings.get("port", 22))
        connect_s = float(settings.get("connecttimeout", CONNECT_S))
    except (paramiko.SSHException, ValueError, ImportError, OSError) as error:
        raise HostError(say.ssh_config_unread(host=host.id, said=error), say.hint_ssh_config()) from error
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
            raise HostError(say.no_identity(host=host.id, path=identity), say.hint_identity())
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


@lru_cache(maxsize=4)
def _parsed(text: str) -> paramiko.SSHConfig:
    """Parse a configuration once for all hosts that share it."""
    return paramiko.SSHConfig.from_text(text)


def _paths(setting: str | None, default: list[Path]) -> list[Path]:
    if setting is None:
        return default
    return [Path(word).expanduser() for word in setting.split() if word.lower() != "none"]


_KEEPALIVE_S = 2
_UNANSWERED_MS = 10_000
"""How many milliseconds sent data may stay unacknowledged before the network counts as cut."""

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # otherwise it prints tracebacks of failed handshakes


class _UntrustedKey(paramiko.SSHException):
    """Raised if the host showed a key that known_hosts does not trust."""

    def __init__(self, verdict: str, key: paramiko.PKey, known: KnownHost) -> None:
        super().__init__(verdict)
        self.verdict = verdict
        self.key = key
        self.known = known


class _Verify(paramiko.MissingHostKeyPolicy):
    """Checks every host key. paramiko calls it for keys missing from the client's list, and that list is kept empty."""

    def __init__(self, known: KnownHost) -> None:
        self._known = known

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        verdict = self._known.check(key.get_name(), key.get_base64())
        if verdict != "known":
            raise _UntrustedKey(verdict, key, self._known)


def close(connection: fabric.Connection | None) -> None:
    """Close a connection and the connections to its jump hosts."""
    while isinstance(connection, fabric.Connection):
        with contextlib.suppress(Exception):  # it may be broken in any way, and nothing is lost with it
            connection.close()
            connection.client.close()
        connection = connection.gateway


def connect(host: Host, config: Path | None, depth: int = 0) -> fabric.Connection:
    """Open a connection, through the host's jump hosts. Converts the library's own errors to HostError."""
    to = resolve(host, config)
    gateway: fabric.Connection | str | bool = to.proxy_command or False
    if to.jump:
        if depth > 8:
            raise HostError(say.jump_circle(host=host.id, jump=to.jump), say.hint_jump_circle())
        gateway = connect(_jump_host(host, to.jump), config, depth + 1)
    keys = {
        "key_filename": list(to.identities),
        "look_for_keys": not to.only_identities and not to.identities,
        "allow_agent": not to.only_identities,
        "banner_timeout": to.connect_s,
        "auth_timeout": 3 * to.connect_s,
        "channel_timeout": to.connect_s,
        "transport_factory": _transport_factory(to.known),
    }
    # An empty configuration: with ~/.ssh/config, fabric would use a ProxyJump without verifying its key.
    connection = fabric.Connection(
        to.address,
        user=to.user,
        port=to.port,
        gateway=gateway,
        connect_timeout=max(1, round(to.connect_s)),
        connect_kwargs=keys,
        config=fabric.Config(lazy=True, ssh_config=paramiko.SSHConfig()),
    )
    connection.client.set_missing_host_key_policy(_Verify(to.known))
    try:
        connection.open()
    except Exception as error:
        transport = connection.client.get_transport()
        silent = transport is not None and not transport.initial_kex_done
        close(connection)
        explained = _explained(host, to, error, silent=silent)
        explained.lasting = not may_pass(error)
        raise explained from error
    connection.transport.set_keepalive(_KEEPALIVE_S)
    return connection


def _jump_host(host: Host, jump: str) -> Host:
    """Return the last hop of `user@a:port,b`. The hops before it become that hop's own jump."""
    before, _, last = jump.rpartition(",")
    match = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(\[[^]]+\]|[^:]+|[0-9a-fA-F:]+)(?::(\d+))?", last.strip())
    if match is None:
        raise HostError(say.no_jump_host(host=host.id, name=repr(last)), say.hint_jump_host())
    user, name, port = match.groups()
    name = name.strip("[]")
    return Host(
        id=f"{host.id} (jump host {name})",
        transport="ssh",
        name=name,
        user=user,
        port=int(port) if port else None,
        jump=before or None,
        identity=host.identity,
    )


def _transport_factory(known: KnownHost) -> Any:
    def factory(sock: Any, **options: Any) -> paramiko.Transport:
        if isinstance(sock, socket.socket):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # not on macOS, where only the keep-alive notices a cut network
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNANSWERED_MS)
        transport = paramiko.Transport(sock, **options)
        # Ask for a key of a known type. Otherwise a known host could seem to have changed its key.
        types = [t for name in known.key_types for t in _signatures(name)]
        offers = transport.get_security_options()
        first = [name for name in types if name in offers.key_types]
        offers.key_types = first + [name for name in offers.key_types if name not in first]
        return transport

    return factory


def _signatures(key_type: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa") if key_type == "ssh-rsa" else (key_type,)


def may_pass(error: BaseException) -> bool:
    """Return whether the failure may be temporary, for example while the host restarts."""
    lasting = (_UntrustedKey, paramiko.AuthenticationException, paramiko.PasswordRequiredException, socket.gaierror)
    return not isinstance(error, lasting)


def _explained(host: Host, to: Destination, error: Exception, *, silent: bool) -> HostError:
    """Return the error for a failed connection. `silent` means that the connection was open, but no keys were
    exchanged."""
    by_hand = f"ssh {'' if to.port == 22 else f'-p {to.port} '}{to.user}@{to.name}"
    if isinstance(error, _UntrustedKey):
        return _untrusted(host, to, error, by_hand)
    if isinstance(error, socket.gaierror):
        return HostError(say.no_address(host=host.id, address=repr(to.address)), say.hint_no_address(name=to.name))
    if isinstance(error, NoValidConnectionsError | ConnectionRefusedError):
        refused = not isinstance(error, NoValidConnectionsError) or all(
            isinstance(each, ConnectionRefusedError) for each in error.errors.values()
        )
        what = say.refused if refused else say.unreachable
        return HostError(what(host=host.id, address=to.address, port=to.port), say.hint_sshd(command=by_hand))
    if isinstance(error, paramiko.PasswordRequiredException):
        return HostError(say.key_locked(host=host.id, to=to), say.hint_ssh_add())
    if isinstance(error, paramiko.AuthenticationException):
        tried = ", ".join(to.identities) or say.keys_default()
        if to.missing_identities:
            tried = say.keys_missing(tried=tried, paths=", ".join(to.missing_identities))
        return HostError(say.keys_refused(host=host.id, to=to, tried=tried), say.hint_keys_refused(command=by_hand))
    if isinstance(error, TimeoutError):
        return HostError(
            say.no_answer(host=host.id, address=to.address, port=to.port, seconds=figure(to.connect_s, "g")),
            say.hint_firewall(),
        )
    if isinstance(error, paramiko.ChannelException):
        return HostError(
            say.jump_unreachable(host=host.id, address=to.address, port=to.port, said=error.text),
            say.hint_jump_unreachable(),
        )
    # The library has no special error for a handshake that timed out. It has one for an SSH server that speaks
    # another protocol or other ciphers.
    if silent and not isinstance(error, IncompatiblePeer):
        return HostError(
            say.no_sshd(host=host.id, address=to.address, port=to.port, seconds=figure(to.connect_s, "g")),
            say.hint_right_port(),
        )
    said = printable(str(error))[:300]
    return HostError(say.not_connected(host=host.id, to=to, said=said), say.hint_try(command=by_hand))


def _untrusted(host: Host, to: Destination, error: _UntrustedKey, by_hand: str) -> HostError:
    shown = f"{error.key.get_name()} {error.key.fingerprint}"
    where = ", ".join(key.where for key in error.known.keys)
    if error.verdict == "revoked":
        return HostError(say.key_revoked(host=host.id, key=shown, where=where), say.hint_key_revoked())
    if error.verdict == "changed":
        return HostError(
            say.key_changed(host=host.id, address=to.address, key=shown, where=where),
            say.hint_key_changed(name=quote(error.known.name), command=by_hand),
        )
    said = say.key_unknown(host=host.id, address=to.address, key=shown)
    if to.unchecked:
        said = say.both(first=said, then=say.unchecked_keys())
    if error.known.keys:
        said = say.both(first=said, then=say.key_certificates())
    scan = f"ssh-keyscan {'' if to.port == 22 else f'-p {to.port} '}{to.address} >> ~/.ssh/known_hosts"
    return HostError(said, say.hint_key_unknown(command=by_hand, scan=scan))
