"""The embedded MongoDB stand-in: started as a background job on the hardware's first host, stopped at the end."""

from __future__ import annotations

import re
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchbrief.runners import tools
from benchbrief.runners.errors import RunnerError, ServerFailed
from benchbrief.runners.seams import RunningJob, Transport
from benchbrief.runners.tasks import Command, Job

_START_TIMEOUT_S = 60.0
_LOOK_EVERY_S = 0.1
_STACK_FRAME = re.compile(r"at \S+\(|\.\.\. \d+ more|listening ")
_LISTENING = re.compile(r"^listening (\S+):(\d+)$", re.MULTILINE)

# A controller that was killed leaves its server behind, which then keeps the data locked: the next run ends it first.
# It is known by its number and by having this very directory among its arguments.
_TAKE_OVER = """\
program=$1 bind=$2 data=$3
mkdir -p -- "$data" || exit 1
old=$(cat -- "$data/server.pid" 2>/dev/null)
ours() { [ -n "$old" ] && tr '\\0' '\\n' 2>/dev/null <"/proc/$old/cmdline" | grep -qxF -- "$data"; }
if ours; then
    kill "$old"
    tries=0
    while ours && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
fi
echo $$ >"$data/server.pid" || exit 1
exec "$program" --port 0 --bind "$bind" --data "$data"
"""


@dataclass(frozen=True)
class EmbeddedServer:
    """A running stand-in. `host` and `port` are where load generators reach it; `keep` as in `seams.Engine`.

    `attached`: an earlier controller of the run had started it.
    """

    job: RunningJob
    host: str
    port: int
    keep: Path | None
    attached: bool = False

    def last_words(self) -> str:
        """The last lines that it printed, without the frames of a stack trace."""
        said = [line.strip() for line in self.job.tail(4000).splitlines()[1:]]
        return " ".join(line for line in said if not _STACK_FRAME.match(line))[-300:].strip() or "it said nothing"

    def stop(self) -> None:
        """End it, keep what it printed, and leave nothing of it on its host. Raises RunnerError."""
        _end(self.job, self.keep)


def start(transport: Transport, bind: str, data: str | None, keep: Path | None, key: str = "") -> EmbeddedServer:
    """Start it on a free port, with its data in a directory or in memory, and wait until it listens.

    One that runs under this key is attached to. Raises ToolMissing when it is not on the host, ServerFailed when it
    does not come up.
    """
    state = transport.find(key) if key else None
    if state in ("ended", "killed"):
        with suppress(RunnerError):  # what it printed when it was killed is kept nevertheless
            _end(transport.start(_job(Command(("true",)), key)), keep)
    if state == "running":
        command = Command(("true",))
    elif data:
        command = Command(("sh", "-c", _TAKE_OVER, "sh", tools.find_stand_in(transport), bind, data))
    else:
        command = Command((tools.find_stand_in(transport), "--port", "0", "--bind", bind))
    job = transport.start(_job(command, key))
    try:
        host, port = _listening(transport, job)
    except BaseException:
        with suppress(RunnerError):  # the reason that it did not start is told
            _end(job, keep)
        raise
    return EmbeddedServer(job, host, port, keep, attached=state == "running")


def _job(command: Command, key: str) -> Job:
    """Where there is a job with the key, the command is not run: it is attached to."""
    return Job("mongo-stand-in", command, timeout_s=float("inf"), background=True, key=key)


def _end(job: RunningJob, keep: Path | None) -> None:
    job.stop()
    try:
        with tempfile.TemporaryDirectory() as unread:
            job.collect(_next_free(keep) if keep else Path(unread))
    except OSError as error:
        raise RunnerError(f"what the embedded MongoDB server printed can't be kept: {error.strerror}") from error
    finally:
        job.discard()


def _next_free(folder: Path) -> Path:
    """One for each start: a server that died, and was started again for the next cell, has the more to tell."""
    return next(path for number in count(1) if not (path := folder / str(number)).exists())


def _listening(transport: Transport, job: RunningJob) -> tuple[str, int]:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        ended = job.wait(_LOOK_EVERY_S)
        said = job.tail()
        if match := _LISTENING.search(said):
            return match[1], int(match[2])
        if ended or time.monotonic() > deadline:
            what = "ended at once" if ended else f"did not listen within {_START_TIMEOUT_S:.0f} s"
            words = said.strip()[-300:] or "it said nothing"
            raise ServerFailed(
                f"the embedded MongoDB server on {transport.host.id} {what}: {words}",
                "is its data directory writable, and no other server using it?",
            )
