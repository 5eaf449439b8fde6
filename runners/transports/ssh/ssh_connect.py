"""Opening an SSH connection through jump hosts, with known keys only, and explaining why one could not be opened."""

from __future__ import annotations

import contextlib
import logging
import re
import socket
from pathlib import Path
from typing import Any

import fabric
import paramiko
from paramiko.ssh_exception import IncompatiblePeer, NoValidConnectionsError

from benchbrief.model.message import figure
from benchbrief.model.plan import Host
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.commands import printable, quote
from benchbrief.runners.transports.ssh.ssh_destination import Destination, KnownHost, resolve

_KEEPALIVE_S = 2
_UNANSWERED_MS = 10_000
"""Sent data without an acknowledgement for this long means that the network was cut."""
_HINT_NO_ADDRESS = (
    'check the name in the spec, as in `hosts = "{name}"`; or give it an address in ~/.ssh/config: `Host {name}`, and '
    "below it `HostName 192.0.2.1`"
)

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # otherwise it prints tracebacks of failed handshakes


class _UntrustedKey(paramiko.SSHException):
    """The host showed a key that known_hosts does not trust."""

    def __init__(self, verdict: str, key: paramiko.PKey, known: KnownHost) -> None:
        super().__init__(verdict)
        self.verdict = verdict
        self.key = key
        self.known = known


class _Verify(paramiko.MissingHostKeyPolicy):
    """Judges every key: the client's own list of keys stays empty, so that every key is missing from it."""

    def __init__(self, known: KnownHost) -> None:
        self._known = known

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        verdict = self._known.check(key.get_name(), key.get_base64())
        if verdict != "known":
            raise _UntrustedKey(verdict, key, self._known)


def close(connection: fabric.Connection | None) -> None:
    """Close a connection and its jump hosts' connections."""
    while isinstance(connection, fabric.Connection):
        with contextlib.suppress(Exception):  # it may be broken in any way, and nothing is lost with it
            connection.close()
            connection.client.close()
        connection = connection.gateway


def connect(host: Host, config: Path | None, depth: int = 0) -> fabric.Connection:
    """Return an open connection, through the host's jump hosts. Raises HostError from the library's own error."""
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
    """Return the last hop of `user@a:port,b`. The hops before it are its own jump."""
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
    """Return whether the failure may pass by itself, as after a restart of the host."""
    lasting = (_UntrustedKey, paramiko.AuthenticationException, paramiko.PasswordRequiredException, socket.gaierror)
    return not isinstance(error, lasting)


def _explained(host: Host, to: Destination, error: Exception, *, silent: bool) -> HostError:
    """`silent`: there is a connection, and no keys were exchanged over it."""
    by_hand = f"ssh {'' if to.port == 22 else f'-p {to.port} '}{to.user}@{to.name}"
    if isinstance(error, _UntrustedKey):
        return _untrusted(host, to, error, by_hand)
    if isinstance(error, socket.gaierror):
        return HostError(say.no_address(host=host.id, address=repr(to.address)), _HINT_NO_ADDRESS.format(name=to.name))
    if isinstance(error, NoValidConnectionsError | ConnectionRefusedError):
        refused = not isinstance(error, NoValidConnectionsError) or all(
            isinstance(each, ConnectionRefusedError) for each in error.errors.values()
        )
        what = say.refused if refused else say.unreachable
        return HostError(
            what(host=host.id, address=to.address, port=to.port), f"Is sshd running there? Try `{by_hand}`."
        )
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
            say.no_answer(host=host.id, address=to.address, port=to.port, seconds=figure(to.connect_s, "g")),
            say.hint_firewall(),
        )
    if isinstance(error, paramiko.ChannelException):
        return HostError(
            f"{host.id}: the jump host can't reach {to.address} port {to.port}: {error.text}",
            "Check the name and the port as seen from the jump host.",
        )
    # The library has no error of its own for a handshake whose time is up; it has one for an SSH server that speaks
    # another protocol or other ciphers.
    if silent and not isinstance(error, IncompatiblePeer):
        return HostError(
            say.no_sshd(host=host.id, address=to.address, port=to.port, seconds=figure(to.connect_s, "g")),
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
