"""One server process that a run starts: a background job on its host, which a later controller can find again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from benchbrief.model.message import Message, figure
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import Interrupted, RunnerError
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.tasks import Command, Job, JobFile, Word
from benchbrief.runners.seams import RunningJob, Stopping, Transport

END_TIMEOUT_S = 120.0
"""How many seconds a server may take to end. It first writes a checkpoint of its whole cache."""
_LOOK_EVERY_S = 0.1
_RUN = read_script(__file__, "scripts/run_server.sh")
_END = read_script(__file__, "scripts/end_server.sh")
_END_OLD = read_script(__file__, "scripts/end_old_servers.sh")


def server_command(program: str, data: str, arguments: Sequence[Word]) -> Command:
    """Return the command that runs a server with its data in a folder. The command makes the folder, and records that
    it belongs to the server."""
    return Command(("sh", "-c", _RUN, "sh", program, data, *arguments))


def ask_to_end(host: Transport, data: str) -> None:
    """Ask the server that uses a folder to end. A job's own `stop` would not leave enough time for a clean shutdown."""
    with suppress(RunnerError):
        run_persistently(host, Command(("sh", "-c", _END, "sh", data)))


def end_old_servers(host: Transport, path: str, stopping: Stopping) -> str | None:
    """End servers that use folders in `path` but are not jobs of this run. Returns the problem, or None on success.

    Raises Interrupted if the run must stop. The servers then complete their shutdown by themselves.
    """
    end = Command(("sh", "-c", _END_OLD, "sh", path))
    ran = run_to_end(host, Job("end_old_servers", end, timeout_s=END_TIMEOUT_S + 30), stopping)
    return (ran.said or "its old servers did not end") if ran.exit_code != 0 else None


class ServerJob:
    """A server process. `key` is unique in the run. Each time the process ends, its output is moved to a new folder in
    `keep`, or dropped if `keep` is None."""

    def __init__(self, host: Transport, key: str, title: str) -> None:
        self.host, self.key, self.title = host, key, title
        self.keep: Path | None = None
        self._job: RunningJob | None = None

    @property
    def is_started(self) -> bool:
        """Whether this object has started the process or has attached to it."""
        return self._job is not None

    def start(self, command: Command, files: tuple[JobFile, ...] = ()) -> None:
        """Start the process, or attach to the one that already runs under the key. Raises RunnerError."""
        job = Job(self.title, command, timeout_s=float("inf"), files=files, background=True, key=self.key)
        self._job = self.host.start(job)

    def attach(self) -> bool:
        """Attach to the process that an earlier controller started. Returns False if none was started or it has ended.
        In that case, `stop` keeps its output."""
        state = self.host.find(self.key) if self.key else None
        if state is not None:
            self.start(Command(("true",)))
        return state == "running"

    def has_ended(self) -> bool:
        return self._job is not None and self._job.wait(0)

    def wait(self, seconds: float) -> bool:
        """Wait for this many seconds or until the process ends. Returns whether it has ended."""
        return self._job is None or self._job.wait(seconds)

    def tail(self, limit: int = 600) -> str:
        """Return the end of the server's output, or "" if it can't be read."""
        with suppress(RunnerError):
            return self._job.tail(limit) if self._job else ""
        return ""

    def last_words(self) -> str:
        return " ".join(self.tail().split())[-300:] or say.said_nothing()

    def wait_for(self, ready: Callable[[], str], timeout_s: float, stopping: Stopping) -> Message | None:
        """Wait until `ready` returns "". Until then, `ready` returns what is still missing.

        Returns None on success. Otherwise returns the problem: the process has ended, or the time is up. Raises
        Interrupted.
        """
        deadline = time.monotonic() + timeout_s
        while said := ready():
            if stopping.is_set():
                raise Interrupted
            if self.wait(_LOOK_EVERY_S):
                return say.process_ended(name=self.title, host=self.host.host.id, said=self.last_words())
            if time.monotonic() > deadline:
                return say.process_deaf(
                    name=self.title, host=self.host.host.id, seconds=figure(timeout_s, ".0f"), said=said
                )
        return None

    def stop(self, grace_s: float = 0.0) -> None:
        """End the process, keep its output, and remove all traces of it from its host. Does nothing if there is no
        process.

        The process has already been asked to end, and gets `grace_s` to do so. Raises RunnerError.
        """
        job, self._job = self._job, None
        if job is None:
            return
        if grace_s:
            with self.host.session.underway.waited_for(f"{self.title} on {self.host.host.id} to end", grace_s):
                job.wait(grace_s)
        job.stop()
        try:
            with tempfile.TemporaryDirectory() as unread:
                job.collect(_next_free(self.keep) if self.keep else Path(unread))
        except OSError as error:
            raise RunnerError(say.output_unkept(name=self.title, said=error.strerror)) from error
        finally:
            job.discard()


def _next_free(folder: Path) -> Path:
    """Return a new folder for the output of this start, so that a dead server's output is not overwritten."""
    return next(path for number in count(1) if not (path := folder / str(number)).exists())
