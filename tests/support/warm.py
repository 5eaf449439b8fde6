"""Commands of `bench` by a fork of a process that has its libraries in memory already.

A suite types hundreds of commands, and a Python that imports scipy, WeasyPrint and DuckDB for each of them spends more
processor time on that than on what is tested. What runs is `bench` from its `main` on, in a process, working directory
and environment of its own. Whatever is about the start itself runs the installed program (`tests/packaging`, every
`Bench.started`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

_LIBRARIES = ("altair", "babel.numbers", "duckdb", "fabric", "jinja2", "pymongo", "pypdf", "scipy.stats", "weasyprint")
_ROOMS = (
    "benchbrief.pipeline",
    "benchbrief.reports.build",
    "benchbrief.results.ingest",
    "benchbrief.results.imports",
    "benchbrief.runners.executor",
    "benchbrief.runners.simulated.world",
)
_MOST_BYTES = 200_000
_BROKEN = 70
"""No exit code of `bench`: something left its `main` that never should."""


class Warm:
    """The process that is forked, and how it is asked to. Raises subprocess.TimeoutExpired as `subprocess.run` does."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LANG": "C.UTF-8"},
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[2],
            )

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        request = json.dumps({"words": words, "cwd": str(cwd), "env": dict(env)}).encode()
        told, tell = os.pipe()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, os.fdopen(told, "rb", 0) as status:
            socket.send_fds(self._socket, [request], [out.fileno(), err.fileno(), tell])
            os.close(tell)
            pid = int(status.readline())
            if not select.select([status], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(words), timeout)
            code = int(status.readline())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())


@cache
def warm() -> Warm:
    """The one of this process of the tests. It ends with it."""
    return Warm()


def starts_alike(env: Mapping[str, str]) -> bool:
    """Whether Python would begin with this environment as it does without: else it has to begin anew."""
    return not any(name.startswith(("PYTHON", "LANG", "LC_", "TZ", "TERM", "COLUMNS")) for name in env)


# --- the process that is forked --------------------------------------------------------------------------------


def _serve(number: int) -> NoReturn:
    for name in (*_LIBRARIES, *_ROOMS):
        importlib.import_module(name)
    from benchbrief.cli import COMMANDS, group

    for name in COMMANDS:
        importlib.import_module(f"benchbrief.commands.{name}")
    with contextlib.redirect_stdout(io.StringIO()):  # what is made when it is first needed, such as the parser
        for words in (["plan", "examples/quickstart.bench"], ["explain", "E0101"]):
            group.main(words, standalone_mode=False)
    gc.freeze()
    with socket.socket(fileno=number) as asked:
        while True:
            request, fds, _, _ = socket.recv_fds(asked, _MOST_BYTES, 3)
            if not request:
                os._exit(0)  # DuckDB's library tells of what is left when Python takes it down
            if os.fork() == 0:
                asked.close()
                _attend(json.loads(request), *fds)
            for each in fds:
                os.close(each)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _attend(request: dict[str, object], out: int, err: int, tell: int) -> NoReturn:
    """Fork once more, and tell what becomes of that: its process id, and its exit code."""
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        _become_bench(request, out, err)
    os.write(tell, b"%d\n" % pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(tell, b"%d\n" % code)
    os._exit(0)


def _become_bench(request: dict[str, object], out: int, err: int) -> NoReturn:
    code = _BROKEN
    try:
        os.chdir(str(request["cwd"]))
        os.environ.clear()
        os.environ.update(request["env"])  # type: ignore[call-overload]  # as `run` has made it
        time.tzset()
        tempfile.tempdir = None
        for number, stream in ((out, sys.stdout), (err, sys.stderr)):
            os.dup2(number, stream.fileno())
            os.close(number)
        sys.argv = ["bench", *request["words"]]  # type: ignore[misc]  # the same
        from benchbrief.cli import main

        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else _BROKEN
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
