"""Runs the commands that a database declares for its hosts, one after another, and keeps their output."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from benchbrief.model.message import figure
from benchbrief.model.plan import Database, Hardware, Hook
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError, TeardownFailed
from benchbrief.runners.jobs.commands import shell_line
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Hosts, Stopping

_LAST_WORDS = 300


def run_hooks(
    when: Literal["prepare", "reset", "teardown"],
    database: Database,
    hardware: Hardware,
    hosts: Hosts,
    keep: Path | None,
    stopping: Stopping,
) -> int:
    """Run the commands that the database declares for the time `when`, in order, and return how many there were.

    Each command gets its host's name as $BENCH_HOST, and further variables for the levels that its declaration names.
    Raises Interrupted if the run must stop, and RunnerError if a command fails or takes too long. A teardown undoes
    what `prepare` did, so all its commands run, each for up to its declared time, even if the run must stop. If some of
    them fail, TeardownFailed is raised at the end, with the message of the first failure.
    """
    hooks = [hook for hook in database.hooks if hook.when == when]
    failures = []
    for number, hook in enumerate(hooks, 1):
        for host_id in hardware.hosts if hook.on == "each" else hardware.hosts[:1]:
            try:
                _run(hook, f"{when}-{number}", host_id, database, hosts, keep, stopping)
            except RunnerError as error:
                if when != "teardown":
                    raise
                failures.append(error)
    if failures:
        raise TeardownFailed(failures[0].message, failures[0].hint) from failures[0]
    return len(hooks)


def _run(
    hook: Hook, name: str, host_id: str, database: Database, hosts: Hosts, keep: Path | None, stopping: Stopping
) -> None:
    line = shell_line(hook.line)
    job = Job(name, Command(line.words, env={**hook.env, "BENCH_HOST": host_id}), timeout_s=hook.timeout_s)
    folder = keep / "hooks" / f"{name}-{host_id}".replace("/", "_") if keep else None
    with ExitStack() as waited:
        if hook.when == "teardown":
            what = f"the teardown command `{hook.line}` on {host_id}"
            waited.enter_context(hosts[host_id].session.underway.waited_for(what, hook.timeout_s))
            stopping = threading.Event()  # never set: its time-out ends the command
        ran = run_to_end(hosts[host_id], job, stopping, folder, _LAST_WORDS)
    if ran.exit_code != 0:
        in_time = ran.exit_code is not None
        about = {"host": host_id, "when": hook.when, "command": hook.line, "database": database.name}
        about["said"] = ran.said or say.said_nothing()
        raise RunnerError(
            say.hook_ended(**about, code=ran.exit_code)
            if in_time
            else say.hook_late(**about, seconds=figure(hook.timeout_s, "g")),
            say.hint_hook(origin=hook.origin),
        )
