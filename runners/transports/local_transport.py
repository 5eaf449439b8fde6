from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO

from benchbrief.model.message import figure
from benchbrief.model.plan import Host
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import ConnectionLost, HostError
from benchbrief.runners.jobs.commands import mask_command, script
from benchbrief.runners.jobs.script_host import HostEntry, entry
from benchbrief.runners.jobs.tasks import Command, Completed
from benchbrief.runners.journal.secret_masking import Masking, Secret
from benchbrief.runners.transports.transport_base import JobTransport, LimitedText

_PIECE = 1 << 20
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Errors that prevent starting a new process now, but may be temporary."""


class LocalTransport(JobTransport):
    """Runs commands on the controller itself. Implements `seams.Transport`."""

    @property
    def shell(self) -> tuple[str, ...]:
        """The program that reads a script from its standard input."""
        return ("sh",)

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        started = time.monotonic()
        out, err = LimitedText(), LimitedText()
        with self._running(script(command, stdin), mask_command(command), timeout_s) as process:
            for piece, is_error in both_streams(process, started + timeout_s):
                (err if is_error else out).add(piece)
            code = process.wait(max(0.0, started + timeout_s - time.monotonic()))
        masking = Masking([word for word in command.env.values() if isinstance(word, Secret)])
        code = 128 - code if code < 0 else code  # as a shell says that a signal ended a command
        return Completed(code, masking.text(out.text()), masking.text(err.text()), time.monotonic() - started)

    @contextmanager
    def _running(self, text: str, shown: str, timeout_s: float) -> Iterator[subprocess.Popen[bytes]]:
        """Run a script in a shell that ends with the block. Raises HostError if the block takes too long."""
        process = self._shell(text)
        try:
            yield process
        except (TimeoutError, subprocess.TimeoutExpired):
            raise HostError(
                say.command_late(host=self.host.id, command=shown[:200], seconds=figure(timeout_s, "g")),
                say.hint_by_hand(),
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def _shell(self, text: str) -> subprocess.Popen[bytes]:
        """Start a shell that runs a script. Raises HostError, or ConnectionLost if a retry may succeed."""
        try:
            with _nameless_file() as source:
                source.write(text.encode("utf-8", "surrogateescape"))
                source.seek(0)
                return subprocess.Popen(
                    self.shell,
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,  # Ctrl-C must reach only us: we end what runs in order
                )
        except OSError as error:
            what = say.shell_unstarted(host=self.host.id, shell=self.shell[0], said=error.strerror)
            if error.errno in _PASSING:
                raise ConnectionLost(what, say.hint_too_many()) from error
            raise HostError(what, say.hint_in_path()) from error

    def entries(self, directory: str) -> list[HostEntry]:
        try:
            with os.scandir(directory) as found:
                stats = [(each.name, each.stat(follow_symlinks=False)) for each in found]
            return [entry(name, stat.st_mode, stat.st_size) for name, stat in stats]
        except OSError as error:
            raise _os_error(self.host, say.cannot_list(path=directory), error) from error

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        try:
            with Path(path).open("rb") as file:
                while limit > 0 and (piece := file.read(min(_PIECE, limit))):
                    limit -= len(piece)
                    yield piece
        except OSError as error:
            raise _os_error(self.host, say.cannot_read(path=path), error) from error

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        return nullcontext((host, port))

    def close(self) -> None:
        """Stop the heartbeats of the host's jobs. There is no connection to close."""
        self.session.heartbeats.forget(self)


def _nameless_file() -> IO[bytes]:
    """Open a file for a script, which may contain secrets. The file is in memory if possible, and has no name that a
    process list could show."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("script"), "r+b")
    return tempfile.TemporaryFile()


def both_streams(process: subprocess.Popen[bytes], deadline: float) -> Iterator[tuple[bytes, bool]]:
    """Yield the pieces of standard output and standard error as they arrive. Each comes with a flag that is True for
    standard error.

    Raises TimeoutError if one of the streams is still open at `deadline`, in seconds by the monotonic clock.
    """
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None  # noqa: S101 - both were asked for as pipes
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if piece := os.read(key.fd, 1 << 16):
                    yield piece, key.fileobj is process.stderr
                else:
                    selector.unregister(key.fileobj)


def _os_error(host: Host, what: str, error: OSError) -> HostError:
    return HostError(say.of_host_because(host=host.id, what=what, said=error.strerror))
