"""The transport over SSH. The host's key is always verified, against the known_hosts files only.

fabric opens connections and their gateways. Short commands go through shells of our own: fabric's capture of output
takes time that grows with the square of its size.
"""

from __future__ import annotations

import contextlib
import getpass
import logging
import re
import socket
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fabric
import paramiko
from paramiko.ssh_exception import NoValidConnectionsError

from benchbrief.compiler.plan import Host
from benchbrief.runners import jobs, locks
from benchbrief.runners.commands import Masking, masked, printable, quote, script
from benchbrief.runners.errors import ConnectionLost, HostError, HostFull, RunnerError
from benchbrief.runners.fan_out import AT_ONCE
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.seams import JobState, RunningJob
from benchbrief.runners.tasks import Command, Completed, Job, RunName, Secret
from benchbrief.runners.transports.forward import Channel, forwarded
from benchbrief.runners.transports.known_hosts import KnownHost, known_host
from benchbrief.runners.transports.ssh_config import config_text
from benchbrief.runners.transports.warm_shell import NoShell, TookTooLong, WarmShell

_CONNECT_S = 10.0
_KEEPALIVE_S = 2
_UNANSWERED_MS = 10_000
"""A cut network is noticed when this long nothing of what was sent is acknowledged."""
_IDLE_SHELLS = 4
"""How many shells are kept for later; sshd allows 10 sessions for a connection unless told otherwise."""
_OPENING = threading.BoundedSemaphore(2 * AT_ONCE)
"""Connections that are being opened at a time, by all threads: after a network's outage every lane of a fleet opens its
own again, perhaps through one jump host, whose sshd refuses some of many."""
_SFTP_HINT = "Outputs are fetched by SFTP: put `Subsystem sftp internal-sftp` into its sshd_config."
_WINDOW = 4 << 20
"""Bytes of a file asked for at a time."""
_REQUEST = 32 << 10

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


@dataclass(frozen=True)
class Destination:
    """Where a connection goes, after the SSH configuration was read."""

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
    """The configuration asks not to check host keys, which is not honoured."""

    def __str__(self) -> str:
        return f"{self.user}@{self.address} port {self.port}"


def resolve(host: Host, config: Path | None = None) -> Destination:
    """The plan's own words on the host go before the SSH configuration. Raises HostError."""
    try:
        settings = paramiko.SSHConfig.from_text(config_text(config)).lookup(host.name)
        port = host.port or int(settings.get("port", 22))
        connect_s = float(settings.get("connecttimeout", _CONNECT_S))
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


