"""The transport over SSH. The host's key is always verified, against the known_hosts files only.

fabric opens connections and their gateways. Short commands go through shells of our own: fabric's capture of output
takes time that grows with the square of its size.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import fabric
import paramiko

from benchbrief.compiler.plan import Host
from benchbrief.runners.commands import Masking, masked, printable, quote, script
from benchbrief.runners.errors import ConnectionLost, HostError, HostFull, RunnerError
from benchbrief.runners.fan_out import AT_ONCE
from benchbrief.runners.job_host import Entry, entry, sh
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.tasks import Command, Completed, RunName, Secret
from benchbrief.runners.transports.base import JobTransport
from benchbrief.runners.transports.forward import Channel, forwarded
from benchbrief.runners.transports.ssh_connect import close, connect, may_pass
from benchbrief.runners.transports.ssh_destination import CONNECT_S
from benchbrief.runners.transports.warm_shell import NoShell, TookTooLong, WarmShell

_IDLE_SHELLS = 4
"""How many shells are kept for later; sshd allows 10 sessions for a connection unless told otherwise."""
_OPENING = threading.BoundedSemaphore(2 * AT_ONCE)
"""Connections that are being opened at a time, by all threads: after a network's outage every lane of a fleet opens its
own again, perhaps through one jump host, whose sshd refuses some of many."""
_SFTP_HINT = "Outputs are fetched by SFTP: put `Subsystem sftp internal-sftp` into its sshd_config."
_WINDOW = 4 << 20
"""Bytes of a file asked for at a time."""
_REQUEST = 32 << 10


class SshTransport(JobTransport):
    """Runs commands on a host over SSH; see `seams.Transport`. Connects on first use, and again after a break."""

    def __init__(self, host: Host, config: Path | None = None, run_name: RunName | None = None) -> None:
        super().__init__(host, run_name)
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
        channel = transport.open_session(timeout=CONNECT_S)
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
        made = sh(self, f"mkdir -p -- {quote(folder or '.')}")
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
        said = sh(self, f"LC_ALL=C; export LC_ALL\n{test}").stderr
        if "No space left" in said + why or "quota exceeded" in said + why:
            return HostFull(f"no space left on {self.host.id}: {what}", f"Make room on {self.host.id}.")
        return HostError(f"{self.host.id}: {what}: {why}", "Check the path and its permissions.")

    def entries(self, directory: str) -> list[Entry]:
        try:
            with self._sftp() as sftp:
                return [
                    entry(each.filename, each.st_mode or 0, each.st_size or 0) for each in sftp.listdir_attr(directory)
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
                    transport.open_session(timeout=CONNECT_S).close()
                    raise HostError(f"{self.host.id}: the SSH server has no SFTP", _SFTP_HINT) from error
                if session is None:
                    raise EOFError("no SFTP session")
                self._sftp_session = transport, session
            yield session

    # --- ports ---

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        def open_channel() -> Channel:
            with self._broken_is_lost():
                return self._transport().open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=CONNECT_S)

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
        close(connection)

    def _transport(self) -> paramiko.Transport:
        with self._connecting:
            if self._closed:
                raise HostError(f"{self.host.id}: its connection was closed")
            if self._connection is None or not self._connection.is_connected:
                close(self._connection)
                self._connection = None
                self._idle.clear()
                try:
                    with _OPENING:
                        self._connection = connect(self.host, self._config)
                except HostError as error:
                    if self._was_connected and error.__cause__ is not None and may_pass(error.__cause__):
                        raise ConnectionLost(str(error), error.hint) from error
                    raise
                self._was_connected = True
            transport: paramiko.Transport = self._connection.transport
            return transport
