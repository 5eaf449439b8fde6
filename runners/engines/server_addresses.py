"""Where a server on a host listens, and how other hosts reach it.

The plan's name of a host may be known to this machine alone, by ~/.ssh/config. Other hosts then use the address at
which SSH reached it.
"""

from __future__ import annotations

from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport

_ADDRESS = read_script(__file__, "server_address.sh")


def address_of(transport: Transport) -> str:
    """Return the plan's name if the host knows itself by it, else its address. Raises HostError."""
    name = transport.host.name
    done = run_persistently(transport, Command(("sh", "-c", _ADDRESS, "sh", name)))
    return done.stdout.strip() or name
