"""What makes a host unfit for any run. `bench doctor` checks by this rule, and a run refuses a host by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.commands import printable
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.script_host import JobHost
from benchbrief.runners.jobs.shell_scripts import read_script, with_values
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.messages.run_messages import say

NEEDED = ("setsid", "flock", "timeout", "find", "stat", "head", "awk", "sed")
"""The programs that our scripts run on each host, beside what a POSIX shell has."""

_LOOK = with_values(read_script(__file__, "scripts/fitness.sh"), needed=" ".join(NEEDED))


@dataclass(frozen=True)
class Unfit:
    """One thing that is wrong with a host, and how to fix it."""

    what: str
    detail: str
    hint: str


def find_defects(host: JobHost) -> Iterator[Unfit]:
    """Yield what is wrong with a host that answers. Raises HostError."""
    # Not by one of our usual scripts: those need what may be missing.
    done = call_persistently(host, lambda: host.run(Command(("sh", "-c", _LOOK))))
    said = [line.partition(" ") for line in done.stdout.splitlines()[:50]]
    lacking = {name for kind, _, name in said if kind == "lacks"}
    lacking |= {"timeout"} if done.exit_code == 127 else set()  # commands over SSH run under `timeout`
    found = [name for name in NEEDED if name in lacking]
    if found:
        hint = "Debian: apt-get install coreutils findutils util-linux mawk sed"
        yield Unfit("programs", f"{', '.join(found)} can't be found in the PATH", hint)
    for kind, _, path in said:
        where = printable(path)[:500]
        if kind == "unsafe":
            hint = f"remove it on {host.host.id}, or set TMPDIR there"
            yield Unfit("jobs", f"{where} is not a directory of our user alone", hint)
        elif kind == "unwritable":
            hint = f"make it writable on {host.host.id}, or set TMPDIR there to a folder that is"
            yield Unfit("jobs", f"nothing can be written in {where}", hint)


def refuse_unfit(host: JobHost) -> None:
    """Raises HostError, lasting, for a host that is unfit or can't be reached."""
    for each in find_defects(host):
        error = HostError(say.of_host(host=host.host.id, what=each.detail), each.hint)
        error.lasting = True
        raise error