class SshTransport:
    """Runs commands on a host over SSH; see `seams.Transport`. Connects on first use, and again after a break."""

    def __init__(self, host: Host, config: Path | None = None, run_name: RunName | None = None) -> None:
        self.host = host
        self.run_name = run_name or RunName()
        self.claimed: jobs.Claim | None = None
        self._config = config
        self._connection: fabric.Connection | None = None
        self._was_connected = False
        self._closed = False
        self._connecting = threading.Lock()
        self._files = threading.Lock()
        self._sftp_session: tuple[paramiko.Transport | None, paramiko.SFTPClient | None] = (None, None)
        self._idle: list[WarmShell] = []

    # --- commands ---

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        masking = Masking([word for word in command.env.values() if isinstance(word, Secret)])
        started = time.monotonic()
        with self._shell() as shell:
            try:
                code, out, err = shell.run(script(command, stdin), timeout_s)
            except TookTooLong:
                raise HostError(
                    f"{self.host.id}: `{masked(command)[:200]}` did not end within {timeout_s:g} s",
                    "Run it by hand to see what it waits for.",
                ) from None
        return Completed(code, masking.text(out), masking.text(err), time.monotonic() - started)

    def start(self, job: Job) -> RunningJob:
        return jobs.start(self, job)

    def find(self, key: str) -> JobState | None:
        return jobs.find(self, key)

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        return jobs.end_leftovers(self, kept)

    def claim(self) -> str:
        return locks.claim(self)

    def claimed_as(self) -> str:
        return locks.claimed_as(self)

    def release(self, *, keep_jobs: bool = False) -> int:
        return jobs.end_leftovers(self, release=True, keep=keep_jobs)

    @contextmanager
    def _shell(self) -> Iterator[WarmShell]:
        """A shell for one script, kept for later ones when all went well. Raises ConnectionLost when it breaks."""
        with self._broken_is_lost():
            transport = self._transport()
            try:
                shell = self._idle.pop()
            except IndexError:
                shell = self._new_shell(transport)
            try:
                yield shell
            except BaseException:
                shell.close()
                raise
            if transport.is_active() and len(self._idle) < _IDLE_SHELLS:
                self._idle.append(shell)
            else:
                shell.close()

    def _new_shell(self, transport: paramiko.Transport) -> WarmShell:
        channel = transport.open_session(timeout=_CONNECT_S)
        try:
            return WarmShell(channel)
        except NoShell as error:
            said = printable(str(error)[-300:]) or "it said nothing"
            raise HostError(
                f"{self.host.id}: the account does not run commands: {said}",
                "It needs a login shell, with `sh` and `timeout` in its PATH.",
            ) from None

    @contextmanager
    def _broken_is_lost(self) -> Iterator[None]:
        try:
            yield
        except paramiko.ChannelException as error:
            raise HostError(
                f"{self.host.id}: the SSH server refuses another session: {error.text}",
                "Raise MaxSessions in its sshd_config.",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            if isinstance(error, OSError) and not self._looks_broken(error):
                raise  # an answer of the SFTP server
            self._forget()
            raise ConnectionLost(
                f"{self.host.id}: the connection was lost ({str(error) or type(error).__name__})",
                "Is the host up, and the network?",
            ) from error

    def _looks_broken(self, error: OSError) -> bool:
        connection = self._connection
        return (
            isinstance(error, ConnectionError | TimeoutError)
            or "closed" in str(error)
            or connection is None
            or not connection.is_connected
        )

    # --- files ---

    def put(self, content: bytes, path: str) -> None:
        folder = path.rpartition("/")[0]
        made = jobs.sh(self, f"mkdir -p -- {quote(folder or '.')}")
        if made.exit_code != 0:
            raise self._cannot(f"can't write {path}", folder, printable(made.stderr.strip()[-200:]))
        try:
            with self._sftp() as sftp:
                with sftp.open(path, "wb") as file:
                    file.chmod(0o600)
                    file.set_pipelined(True)
                    file.write(content)
                # Pipelined writes report no error.
                if sftp.stat(path).st_size != len(content):
                    raise OSError("not all of it was written")
        except OSError as error:
            raise self._cannot(f"can't write {path}", folder, error.strerror or str(error)) from error

    def _cannot(self, what: str, folder: str, why: str) -> RunnerError:
        """SFTP has no code for a full disk: the host is asked whether it was that."""
        room = ".benchbrief-room"
        test = f"cd -- {quote(folder or '.')} && head -c 65536 /dev/zero >{room}; rm -f {room}"
        said = jobs.sh(self, f"LC_ALL=C; export LC_ALL\n{test}").stderr
        if "No space left" in said + why or "quota exceeded" in said + why:
            return HostFull(f"no space left on {self.host.id}: {what}", f"Make room on {self.host.id}.")
        return HostError(f"{self.host.id}: {what}: {why}", "Check the path and its permissions.")

    def get(self, path: str, to: Path) -> None:
        jobs.fetch(self, path, to)

    def entries(self, directory: str) -> list[jobs.Entry]:
        try:
            with self._sftp() as sftp:
                return [
                    jobs.entry(each.filename, each.st_mode or 0, each.st_size or 0)
                    for each in sftp.listdir_attr(directory)
                ]
        except OSError as error:
            raise HostError(f"{self.host.id}: can't list {directory}: {error}") from error
        except UnicodeDecodeError as error:
            raise HostError(f"{self.host.id}: a file name in {directory} is not UTF-8") from error

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        try:
            with self._sftp() as sftp, sftp.open(path, "rb") as file:
                size = min(file.stat().st_size or 0, limit)
                for window in range(0, size, _WINDOW):
                    end = min(window + _WINDOW, size)
                    yield from file.readv([(at, min(_REQUEST, end - at)) for at in range(window, end, _REQUEST)])
        except OSError as error:
            raise HostError(f"{self.host.id}: can't read {path}: {error.strerror or error}") from error

    @contextmanager
    def _sftp(self) -> Iterator[paramiko.SFTPClient]:
        """The connection's SFTP session, one user at a time: its client is not made for several."""
        with self._files, self._broken_is_lost():
            transport = self._transport()
            # Not the connection's own session: another thread may forget the connection meanwhile, and fabric would
            # open it again.
            known, session = self._sftp_session
            if session is None or known is not transport:
                try:
                    session = paramiko.SFTPClient.from_transport(transport)
                except paramiko.ChannelException as error:
                    raise HostError(f"{self.host.id}: no SFTP: {error.text}", _SFTP_HINT) from error
                except (paramiko.SSHException, EOFError) as error:
                    # A server without the subsystem closes the channel; what else is asked of it still works then.
                    transport.open_session(timeout=_CONNECT_S).close()
                    raise HostError(f"{self.host.id}: the SSH server has no SFTP", _SFTP_HINT) from error
                if session is None:
                    raise EOFError("no SFTP session")
                self._sftp_session = transport, session
            yield session

    # --- ports ---

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        def open_channel() -> Channel:
            with self._broken_is_lost():
                return self._transport().open_channel(
                    "direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=_CONNECT_S
                )

        return forwarded(open_channel)

    # --- the connection ---

    def close(self) -> None:
        """For good: who still waits for a job here must not connect again."""
        self._closed = True
        KEEPER.forget(self)
        self._forget()

    def _forget(self) -> None:
        with self._connecting:
            connection, self._connection = self._connection, None
            self._idle.clear()
        _close(connection)

    def _transport(self) -> paramiko.Transport:
        with self._connecting:
            if self._closed:
                raise HostError(f"{self.host.id}: its connection was closed")
            if self._connection is None or not self._connection.is_connected:
                _close(self._connection)
                self._connection = None
                self._idle.clear()
                try:
                    with _OPENING:
                        self._connection = connect(self.host, self._config)
                except HostError as error:
                    if self._was_connected and error.__cause__ is not None and _passing(error.__cause__):
                        raise ConnectionLost(str(error), error.hint) from error
                    raise
                self._was_connected = True
            transport: paramiko.Transport = self._connection.transport
            return transport


def _close(connection: fabric.Connection | None) -> None:
    """Close a connection and those that it goes through."""
    while isinstance(connection, fabric.Connection):
        with contextlib.suppress(Exception):  # it may be broken in any way; nothing is lost with it
            connection.close()
            connection.client.close()
        connection = connection.gateway


# --- connecting ------------------------------------------------------------------------------------------------


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
        _close(connection)
        explained = _explained(host, to, error)
        explained.lasting = not _passing(error)
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


def _passing(error: BaseException) -> bool:
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
