"""Runs the benchbrief part of the fan-out in a separate process that imports only what it needs, like the other
tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchbrief.model.plan import Host
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import fan_out, open_transport
from benchbrief.runners.jobs.tasks import Command

COMMAND = ("uname", "-n")


def ours(names: Sequence[str], commands: int) -> None:
    """Do the measured work: open all hosts, run the commands and close all hosts. Raises RunnerError if a host
    fails."""

    def one(name: str) -> None:
        transport = open_transport(Host(id=name, transport="ssh", name=name))
        try:
            for _ in range(commands):
                done = transport.run(Command(COMMAND))
                if done.exit_code != 0:
                    raise RunnerError(f"{name}: ended with code {done.exit_code}")
        finally:
            transport.close()

    for outcome in fan_out(names, one).values():
        if outcome is not None:
            raise outcome


if __name__ == "__main__":
    ours(sys.argv[2:], int(sys.argv[1]))
