"""Opening an SSH connection: through jump hosts, with keys that are known; and in words, why it could not be opened."""

from __future__ import annotations

import contextlib
import logging
import re
import socket
from pathlib import Path
from typing import Any

import fabric
import paramiko
from paramiko.ssh_exception import NoValidConnectionsError

from benchbrief.compiler.plan import Host
from benchbrief.runners.commands import printable, quote
from benchbrief.runners.errors import HostError
from benchbrief.runners.transports.known_hosts import KnownHost
from benchbrief.runners.transports.ssh_destination import Destination, resolve

_KEEPALIVE_S = 2
_UNANSWERED_MS = 10_000
"""A cut network is noticed when this long nothing of what was sent is acknowledged."""

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # it would print tracebacks of failed handshakes


class _UntrustedKey(paramiko.SSHException):
    """The host showed a key that known_hosts does not trust."""

    def __init__(self, verdict: str, key: paramiko.PKey, known: KnownHost) -> None:
        super().__init__(verdict)
        self.verdict = verdict
        self.key = key
        self.known = known


class _Verify(paramiko.MissingHostKeyPolicy):
    """Judges every key: the client's own list of keys is left empty, so that every key is missing from it."""

    def __init__(self, known: KnownHost) -> None:
        self._known = known

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        verdict = self._known.check(key.get_name(), key.get_base64())
        if verdict != "known":
            raise _UntrustedKey(verdict, key, self._known)


def close(connection: fabric.Connection | None) -> None:
    """Close a connection and those that it goes through."""
    while isinstance(connection, fabric.Connection):
        with contextlib.suppress(Exception):  # it may be broken in any way; nothing is lost with it
            connection.close()
            connection.client.close()
        connection = connection.gateway


def connect(host: Host, config: Path | None, depth: int = 0) -> fabric.Connection:
    """An open connection, through the host's jump hosts. Raises HostError, its cause the library's own error."""
    to = resolve(host, config)
    gateway: fabric.Connection | str | bool = to.proxy_command or False
    if to.jump:
        if depth > 8:
            raise HostError(f"{host.id}: its jump hosts go in a circle: {to.jump}", "Mend jump or ProxyJump.")
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
    # An empty configuration: from ~/.ssh/config fabric would go through a ProxyJump whose key nobody verifies.
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
        close(connection)
        explained = _explained(host, to, error)
        explained.lasting = not may_pass(error)
        raise explained from error
    connection.transport.set_keepalive(_KEEPALIVE_S)
    return connection


def _jump_host(host: Host, jump: str) -> Host:
    """The last hop of `user@a:port,b`; what is before it is its own jump."""
    before, _, last = jump.rpartition(",")
    match = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(\[[^]]+\]|[^:]+|[0-9a-fA-F:]+)(?::(\d+))?", last.strip())
    if match is None:
        raise HostError(f"{host.id}: not a jump host: {last!r}", "Write it as user@name:port.")
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
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # not on macOS, where the keep-alive alone notices a cut network
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNANSWERED_MS)
        transport = paramiko.Transport(sock, **options)
        # Ask for a key of a type that is known, else a known host could seem to have changed its key.
        types = [t for name in known.key_types for t in _signatures(name)]
        offers = transport.get_security_options()
        first = [name for name in types if name in offers.key_types]
        offers.key_types = first + [name for name in offers.key_types if name not in first]
        return transport

    return factory


def _signatures(key_type: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa") if key_type == "ssh-rsa" else (key_type,)


def may_pass(error: BaseException) -> bool:
    """Whether the failure may pass by itself, such as a restart of the host."""
    lasting = (_UntrustedKey, paramiko.AuthenticationException, paramiko.PasswordRequiredException, socket.gaierror)
    return not isinstance(error, lasting)


def _explained(host: Host, to: Destination, error: Exception) -> HostError:
    by_hand = f"ssh {'' if to.port == 22 else f'-p {to.port} '}{to.user}@{to.name}"
    if isinstance(error, _UntrustedKey):
        return _untrusted(host, to, error, by_hand)
    if isinstance(error, socket.gaierror):
        return HostError(f"{host.id}: no address found for {to.address!r}", "Check the name, or set HostName for it.")
    if isinstance(error, NoValidConnectionsError | ConnectionRefusedError):
        refused = not isinstance(error, NoValidConnectionsError) or all(
            isinstance(each, ConnectionRefusedError) for each in error.errors.values()
        )
        what = "connection refused by" if refused else "can't reach"
        return HostError(f"{host.id}: {what} {to.address} port {to.port}", f"Is sshd running there? Try `{by_hand}`.")
    if isinstance(error, paramiko.PasswordRequiredException):
        return HostError(
            f"{host.id}: the private key for {to} is protected by a passphrase", "Add it to the agent: ssh-add."
        )
    if isinstance(error, paramiko.AuthenticationException):
        tried = ", ".join(to.identities) or "the agent's keys and the default ones"
        missing = f"; no such file: {', '.join(to.missing_identities)}" if to.missing_identities else ""
        return HostError(
            f"{host.id}: {to} does not accept our keys (tried {tried}{missing})",
            f"Try `{by_hand}`; name a key with `identity` or IdentityFile, or load it with ssh-add.",
        )
    if isinstance(error, TimeoutError):
        return HostError(
            f"{host.id}: no answer from {to.address} port {to.port} within {to.connect_s:g} s",
            "Is the host up, and is a firewall between?",
        )
    if isinstance(error, paramiko.ChannelException):
        return HostError(
            f"{host.id}: the jump host can't reach {to.address} port {to.port}: {error.text}",
            "Check the name and the port as seen from the jump host.",
        )
    if "banner" in str(error) or "No existing session" in str(error):  # the handshake's time was up
        return HostError(
            f"{host.id}: {to.address} port {to.port} accepts connections, but no SSH server answers within "
            f"{to.connect_s:g} s",
            "Is it the right port? Is the host overloaded?",
        )
    return HostError(f"{host.id}: can't connect to {to}: {printable(str(error))[:300]}", f"Try `{by_hand}`.")


def _untrusted(host: Host, to: Destination, error: _UntrustedKey, by_hand: str) -> HostError:
    shown = f"{error.key.get_name()} {error.key.fingerprint}"
    where = ", ".join(key.where for key in error.known.keys)
    if error.verdict == "revoked":
        return HostError(f"{host.id}: the host key {shown} is revoked in {where}", "Do not connect to this host.")
    if error.verdict == "changed":
        return HostError(
            f"{host.id}: the host key of {to.address} has changed: it shows {shown}, known are others ({where})",
            f"Someone may be in between. If the host was reinstalled: ssh-keygen -R {quote(error.known.name)}, "
            f"then `{by_hand}` once.",
        )
    ignored = "; StrictHostKeyChecking=no is not honoured" if to.unchecked else ""
    authority = "; certificates of host keys are not supported" if error.known.keys else ""
    scan = f"ssh-keyscan {'' if to.port == 22 else f'-p {to.port} '}{to.address} >> ~/.ssh/known_hosts"
    return HostError(
        f"{host.id}: the host key of {to.address} is not known ({shown}){ignored}{authority}",
        f"Compare it with the host's own, then connect once by hand: `{by_hand}`, or `{scan}`.",
    )
