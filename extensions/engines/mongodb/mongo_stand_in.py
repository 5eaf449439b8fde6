"""Finds the embedded MongoDB stand-in, and starts it as a background job on the hardware's first host."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchbrief.extend import programs
from benchbrief.extend.common import (
    Command,
    Requirement,
    RunnerError,
    ServerFailed,
    Stopping,
    ToolMissing,
    Transport,
    figure,
    read_script,
)
from benchbrief.extend.engines import ServerJob
from benchbrief.extensions.engines.mongodb.mongo_client import Connection, say

STAND_IN = "mongo-stand-in"
_NEEDS_JAVA = "the embedded MongoDB server needs Java 17: `sudo apt-get install default-jre-headless`"
_JAVA = Requirement("java", Command(("java", "-version")), _NEEDS_JAVA)
WARM_UP_S = 3.0
"""How long a newly started server is kept busy, in seconds."""
_START_TIMEOUT_S = 60.0
_LOOK_EVERY_S = 0.1
_STACK_FRAME = re.compile(r"at \S+\(|\.\.\. \d+ more|listening ")
_LISTENING = re.compile(r"^listening (\S+):(\d+)$", re.MULTILINE)

_TAKE_OVER = read_script(__file__, "scripts/run_stand_in.sh")
_DIGEST = read_script(__file__, "scripts/digest_stand_in.sh")


@dataclass(frozen=True)
class EmbeddedServer:
    """A running stand-in. Load generators reach it at `host` and `port`.

    `attached` is true if an earlier controller of the run started the stand-in.
    """

    job: ServerJob
    host: str
    port: int
    attached: bool = False

    def last_words(self) -> str:
        """Return the end of the server's output, without the frames of a stack trace."""
        said = [line.strip() for line in self.job.tail(4000).splitlines()[1:]]
        return " ".join(line for line in said if not _STACK_FRAME.match(line))[-300:].strip() or say.said_nothing()

    def stop(self) -> None:
        """Stop the server, keep its output, and remove everything else from its host. Raises RunnerError."""
        self.job.stop()


def find_stand_in(transport: Transport) -> str:
    """Return the stand-in's path on a host. Raises ToolMissing."""
    folders = programs.tool_dirs()
    candidates = (*(f"{folder}/{STAND_IN}/bin/{STAND_IN}" for folder in folders), STAND_IN)
    path = programs.find_first(transport, candidates)
    if path is None:
        raise ToolMissing(
            say.stand_in_missing(host=transport.host.id),
            say.hint_stand_in(program=STAND_IN, places=", ".join((*folders, "PATH"))),
        )
    programs.check(transport, _JAVA)
    return path


def build(transport: Transport) -> str:
    """Return the SHA-256 of the stand-in's launcher and libraries, or "" if it is unknown. Raises ToolMissing."""
    return programs.digest(transport, find_stand_in(transport), _DIGEST)


def start(transport: Transport, bind: str, data: str | None, keep: Path | None, key: str = "") -> EmbeddedServer:
    """Start the stand-in on a free port, with its data in a directory or in memory, and wait until it listens.

    If a stand-in already runs under the key, attaches to it instead. Raises ToolMissing if the host has no stand-in,
    and ServerFailed if it does not start.
    """
    job = ServerJob(transport, key, "mongo-stand-in")
    job.keep = keep
    attached = job.attach()
    if not attached:
        with suppress(RunnerError):  # keep the output of one that was killed, too
            job.stop()
        program = find_stand_in(transport)
        taking = ("sh", "-c", _TAKE_OVER, "sh", program, bind, data or "")
        job.start(Command(taking if data else (program, "--port", "0", "--bind", bind)))
    try:
        host, port = _listening(transport, job)
    except BaseException:
        with suppress(RunnerError):  # the reason that it did not start is reported
            job.stop()
        raise
    return EmbeddedServer(job, host, port, attached)


def _listening(transport: Transport, job: ServerJob) -> tuple[str, int]:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        ended = job.wait(_LOOK_EVERY_S)
        said = job.tail(2000)
        if match := _LISTENING.search(said):
            return match[1], int(match[2])
        if ended or time.monotonic() > deadline:
            host, words = transport.host.id, said.strip()[-300:] or say.said_nothing()
            raise ServerFailed(
                say.embedded_ended(host=host, said=words)
                if ended
                else say.embedded_deaf(host=host, seconds=figure(_START_TIMEOUT_S, ".0f"), said=words),
                say.hint_writable(),
            )


def warm_up(connection: Connection, database: str, stopping: Stopping) -> None:
    """Keep a newly started server busy for some seconds. A cold JVM runs at half speed, which would affect only the
    first cell."""
    with connection.reaching():
        table = connection.collection(database, "benchbrief_warm_up")
        ends = time.monotonic() + WARM_UP_S
        number = 0
        while time.monotonic() < ends and not stopping.is_set():
            table.insert_one({"_id": f"user{number}", **{f"field{i}": "x" * 100 for i in range(10)}})
            table.find_one({"_id": f"user{number // 2}"})
            table.update_one({"_id": f"user{number // 3}"}, {"$set": {"field0": "y" * 100}})
            number += 1
        table.drop()
