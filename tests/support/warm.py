"""Commands of `bench` by a fork of a process that has its libraries in memory already.

A suite types hundreds of commands, and a Python that imports scipy, WeasyPrint and DuckDB for each of them spends more
processor time on that than on what is tested. What runs is `bench` from its `main` on, in a process, working directory
and environment of its own. Whatever is about the start itself runs the installed program (`tests/packaging`, every
`Bench.started`).
"""

from __future__ import annotations

import contextlib
import fcntl
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
import termios
import time
import traceback
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn

from benchbrief.reports.charts.svg_converter import CONVERTER, Converter
from benchbrief.reports.render import page_pdf
from benchbrief.runners.engines.mongodb import mongo_stand_in
from tests.support import killed

_LIBRARIES = ("altair", "babel.numbers", "duckdb", "fabric", "jinja2", "pymongo", "pypdf", "scipy.stats", "weasyprint")
_ROOMS = (
    "benchbrief.pipeline",
    "benchbrief.reports.view.build_view",
    "benchbrief.results.ingest.ingest_run",
    "benchbrief.results.imports",
    "benchbrief.runners.execution.executor",
    "benchbrief.runners.simulated.simulated_world",
)
_REPOSITORY = Path(__file__).parents[2]
_MOST_BYTES = 200_000
_UNDRAWN = b"no PDF: this command of the tests was asked for none\n"
_BROKEN = 70
"""No exit code of `bench`: something left its `main` that never should."""


SPEC = """
hardware box { hosts = "box"  variant one { }  variant two { } }
client load { hosts = "load"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://box/ycsb" }
workload a from ycsb.a { records = 1k }
experiment ramp { hardware = box.variants  workloads = a  threads = [1, 2]  measure = 1 s }
report brief "Brief" {
  callout "C" { rows = workload  column "T" = "{max(throughput over threads, hardware):,.0f}" }
  figure "F" { line = throughput by threads, color hardware }
  table "T" { rows = facts }
  disclosure = automatic
}
"""
"""Whose simulated brief makes all that is made once: templates, fonts, connections to the chart converter."""


class Warm:
    """The process that is forked, and how it is asked to. Raises subprocess.TimeoutExpired as `subprocess.run` does."""

    def __init__(self, python: str | Path = sys.executable, folder: Path = _REPOSITORY) -> None:
        """`python` is started in `folder`, where it finds these tests."""
        self.broken = False
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        with theirs:
            self._process = subprocess.Popen(
                [python, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LANG": "C.UTF-8"},
                pass_fds=[theirs.fileno()],
                cwd=folder,
            )

    def run(
        self,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        killed_at: Mapping[str, str] | None = None,
        paper: bool = True,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `bench` with these words. It dies at the point `killed_at`: see `killed.py`.

        Without `paper`, all is done but the drawing of PDFs, most of what a brief costs: they hold a line of text.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = {"words": words, "cwd": str(cwd), "env": dict(env), "killed_at": killed_at, "paper": paper}
            with self._asked(asked, out.fileno(), err.fileno()) as status:
                pid = int(status.readline())
                if not select.select([status], [], [], timeout)[0]:
                    os.kill(pid, signal.SIGKILL)
                    self.broken = True  # it may have left a drawing half asked for
                    raise subprocess.TimeoutExpired(list(words), timeout)
                code = int(status.readline())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    def shown(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> bytes:
        """What `bench` with these words shows on a terminal of its own."""
        ours, theirs = os.openpty()
        asked = {"words": words, "cwd": str(cwd), "env": dict(env), "on_a_terminal": True}
        shown = b""
        with self._asked(asked, theirs, theirs):
            os.close(theirs)
            with contextlib.suppress(OSError):  # the last writer has closed the terminal
                while part := os.read(ours, 65536):
                    shown += part
            os.close(ours)
        return shown

    def _asked(self, request: Mapping[str, object], out: int, err: int) -> FileIO:
        """Gives what tells the process id, and after its end the exit code, a line each."""
        told, tell = os.pipe()
        socket.send_fds(self._socket, [json.dumps(request).encode()], [out, err, tell])
        os.close(tell)
        return FileIO(told)


_WARM: dict[tuple[str | Path, Path], Warm] = {}


def warm(python: str | Path = sys.executable, folder: Path = _REPOSITORY) -> Warm:
    """The one of this process of the tests for that Python. It ends with it."""
    its = (python, folder)
    if its not in _WARM or _WARM[its].broken:
        _WARM[its] = Warm(python, folder)
    return _WARM[its]


def starts_alike(env: Mapping[str, str]) -> bool:
    """Whether Python would begin with this environment as it does without: else it has to begin anew."""
    return not any(name.startswith(("PYTHON", "LD_", "LANG", "LC_", "TZ", "TERM", "COLUMNS")) for name in env)


class _Shared(Converter):
    """One chart converter for all commands: they take turns. Those that are about its end start `bench` anew."""

    _turn = tempfile.TemporaryFile()  # noqa: SIM115  # for as long as the process

    def svg(self, spec: Mapping[str, Any]) -> str:
        fcntl.lockf(self._turn, fcntl.LOCK_EX)
        try:
            return super().svg(spec)
        finally:
            fcntl.lockf(self._turn, fcntl.LOCK_UN)

    def _started(self) -> subprocess.Popen[bytes]:
        return self._child or super()._started()  # a fork can't ask about its parent's child

    def close(self) -> None:
        """Leave it to the next command."""


# --- the process that is forked --------------------------------------------------------------------------------


def _serve(number: int) -> NoReturn:
    for name in (*_LIBRARIES, *_ROOMS):
        importlib.import_module(name)
    from benchbrief.cli.command_line import COMMANDS, group

    for name in COMMANDS:
        importlib.import_module(f"benchbrief.commands.{name}")
    CONVERTER.__class__ = _Shared
    mongo_stand_in.WARM_UP_S = 0.2  # no test is about how fast the stand-in is
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),  # what is made when it is first needed, such as the parser
        contextlib.redirect_stderr(io.StringIO()),
    ):
        Path("warm.bench").write_text(SPEC, "utf-8")
        for words in (["plan", "warm.bench"], ["explain", "E0101"], ["run", "warm.bench", "--simulate"]):
            group.main(words, standalone_mode=False)
    gc.collect()
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
        if request.get("on_a_terminal"):
            os.setsid()
            fcntl.ioctl(1, termios.TIOCSCTTY, 0)
            os.dup2(1, 0)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115
        for number in {out, err}:
            os.close(number)
        if not request.get("paper", True):
            page_pdf.to_pdf = lambda *_, **__: _UNDRAWN
        if request.get("killed_at"):
            killed.arm(request["killed_at"])  # type: ignore[arg-type]  # the same
        sys.argv = ["bench", *request["words"]]  # type: ignore[misc]  # the same
        from benchbrief.cli.command_line import main

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
