"""Processes that run the tests in parallel. They are forked after all tests are collected.

Each process already has all modules and tests in memory. If it had to import and collect them anew, as xdist's
processes do, each of six processes would need some ten seconds of processor time. A process gets its tests one by one
from the first process, which keeps track of them. If a process dies, the test that it was running has failed, and
another process takes its place.
"""

from __future__ import annotations

import contextlib
import importlib
import marshal
import os
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.support.warm import LIBRARIES

_LENGTH = struct.Struct("<q")
_NONE_LEFT = -1


@dataclass
class Share:
    """Tests for some of the processes, by module. Each module goes to one process, which makes the module's fixtures
    once."""

    modules: deque[Sequence[int]]
    processes: int
    nice: int = 0
    again: deque[int] = field(default_factory=deque)
    """Tests that belonged to a process when it died."""

    def some(self) -> deque[int]:
        """Return the next tests for a process. There are many at first and few towards the end, so that all processes
        end at about the same time."""
        if self.again:
            return deque([self.again.popleft()])
        many = sum(map(len, self.modules)) // (4 * self.processes)
        found = deque[int]()
        while self.modules and len(found) <= many:
            found += self.modules.popleft()
        return found


@dataclass
class _Worker:
    name: str
    share: Share
    pid: int
    ours: socket.socket
    ahead: deque[int] = field(default_factory=deque)
    given: deque[int] = field(default_factory=deque)
    """The test in progress, and the one after it."""
    heard: bytearray = field(default_factory=bytearray)


class ForkedWorkers:
    """A pytest plugin that runs the collected tests in separate processes."""

    def __init__(self, shares: Callable[[Sequence[pytest.Item]], Sequence[Share]]) -> None:
        self._shares = shares
        self._workers: dict[int, _Worker] = {}
        self._names = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest says so itself
        for name in LIBRARIES:
            importlib.import_module(name)
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter
        reporter.showfspath = False
        factory: pytest.TempPathFactory = session.config._tmp_path_factory  # type: ignore[attr-defined]  # as xdist does
        factory.getbasetemp()
        watched = selectors.DefaultSelector()
        try:
            for share in self._shares(session.items):
                for _ in range(share.processes):
                    self._start(session, share, watched)
            while self._workers:
                for key, _ in watched.select():
                    self._hear(session, self._workers[key.fd], watched)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        finally:
            self._end()
        return True

    def _start(self, session: pytest.Session, share: Share, watched: selectors.BaseSelector) -> None:
        ours, theirs = socket.socketpair()
        name, self._names = f"gw{self._names}", self._names + 1
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            ours.close()
            for other in self._workers.values():
                other.ours.close()
            _run(session, name, share, theirs)
        theirs.close()
        self._workers[ours.fileno()] = _Worker(name, share, pid, ours)
        watched.register(ours, selectors.EVENT_READ)

    def _hear(self, session: pytest.Session, worker: _Worker, watched: selectors.BaseSelector) -> None:
        try:
            said = worker.ours.recv(1 << 20)
        except ConnectionResetError:
            said = b""
        worker.heard += said
        while len(worker.heard) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(worker.heard)[0]
            if len(worker.heard) < end:
                break
            message = marshal.loads(worker.heard[_LENGTH.size : end])  # noqa: S302  # from a fork of this process
            del worker.heard[:end]
            self._answer(session, worker, *message)
        if said:
            return
        watched.unregister(worker.ours)
        del self._workers[worker.ours.fileno()]
        worker.ours.close()
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        if worker.given or status:
            self._died(session, worker, status)
            self._start(session, worker.share, watched)

    def _answer(self, session: pytest.Session, worker: _Worker, kind: str, *parts: Any) -> None:
        hook = session.config.hook
        match kind:
            case "next":
                worker.ahead = worker.ahead or worker.share.some()
                number = worker.ahead.popleft() if worker.ahead else _NONE_LEFT
                worker.given += [number] if number != _NONE_LEFT else []
                with contextlib.suppress(BrokenPipeError):  # it has died, as is heard next
                    worker.ours.sendall(_LENGTH.pack(number))
            case "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=parts[0])
                hook.pytest_runtest_logreport(report=report)
            case "ended":
                worker.given.popleft()
            case "warning":
                name, text, file, line, when, nodeid = parts
                category = type(name, (Warning,), {})
                message = warnings.WarningMessage(category(text), category, file, line)
                hook.pytest_warning_recorded.call_historic(
                    kwargs={"warning_message": message, "when": when, "nodeid": nodeid, "location": None}
                )

    def _died(self, session: pytest.Session, worker: _Worker, status: int) -> None:
        """Report the test in progress as failed, and give the remaining tests to another process."""
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        at = worker.given.popleft() if worker.given else None
        worker.share.again += [*worker.given, *worker.ahead]
        item = session.items[at] if at is not None else None
        report = pytest.TestReport(
            item.nodeid if item else worker.name, item.location if item else ("", None, worker.name), {}, "failed",
            f"the process of the tests ended by {how}", "call",
        )  # fmt: skip
        session.config.hook.pytest_runtest_logreport(report=report)

    def _end(self) -> None:
        """End the processes after an interruption. An interrupt lets them tear down their fixtures. Processes that
        remain are killed."""
        for number in (signal.SIGINT, signal.SIGKILL):
            for worker in self._workers.values():
                os.kill(worker.pid, number)
            until = time.monotonic() + 20
            while self._workers and time.monotonic() < until:
                for fd, worker in [*self._workers.items()]:
                    if os.waitpid(worker.pid, os.WNOHANG)[0]:
                        del self._workers[fd]
                time.sleep(0.05)


class _Reporter:
    """Passes on the reports of a process."""

    def __init__(self, config: pytest.Config, say: Callable[..., None]) -> None:
        self._config, self._say = config, say

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._say("report", data)

    @pytest.hookimpl
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: str, nodeid: str) -> None:
        its = warning_message
        self._say("warning", its.category.__name__, str(its.message), its.filename, its.lineno, when, nodeid)


def _run(session: pytest.Session, name: str, share: Share, theirs: socket.socket) -> NoReturn:
    """Run tests until none is left. Never returns to the parent's code."""
    code = 1
    try:
        os.nice(share.nice)
        _become(session.config, name)

        def say(*message: Any) -> None:
            said = marshal.dumps(message)
            theirs.sendall(_LENGTH.pack(len(said)) + said)

        def given() -> Iterator[pytest.Item]:
            while True:
                say("next")
                (number,) = _LENGTH.unpack(theirs.recv(_LENGTH.size, socket.MSG_WAITALL))
                if number == _NONE_LEFT:
                    return
                yield session.items[number]

        session.config.pluginmanager.register(_Reporter(session.config, say))
        for item, following in pairwise(chain(given(), (None,))):
            assert item is not None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            say("ended")
        code = 0
    except KeyboardInterrupt:
        code = 2
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        with contextlib.suppress(BaseException):
            session._setupstate.teardown_exact(None)
        os._exit(code)  # to take all modules apart would be a second's work


def _become(config: pytest.Config, name: str) -> None:
    """Give a test process its own streams and its own folder, because it must not share these with other processes."""
    os.environ["PYTEST_XDIST_WORKER"] = name
    capture = config.pluginmanager.get_plugin("capturemanager")
    assert capture
    capture.stop_global_capturing()
    capture.start_global_capturing()
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    assert reporter
    reporter._tw._file = Path(os.devnull).open("w")  # noqa: SIM115  # the parent tells
    factory: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._given_basetemp, factory._basetemp = factory._basetemp / f"popen-{name}", None
