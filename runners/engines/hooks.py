"""The commands that a database declares for its hosts, run one after another; what they print is kept."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Literal

from benchbrief.compiler.plan import Database, Hardware, Hook
from benchbrief.runners.commands import shell_line
from benchbrief.runners.seams import Command, Hosts, Job, JobOutput, RunnerError, RunningJob, TeardownFailed

_LAST_WORDS = 300


def run_hooks(
    when: Literal["prepare", "reset", "teardown"],
    database: Database,
    hardware: Hardware,
    hosts: Hosts,
    keep: Path | None,
) -> int:
    """Run those of this time in their order, and say how many there were.

    Each knows its host as $BENCH_HOST. Raises RunnerError for one that fails or takes too long: TeardownFailed in the
    end, where the others are run all the same.
    """
    hooks = [hook for hook in database.hooks if hook.when == when]
    failures = []
    for number, hook in enumerate(hooks, 1):
        for host_id in hardware.hosts if hook.on == "each" else hardware.hosts[:1]:
            try:
                _run(hook, f"{when}-{number}", host_id, database, hosts, keep)
            except RunnerError as error:
                if when != "teardown":
                    raise
                failures.append(error)
    if failures:
        raise TeardownFailed(str(failures[0]), failures[0].hint) from failures[0]
    return len(hooks)


def _run(hook: Hook, name: str, host_id: str, database: Database, hosts: Hosts, keep: Path | None) -> None:
    line = shell_line(hook.line)
    job = Job(name, Command(line.words, env={"BENCH_HOST": host_id}), timeout_s=hook.timeout_s)
    running = hosts[host_id].start(job)
    try:
        in_time = running.wait(hook.timeout_s)
        said = running.tail(_LAST_WORDS).strip() or "it said nothing"
    except BaseException:
        with suppress(RunnerError):
            running.stop()
        raise
    if not in_time:
        running.stop()
    output = _kept(running, keep / "hooks" / f"{name}-{host_id}".replace("/", "_") if keep else None)
    if not in_time or output.exit_code != 0:
        how = f"ended with code {output.exit_code}" if in_time else f"did not end within {hook.timeout_s:g} s"
        raise RunnerError(
            f"on {host_id}, the {hook.when} command `{hook.line}` of database {database.name} {how}: {said}",
            f"it is declared at {hook.origin}",
        )


def _kept(running: RunningJob, folder: Path | None) -> JobOutput:
    """Its output, in a folder for each time that it is run. Nothing of it stays on its host."""
    with tempfile.TemporaryDirectory() as unread:
        free = (path for number in count(1) if folder and not (path := folder / str(number)).exists())
        output = running.collect(next(free) if folder else Path(unread))
    running.discard()
    return output
