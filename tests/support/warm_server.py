"""The fork server, which forks itself for each command of `bench`. `warm.py` starts it and sends it requests."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import duckdb

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.extensions.engines.mongodb import mongo_stand_in
from benchbrief.reports.charts import svg_converter
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.render import page_pdf
from tests.support import killed
from tests.support.drawn_once import DrawnOnce
from tests.support.frozen_memory import freeze_memory
from tests.support.warm import LIBRARIES, shared_folder

_ROOMS = (
    "benchbrief.history.series_cache",
    "benchbrief.history.series_changes",
    "benchbrief.history.shared_store.run_manifest",
    "benchbrief.pipeline",
    "benchbrief.progress.live_screen",
    "benchbrief.reports.verify_brief",
    "benchbrief.reports.view.build_view",
    "benchbrief.results.ingest.ingest_run",
    "benchbrief.results.imports",
    "benchbrief.extensions.tools.db_bench.db_bench",
    "benchbrief.extensions.tools.ycsb.ycsb",
    "benchbrief.extensions.engines.rocksdb.rocksdb",
    "benchbrief.runners.execution.executor",
    "benchbrief.extensions.probes.cpu.cpu_probe",
    "benchbrief.runners.reuse",
    "benchbrief.runners.transports.local_transport",
    "benchbrief.extensions.transports.ssh.ssh_transport",
    "benchbrief.runners.world.simulated_world",
)
_MOST_BYTES = 200_000
_IDLE_S = 60.0
"""How many seconds to wait without any connection before ending, because the users of this process may have been
killed."""
_UNDRAWN = b"no PDF: this command of the tests was asked for none\n"
_DATABASES = 4
"""How many databases are opened for each command."""
_HUGE, _MADV_COLLAPSE = 2 << 20, 25
"""The size of a huge page in bytes, and the advice for madvise(2) that joins small pages to a huge one."""
_BROKEN = 70
"""An exit code that `bench` does not use. It means that an exception escaped from `main`, which should never happen."""


SPEC = """
hardware box { hosts = "box"  variant one { }  variant two { } }
client load { hosts = "load"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://box/ycsb" }
workload a from ycsb.a { records = 1k }
experiment ramp { hardware = box.variants  workloads = a  threads = [1, 2]  measure = 1 s }
metric gain "Gain" in % = throughput[two] / throughput[one] - 1, higher is better
expect "Some" max(throughput over threads) > 1.5 ops/s
claim most "Up to {value:.2f}X the work of {one}" {
  value = max(throughput[two] / throughput[one] over threads, workload)
  allow "a test" = decided
}
report brief "Brief of a manifold" {
  headline = most
  callout "C" { rows = workload  column "T" = "{range(gain over threads):+.0%}" }
  text = "The best throughput was {max(throughput over threads, hardware):,.0f} operations per second."
  figure "F" { line = throughput by threads, color hardware }
  table "T" { rows = facts }
  disclosure = automatic
}
"""
"""A spec for a simulated brief. Rendering it makes everything that is made only once: templates, fonts, connections to
the chart converter, and the regular expressions for specs and claims."""
_WARM_UP = (
    ("plan", "warm.bench"),
    ("explain", "E0101"),
    ("run", "warm.bench", "--simulate", "--no-report"),
    ("report", "simulated", "--to", "made", "--format", "html"),  # nothing of a PDF is made only once
)


class _Shared(DrawnOnce):
    """A chart converter that all commands use in turn. Tests about its end start a new `bench`."""

    _folder = shared_folder()  # a command's environment does not name it
    _turn = tempfile.TemporaryFile()  # noqa: SIM115  # for as long as the process

    def _drawn(self, question: Mapping[str, object], wanted: str) -> str:
        fcntl.lockf(self._turn, fcntl.LOCK_EX)
        try:
            return super()._drawn(question, wanted)
        finally:
            fcntl.lockf(self._turn, fcntl.LOCK_UN)

    def _started(self) -> subprocess.Popen[bytes]:
        return self._child or super()._started()  # a fork can't ask about its parent's child


class _Own(DrawnOnce):
    """The converter of a command that may be killed. It takes charts that others have drawn, and starts a child only
    for the rest. Such a command must not use the shared converter, since a drawing that is cut off would spoil the next
    one.
    """

    _folder = shared_folder()
    close = Converter.close


_CONVERTERS: list[Converter] = [_Shared()]
"""The chart converters of this process. The last one is used: a command that may be killed adds one of its own."""


class _Databases:
    """In-memory databases of DuckDB. They are opened before the fork, because DuckDB registers thousands of functions
    in each."""

    connect = staticmethod(duckdb.connect)

    def __init__(self) -> None:
        # No thread survives a fork, so these have none.
        self._open = [self.connect(config={"threads": 1, "async_threads": 0}) for _ in range(_DATABASES)]
        self._kept: list[duckdb.DuckDBPyConnection] = []

    def take(self, database: str = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        """Return a database as `duckdb.connect` would, with the same number of threads."""
        if database != ":memory:" or not self._open:
            return self.connect(database, **options)
        connection = self._open.pop()
        self._kept.append(connection.cursor())  # to take one apart at its close costs as much, and the process ends
        for name, value in {"threads": len(os.sched_getaffinity(0)), **options.get("config", {})}.items():
            connection.execute(f"SET {name} = {sql_text(value)}")
        return connection


def _serve(number: int) -> NoReturn:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test may have begun it while it ignored interrupts
    svg_converter.Converter = lambda: _CONVERTERS[-1]  # type: ignore[assignment,misc]  # others import it by name
    for name in (*LIBRARIES, *_ROOMS):
        importlib.import_module(name)
    from benchbrief.cli.command_line import COMMANDS, group, module_of

    for name in COMMANDS:
        importlib.import_module(module_of(name))
    mongo_stand_in.WARM_UP_S = 0.2  # no test is about how fast the stand-in is
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),  # what is made when it is first needed, such as the parser
        contextlib.redirect_stderr(io.StringIO()),
    ):
        Path("warm.bench").write_text(SPEC, "utf-8")
        for words in _WARM_UP:
            group.main(words, standalone_mode=False)
    duckdb.connect = _Databases().take  # type: ignore[assignment]  # of its options commands name `config` alone
    freeze_memory()
    _gather_memory()
    _Server(number).serve()


def _gather_memory() -> None:
    """Move this process's memory into huge pages, if the kernel can, because a fork copies the table of all pages."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, name = [*line.split(maxsplit=5), ""][:6]
        if rights == "rw-p" and name in ("", "[heap]"):
            start, end = (int(each, 16) for each in addresses.split("-"))
            for page in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
                madvise(page, _HUGE, _MADV_COLLAPSE)


class _Server:
    """Forks once for each request and no more, because a fork copies the tables of all memory."""

    def __init__(self, number: int) -> None:
        self._listening = socket.socket(fileno=number)
        self._place = Path(self._listening.getsockname()).parent
        self._clients: dict[int, socket.socket] = {}
        self._running: dict[int, tuple[int, int]] = {}
        """The running processes. Each has its process id and the target for its exit code. The key is the file that
        becomes readable when the process ends."""
        self._poll = select.poll()
        self._poll.register(number, select.POLLIN)

    def serve(self) -> NoReturn:
        seen = time.monotonic()
        while True:
            for number, _ in self._poll.poll(500):
                if number == self._listening.fileno():
                    client, _ = self._listening.accept()
                    self._clients[client.fileno()] = client
                    self._poll.register(client, select.POLLIN)
                elif number in self._running:
                    self._ended(number)
                else:
                    self._asked(number)
            if self._clients:
                seen = time.monotonic()
            elif not self._place.exists() or time.monotonic() - seen > _IDLE_S:
                os._exit(0)  # DuckDB's library reports what is left when Python takes it down

    def _asked(self, number: int) -> None:
        request, fds, _, _ = socket.recv_fds(self._clients[number], _MOST_BYTES, 3)
        if not request:
            self._poll.unregister(number)
            self._clients.pop(number).close()
            return
        out, err, answer = fds
        pid = os.fork()
        if pid == 0:
            self._listening.close()
            for client in self._clients.values():
                client.close()
            for each, (_, other) in self._running.items():
                os.close(each)
                os.close(other)
            os.close(answer)
            _become_bench(json.loads(request), out, err)
        os.close(out)
        os.close(err)
        end = os.pidfd_open(pid)
        self._running[end] = (pid, answer)
        self._poll.register(end, select.POLLIN)
        _say(answer, pid)

    def _ended(self, number: int) -> None:
        pid, answer = self._running.pop(number)
        self._poll.unregister(number)
        os.close(number)
        _say(answer, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os.close(answer)


def _say(answer: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # who asked is gone
        os.write(answer, b"%d\n" % number)


def _become_bench(request: dict[str, object], out: int, err: int) -> NoReturn:
    code = _BROKEN
    try:
        os.nice(max(0, int(str(request["nice"])) - os.nice(0)))
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
        else:  # this process's streams may be in a place that can be sought
            sys.stdout, sys.stderr = open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
        for number in {out, err}:
            os.close(number)
        if not request.get("paper", True):
            page_pdf.to_pdf = lambda *_, **__: _UNDRAWN
        if request.get("draws_alone"):
            _CONVERTERS.append(_Own())
        if request.get("killed_at"):
            killed.arm(request["killed_at"])  # type: ignore[arg-type]  # the same
        exec(str(request.get("before", "")), {})  # noqa: S102  # a test's own
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
