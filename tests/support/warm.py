"""Runs commands of `bench` by forking a process that already has its libraries in memory: the fork server
(`warm_server.py`).

The tests run hundreds of commands. If a new Python had to import scipy, WeasyPrint and DuckDB for each of them, this
would take more processor time than what is tested. Instead, `bench` is run from its `main` on, in its own process,
working directory and environment. All test processes of a session share a fork server for each Python. Tests of the
start itself run the installed program (`tests/packaging`, `tests/cli/test_starting.py`, and tests in another language
or locale).
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path

LIBRARIES = ("babel.numbers", "duckdb", "fabric", "jinja2", "pymongo", "pypdf", "scipy.stats", "weasyprint")
"""The libraries that a fork server imports once, before it forks."""
_REPOSITORY = Path(__file__).parents[2]
_SERVER = "tests.support.warm_server"
_PLACE = "BENCHBRIEF_TESTS_WARM"
"""The environment variable with a folder of sockets, over which all test processes reach the same fork servers."""


class Forked:
    """A forked command, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, status: FileIO) -> None:
        self.returncode: int | None = None
        self._status = status
        self.pid = int(status.readline())

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("bench", timeout or 0)
            self.returncode = int(self._status.readline())
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Warm:
    """Sends requests to a fork server. Raises subprocess.TimeoutExpired as `subprocess.run` does."""

    def __init__(self, python: str | Path = sys.executable, folder: Path = _REPOSITORY) -> None:
        """Start `python` in `folder`, where it finds these tests, unless another process has already done so."""
        self._socket = _joined(python, folder)

    def run(
        self,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        killed_at: Mapping[str, str] | None = None,
        paper: bool = True,
        before: str = "",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `bench` with these words. The process dies at the point `killed_at` (see `killed.py`).

        Without `paper`, PDFs have only a line of text, because drawing them is most of what a brief costs. `before` is
        Python code that the process runs first: it may replace a function, or set a limit.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = {"words": words, "cwd": str(cwd), "env": dict(env), "killed_at": killed_at, "paper": paper}
            asked["before"] = before
            forked = Forked(self._asked(asked, out.fileno(), err.fileno()))
            try:
                code = forked.wait(timeout)
            except subprocess.TimeoutExpired:
                forked.kill()
                self._leave()
                raise
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    def start(
        self,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        out: int,
        err: int,
        *,
        paper: bool,
        on_a_terminal: bool = False,
        before: str = "",
    ) -> Forked:
        """Start `bench` with these words. Its output goes to two files, or to one terminal that is given for both.

        The process may be killed at any time.
        """
        asked = {"words": words, "cwd": str(cwd), "env": dict(env), "paper": paper, "draws_alone": True}
        asked |= {"on_a_terminal": on_a_terminal, "before": before}
        return Forked(self._asked(asked, out, err))

    def shown(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> bytes:
        """Return what `bench` with these words shows on a terminal of its own."""
        ours, theirs = os.openpty()
        asked = {"words": words, "cwd": str(cwd), "env": dict(env), "on_a_terminal": True, "paper": False}
        shown = b""
        with self._asked(asked, theirs, theirs):
            os.close(theirs)
            with contextlib.suppress(OSError):  # the last writer has closed the terminal
                while part := os.read(ours, 65536):
                    shown += part
            os.close(ours)
        return shown

    def _leave(self) -> None:
        """Make later commands use a new fork server, because the chart converter of this one may have an unfinished
        request."""
        Path(self._socket.getpeername()).unlink(missing_ok=True)
        for its in [its for its, each in _WARM.items() if each is self]:
            del _WARM[its]

    def _asked(self, request: Mapping[str, object], out: int, err: int) -> FileIO:
        """Send a request. Returns a file with the process id on its first line and, after the process has ended, the
        exit code on its second line."""
        answers, answer = os.pipe()
        asked = {**request, "nice": os.nice(0)}  # commands are as nice as their tests
        socket.send_fds(self._socket, [json.dumps(asked).encode()], [out, err, answer])
        os.close(answer)
        return FileIO(answers)


def share_among_processes() -> Path:
    """Let this process and all test processes that it starts use the same fork servers. Returns a folder. Removing it
    ends the fork servers."""
    folder = tempfile.mkdtemp(prefix="warm-")
    os.environ[_PLACE] = folder
    return Path(folder)


def shared_folder() -> Path:
    """Return the folder of sockets that all processes of the tests share. If there is none, make it and remove it at
    the end."""
    if not os.environ.get(_PLACE):
        atexit.register(shutil.rmtree, share_among_processes(), ignore_errors=True)
    return Path(os.environ[_PLACE])


def _joined(python: str | Path, folder: Path) -> socket.socket:
    """Return a connection to the fork server for this Python and folder. If there is none, start it."""
    path = shared_folder() / hashlib.sha256(f"{python}\0{folder}".encode()).hexdigest()[:16]
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            ours.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
                listening.bind(str(path))
                listening.listen()
                _STARTED.append(
                    subprocess.Popen(
                        [python, "-m", _SERVER, str(listening.fileno())],
                        stdin=subprocess.DEVNULL,
                        env={**os.environ, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"},
                        pass_fds=[listening.fileno()],
                        cwd=folder,
                    )
                )
            ours.connect(str(path))
    return ours


_STARTED: list[subprocess.Popen[bytes]] = []
_WARM: dict[tuple[str | Path, Path], Warm] = {}


def warm(python: str | Path = sys.executable, folder: Path = _REPOSITORY) -> Warm:
    """Return this process's connection to the fork server for this Python and folder. The server is started if
    necessary."""
    its = (python, folder)
    if its not in _WARM:
        _WARM[its] = Warm(python, folder)
    return _WARM[its]


def starts_alike(env: Mapping[str, str]) -> bool:
    """Return whether Python starts in the same way with and without these variables. If not, a forked one won't do."""
    return not any(name.startswith(("PYTHON", "LD_", "LANG", "LC_", "TZ")) for name in env)
