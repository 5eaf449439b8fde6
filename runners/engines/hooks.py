"""The commands that a database declares for its hosts, run one after another; what they print is kept."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from benchbrief.compiler.plan import Database, Hardware, Hook
from benchbrief.runners.attended_jobs import run_to_end
from benchbrief.runners.commands import shell_line
from benchbrief.runners.errors import RunnerError, TeardownFailed
from benchbrief.runners.seams import Hosts, Stopping
from benchbrief.runners.tasks import Command, Job
from benchbrief.runners.underway import UNDERWAY

_LAST_WORDS = 300


def run_hooks(
    when: Literal["prepare", "reset", "teardown"],
    database: Database,
    hardware: Hardware,
    hosts: Hosts,
    keep: Path | None,
    stopping: Stopping,
) -> int:
    """Run those of this time in their order, and say how many there were.

    Each knows its host as $BENCH_HOST. Raises Interrupted for one that goes on when the run is to stop, and RunnerError
    for one that fails or takes too long: in the end TeardownFailed for all of it, where the others are run all the
    same. A teardown undoes what `prepare` did: each has its declared time, also when the run is to stop.
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
        raise TeardownFailed(str(failures[0]), failures[0].hint) from failures[0]
    return len(hooks)


def _run(
    hook: Hook, name: str, host_id: str, database: Database, hosts: Hosts, keep: Path | None, stopping: Stopping
) -> None:
    line = shell_line(hook.line)
    job = Job(name, Command(line.words, env={"BENCH_HOST": host_id}), timeout_s=hook.timeout_s)
    folder = keep / "hooks" / f"{name}-{host_id}".replace("/", "_") if keep else None
    with ExitStack() as waited:
        if hook.when == "teardown":
            what = f"the teardown command `{hook.line}` on {host_id}"
            waited.enter_context(UNDERWAY.waited_for(what, hook.timeout_s))
            stopping = threading.Event()  # never set: its time-out ends it
        ran = run_to_end(hosts[host_id], job, stopping, folder, _LAST_WORDS)
    if ran.exit_code != 0:
        in_time = ran.exit_code is not None
        how = f"ended with code {ran.exit_code}" if in_time else f"did not end within {hook.timeout_s:g} s"
        raise RunnerError(
            f"on {host_id}, the {hook.when} command `{hook.line}` of database {database.name} {how}: "
            f"{ran.said or 'it said nothing'}",
            f"it is declared at {hook.origin}",
        )
