"""The transport to this machine."""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from benchbrief.compiler.plan import Host
from benchbrief.runners.commands import Masking, masked, script
from benchbrief.runners.errors import ConnectionLost, HostError
from benchbrief.runners.job_host import Entry, entry
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.tasks import Command, Completed, Secret
from benchbrief.runners.transports.base import JobTransport
from benchbrief.runners.transports.output import LimitedText

_PIECE = 1 << 20
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Why no process can be started now, though one may be soon."""


class LocalTransport(JobTransport):
    """Runs commands on the controller itself; see `seams.Transport`."""

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        started = time.monotonic()
        process = self._shell(script(command, stdin))
        try:
            out, err = _read_both(process, started + timeout_s)
            code = process.wait(max(0.0, started + timeout_s - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise HostError(
                f"{self.host.id}: `{masked(command)[:200]}` did not end within {timeout_s:g} s",
                "Run it by hand to see what it waits for.",
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        masking = Masking([word for word in command.env.values() if isinstance(word, Secret)])
        return Completed(code, masking.text(out), masking.text(err), time.monotonic() - started)

    def _shell(self, text: str) -> subprocess.Popen[bytes]:
        """A shell that runs this. Raises HostError, ConnectionLost when it may go well later."""
        try:
            with _nameless_file() as source:
                source.write(text.encode("utf-8", "surrogateescape"))
                source.seek(0)
                return subprocess.Popen(
                    ["sh"],
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,  # a Ctrl-C is for us: what runs is ended in order
                )
        except OSError as error:
            what = f"{self.host.id}: can't run `sh`: {error.strerror}"
            if error.errno in _PASSING:
                raise ConnectionLost(what, "Too many processes or open files, or too little memory.") from error
            raise HostError(what, "Is it in the PATH?") from error

    def entries(self, directory: str) -> list[Entry]:
        try:
            with os.scandir(directory) as found:
                stats = [(each.name, each.stat(follow_symlinks=False)) for each in found]
            return [entry(name, stat.st_mode, stat.st_size) for name, stat in stats]
        except OSError as error:
            raise _os_error(self.host, f"can't list {directory}", error) from error

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        try:
            with Path(path).open("rb") as file:
                while limit > 0 and (piece := file.read(min(_PIECE, limit))):
                    limit -= len(piece)
                    yield piece
        except OSError as error:
            raise _os_error(self.host, f"can't read {path}", error) from error

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        return nullcontext((host, port))

    def close(self) -> None:
        """Nothing is held open; but its jobs are left to themselves."""
        KEEPER.forget(self)


def _nameless_file() -> IO[bytes]:
    """For a script, which may hold secrets: no process list shows it, and no disk holds it where memory can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("script"), "r+b")
    return tempfile.TemporaryFile()


def _read_both(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, str]:
    """Standard output and error up to a limit; what comes after it is dropped, so that nothing hangs."""
    assert process.stdout is not None  # noqa: S101 - both were asked for as pipes
    assert process.stderr is not None  # noqa: S101
    texts = {process.stdout: LimitedText(), process.stderr: LimitedText()}
    with selectors.DefaultSelector() as selector:
        for pipe, text in texts.items():
            selector.register(pipe, selectors.EVENT_READ, text)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if piece := os.read(key.fd, 1 << 16):
                    key.data.add(piece)
                else:
                    selector.unregister(key.fileobj)
    return texts[process.stdout].text(), texts[process.stderr].text()


def _os_error(host: Host, what: str, error: OSError) -> HostError:
    return HostError(f"{host.id}: {what}: {error.strerror}")
